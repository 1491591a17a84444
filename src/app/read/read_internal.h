/* The inside of read.h: flows of rows, stacked on one another. For read*.c only.
 *
 * A pattern becomes a flow of raw rows (a query, a merge, rows at hand) under a flow that shows them (`then`, rules).
 * Rows are read in chunks and handed on one by one. Each row has a place, so that reading can resume after any of
 * them.
 *
 * Invariants
 *   R1  flow->now is the place of the row that flow_next() returned last; if rows were read since and none returned,
 *       it is where reading has got to. Reading that resumes at `now` neither repeats nor skips a row.
 *   R2  Places never change once made, and live in the arena.
 *   R3  flow_next() returns no row when the flow has ended, or when the reading has used up its rows: flow->ended
 *       tells.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_READ_READ_INTERNAL_H
#define THORPE_APP_READ_READ_INTERNAL_H

#include "app/db/dyn.h"
#include "app/read/read.h"

#define READ_MOST_SOURCES 500 /* patterns that one merge runs */
#define READ_MOST_CHUNK   1000
#define READ_MOST_NESTED  8 /* merges of merges */

/* ---- what is known of a pattern before any request (read_kinds.c) ---- */

/* The entities that rows can be of, without reading any; others: companions, too. */
struct read_kinds {
	const struct entity **list;
	size_t count, room;
	bool others;
};

struct read_names {
	const struct name **list;
	size_t count;
};

enum read_time { READ_ANY_TIME, READ_BY_DAY, READ_BY_TIME };

struct read_known {
	struct read_kinds possible;    /* entities that the keys and the filter let through, before `then` */
	const struct entity *expected; /* the only possible one; NULL: several, or companions, too */
	bool mixed;                    /* rows may be of several entities */
	bool asks_caller;              /* two callers may get different answers (operators do in any case) */
	bool row_rule;                 /* the pattern's own rule reads rows */
	bool keeps;                    /* its partition key proves the rule for everywhere (design/isolation.h) */
	bool by_age;                   /* the rank reads `age` */
	enum read_time time;           /* how pages depend on the time of the first one */
	const struct term *filter;     /* the pattern's, with input.x for bare parameters */
	/* of the table and the index, each once: key attributes that `where` fixes by =, and the others */
	struct read_names fixed, open;
	/* QUERY with `without`: attributes to leave out of the projection, and all attributes there are */
	const struct slice *left_out, *projected;
	size_t left_out_count, projected_count;
	/* QUERY of an index with a part of the attributes, by entity: whether rows have all that these rules read.
	 * NULL: they have all attributes */
	struct read_suffices {
		bool list, read, own;
	} * suffices;
};
/* Of an app's pattern from reads_new(), otherwise computed now. */
const struct read_known *read_known(struct run *r, const struct access *access);
/* The rule for a verb; LIST without one has that of READ. */
const struct term *read_rule(const struct entity *e, enum allow_verb verb);
/* The rule that a row must pass besides the pattern's; NULL: none. `past_rules`: as struct pattern. Also rows without a rule
 * of their own, which only lead elsewhere, pass the rule for everywhere. */
const struct term *read_row_rule(const struct entity *e, enum allow_verb verb, bool past_rules);

/* read_depends.c */
bool read_asks_caller(const struct design *d, const struct access *access, struct arena *a);
enum read_time read_time(const struct design *d, const struct access *access);
bool read_term_reads(const struct term *t, const struct name *name);
/* read_kinds.c; `returned`: as the pattern says, otherwise by its keys and filter */
void read_kinds(const struct design *d, const struct access *access, bool returned, struct arena *a,
		struct read_kinds *out);

/* ---- flows (read_page.c) ---- */

/* one call of read_access() or read_each() */
struct reading {
	struct run *r;
	int64_t left;   /* rows that may still be read */
	int64_t now_ms; /* the time of the first page, which defaults and ranks use */
};

struct read_place {
	struct value at; /* query: the last key; absent: the beginning of the partition */
	int64_t step;    /* walk: which partition; rows at hand: how many are before this place */
	/* merge: */
	size_t child;                   /* the part that the row came from … */
	const struct read_place *inner; /* … and its place after the row */
	const struct read_place *before; /* the merge's place before the row, for all other parts. NULL: their beginning */
	const struct read_place *const *all; /* the places of all parts, instead of the three above */
	uint64_t by, key;                    /* hashes of the row's value and key; 0: the row was dropped */
};

struct found {
	struct row shown;
	struct value stored; /* the item that `shown` was made from, with the table's key */
	struct row raw;      /* the row before `then`, which ranks and filters read */
	const struct read_place *place;
};

struct flow;
struct flow_ops {
	/* Pushes about as many rows as wanted; or sets ended; or neither, if no row that was read counts. Moves `now`
	 * when it pushes none. */
	bool (*more)(struct flow *s, size_t want);
	void (*save)(struct flow *s, const struct read_place *p, struct buf *b);
	/* Before the first more(). False: not a saved place; no problem is set. */
	bool (*load)(struct flow *s, struct slice saved);
};

struct flow {
	const struct flow_ops *ops;
	struct reading *g;
	struct found *rows; /* waiting: [head, count) */
	size_t head, count, capacity;
	bool ended;                   /* no rows after those */
	const struct read_place *now; /* NULL: the beginning */
};

void flow_push(struct flow *s, const struct found *row);
bool flow_next(struct flow *s, size_t want, struct found *out, bool *got) MUST_CHECK;
static inline void flow_save(struct flow *s, const struct read_place *p, struct buf *b)
{
	if (p)
		s->ops->save(s, p, b); /* nothing saved: the beginning */
}
static inline bool flow_load(struct flow *s, struct slice saved)
{
	return !saved.n || s->ops->load(s, saved);
}
/* A flow of rows at hand. */
struct flow *flow_of_rows(struct reading *g, struct found *rows, size_t n);
/* Every row; at most as many as may be read. */
bool flow_all(struct flow *s, struct found **rows, size_t *n) MUST_CHECK;

/* ---- a pattern with its parameters (read_pattern.c) ---- */
struct pattern {
	struct reading *g;
	const struct access *access;
	const struct read_known *known; /* of the access pattern */
	const struct row *params;       /* with defaults */
	bool open;                      /* no rules: the caller is an operator, or the runtime itself */
	bool past_rules; /* `shows: all rows`: no rules of rows; items that fit no entity are left out all the same */
	bool row_rule;   /* the pattern's own rule reads rows, so each must pass it besides its entity's rule */
	bool trusted;    /* the runtime itself reads */
	bool shows;      /* read_request.shows */
	bool child;      /* part of a merge */
	bool followed;   /* its rows only lead to others, so that those of an entity without any rule pass */
	bool descending, ordered; /* ordered: by the merge it is part of */
	int depth;
	const struct entity *expected; /* QUERY: known->expected */
};
void pattern_init(struct pattern *p, struct reading *g, const struct access *access, bool trusted);
/* Adds defaults, and finds what is missing: INVALID, or *none if the runtime itself reads and a key needs it. */
bool pattern_params(struct reading *g, const struct access *access, const struct row *given, bool trusted,
		    struct row *out, bool *none) MUST_CHECK;
/* Fills in open, past_rules and row_rule. *may: whether the caller may run the pattern at all. */
bool pattern_allow(struct pattern *p, bool *may) MUST_CHECK;
/* Its answer to those who may not: FORBIDDEN or UNAUTHENTICATED. False. */
bool pattern_refuse(struct run *r);
/* The scope of the pattern's terms; `item` NULL: they read no item. */
struct scope pattern_scope(const struct pattern *p, const struct row *item);
/* Whether a term of the pattern holds for an item; NULL: it does. */
bool pattern_holds(const struct pattern *p, const struct term *t, const struct row *item, bool *out) MUST_CHECK;
/* GET: the key of the item; absent: there can be none. */
bool pattern_key(struct pattern *p, struct value *key) MUST_CHECK;
/* Its rows as they are to be shown; NULL: the problem is set. `p` must live as long. */
struct flow *pattern_open(struct pattern *p);
/* The entity of a row. */
const struct entity *pattern_entity(const struct pattern *p, struct value stored);
/* A row from a stored item; false: the item has expired. */
bool pattern_row(const struct pattern *p, struct value stored, struct found *out);

/* ---- queries ---- */
struct flow *query_open(struct pattern *p);
/* Counted by the database: without expired items and, unless the pattern is open, without items of no possible entity,
 * by the prefixes of the table's key. */
bool query_count(struct pattern *p, int64_t *count) MUST_CHECK;
/* Whether those prefixes tell all such items. */
bool query_can_tell_strangers(const struct pattern *p);
/* The parameters of the i-th partition of a walk. *none: there is none, as the calendar has ended. */
bool walk_params(const struct pattern *p, int64_t step, struct row *out, bool *none) MUST_CHECK;

/* ---- merges ---- */
struct flow *merge_open(struct pattern *p);
/* The patterns that a merge runs, in order. */
struct merge_part {
	struct pattern pattern;
	uint64_t id;        /* a hash of the pattern and its parameters */
	struct value label; /* the number or element it is run for; absent: none */
};
bool merge_parts(struct pattern *p, struct merge_part **parts, size_t *n) MUST_CHECK;
/* Whether no row can come from two parts. */
bool merge_is_disjoint(const struct pattern *p);

/* ---- rules and `then` (read_then.c) ---- */
struct flow *show_open(struct pattern *p, struct flow *raw);
/* Which rules rows must pass. An item that is neither of an entity nor a companion has no rule: only operators see
 * it. */
struct show_question {
	enum allow_verb verb;
	bool of_rows;  /* the rules of the rows' entities */
	bool of_list;  /* the pattern's own, where it reads rows */
	bool followed; /* the rows only lead to others: those of an entity without any rule pass */
	bool whole;    /* the rows have all their attributes */
	bool led;      /* `then` led to them: the key of the query proves nothing about them */
};
/* Keeps the rows that the caller may see, in order; *n is how many. */
bool show_allowed(struct pattern *p, struct found *rows, size_t *n, const struct show_question *q) MUST_CHECK;
/* The key that `then` leads to from a row; absent: none. */
bool then_key(struct pattern *p, const struct found *row, struct value *key) MUST_CHECK;

/* ---- `show` (read_shown.c) ---- */
/* Gives each row its `shown`, if the pattern has `show`. */
bool shown_of_rows(struct pattern *p, struct row *rows, size_t n) MUST_CHECK;

/* ---- shapes ---- */
bool rank_sort(struct pattern *p, struct found *rows, size_t n) MUST_CHECK;
bool shape_batch(struct pattern *p, const struct read_request *q, struct found **rows, size_t *n) MUST_CHECK;
bool shape_counts(struct pattern *p, struct read_result *out) MUST_CHECK;
bool shape_count(struct pattern *p, int64_t *count) MUST_CHECK;
void shape_tree(struct pattern *p, struct read_result *out);
bool shape_unite(struct pattern *p, struct read_result *out) MUST_CHECK;

/* ---- cursors ---- */
struct slice cursor_seal(struct run *r, const struct access *access, const struct row *given, struct slice payload);
/* MALFORMED: not a cursor of this pattern with these parameters. */
bool cursor_open(struct run *r, const struct access *access, const struct row *given, struct slice cursor,
		 struct slice *payload) MUST_CHECK;
bool cursor_malformed(struct run *r);

uint64_t read_hash(struct value v); /* never 0 */

#endif
