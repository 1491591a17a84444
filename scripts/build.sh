#!/usr/bin/env bash
# Configures a build directory once, then builds all of it, or one file in it: build.sh DIR[/FILE] [meson option...]
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

dir=${1%%/*}
file=${1#"$dir"}
shift

# In CI a warning is an error; nobody else's build breaks because a newer compiler has new ones.
[ "${CI:-}" != true ] || set -- -Dwerror=true "$@"

# -O2 with symbols: a core file or a profile of the server people run must be readable.
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
# `make run` may have configured it before `make test` installed what the tests are built with.
if pkg-config --exists cmocka && grep -qs 'dependency cmocka found: NO' "$dir/meson-logs/meson-log.txt"; then
    meson setup --reconfigure "$dir" >/dev/null || die "meson could not configure $dir anew."
fi
say "building $dir$file"
# shellcheck disable=SC2086 # no file means no argument
"$(tool ninja)" -C "$dir" -j "$(cores)" ${file#/} 2>&1 | tee "$dir/compile.log" | progress "building $dir$file" || {
    grep -vE '^(\[[0-9]+/[0-9]+\] |ninja: Entering)' "$dir/compile.log" >&2 || true
    die "$dir$file does not build."
}
warnings=$(grep -c ' warning: ' "$dir/compile.log" || true)
[ "$warnings" = 0 ] || say "$warnings warnings of the compiler are in $dir/compile.log"
