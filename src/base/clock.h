/* Time as a parameter: the engine asks a struct clock, so tests can move it.
 *
 * A clock has two faces. The wall clock says what time it is; NTP or an operator may set it, by years and in
 * either direction. The steady clock counts time that has really passed and is never set; where it starts has no
 * meaning. Dates are for the wall clock; what is to happen so much later is for the steady one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_CLOCK_H
#define THORPE_BASE_CLOCK_H

#include <stdint.h>

struct clock {
	/* Milliseconds since 1970, UTC; may be called by any thread. */
	int64_t (*now_ms)(void *ctx);
	void *ctx;
	/* Steady milliseconds; any thread. NULL: now_ms() serves for both, and its moves count as time that passed. */
	int64_t (*steady_ms)(void *ctx);
};

/* The system's clock. */
extern const struct clock clock_system;

static inline int64_t clock_now_ms(const struct clock *c)
{
	return c->now_ms(c->ctx);
}

static inline int64_t clock_steady_ms(const struct clock *c)
{
	return c->steady_ms ? c->steady_ms(c->ctx) : c->now_ms(c->ctx);
}

/* Microseconds that never go back, for measuring. */
int64_t clock_monotonic_us(void);

#endif
