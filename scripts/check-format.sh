#!/usr/bin/env bash
# Whether C is laid out as .clang-format says, and the console's TypeScript as Prettier does. --write lays it out.
# Tables aligned by hand stand between "clang-format off" and "clang-format on".
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

write= mode=--check
[ "${1:-}" != --write ] || write=1 mode=--write

# Versions of clang-format differ in what they make of the same file, so there is one.
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
    say "clang-format 14 is not here: C is not checked"
elif [ -n "$write" ]; then
    c_files | xargs -0 -n 40 -P "$(cores)" "$format" -i
else
    c_files | xargs -0 -n 40 -P "$(cores)" "$format" --dry-run -Werror --ferror-limit=1 || failed=1
fi

npm_install console "what the console is built with"
(cd console && node_modules/.bin/prettier --log-level warn "$mode" 'src/**/*.{ts,tsx}' vite.config.js) || failed=1

[ "$failed" = 0 ] || die "not laid out: scripts/check-format.sh --write does it."
[ -n "$write" ] || echo "format: $(c_files | tr -cd '\0' | wc -c) files of C, and the console"
