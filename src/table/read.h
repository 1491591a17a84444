/* Reads: one item, a page of a query, a page of a scan. On the calling thread, from one view.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_READ_H
#define THORPE_TABLE_READ_H

#include "expr/expr.h"
#include "table/capacity.h"
#include "table/db.h"

/* The table, and the moment, to read from. */
struct db_at {
	struct db *db;
	const struct store_view *view; /* NULL: the latest */
	const struct table *table;
};

/* The item, or VALUE_ABSENT. */
bool db_get(const struct db_at *at, struct item_key key, struct arena *a, struct value *item,
	    struct error *e) MUST_CHECK;

/* The same for several keys of a table. */
bool db_get_many(const struct db_at *at, const struct item_key *keys, size_t n, struct arena *a, struct value *items,
		 struct error *e) MUST_CHECK;

/* One page of a Query or Scan. Zero / NULL members mean "not given". */
struct page_request {
	const struct table *table;
	const struct index *index; /* NULL: the table itself */
	/* Query: `=` on every hash attribute, then terms on range attributes from the left, all but
	 * the last `=`; checked by the caller, any order. NULL: a scan. */
	const struct key_term *terms;
	size_t term_count;
	bool backwards;                   /* ScanIndexForward = false */
	struct value start;               /* ExclusiveStartKey, checked; absent: from the beginning */
	uint32_t segment, total_segments; /* scan; 0 of 0: the whole table */
	int64_t limit;                    /* items evaluated at most; 0: no limit */
	const struct condition *filter;
	bool consistent;               /* only affects capacity; reads are always consistent */
	const struct store_view *view; /* the moment to read; NULL: now */
	bool uncounted;                /* the caller ignores the capacity, which may then be wrong */
	/* LSI: read whole items from the table, because the request needs attributes outside the index. */
	bool fetch_items;
	/* Called for each item that passes the filter, in order; valid during the call. */
	void (*emit)(void *ctx, struct value item);
	void *ctx;
};

/* The key of what is read: the table or the index. */
static inline const struct key_schema *page_key(const struct page_request *r)
{
	return r->index ? &r->index->key : &r->table->key;
}

struct page {
	int64_t count, scanned;
	struct value last_key; /* LastEvaluatedKey, absent at the end */
	struct capacity capacity;
};

/* Stops after evaluating `limit` items or 1 MB (page_size.c), and then sets last_key even if nothing follows, as
 * DynamoDB does. An index's entry is emitted as stored (projected attributes). Capacity: the sizes of all evaluated
 * items added up, then rounded to 4 KB; each item fetched for an LSI is rounded by itself and counts for the table.
 * Errors: INTERNAL (disk). */
bool db_page(struct db *db, const struct page_request *r, struct arena *a, struct page *out, struct error *e) MUST_CHECK;

/* The term on this attribute; NULL: none. */
const struct key_term *page_term(const struct page_request *r, struct slice name);

/* How ExclusiveStartKey relates to the key condition; DynamoDB has a text for each:
 *   OUTSIDE          "The provided starting key is outside query boundaries based on provided
 *                    conditions": another partition, no term on a range attribute
 *   NOT_IN_RANGE     "The provided starting key does not match the range key predicate"
 *   NOT_RESTARTABLE  "The query can return at most one row and cannot be restarted": another
 *                    partition, and it meets terms on range attributes */
enum page_start {
	PAGE_START_FITS,
	PAGE_START_OUTSIDE,
	PAGE_START_NOT_IN_RANGE,
	PAGE_START_NOT_RESTARTABLE,
};
enum page_start page_start_check(const struct page_request *r);
/* Whether `start` lies in the scan's segment ("Invalid ExclusiveStartKey. Please use
 * ExclusiveStartKey with correct Segment. …"). */
bool page_start_in_segment(const struct page_request *r, struct arena *a);
/* Whether it fits the query's terms, or the scan's segment. */
bool page_start_in_bounds(const struct page_request *r, struct arena *a);

#endif
