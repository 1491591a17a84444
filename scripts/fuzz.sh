#!/usr/bin/env bash
# Builds the libFuzzer targets with clang and runs each for FUZZ_SECONDS (60); a crash leaves its input in build-fuzz.
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

scripts/install.sh build test fuzz
CC=clang CXX=clang++ scripts/build.sh build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false

mapfile -t targets < <(find build-fuzz -type f -perm -u+x -name 'fuzz_*' | sort)
[ ${#targets[@]} -gt 0 ] || die "build-fuzz has no program named fuzz_*."

status=0
for target in "${targets[@]}"; do
    name=$(basename "$target")
    corpus=build-fuzz/corpus/$name
    seeds=tests/fuzz/corpus/${name#fuzz_}
    mkdir -p "$corpus"
    say "$name for ${FUZZ_SECONDS:-60} s"
    "$target" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build-fuzz/$name-" "$corpus" $([ -d "$seeds" ] && echo "$seeds") \
        >"build-fuzz/$name.log" 2>&1 || { tail -n 40 "build-fuzz/$name.log" >&2; status=1; }
    sed -n 's/^stat::number_of_executed_units: */    executed: /p' "build-fuzz/$name.log"
done
[ $status = 0 ] || die "a fuzz target failed; its input is build-fuzz/<target>-crash-*."
