/* Inside of effect.h: one change on its way through one processor. For effect*.c only.
 *
 * Rows of `each` (or of the pattern that `remove all` names) come in pages; a processor without either has one row that is
 * nothing. What a row asks for is gathered into a batch where one action says it all, and written by itself where it means
 * more (companions, counts, requirements). Every write carries the position as it is after the last row in it.
 *
 * Invariants
 *   E1  A row is behind the position exactly when its effect is in the table: both are in one transaction. Only rows that
 *       ask for nothing may be before a position that does not say so.
 *   E2  `page` memory lives from page to page, `run` memory from transaction to transaction; the item, `let` and the
 *       position outlive both.
 *   E3  The time of terms and of new items is the change's, so that a change seen again (replay) makes the same items; what
 *       has expired goes by the clock.
 *   E4  Of transactions that are under way each begins where the one before it ends: none is written unless that one was.
 *       Nothing else is written meanwhile, and no page is read: batches point into it.
 *   E5  What another item decided, a check in the same transaction says again: a put goes through only while all that its entity
 *       requires is so, and a removal of what `lives while` only while something of that is not.
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
	struct row *given;               /* of each put: `with` as it was evaluated */
	struct batch_need *needs;        /* of each put */
	const struct requirement **asks; /* of each check that a put needs; NULL: of one that a removal was decided by */
	struct value *args[EFFECT_MOST_ACTIONS]; /* of each count: the target's identity */
	size_t count, bytes;
	size_t per_row;  /* actions that one more row may add */
	size_t later;    /* checks that each removal may bring when it is decided */
	bool settled;    /* removals have been decided (effect_lives.c) */
	struct map keys; /* of the table -> index + 1 into the list: DynamoDB takes no two actions on one item */
};

/* a transaction that is being written */
struct flight {
	struct run *run;
	struct batch batch;
	struct position now; /* after it */
	struct dyn_started *started;
};

#define EFFECT_FLIGHTS 3 /* so that the writer does not wait for whoever gathers, nor others long for the writer */
struct flights {
	struct flight list[EFFECT_FLIGHTS]; /* in order */
	size_t count;
	struct run *spare[EFFECT_FLIGHTS];
	size_t spare_count;
	bool is_off; /* one has failed: from now on one after the other */
};

struct effect {
	struct run *caller; /* who asks: its arena outlives the effect */
	struct run *page;   /* reads rows */
	struct run *run;    /* writes; cleared from transaction to transaction */
	const struct processor *processor;
	const struct change *change;
	const struct entity *target; /* NULL: REMOVE_ALL */
	struct position *at;
	const _Atomic bool *stop;        /* NULL: never */
	struct row item;                 /* full */
	struct value old;                /* full; absent: none */
	struct term_variable *variables; /* `let`, and the row behind them */
	size_t variable_count;           /* of `let` */
	struct value row_key;            /* of the row at hand; absent: none */
	struct batch batch;
	struct flights *flights; /* NULL: none yet */
	struct buf progress;     /* bytes of at->progress */
	bool wrote;              /* the position has moved */
	size_t riders_before;    /* the checks */
	bool checks_ride;        /* with the position; then a lost rider may be one of them */
	bool decided;            /* of the row at hand: it stays, and the checks that say so wait to be written */
};

/* a page */
struct rows {
	struct row *list;
	size_t count;
	struct slice cursor, next; /* where it began; where the next one does, empty: that was all */
	size_t first;              /* those before it are done */
};

/* What became of a row, or of a write. */
enum row_end { ROW_DONE, ROW_LOST, ROW_FAILED /* run->problem */ };

/* ---- the change (effect_wake.c) ---- */
bool effect_wakes_prepared(struct effect *x, bool *out) MUST_CHECK; /* as effect_wakes(), leaving it prepared if so */
/* What terms see: the item, `let`, and the row unless that is absent. */
struct scope effect_scope(struct effect *x, struct run *r);
/* Terms go by the change's time in between. Returns what to give back. */
int64_t effect_time_enter(struct effect *x, struct run *r);
void effect_time_leave(struct run *r, int64_t was);
/* As read.h: parameters of the pattern are `with`, or the item's attributes of the same names. */
bool effect_params(struct effect *x, struct run *r, const struct access *access, const struct assignment *with,
		   size_t n, struct row *out) MUST_CHECK;

/* ---- rows and the position (effect_rows.c) ---- */
/* Whether the position is inside this very change: then it was woken, whatever `when` would say now. */
bool effect_is_begun(const struct effect *x);
/* The page that the position is in, or the first. */
bool effect_rows_resume(struct effect *x, struct rows *page) MUST_CHECK;
bool effect_rows_next(struct effect *x, struct rows *page) MUST_CHECK;
void effect_row_enter(struct effect *x, const struct row *row); /* NULL: none */
/* The position when `done` rows of the page are. In x->run's arena but for the names. */
struct position effect_position_after(struct effect *x, const struct rows *page, size_t done);
/* Whether that is the end of the change. */
bool effect_position_is_end(const struct rows *page, size_t done);
/* The position goes along with the next write of x->run. */
void effect_position_ride(struct effect *x, const struct position *now);
/* It has been written. */
void effect_position_moved(struct effect *x, const struct position *now);

/* ---- batches (effect_batch.c) ---- */
void effect_batch_init(struct effect *x);
/* As new: between transactions. */
void effect_clear(struct effect *x);
bool effect_batch_is_full(const struct batch *b);
/* NULL: there is an action on that item already; *at: which. */
struct dyn_write *effect_batch_add(struct effect *x, struct value key, size_t *at);
/* Writes it, and the position; both are as new afterwards. */
enum row_end effect_batch_commit(struct effect *x, const struct position *now) MUST_CHECK;
/* Writes the position alone when it is still waiting to go along. */
enum row_end effect_position_flush(struct effect *x, const struct position *now) MUST_CHECK;
/* What a failed write of x->run was. */
enum row_end effect_row_failed(struct effect *x);

/* ---- batches under way (effect_flight.c) ---- */
/* As effect_batch_commit(), without waiting: x->at moves when it lands. */
enum row_end effect_launch(struct effect *x, const struct position *now) MUST_CHECK;
/* Waits for all of them. */
enum row_end effect_land(struct effect *x) MUST_CHECK;

/* ---- effects ---- */
/* Whether the row at hand goes into the batch; otherwise it is written by itself, the position along with it. */
bool effect_batches(struct effect *x, const struct row *row);
bool effect_gather(struct effect *x, const struct row *row) MUST_CHECK;
bool effect_single(struct effect *x, const struct row *row) MUST_CHECK;
/* The i-th action of the batch was refused: *again says whether it stays. */
bool effect_refused(struct effect *x, size_t i, const struct dyn_refusal *refusal, bool *again) MUST_CHECK;

/* ---- what must be so when it is written (effect_lives.c) ---- */
/* Whether what items of the entity require can be checked in a batch. */
bool effect_can_check(const struct entity *e);
/* one requirement of one item */
struct effect_reason {
	const struct requirement *requirement;
	const struct entity *entity; /* of the target */
	struct value key;            /* of the target; absent: there can be none */
};
/* What a new item (full) requires. *lacks: the requirement of which there can be no target; NULL: none is like that. */
bool effect_requires(struct effect *x, const struct row *item, struct effect_reason **out, size_t *n,
		     const struct requirement **lacks) MUST_CHECK;
/* Adds the checks of it to the batch, whose at-th action puts the item. */
bool effect_add_checks(struct effect *x, size_t at, const struct effect_reason *list, size_t n) MUST_CHECK;
/* Reads what the batch would remove: what is not there, and what still lives, stays out of it. To be done before it is written;
 * once is enough. */
bool effect_settle(struct effect *x) MUST_CHECK;
/* The same of one item that is removed by itself: *go says whether; the check rides along. */
bool effect_settle_one(struct effect *x, const struct entity *e, struct value key, bool *go) MUST_CHECK;
/* Whether an item that is put by itself would live; the checks ride along. Not: it has been counted. */
bool effect_put_lives(struct effect *x, const struct row *item, bool *lives) MUST_CHECK;
/* Counts a put that was left out because of a requirement. */
void effect_tell_required(struct effect *x, const struct requirement *q);

/* ---- put (effect_put.c) ---- */
bool effect_put_gather(struct effect *x) MUST_CHECK;
bool effect_put_single(struct effect *x) MUST_CHECK;
/* The item is there: it gets what `with` says of what may change. */
bool effect_put_over(struct effect *x, struct value stored, const struct row *given) MUST_CHECK;

/* Changes an item under a known key; gone is fine. */
bool effect_alter(struct effect *x, const struct entity *e, struct value key, const struct row *changes) MUST_CHECK;

/* Runs `call` without riders: what may be done any number of times, and is not what the position tells of. */
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
