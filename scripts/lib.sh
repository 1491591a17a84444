# What the scripts share: talking to the person, and finding the tools. Sourced, never run.
# SPDX-License-Identifier: Apache-2.0

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '==> %s\n' "$*"; }
die() { printf 'thorpe: %s\n' "$*" >&2; exit 1; }

# The distribution's tool before any other of that name: Debian's Python modules
# (boto3, meson) are only seen by Debian's interpreter.
tool() {
    if [ -x "/usr/bin/$1" ]; then echo "/usr/bin/$1"; else type -P "$1" || true; fi
}

meson() { "$(tool meson)" "$@"; }

cores() { nproc 2>/dev/null || echo 2; }

# npm_install DIR WHAT: what DIR/package-lock.json names, unless it is there. npm's own record of what it installed is
# newer than the lock exactly when there is nothing to do.
npm_install() {
    local log
    [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] && return
    say "installing $2"
    log=$(mktemp)
    if ! (cd "$1" && npm ci --no-audit --no-fund --loglevel=error) >"$log" 2>&1; then
        head -n 20 "$log" >&2
        rm -f "$log"
        say "cannot install $2: npm ci failed in $1 (its first lines are above)" >&2
        return 1
    fi
    rm -f "$log"
    touch "$1/node_modules/.package-lock.json"
}
