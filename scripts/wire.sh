#!/usr/bin/env bash
# Runs the wire tests, in node, boto3 and the aws cli, against $THORPE_BIN or $THORPE_ENDPOINT.
# Ends with one line "wire: N passed, N failed, N skipped"; fails if a test failed.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

bin=${THORPE_BIN:-build/thorpe}
THORPE_BIN=$(realpath -m "$bin")
export THORPE_BIN
npm_install tests/wire "the AWS SDK for JavaScript"
cd tests/wire
python=$(tool python3)
export THORPE_AWS="${THORPE_AWS:-$(tool aws)}"

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
# Repeated at the end, where people look.
sed -n '/^✖ failing tests:/,$p' "$log/node" | head -n 80
echo "wire: $passed passed, $failed failed, $skipped skipped"
exit $status
