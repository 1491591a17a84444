/* Waiting until a moment, or until a stop.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/wait.h"
#include <time.h>
#include "base/clock.h"

#define SLICE_MS 100 /* how often `stop` is looked at */

void wait_cond_until(pthread_cond_t *c, pthread_mutex_t *m, int64_t until_us)
{
	struct timespec t = { .tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000 };

	pthread_cond_timedwait(c, m, &t);
}

static bool is_stopped(const atomic_bool *stop)
{
	return stop && atomic_load(stop);
}

bool wait_ms(int64_t ms, const atomic_bool *stop)
{
	while (ms > 0 && !is_stopped(stop)) {
		int64_t now = ms < SLICE_MS ? ms : SLICE_MS;
		struct timespec t = { .tv_sec = 0, .tv_nsec = now * 1000000 };

		nanosleep(&t, NULL);
		ms -= now;
	}
	return !is_stopped(stop);
}
