/* Running access patterns.
 *
 * A page is filled in spite of filters, expired items and rules: reading goes on until `limit` rows may be shown, the
 * list ends, or READ_MOST_ROWS rows have been read (then the page may be short and still has a next one). A cursor
 * marks the place of the last row shown (or read) and belongs to one pattern with its parameters. It is encrypted and
 * signed (AES-256-SIV under the app's key), so that it neither shows keys nor can be forged. The same place has the
 * same cursor each time, unless the pattern depends on the time. Nothing here scans.
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
	const struct row *params; /* typed: the parameters given; defaults are added here */
	const struct slice *ids;  /* batch: the ids */
	size_t id_count;
	int64_t limit;       /* 0: read_page_size() */
	struct slice cursor; /* empty: from the beginning */
	bool shows;          /* adds what the pattern's `show` says: row.shown */
	bool trusted;        /* the runtime itself reads (found by, then remove, processors): filters, but no rules */
};

enum read_shape {
	READ_ONE,
	READ_LIST,
	READ_COUNT,
	READ_COUNTS, /* a merge over numbers, counted */
	READ_VALUES, /* unite */
};

struct read_result {
	enum read_shape shape;
	struct row *rows; /* ONE: one; LIST. A row without an entity is a companion, shown as it is */
	size_t row_count;
	bool mixed; /* LIST: rows may be of several entities */
	bool tree;
	struct slice next;    /* cursor of the next page; empty: this is the last */
	int64_t count;        /* COUNT; COUNTS: the sum */
	struct value *labels; /* COUNTS: each number … */
	int64_t *counts;      /* … and its count */
	size_t count_count;
	struct value *values; /* VALUES: each value once, in order */
	size_t value_count, value_room;
};

/* Problems: NOT_FOUND for a single item that does not exist or that the caller may not read; FORBIDDEN or
 * UNAUTHENTICATED when the pattern's own rule refuses the caller; INVALID for parameters and limits; MALFORMED for a
 * cursor of another pattern. Where rows lead to other items (`then`), the rule of the row's entity must allow the row,
 * too, if there is one: a caller who may not see a list learns nothing from where its rows lead. */
bool read_access(struct run *r, const struct read_request *q, struct read_result *out) MUST_CHECK;
/* One item by its identity, as the caller may see it; otherwise NOT_FOUND. Strongly consistent. */
bool read_item(struct run *r, const struct entity *e, const struct value *args, size_t n, struct row *out) MUST_CHECK;
/* Adds what the entity's `show` says to an item that is read by its path: row.shown. */
bool read_shown(struct run *r, struct row *item) MUST_CHECK;
/* The parameters of a pattern that a term or a processor runs: `with`, or without it the variables and attributes of
 * the same names. */
bool read_given(struct scope *s, const struct access *access, const struct assignment *with, size_t with_count,
		struct row *out) MUST_CHECK;
/* The queries that read_each() (entity/upward.h) would make for an item, without making them; the oracle compares
 * items with these. *known false: the queries depend on rows that would have to be read, or the pattern is not a
 * query. */
struct read_asked {
	const struct access *access; /* the pattern itself, or one that it merges */
	const struct dyn_condition *where; /* dyn.h; one for each rule of access->where, except optional ones without a value */
	size_t where_count;
	const struct row *params; /* input.x of its filter */
};
bool read_asks(struct run *r, const struct access *access, struct scope *s,
	       void (*visit)(void *ctx, const struct read_asked *q), void *ctx, bool *known) MUST_CHECK;
/* A result as the API sends it: the item; {"items":[…],"next":"…"}; {"count":n}; {"count":n,"mean":m,"counts":{"1":n,…}};
 * {"items":[values]}. */
bool read_output(struct run *r, const struct access *access, const struct read_result *x, struct buf *b) MUST_CHECK;
/* An item that was read by its path, with its row.shown. */
bool read_output_item(struct run *r, const struct row *item, struct buf *b) MUST_CHECK;

/* ---- what the design alone says ---- */
/* The shape of a pattern's results; the size of its pages where the request does not say. */
enum read_shape read_shape_of(const struct access *access);
int64_t read_page_size(const struct access *access);
/* Facts about each access pattern, in the design's order; made once for an app, in its arena. */
struct read_known;
const struct read_known *reads_new(struct arena *a, const struct design *d);
/* Whether two callers, neither an operator, may get different answers. */
bool read_depends_on_caller(struct run *r, const struct access *access);
/* The entity of the pattern's rows; NULL: several are possible, or companions. */
const struct entity *read_entity(const struct design *d, const struct access *access);

#endif
