#!/usr/bin/env bash
# Builds the app of examples/social-web into its dist/, with a client that build/thorpe writes. Quick if nothing has
# changed. social-web.sh --optional succeeds even if npm cannot install the build's packages: the server works without.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
app=examples/social-web

npm_install $app "what the app of designs/social.yaml is built with" || {
    [ "${1:-}" = --optional ] || exit 1
    if [ -f $app/dist/index.html ]; then
        say "continuing with the app built earlier"
    else
        say "continuing without the app in $app. Run this again when npm's registry can be reached"
    fi
    exit 0
}

# The typed client; written only when it has changed.
mkdir -p $app/src/generated
client=$app/src/generated/social.ts
"${THORPE_BIN:-build/thorpe}" client designs/social.yaml --typescript >"$client.new" || die "cannot write the client of designs/social.yaml."
if cmp -s "$client.new" "$client"; then rm "$client.new"; else mv "$client.new" "$client"; fi

build_web $app "the app of designs/social.yaml"
