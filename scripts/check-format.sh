#!/usr/bin/env bash
# Checks the layout of C (clang-format) and of the console's TypeScript (prettier): check-format.sh [--write]
# --write formats instead. Other versions of clang-format lay out some lines differently, so only $VERSION is asked.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

VERSION=14 # Debian 12's
write=${1:-}
status=0

mapfile -t sources < <(git ls-files 'src/*.c' 'src/*.h' 'tests/*.c' 'tests/*.h' 'bench/*.c' 'bench/*.h' 'include/*.h')
formatter=$(type -P "clang-format-$VERSION" || type -P clang-format || true)
if [ -z "$formatter" ] || ! "$formatter" --version | grep -q "version $VERSION\."; then
    say "C: not checked, clang-format $VERSION is not here"
elif [ -n "$write" ]; then
    "$formatter" -i "${sources[@]}"
elif ! "$formatter" --dry-run -Werror "${sources[@]}" 2>&1 | grep -E 'error:' | cut -d: -f1 | uniq -c | sort -rn | head -n 20; then
    : # nothing to say
else
    say "C: the files above are not laid out as .clang-format says: run scripts/check-format.sh --write"
    status=1
fi

npm_install tests/console "playwright-core and prettier"
prettier=(tests/console/node_modules/.bin/prettier --config console/.prettierrc.json --log-level warn)
files=('console/src/**/*.{ts,tsx}' console/vite.config.js)
if [ -n "$write" ]; then
    "${prettier[@]}" --write "${files[@]}"
elif ! "${prettier[@]}" --check "${files[@]}"; then
    say "TypeScript: run scripts/check-format.sh --write"
    status=1
fi
[ $status != 0 ] || [ -n "$write" ] || echo "format: ${#sources[@]} files of C and the console are as they should be"
exit $status
