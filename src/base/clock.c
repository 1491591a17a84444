/* The system's clocks.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <time.h>

#include "base/clock.h"

static int64_t system_now_ms(void *ctx)
{
	struct timespec t;

	(void)ctx;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Also counts the time a suspended machine sleeps; the wall clock jumps by that much on waking. */
static int64_t system_steady_ms(void *ctx)
{
	struct timespec t;

	(void)ctx;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

const struct clock clock_system = { .now_ms = system_now_ms, .steady_ms = system_steady_ms };

int64_t clock_monotonic_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void clock_pause_us(int64_t us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	if (us > 0)
		nanosleep(&t, NULL);
}
