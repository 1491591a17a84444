/* Time as a parameter: the engine asks a struct clock, so tests can move it.
 *
 * A clock has two readings. The wall clock says what time it is; NTP or an operator may set it, by years and in
 * either direction. The steady clock counts elapsed time and is never set; its starting point has no meaning. Use
 * the wall clock for dates and the steady clock for delays.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_CLOCK_H
#define THORPE_BASE_CLOCK_H

#include <stdint.h>

struct clock {
	/* Milliseconds since 1970, UTC; may be called by any thread. */
	int64_t (*now_ms)(void *ctx);
	void *ctx;
	/* Steady milliseconds; any thread. NULL: now_ms() serves for both, and setting it counts as elapsed time. */
	int64_t (*steady_ms)(void *ctx);
};

extern const struct clock clock_system;

static inline int64_t clock_now_ms(const struct clock *c)
{
	return c->now_ms(c->ctx);
}

static inline int64_t clock_steady_ms(const struct clock *c)
{
	return c->steady_ms ? c->steady_ms(c->ctx) : c->now_ms(c->ctx);
}

/* Microseconds that never go backwards, for measuring. */
int64_t clock_monotonic_us(void);
/* The thread sleeps; a signal may end that early. 0: not at all. */
void clock_pause_us(int64_t us);

#endif
