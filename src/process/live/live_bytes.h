/* Bytes sent to many watchers: one copy with a reference count. Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LIVE_BYTES_H
#define THORPE_PROCESS_LIVE_BYTES_H

#include <stdatomic.h>
#include "base/alloc.h"
#include "base/slice.h"

struct live_bytes {
	atomic_uint refs;
	uint32_t n;
	char p[];
};

/* With one reference; NULL when memory is out. */
static inline struct live_bytes *live_bytes_new(struct slice s)
{
	struct live_bytes *b = s.n <= UINT32_MAX ? mem_alloc(sizeof(*b) + s.n) : NULL;

	if (!b)
		return NULL;
	atomic_init(&b->refs, 1);
	b->n = (uint32_t)s.n;
	if (s.n)
		memcpy(b->p, s.p, s.n);
	return b;
}

static inline struct live_bytes *live_bytes_ref(struct live_bytes *b)
{
	if (b)
		atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

/* NULL is fine. */
static inline void live_bytes_unref(struct live_bytes *b)
{
	if (b && atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1)
		mem_free(b);
}

#endif
