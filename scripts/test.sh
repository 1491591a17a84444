#!/usr/bin/env bash
# Runs all tests, cheapest first; ends with one line per kind.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

start=$SECONDS
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
totals=()
failed=0

# kind NAME COMMAND...: runs it and records its result. Its last line is its summary.
kind() {
    local name=$1 began=$SECONDS
    shift
    say "$name"
    if "$@" 2>&1 | tee "$log/out"; then
        totals+=("ok      $name ($((SECONDS - began)) s): $(summary)")
    else
        totals+=("FAILED  $name ($((SECONDS - began)) s): $(summary)" "$(failures)")
        failed=1
    fi
}

# Meson's counts, or the last line printed.
summary() {
    local counts
    counts=$(sed -nE 's/^(Ok|Expected Fail|Fail|Unexpected Pass|Skipped|Timeout): +([0-9]+) *$/\1 \2/p' "$log/out" |
        grep -vE '^(Expected Fail|Unexpected Pass|Skipped|Timeout) 0$' | paste -sd, | sed 's/,/, /g')
    if [ -n "$counts" ]; then echo "$counts"; else tail -n 1 "$log/out"; fi
}

# The names of failed tests, as node, python and meson print them.
failures() {
    {
        sed -n '/^✖ failing tests:/,$p' "$log/out" | grep -E '^(test at|✖) ' | grep -v '^✖ failing tests:'
        grep -E '^(FAIL|ERROR): ' "$log/out"
        grep -E ' (FAIL|TIMEOUT|ERROR) +[0-9.]+s' "$log/out"
    } | awk '!seen[$0]++' | head -n 20 | sed 's/^/        /' || true
}

scripts/install.sh build test dynamodb-local
kind "docs" node scripts/check-docs.mjs
kind "layers and rooms" scripts/check-rooms.py
kind "rules for functions" scripts/check-functions.py
kind "names are resolved once" scripts/check-names.py
kind "mutants fit their source" scripts/check-mutants.py
kind "layout" scripts/check-format.sh
scripts/console.sh
# The optimised build is for the server and its clients; unit tests are built once, with sanitizers. There -O1 and
# line tables suffice, and halve the compile time.
scripts/build.sh build/thorpe
scripts/social-web.sh
scripts/build.sh build/tests/crash/test_crash_trim
scripts/build.sh build/bench-programs
scripts/build.sh build-asan -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dc_args=-g1 -Dcpp_args=-g1

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}

kind "unit tests (ASan, UBSan)" meson test -C build-asan --no-rebuild --no-suite crash --print-errorlogs
kind "crash tests (short run)" meson test -C build --no-rebuild --suite crash --print-errorlogs
kind "wire tests" env THORPE_BIN="$PWD/build/thorpe" scripts/wire.sh
# A part of make test-remote: designs on a Thorpe with injected faults, and on DynamoDB Local.
kind "designs under the adversary" env THORPE_BIN="$PWD/build/thorpe" THORPE_BACKEND=adversary \
    FILES="fus.test.mjs wavyblog.test.mjs social.test.mjs" scripts/test-remote.sh
kind "designs at DynamoDB Local" env THORPE_BIN="$PWD/build/thorpe" THORPE_BACKEND=dynamodb-local \
    FILES="fus.test.mjs social.test.mjs" scripts/test-remote.sh
kind "console tests" env THORPE_BIN="$PWD/build/thorpe" scripts/console-tests.sh
kind "instructions per request" node bench/instructions.mjs --check

echo
say "totals, after $((SECONDS - start)) s"
printf '%s\n' "${totals[@]}"
exit $failed
