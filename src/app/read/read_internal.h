/* Inside of read.h: flows of rows, stacked on one another. For read*.c only.
 *
 * A pattern becomes a flow of raw rows (a query, a merge, rows at hand) under a flow that shows them (`then`, rules). Rows
 * are pulled in chunks and handed on one by one; each knows its place, so that reading can go on behind any of them.
 *
 * Invariants
 *   R1  What flow_next() gave last is at flow->now; with nothing given since, `now` is as far as has been looked. Reading
 *       that goes on from `now` repeats nothing and leaves nothing out.
 *   R2  Places never change once made, and live in the arena.
 *   R3  flow_next() gives nothing when the flow has ended, or when the reading has looked at all the rows it may:
 *       flow->ended tells.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_READ_READ_INTERNAL_H
#define THORPE_APP_READ_READ_INTERNAL_H

#include "app/db/dyn.h"
#include "app/read/read.h"

#define READ_MOST_SOURCES 500 /* that one merge runs */
#define READ_MOST_CHUNK   1000
#define READ_MOST_NESTED  8 /* merges of merges */

/* one call */
struct reading {
	struct run *r;
	int64_t left;   /* rows that may still be looked at */
	int64_t now_ms; /* the time of the first page: what defaults and ranks go by */
};

struct read_place {
	struct value at; /* query: the last key; absent: the partition's beginning */
	int64_t step;    /* walk: which partition; rows at hand: how many are behind us */
	/* merge: */
	size_t child;                        /* whose row it was … */
	const struct read_place *inner;      /* … and where that one is now */
	const struct read_place *before;     /* the others: as they were before. NULL: at their beginning */
	const struct read_place *const *all; /* of every child at once, instead of the three above */
	uint64_t by, key;                    /* hashes of the row's value and key; 0: the row was dropped */
};

struct found {
	struct row shown;
	struct value stored; /* with the table's key: what `shown` was made of */
	struct row raw;      /* the row before `then`, which ranks and the like look at */
	const struct read_place *place;
};

struct flow;
struct flow_ops {
	/* Pushes rows, about as many as wanted; or sets ended; or neither, when nothing that was looked at counts. Moves
	 * `now` when it pushes none. */
	bool (*more)(struct flow *s, size_t want);
	void (*save)(struct flow *s, const struct read_place *p, struct buf *b);
	bool (*load)(struct flow *s,
		     struct slice saved); /* before the first more(); false: not one of ours, no problem is set */
};

struct flow {
	const struct flow_ops *ops;
	struct reading *g;
	struct found *rows; /* waiting: [head, count) */
	size_t head, count, capacity;
	bool ended;                   /* nothing comes after those */
	const struct read_place *now; /* NULL: the beginning */
};

void flow_push(struct flow *s, const struct found *row);
bool flow_next(struct flow *s, size_t want, struct found *out, bool *got) MUST_CHECK;
static inline void flow_save(struct flow *s, const struct read_place *p, struct buf *b)
{
	if (p)
		s->ops->save(s, p, b); /* nothing saved is the beginning */
}
static inline bool flow_load(struct flow *s, struct slice saved)
{
	return !saved.n || s->ops->load(s, saved);
}
/* Rows that are at hand. */
struct flow *flow_of_rows(struct reading *g, struct found *rows, size_t n);

/* ---- a pattern with its parameters ---- */
struct pattern {
	struct reading *g;
	const struct access *access;
	const struct row *params; /* with defaults */
	bool open;                /* no rule is asked: an operator, or the runtime itself */
	bool past_rules; /* `shows: all rows`: the rules of rows are not asked; what fits no entity is left out all the same */
	bool row_rule;            /* the pattern's own rule looks at rows, so it is asked of each, besides theirs */
	bool trusted;             /* the runtime itself asks */
	bool child;               /* of a merge */
	bool followed;            /* its rows only lead to others, so that those of an entity without any rule pass */
	bool descending, ordered; /* ordered: the merge it is part of says so */
	int depth;
	const struct entity *expected; /* the only one whose items the keys let through; NULL: not known, or several */
};
/* Defaults, and what is missing: INVALID, or *none when the runtime itself asks for something that cannot be. */
bool pattern_params(struct reading *g, const struct access *access, const struct row *given, bool trusted,
		    struct row *out, bool *none) MUST_CHECK;
/* Fills in open, past_rules and row_rule. *may: whether the caller may run it at all. */
bool pattern_allow(struct pattern *p, bool *may) MUST_CHECK;
/* `full`: the item that terms are about; absent: none. */
struct scope pattern_scope(const struct pattern *p, struct value full);
/* The same of a row as it was before `then`. */
struct scope pattern_scope_raw(const struct pattern *p, const struct found *row);
/* Its rows as they are to be shown; NULL: the problem is set. `p` must live as long. */
struct flow *pattern_open(struct pattern *p);
/* Which entity a row is of. */
const struct entity *pattern_entity(const struct pattern *p, struct value stored);
/* Makes a row of what was read; false: it has expired. */
bool pattern_row(const struct pattern *p, struct value stored, struct found *out);

/* ---- queries ---- */
struct flow *query_open(struct pattern *p);
/* Counted by the database. But for an open pattern without what fits none of the entities: by the prefixes of the table's key. */
bool query_count(struct pattern *p, int64_t *count) MUST_CHECK;
struct read_kinds;
/* Whether that leaves out all it should. */
bool query_can_tell_strangers(const struct pattern *p, const struct read_kinds *kinds);
/* The key of a GET by keys; absent: there can be none. */
bool query_key(struct pattern *p, struct value *key) MUST_CHECK;
/* Parameters of the i-th partition of a walk. */
bool walk_params(const struct pattern *p, int64_t step, struct row *out) MUST_CHECK;

struct flow *merge_open(struct pattern *p);
/* The patterns a merge runs, in order; parts[i].id tells it by its parameters. */
struct merge_part {
	struct pattern pattern;
	uint64_t id;
	struct value label; /* the number or the element it is run for; absent: none */
};
bool merge_parts(struct pattern *p, struct merge_part **parts, size_t *n) MUST_CHECK;
/* Whether no row can come from two parts. */
bool merge_is_disjoint(const struct pattern *p);

struct flow *show_open(struct pattern *p, struct flow *raw);
/* What is asked of rows. An item of no entity, and no companion in form, is for operators alone: no rule speaks of it. */
struct show_question {
	enum allow_verb verb;
	bool of_rows;  /* the rules of the rows' entities */
	bool of_list;  /* the pattern's own, where it looks at rows */
	bool followed; /* they only lead to others: those of an entity without any rule pass */
	bool whole;    /* they have all their attributes */
};
/* Rows that the caller may see stay, in order; *n is how many. */
bool show_allowed(struct pattern *p, struct found *rows, size_t *n, const struct show_question *q) MUST_CHECK;

/* The key that `then` leads to from a row; absent where it leads nowhere. */
bool then_key(struct pattern *p, const struct found *row, struct value *key) MUST_CHECK;

/* ---- shapes ---- */
bool rank_sort(struct pattern *p, struct found *rows, size_t n) MUST_CHECK;
bool shape_batch(struct pattern *p, const struct read_request *q, struct read_result *out) MUST_CHECK;
bool shape_counts(struct pattern *p, struct read_result *out) MUST_CHECK;
bool shape_count(struct pattern *p, int64_t *count) MUST_CHECK;
void shape_tree(struct pattern *p, struct read_result *out);
bool shape_unite(struct pattern *p, struct read_result *out) MUST_CHECK;
/* Every row, at most so many as may be looked at. */
bool flow_all(struct flow *s, struct found **rows, size_t *n) MUST_CHECK;

/* ---- cursors ---- */
struct slice cursor_seal(struct run *r, const struct access *access, const struct row *given, struct slice payload);
/* MALFORMED when it is not one of this pattern with these parameters. */
bool cursor_open(struct run *r, const struct access *access, const struct row *given, struct slice cursor,
		 struct slice *payload) MUST_CHECK;
bool cursor_malformed(struct run *r);

/* Which entities rows can be of, without reading any; others: companions, too. */
struct read_kinds {
	const struct entity **list;
	size_t count;
	bool others;
};
/* What the keys and the filter let through, whatever the pattern says it returns. */
void read_possible(const struct design *d, const struct access *access, struct arena *a, struct read_kinds *out);
void read_kinds(const struct design *d, const struct access *access, struct arena *a, struct read_kinds *out);

/* What of that every reading wants to know. An app's has been found out beforehand (reads_new()). */
struct read_known {
	const struct entity *expected; /* the only one whose items the keys let through; NULL: several, or companions, too */
	bool mixed;                    /* rows may be of several entities */
	bool asks_caller;              /* two callers may get different answers; operators do in any case */
	enum read_time {
		READ_ANY_TIME,
		READ_BY_DAY,
		READ_BY_TIME
	} time; /* how the pages hang on the time of the first one */
};
struct read_known read_known(struct run *r, const struct access *access);
/* read_live_kinds.c */
bool read_asks_caller(const struct design *d, const struct access *access, struct arena *a);
enum read_time read_time(const struct design *d, const struct access *access);

uint64_t read_hash(struct value v);

#endif
