#!/usr/bin/env bash
# The long run of the crash tests: CRASH_KILLS (200) times kill -9 under load, then checks that nothing acknowledged
# is lost. SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

export CRASH_KILLS=${CRASH_KILLS:-200}
say "killing the server $CRASH_KILLS times"
meson test -C build --suite crash --verbose --timeout-multiplier 0
