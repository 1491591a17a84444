#!/usr/bin/env bash
# Runs the console's tests, in headless Chromium against $THORPE_BIN: console-tests.sh [file...]
# Ends with one line "console: N passed, N failed, N skipped"; fails if a test failed.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

bin=${THORPE_BIN:-build/thorpe}
THORPE_BIN=$(realpath -m "$bin")
export THORPE_BIN
npm_install tests/wire "the AWS SDK for JavaScript"
npm_install tests/console "playwright-core"
cd tests/console

log=$(mktemp)
trap 'rm -f "$log"' EXIT

status=0
say "console tests: Chromium"
node run.mjs "$@" 2>&1 | tee "$log" || status=1

count() { sed -n "s/^ℹ $1 //p" "$log" | tail -n 1; }

passed=$(count pass || true)
failed=$(count fail || true)
skipped=$(count skipped || true)
[ "${passed:-0}" -gt 0 ] || status=1
# Repeated at the end, where people look.
sed -n '/^✖ failing tests:/,$p' "$log" | head -n 80
echo "console: ${passed:-0} passed, ${failed:-0} failed, ${skipped:-0} skipped"
exit $status
