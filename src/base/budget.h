/* A memory budget shared by many arenas on any thread.
 *
 * Invariants
 *   M1  `used` is the number of bytes taken and not yet given back.
 *   M2  budget_try_take() never raises `used` above `total`. The last `reserve` bytes are kept for small holders,
 *       so large ones cannot starve them.
 *
 * Threads: any; a call costs one atomic addition.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_BUDGET_H
#define THORPE_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>

#define BUDGET_SMALL (64 * 1024) /* a holder of at most this many bytes may use the reserve */

struct budget {
	_Atomic size_t used;
	size_t total, reserve;    /* reserve <= total; set before the first use */
	_Atomic uint64_t refused; /* refused takings, for metrics */
};

enum budget_answer {
	BUDGET_GIVEN,
	BUDGET_BUSY,  /* others hold too much: a later try may succeed */
	BUDGET_NEVER, /* more than the whole budget allows one holder */
};

/* For a holder that already has `has` bytes. */
static inline enum budget_answer budget_try_take(struct budget *b, size_t has, size_t n)
{
	size_t most = has <= BUDGET_SMALL && n <= BUDGET_SMALL - has ? b->total : b->total - b->reserve;
	size_t before;

	if (has > most || n > most - has) {
		atomic_fetch_add_explicit(&b->refused, 1, memory_order_relaxed);
		return BUDGET_NEVER;
	}
	before = atomic_fetch_add_explicit(&b->used, n, memory_order_relaxed);
	if (before <= most && n <= most - before)
		return BUDGET_GIVEN;
	atomic_fetch_sub_explicit(&b->used, n, memory_order_relaxed);
	atomic_fetch_add_explicit(&b->refused, 1, memory_order_relaxed);
	return BUDGET_BUSY;
}

static inline void budget_give(struct budget *b, size_t n)
{
	atomic_fetch_sub_explicit(&b->used, n, memory_order_relaxed);
}

#endif
