/* Inside effect.h: one change on its way through one processor. For effect*.c only.
 *
 * The rows of `each` (or of the pattern that `remove all` names) come in pages; a processor without either has one
 * empty row. A row that needs a single action joins a batch; a row that needs more (companions, counts, requirements)
 * is written by itself. Every write carries the position after its last row.
 *
 * Invariants
 *   E1  The stored position is past a row exactly when the row's effect is in the table: both are one transaction. The
 *       position may lag only behind rows without an effect.
 *   E2  `page` memory lives until the next page, `run` memory until the next transaction; the item, `let` and the
 *       position outlive both.
 *   E3  Terms and new items use the change's time, so that a replay makes the same items. Expiry uses the clock.
 *   E4  Each transaction in flight begins where the one before it ends, and is written only if that one was. Meanwhile
 *       nothing else is written and no page is read: batches point into the page.
 *   E5  A decision that depends on another item is checked again in the same transaction: a put only while everything
 *       its entity requires holds, a removal of what `lives while` only while something of that does not.
 *   E6  A processor with several effects takes them one after the other for each row: steps. Effects that are single
 *       actions join one batch, and a batch ends between two rows, unless one row fills it; E1 holds for each step.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_EFFECT_INTERNAL_H
#define THORPE_PROCESS_EFFECT_INTERNAL_H

#include "app/read/read.h"
#include "app/write/write_plan.h"
#include "base/map.h"
#include "process/effect/effect.h"

#define EFFECT_MOST_ACTIONS (DYN_MOST_ACTIONS - 1) /* and the position */
#define EFFECT_MOST_BYTES   (3u << 20)             /* of items in one transaction: DynamoDB takes 4 MB */

/* what a put requires: checks of the same batch */
struct batch_need {
	size_t *list;
	size_t count;
};

struct batch {
	struct dyn_write *list;
	struct row *given;               /* of each put: `with`, evaluated */
	struct batch_need *needs;        /* of each put */
	const struct requirement **asks; /* of each check: the requirement of a put; NULL: it belongs to a removal */
	struct value *args[EFFECT_MOST_ACTIONS]; /* of each count: the target's identity */
	size_t part[EFFECT_MOST_ACTIONS];        /* which effect of the processor each action belongs to */
	size_t count, bytes;
	size_t per_row;  /* actions that one more row may add */
	size_t later;    /* checks that each removal may add when it is decided */
	bool settled;    /* removals have been decided (effect_lives.c) */
	struct map keys; /* of the table -> index + 1 into the list: DynamoDB takes no two actions on one item */
};

/* a transaction in flight */
struct flight {
	struct run *run;
	struct batch batch;
	struct position now; /* after it */
	struct dyn_started *started;
};

#define EFFECT_FLIGHTS 3 /* enough to keep the writer busy, few enough not to delay other writes */
struct flights {
	struct flight list[EFFECT_FLIGHTS]; /* in order */
	size_t count;
	struct run *spare[EFFECT_FLIGHTS];
	size_t spare_count;
	bool is_off; /* one has failed: from now on one at a time */
};

struct effect {
	struct run *caller;                /* its arena outlives the effect */
	struct run *page;                  /* reads rows */
	struct run *run;                   /* writes; cleared from transaction to transaction */
	const struct processor *processor; /* its first effect */
	const struct processor *rule;      /* the effect at hand */
	const struct change *change;
	const struct entity *target; /* of the effect at hand; NULL: REMOVE_ALL */
	struct position *at;
	const _Atomic bool *stop;        /* NULL: never */
	struct row item;                 /* full; of a schedule: empty */
	struct row old;                  /* full; its entity NULL: none */
	struct term_variable *variables; /* `let`, then the row */
	size_t variable_count;           /* of `let` */
	struct value row_key;            /* of the row at hand; absent: none */
	struct batch batch;
	struct flights *flights; /* NULL: none yet */
	struct buf progress;     /* bytes of at->progress */
	bool wrote;              /* the position has moved */
	size_t riders_before;    /* the checks */
	bool checks_ride;        /* they ride with the position, so a lost rider may be one of them */
	bool collides; /* the action cannot be in one transaction with what has been gathered: that is written first */
	bool decided;  /* the row stays, and the checks that say so wait to be written */
};

/* A page. Each row takes a step for each effect of the processor. */
struct rows {
	struct row *list;
	size_t count, steps;
	struct slice cursor, next; /* this page's cursor; the next page's, empty at the end */
	size_t first;              /* earlier steps are done */
};

/* What became of a row, or of a write. */
enum row_end { ROW_DONE, ROW_LOST, ROW_FAILED /* run->problem */ };

/* ---- the change (effect_wake.c) ---- */
bool effect_wakes_prepared(struct effect *x, bool *out) MUST_CHECK; /* as effect_wakes(); if it wakes, x is prepared */
/* What terms see: the item, `let`, and the row if there is one. */
struct scope effect_scope(struct effect *x, struct run *r);
/* Between the two, terms use the change's time. Enter returns what leave takes. */
int64_t effect_time_enter(struct effect *x, struct run *r);
void effect_time_leave(struct run *r, int64_t was);
/* The pattern's parameters: `with`, or without it the item's attributes of the same names. */
bool effect_params(struct effect *x, struct run *r, const struct access *access, const struct assignment *with,
		   size_t n, struct row *out) MUST_CHECK;

/* ---- rows and the position (effect_rows.c) ---- */
/* Whether the position is inside this change: then it has begun. */
bool effect_is_begun(const struct effect *x);
/* Reads the page of the position, or the first. */
bool effect_rows_resume(struct effect *x, struct rows *page) MUST_CHECK;
bool effect_rows_next(struct effect *x, struct rows *page) MUST_CHECK;
/* Sets the row that terms see under the name of `each` (in the last variable), and its key. NULL: no row. */
void effect_row_enter(struct effect *x, const struct row *row);
/* The i-th effect of the processor is at hand. */
void effect_part_enter(struct effect *x, size_t i);
static inline size_t effect_part(const struct effect *x)
{
	return (size_t)(x->rule - x->processor);
}
/* The position after `done` steps of the page. In x->run's arena, except the names. */
struct position effect_position_after(struct effect *x, const struct rows *page, size_t done);
/* Whether the position is then the end of the change. */
bool effect_position_is_end(const struct rows *page, size_t done);
/* The position rides with the next write of x->run. */
void effect_position_ride(struct effect *x, const struct position *now);
/* Call when the position has been written. */
void effect_position_moved(struct effect *x, const struct position *now);

/* ---- batches (effect_batch.c) ---- */
/* Resets x between transactions. */
void effect_clear(struct effect *x);
bool effect_batch_is_full(const struct batch *b);
/* Whether the batch has an action on that item, at *at. */
bool effect_batch_find(struct effect *x, struct value key, size_t *at);
/* Drops all actions from the mark-th on. */
void effect_batch_back(struct effect *x, size_t mark);
/* Keeps the actions that stay. */
void effect_batch_keep(struct effect *x, const bool *stays);
/* NULL: the batch has an action on that item already, at *at; x->collides: it is another effect's, or the batch has no
 * action on the item and is full. */
struct dyn_write *effect_batch_add(struct effect *x, struct value key, size_t *at);
/* Writes the batch and the position, then resets. */
enum row_end effect_batch_commit(struct effect *x, const struct position *now) MUST_CHECK;
/* Writes the position alone if it has not ridden with a write. */
enum row_end effect_position_flush(struct effect *x, const struct position *now) MUST_CHECK;
/* Classifies a failed write of x->run. */
enum row_end effect_row_failed(struct effect *x);

/* ---- batches in flight (effect_flight.c) ---- */
/* As effect_batch_commit(), without waiting: x->at moves when it lands. */
enum row_end effect_launch(struct effect *x, const struct position *now) MUST_CHECK;
/* Waits for all of them. */
enum row_end effect_land(struct effect *x) MUST_CHECK;

/* ---- effects ---- */
/* Whether the effect's own `when` holds for the row. */
bool effect_is_wanted(struct effect *x, bool *out) MUST_CHECK;
/* Whether the row joins the batch; otherwise it is written by itself, with the position. */
bool effect_batches(struct effect *x, const struct row *row);
bool effect_gather(struct effect *x, const struct row *row) MUST_CHECK;
bool effect_single(struct effect *x, const struct row *row) MUST_CHECK;
/* The i-th action of the batch was refused. *again: it stays, and is tried again. */
bool effect_refused(struct effect *x, size_t i, const struct dyn_refusal *refusal, bool *again) MUST_CHECK;

/* ---- what must hold when it is written (effect_lives.c) ---- */
/* Whether the requirements of the entity's items can be checked in a batch. */
bool effect_can_check(const struct entity *e);
/* one requirement of one item */
struct effect_reason {
	const struct requirement *requirement;
	const struct entity *entity; /* of the target */
	struct value key;            /* of the target; absent: no target is possible */
};
/* The requirements of a new item (full). *lacks: one that cannot have a target; NULL: none. */
bool effect_requires(struct effect *x, const struct row *item, struct effect_reason **out, size_t *n,
		     const struct requirement **lacks) MUST_CHECK;
/* Adds their checks to the batch, whose at-th action puts the item. */
bool effect_add_checks(struct effect *x, size_t at, const struct effect_reason *list, size_t n) MUST_CHECK;
/* Reads the items that the batch would remove, and leaves out those that do not exist or still live. Before writing;
 * once per batch. */
bool effect_settle(struct effect *x) MUST_CHECK;
/* The same for an item that is removed by itself: *go says whether; the check rides along. */
bool effect_settle_one(struct effect *x, const struct entity *e, struct value key, bool *go) MUST_CHECK;
/* Whether an item that is put by itself would live; the checks ride along. If not, it has been counted. */
bool effect_put_lives(struct effect *x, const struct row *item, bool *lives) MUST_CHECK;
/* Counts a put that a requirement prevented. */
void effect_tell_required(struct effect *x, const struct requirement *q);

/* ---- put (effect_put.c) ---- */
bool effect_put_gather(struct effect *x) MUST_CHECK;
bool effect_put_single(struct effect *x) MUST_CHECK;
/* The item exists: sets the attributes of `with` that may change. */
bool effect_put_over(struct effect *x, struct value stored, const struct row *given) MUST_CHECK;

/* Whether an effect may change the attribute of an existing item. */
bool effect_may_change(const struct entity *e, const struct attribute *a);
/* Removes an expired item before a put. The put would write the position together with that removal, and a crash after
 * it would lose the put. */
bool effect_clear_expired(struct run *r, const struct entity *e, struct value key) MUST_CHECK;
/* Whether a put is to be left out for run->problem; then there is none any more. `is_made`: the item was complete, so the
 * problem is about other items; `lacks`: a term was absent. */
bool effect_is_skipped(struct run *r, const struct entity *e, bool is_made, bool lacks);

/* ---- upsert (effect_upsert.c) ---- */
/* Creates or changes the item with this identity, whose key is given. */
bool effect_upsert(struct effect *x, const struct value *args, struct value key) MUST_CHECK;

/* Changes the item at a key; a missing one is counted. */
bool effect_alter(struct effect *x, const struct entity *e, struct value key, const struct row *changes) MUST_CHECK;

/* Runs `call` without riders: for writes that may be repeated and that the position does not cover. */
#define WITHOUT_RIDERS(r, call)                                      \
	do {                                                         \
		const struct dyn_write *const riders_ = (r)->riders; \
		const size_t rider_count_ = (r)->rider_count;        \
		(r)->riders = NULL;                                  \
		(r)->rider_count = 0;                                \
		call;                                                \
		(r)->riders = riders_;                               \
		(r)->rider_count = rider_count_;                     \
	} while (0)

#endif
