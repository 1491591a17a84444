/* One amount of memory that many arenas, on any thread, draw from.
 *
 * Invariants
 *   M1  `used` is the sum of what has been taken and not been given back.
 *   M2  budget_try_take() never brings `used` beyond `total`. The last `reserve` bytes are for small holders, so that large
 *       ones cannot keep them out.
 *
 * Threads: any; one atomic addition each.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_BUDGET_H
#define THORPE_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>
#include <stddef.h>

#define BUDGET_SMALL (64 * 1024) /* a holder with no more than this may use the reserve */

struct budget {
	_Atomic size_t used;
	size_t total, reserve;    /* reserve <= total; set before the first use */
	_Atomic uint64_t refused; /* takings, for metrics */
};

enum budget_answer {
	BUDGET_GIVEN,
	BUDGET_BUSY,  /* others hold too much: later there may be room */
	BUDGET_NEVER, /* one holder would have more than there is */
};

/* For a holder that has `has` bytes already. */
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
