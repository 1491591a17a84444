# Shared by the scripts: messages, and finding tools. Sourced, never run.
# SPDX-License-Identifier: Apache-2.0

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '==> %s\n' "$*"; }
die() { printf 'thorpe: %s\n' "$*" >&2; exit 1; }

# Prefers the distribution's tool: only Debian's Python interpreter sees Debian's modules (boto3, meson).
tool() {
    if [ -x "/usr/bin/$1" ]; then echo "/usr/bin/$1"; else type -P "$1" || true; fi
}

meson() { "$(tool meson)" "$@"; }

cores() { nproc 2>/dev/null || echo 2; }

EVERY_S=15 # a line so often, where one line cannot be written over

# patiently WHAT LOG COMMAND...: runs the command with its output in LOG, and says at intervals that it is still
# running.
patiently() {
    local what=$1 log=$2 status=0 began=$SECONDS ticker
    shift 2
    # The sleep closes our output, or a pipe would stay open after us.
    (while sleep "$EVERY_S" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
        say "still $what ($((SECONDS - began)) s)"
    done) &
    ticker=$!
    "$@" >"$log" 2>&1 || status=$?
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
    return $status
}

# progress WHAT: reads ninja's output and shows the progress: on one line of a terminal, otherwise at intervals.
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

# For npm ci. By default npm waits silently for over a minute for an unreachable registry, and for a quarter of an
# hour for one that accepts connections but does not answer.
NPM_IMPATIENT=(--fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=30000)

npm_ci() { (cd "$1" && npm ci --no-audit --no-fund --loglevel=error "${NPM_IMPATIENT[@]}"); }

# npm_install DIR WHAT: installs DIR/package-lock.json, unless done. If npm's own record is newer than the lock, there
# is nothing to do.
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

# build_web DIR WHAT: runs npm's build in DIR, which makes DIR/dist, unless that is newer than everything it is made of.
build_web() {
    local log stamp=$1/node_modules/.thorpe-built
    if [ -f "$1/dist/index.html" ] && [ -f "$stamp" ] &&
        [ -z "$(find "$1" -path "$1/node_modules" -prune -o -path "$1/dist" -prune -o -type f -newer "$stamp" -print -quit)" ]; then
        return
    fi
    say "building $2"
    log=$(mktemp)
    touch "$stamp.begun" # what changes from here on is not in it
    patiently "building $2" "$log" npm --prefix "$1" run --silent build || {
        head -n 20 "$log" >&2
        rm -f "$log"
        die "npm run build failed in $1/ (its first lines are above)."
    }
    rm -f "$log"
    mv "$stamp.begun" "$stamp"
}
