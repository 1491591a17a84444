#!/usr/bin/env bash
# Runs the wire tests, in node, boto3 and the aws cli, against $THORPE_BIN or $THORPE_ENDPOINT.
# Prints one line "wire: N passed, N failed, N skipped" at the end, and fails when a test did.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

bin=${THORPE_BIN:-build/thorpe}
THORPE_BIN=$(realpath -m "$bin")
export THORPE_BIN
cd tests/wire
python=$(tool python3)
export THORPE_AWS="${THORPE_AWS:-$(tool aws)}"

# npm's own record of what it installed is newer than the lock exactly when there is nothing to do.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
    say "installing the AWS SDK for JavaScript"
    npm ci --no-audit --no-fund --loglevel=error >npm.log 2>&1 || {
        tail -n 5 npm.log >&2
        die "cannot install the AWS SDK for JavaScript: npm ci failed in tests/wire (its last lines are above)."
    }
    rm -f npm.log
    touch node_modules/.package-lock.json
fi

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
status=0

say "wire tests: AWS SDK for JavaScript"
node run.mjs "$@" 2>&1 | tee "$log/node" || status=1

if [ $# = 0 ]; then
    say "wire tests: boto3 and the aws cli"
    "$python" -W ignore::ResourceWarning -m unittest -v test_boto3 test_aws_cli 2>&1 | tee "$log/python" || status=1
fi
touch "$log/python"

node_count() { sed -n "s/^ℹ $1 //p" "$log/node" | tail -n 1; }
python_count() { grep -cE "$1" "$log/python" || true; }

passed=$(( $(node_count pass || echo 0) + $(python_count '\.\.\. ok$') ))
failed=$(( $(node_count fail || echo 0) + $(python_count '\.\.\. (FAIL|ERROR)$') ))
skipped=$(( $(node_count skipped || echo 0) + $(python_count '\.\.\. skipped ') ))
[ "$passed" -gt 0 ] || status=1
# Said again at the end, where it is looked for.
sed -n '/^✖ failing tests:/,$p' "$log/node" | head -n 80
echo "wire: $passed passed, $failed failed, $skipped skipped"
exit $status
