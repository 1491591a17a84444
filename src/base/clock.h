/* Time as a parameter: the engine asks a struct clock, so tests can move it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_CLOCK_H
#define THORPE_BASE_CLOCK_H

#include <stdint.h>

struct clock {
	/* Milliseconds since 1970, UTC; may be called by any thread. */
	int64_t (*now_ms)(void *ctx);
	void *ctx;
};

/* The system's clock. */
extern const struct clock clock_system;

static inline int64_t clock_now_ms(const struct clock *c)
{
	return c->now_ms(c->ctx);
}

/* Microseconds that never go back, for measuring. */
int64_t clock_monotonic_us(void);

#endif
