#!/usr/bin/env bash
# Configures a build directory once, then builds it, or one file in it: build.sh DIR[/FILE] [meson option...]
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

dir=${1%%/*}
file=${1#"$dir"}
shift

# Warnings are errors in CI only: a newer compiler's new warnings must not break a user's build.
[ "${CI:-}" != true ] || set -- -Dwerror=true "$@"

# -O2 with symbols, so that core files and profiles are readable.
if [ ! -f "$dir/build.ninja" ]; then
    say "configuring $dir"
    rm -rf "$dir"
    log=$(mktemp)
    meson setup "$dir" --buildtype=debugoptimized "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        rm -rf "$log" "$dir"
        die "meson could not configure $dir."
    }
    rm -f "$log"
fi
# `make run` may have configured it before `make test` installed the libraries of the tests.
if pkg-config --exists cmocka && grep -qs 'dependency cmocka found: NO' "$dir/meson-logs/meson-log.txt"; then
    meson setup --reconfigure "$dir" >/dev/null || die "meson could not reconfigure $dir."
fi
say "building $dir$file"
# shellcheck disable=SC2086 # without a file, no argument
"$(tool ninja)" -C "$dir" -j "$(cores)" ${file#/} 2>&1 | tee "$dir/compile.log" | progress "building $dir$file" || {
    grep -vE '^(\[[0-9]+/[0-9]+\] |ninja: Entering)' "$dir/compile.log" >&2 || true
    die "$dir$file does not build."
}
warnings=$(grep -c ' warning: ' "$dir/compile.log" || true)
[ "$warnings" = 0 ] || say "$warnings compiler warnings: see $dir/compile.log"
