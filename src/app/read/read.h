/* Running access patterns.
 *
 * A page is filled in spite of filters, expired items and rules: reading goes on until `limit` rows may be shown, the end, or
 * READ_MOST_ROWS have been looked at (then the page may be short and still has a next). The cursor says where the last row
 * shown stands (or the last looked at), and belongs to one pattern with its parameters: encrypted and signed (AES-256-SIV,
 * key of the app), so that it neither shows keys nor can be made up. The same place has the same cursor each time, unless the
 * pattern goes by the time. Nothing here scans.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_READ_READ_H
#define THORPE_APP_READ_READ_H

#include "app/entity/entity.h"
#include "app/entity/upward.h"

struct dyn_condition;

#define READ_MOST_ROWS  20000
#define READ_MOST_LIMIT 1000
#define READ_PAGE       20 /* rows, where neither the request nor the pattern says */

struct read_request {
	const struct access *access;
	const struct row *params; /* typed: those given; defaults are filled in here */
	const struct slice *ids;  /* batch: the ids */
	size_t id_count;
	int64_t limit;       /* 0: the pattern's, or 20 */
	struct slice cursor; /* empty: from the beginning */
	bool trusted;        /* the runtime itself asks (found by, then remove, processors): no rules, but filters */
};

enum read_shape {
	READ_ONE,
	READ_LIST,
	READ_COUNT,
	READ_COUNTS /* merge over numbers with count */,
	READ_VALUES /* unite */
};

struct read_result {
	enum read_shape shape;
	struct row *rows; /* ONE: one; LIST. Of no entity: a companion, shown as it is */
	size_t row_count;
	bool mixed; /* LIST: rows may be of several entities */
	bool tree;
	struct slice next;    /* cursor; empty: that was all */
	int64_t count;        /* COUNT, COUNTS: the sum */
	struct value *labels; /* COUNTS: each number … */
	int64_t *counts;      /* … and how many */
	size_t count_count;
	struct value *values; /* VALUES, once each, in order */
	size_t value_count;
};

/* Problems: NOT_FOUND for a single item that is not there or may not be read, FORBIDDEN/UNAUTHENTICATED when the pattern's own
 * rule says no, INVALID for parameters and limits, MALFORMED for a cursor that is not this pattern's. Where rows lead to
 * other items (`then`), the rule of the row's entity is asked, too, if it has one: who may not see a list is not led on by it. */
bool read_access(struct run *r, const struct read_request *q, struct read_result *out) MUST_CHECK;
/* One item by its identity, as the caller may see it: NOT_FOUND otherwise. Strongly consistent. */
bool read_item(struct run *r, const struct entity *e, const struct value *args, size_t n, struct row *out) MUST_CHECK;
/* The queries that the runtime would make to run a pattern for an item, without making them: parameters as in read_each(). What the
 * oracle compares items with. *known false: that cannot be told without reading (rows of one pattern lead to another), or it is
 * no query. */
struct read_asked {
	const struct access *access; /* the pattern itself, or one that it merges */
	const struct dyn_condition *where; /* dyn.h; one for each rule of access->where, but for optional ones without a value */
	size_t where_count;
	const struct row *params; /* what its filter knows as input.x */
};
bool read_asks(struct run *r, const struct access *access, struct scope *s,
	       void (*visit)(void *ctx, const struct read_asked *q), void *ctx, bool *known) MUST_CHECK;
/* A result as the API sends it: the item; {"items":[…],"next":"…"}; {"count":n}; {"count":n,"mean":m,"counts":{"1":n,…}};
 * {"items":[values]}. */
bool read_output(struct run *r, const struct access *access, const struct read_result *x, struct buf *b) MUST_CHECK;
/* The shape of a pattern's results, and the size of its pages where the request does not say. */
enum read_shape read_shape_of(const struct access *access);
int64_t read_page_size(const struct access *access);
/* What can be told of each access pattern before any request, in the design's order; lives in the arena. */
struct read_known;
const struct read_known *reads_new(struct arena *a, const struct design *d);
/* Whether two callers, both no operators, may get different answers. */
bool read_depends_on_caller(struct run *r, const struct access *access);
/* The entity that rows of the pattern are of when that can be told beforehand; NULL: several, or companions. For OpenAPI
 * and documents. */
const struct entity *read_entity(const struct design *d, const struct access *access);

#endif
