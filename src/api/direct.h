/* Reads for a caller in this process that has values already: no document is read and none is written.
 *
 * Each says what the operation of its name would say, and counts as one. It answers only what is plain: whatever
 * the operation would refuse (no such table, a key of another shape, a start that does not fit) and whatever goes
 * wrong on the way is left to the operation itself, which has the words for it: false, and nothing was done.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_DIRECT_H
#define THORPE_API_DIRECT_H

#include "api/api.h"
#include "expr/expr.h"
#include "table/streams.h"

/* GetItem; reads are always consistent. *item absent: there is none. */
bool api_get_item(struct api *api, struct arena *a, struct slice table, struct value key, struct value *item) MUST_CHECK;

/* A number that stays the same while nothing is written to the partition of the key: what was read after asking for it need not be
 * read again. Another table of the same name has other numbers. 0: not known at the moment. Not counted: nothing is read. */
uint64_t api_item_version(struct api *api, struct arena *a, struct slice table, struct value key);

struct api_query {
	struct slice table, index;    /* index empty: the table */
	const struct key_term *terms; /* the key condition */
	size_t term_count;
	/* A filter: its text, and the members of ExpressionAttributeNames and -Values as JSON without braces. Empty: none */
	struct slice filter, names, values;
	const struct projection *projection; /* NULL: all */
	bool backwards, consistent, count_only;
	int64_t limit;      /* 0: none */
	struct value start; /* absent: from the beginning */
};
struct api_page {
	struct value *items;
	size_t count;      /* with count_only only this */
	struct value last; /* absent: the end */
};
bool api_query_items(struct api *api, struct api_thread *t, struct arena *a, const struct api_query *q,
		     struct api_page *page) MUST_CHECK;

/* BatchGetItem, from one view; items[i] is that of keys[i] or absent. An absent key has no item. */
bool api_batch_get_items(struct api *api, struct arena *a, struct slice table, const struct value *keys, size_t n,
			 struct value *items) MUST_CHECK;

/* GetRecords, at most `limit` (1..1000). */
struct api_record {
	struct slice sequence;
	enum stream_event event;
	bool by_ttl;
	int64_t created_ms;                      /* whole seconds */
	struct value keys, old_image, new_image; /* absent where there is none */
};
struct api_records {
	struct api_record *list;
	size_t count;
	struct slice iterator; /* to go on; empty: the shard has ended */
};
bool api_get_records(struct api *api, struct arena *a, struct slice iterator, int64_t limit, struct api_records *out) MUST_CHECK;

#endif
