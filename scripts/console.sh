#!/usr/bin/env bash
# Builds the console (console/) into console/dist, which the binary embeds. Quick if nothing has changed. console.sh
# --optional succeeds even if npm cannot install the build's packages: the server works without the console.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"
npm_install console "what the console is built with" || {
    [ "${1:-}" = --optional ] || exit 1
    if [ -f console/dist/index.html ]; then
        say "continuing with the console built earlier"
    else
        say "continuing without the console: its page says so, and everything else works. Run this again when npm's registry can be reached"
    fi
    exit 0
}
build_web console "the console"
