/* Condition variables that wait by the clock that does not jump (clock_monotonic_us()).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_COND_H
#define THORPE_BASE_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* pthread_cond_destroy() releases it. */
static inline void cond_init(pthread_cond_t *c)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(c, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* False: it is `until_us` now. */
static inline bool cond_wait_until(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_us)
{
	struct timespec until = { .tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000 };

	return pthread_cond_timedwait(c, lock, &until) == 0;
}

#endif
