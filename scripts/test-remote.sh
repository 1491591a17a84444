#!/usr/bin/env bash
# The tests of the designs with their tables elsewhere. With nothing else said, at each of these in turn:
#
#   thorpe           another Thorpe
#   adversary        another Thorpe that goes wrong as DynamoDB does (docs/faults.md): $ADVERSARY
#   dynamodb-local   DynamoDB Local, which is installed, started and stopped here
#
# $THORPE_BACKEND names one of them, or an address of anything that speaks DynamoDB's API. $THORPE_FAULT: other faults than
# the adversary's. FILES: some of the tests only. Ends with a line for each kind.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

# Large transactions have a hundred actions, and throttling and conflicts are drawn for each. The indexes lag for much longer than
# a request takes; readers of the tests wait for them (harness.mjs: eventually()), the runtime does not.
ADVERSARY=${THORPE_FAULT:-latency=0ms..3ms,throttle=0.5%,conflict=0.5%,drop=1%,drop-after=1%,error-before=1%,error-after=1%,index-lag=400ms,read-lag=200ms,split-shards=30s,duplicate-records=5%,iterator-expires=20s,seed=15}

log=$(mktemp -d)
local_pid=
finish() {
    [ -z "$local_pid" ] || kill "$local_pid" 2>/dev/null || true
    rm -rf "$log"
}
trap finish EXIT

# These start servers of their own and look at them alone.
mapfile -t files < <(cd tests/designs && ls ${FILES:-*.test.mjs} | grep -vE '^(verify|openapi|deploy|round-trips|late-indexes)\.' | sed 's|^|../designs/|')

start_local() {
    scripts/install.sh dynamodb-local
    npm_install tests/dynamodb-local "DynamoDB Local"
    node tests/dynamodb-local/local.mjs >"$log/local" 2>"$log/local.err" &
    local_pid=$!
    for _ in $(seq 600); do
        grep -q http "$log/local" && return
        kill -0 "$local_pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 5 "$log/local.err" >&2
    die "DynamoDB Local does not start"
}

# designs WHERE: runs the files there; the harness knows where by the environment.
designs() {
    local backend=$1 fault=${THORPE_FAULT:-}
    case $backend in
    adversary) backend=thorpe fault=$ADVERSARY ;;
    dynamodb-local) backend=$(cat "$log/local") fault= ;;
    esac
    say "designs with their tables at $backend${fault:+, with faults: $fault}"
    THORPE_BACKEND=$backend THORPE_FAULT=$fault scripts/wire.sh "${files[@]}"
}

if [ -n "${THORPE_BACKEND:-}" ]; then
    [ "$THORPE_BACKEND" != dynamodb-local ] || start_local
    designs "$THORPE_BACKEND"
    exit
fi

totals=()
failed=0
for kind in thorpe adversary dynamodb-local; do
    began=$SECONDS
    status=ok
    [ $kind != dynamodb-local ] || start_local
    designs $kind 2>&1 | tee "$log/out" || status=FAILED
    [ $status = ok ] || failed=1
    totals+=("$(printf '%-7s %s (%s s): %s' "$status" "$kind" $((SECONDS - began)) "$(tail -n 1 "$log/out")")")
done
echo
printf '%s\n' "${totals[@]}"
exit $failed
