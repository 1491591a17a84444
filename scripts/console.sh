#!/usr/bin/env bash
# Builds the console (console/) into console/dist, from where it is put into the binary. Quick when nothing has changed.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
npm_install console "what the console is built with"
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
npm run --silent build >"$log" 2>&1 || {
    head -n 20 "$log" >&2
    die "npm run build failed in console/ (its first lines are above)."
}
mv "$stamp.begun" "$stamp"
