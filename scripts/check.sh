#!/usr/bin/env bash
# The tests under a sanitizer, the wire tests included: check.sh asan|tsan
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

scripts/install.sh build test
scripts/console.sh
case $1 in
asan)
    export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
    export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}
    scripts/build.sh build-asan -Db_sanitize=address,undefined -Db_lundef=false
    ;;
tsan)
    export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/scripts/tsan.supp:ignore_noninstrumented_modules=1:second_deadlock_stack=1:die_after_fork=0:exitcode=66}
    scripts/build.sh build-tsan -Db_sanitize=thread -Db_lundef=false
    ;;
*) die "check.sh takes asan or tsan, not '$1'." ;;
esac

status=0
meson test -C "build-$1" --print-errorlogs --timeout-multiplier 5 || status=1
THORPE_BIN="$PWD/build-$1/thorpe" scripts/wire.sh || status=1
exit $status
