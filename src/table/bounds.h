/* Which keys of the store a page may touch: a half-open range, exact to the byte.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_BOUNDS_H
#define THORPE_TABLE_BOUNDS_H

#include "table/read.h"

/* Keys in [from, to). Empty if from >= to. */
struct key_range {
	struct slice from, to;
};

static inline bool key_range_is_empty(const struct key_range *r)
{
	return slice_cmp(r->from, r->to) >= 0;
}

/* The range selected by the key terms of a query, or the segment of a scan. */
struct key_range bounds_of_request(const struct page_request *r, struct arena *a);
/* The rest of `all` after (or, backwards, before) the ExclusiveStartKey. The start's item need not exist: only its
 * position counts. */
struct key_range bounds_after_start(const struct page_request *r, struct key_range all, struct arena *a);

/* The first hash of a scan segment. False: segment == total, which has none. */
bool bounds_segment_hash(uint32_t segment, uint32_t total, uint64_t *hash);
/* floor(hash * total / 2^64) */
uint32_t bounds_segment_of_hash(uint64_t hash, uint32_t total);

#endif
