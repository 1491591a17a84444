#!/usr/bin/env bash
# Builds the console (console/) into console/dist, from where it is put into the binary. Quick when nothing has changed.
# console.sh --optional goes on when npm cannot provide what it is built with: the server does without.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
npm_install console "what the console is built with" || {
    [ "${1:-}" = --optional ] || exit 1
    if [ -f console/dist/index.html ]; then
        say "going on with the console as it was built before"
    else
        say "going on without the console: the server says so on its page, and does everything else. Run this again once npm's registry can be reached"
    fi
    exit 0
}
cd console

log=$(mktemp)
trap 'rm -f "$log"' EXIT
stamp=node_modules/.thorpe-built

is_current() {
    [ -f dist/index.html ] && [ -f "$stamp" ] &&
        [ -z "$(find . -path ./node_modules -prune -o -path ./dist -prune -o -type f -newer "$stamp" -print -quit)" ]
}

is_current && exit 0
say "building the console"
touch "$stamp.begun" # what changes from here on is not in it
patiently "building the console" "$log" npm run --silent build || {
    head -n 20 "$log" >&2
    die "npm run build failed in console/ (its first lines are above)."
}
mv "$stamp.begun" "$stamp"
