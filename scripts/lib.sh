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

EVERY_S=15 # a line so often, where one line cannot be written over

# patiently WHAT LOG COMMAND...: runs the command, its output in LOG, and says from time to time that it is still at it.
patiently() {
    local what=$1 log=$2 status=0 began=$SECONDS ticker
    shift 2
    # The sleep lets go of our output, or a pipe would stay open after us.
    (while sleep "$EVERY_S" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        say "still $what ($((SECONDS - began)) s)"
    done) &
    ticker=$!
    "$@" >"$log" 2>&1 || status=$?
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    return $status
}

# progress WHAT: reads what ninja prints, and shows how far it is: on one line of a terminal, elsewhere from time to time.
progress() {
    local line said=$SECONDS
    while IFS= read -r line; do
        [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || continue
        if [ -t 1 ]; then
            printf '\r==> %s: %s of %s\033[K' "$1" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
        elif [ $((SECONDS - said)) -ge "$EVERY_S" ]; then
            said=$SECONDS
            say "$1: ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
        fi
    done
    [ ! -t 1 ] || printf '\r\033[K'
}

# For npm ci. npm's own patience with a registry that does not answer is more than a minute of silence, and for one that accepts
# connections and says nothing, five times three.
NPM_IMPATIENT=(--fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=30000)

npm_ci() { (cd "$1" && npm ci --no-audit --no-fund --loglevel=error "${NPM_IMPATIENT[@]}"); }

# npm_install DIR WHAT: what DIR/package-lock.json names, unless it is there. npm's own record of what it installed is
# newer than the lock exactly when there is nothing to do.
npm_install() {
    local log
    [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] && return
    say "installing $2"
    log=$(mktemp)
    if ! patiently "installing $2" "$log" npm_ci "$1"; then
        head -n 5 "$log" >&2
        rm -f "$log"
        say "cannot install $2: npm ci failed in $1 (its first lines are above)" >&2
        return 1
    fi
    rm -f "$log"
    touch "$1/node_modules/.package-lock.json"
}
