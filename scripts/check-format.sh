#!/usr/bin/env bash
# Checks the format of C (.clang-format) and of TypeScript (Prettier): the console's, the client's, the app's. --write formats. Tables aligned
# by hand are between "clang-format off" and "clang-format on".
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

write= mode=--check
[ "${1:-}" != --write ] || write=1 mode=--write

# Versions of clang-format format differently, so only one is used.
formatter() {
    local name
    for name in clang-format-14 clang-format; do
        if type -P "$name" >/dev/null && "$name" --version | grep -q 'version 14\.'; then
            echo "$name"
            return
        fi
    done
}

c_files() { git ls-files -z -- '*.c' '*.h'; }
failed=0

format=$(formatter)
if [ -z "$format" ]; then
    say "clang-format 14 is not installed: C is not checked"
elif [ -n "$write" ]; then
    c_files | xargs -0 -n 40 -P "$(cores)" "$format" -i
else
    c_files | xargs -0 -n 40 -P "$(cores)" "$format" --dry-run -Werror --ferror-limit=1 || failed=1
fi

npm_install console "what the console is built with"
(cd console && node_modules/.bin/prettier --log-level warn "$mode" 'src/**/*.{ts,tsx}' vite.config.js &&
    node_modules/.bin/prettier --config .prettierrc.json --log-level warn "$mode" ../src/cli/typescript/runtime.ts \
        ../examples/social-web/vite.config.js '../examples/social-web/src/*.tsx' '../examples/social-web/src/{lib,pages,ui}/*.{ts,tsx}') || failed=1

[ "$failed" = 0 ] || die "not formatted: run scripts/check-format.sh --write."
[ -n "$write" ] || echo "format: $(c_files | tr -cd '\0' | wc -c) files of C, and the console"
