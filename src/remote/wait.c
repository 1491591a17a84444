/* Waiting that a stop ends.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/wait.h"
#include "base/clock.h"

#define SLICE_MS 100 /* how often `stop` is looked at */

static bool is_stopped(const atomic_bool *stop)
{
	return stop && atomic_load(stop);
}

bool wait_ms(int64_t ms, const atomic_bool *stop)
{
	while (ms > 0 && !is_stopped(stop)) {
		int64_t now = ms < SLICE_MS ? ms : SLICE_MS;

		clock_pause_us(now * 1000);
		ms -= now;
	}
	return !is_stopped(stop);
}
