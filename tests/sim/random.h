/* Numbers from a seed (splitmix64): the same seed, the same numbers, on every machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_RANDOM_H
#define THORPE_TESTS_SIM_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 to n - 1; of 0: 0. */
static inline size_t random_below(struct random *r, size_t n)
{
	return n ? (size_t)(random_next(r) % n) : 0;
}

/* True with this probability in per cent. */
static inline bool random_percent(struct random *r, unsigned percent)
{
	return random_below(r, 100) < percent;
}

#endif
