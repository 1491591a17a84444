/* The parts of the writer: evaluate one action, one token, one control request on a stage.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_APPLY_H
#define THORPE_TABLE_APPLY_H

#include "table/batch.h"

/* Evaluates the action. True: its writes are staged. False: nothing is, and a->error says why. */
bool apply_action(struct stage *s, struct write_action *a) MUST_CHECK;
/* The capacity of an action already done under the same token: that of reading its item. */
bool apply_replay(struct stage *s, struct write_action *a) MUST_CHECK;

/* ---- index_write.c ---- */
/* One index's part of an item's change. */
struct index_change {
	bool put, remove;
	struct slice new_key, old_key;
	struct value new_entry;
	int64_t items, bytes; /* changes to its counters */
};

struct index_plan {
	struct index_change changes[INDEXES_MAX]; /* by position in table->indexes */
	int64_t local_bytes;                      /* what its LSI entries add to the collection */
};

/* An item before and after; either may be absent. */
struct item_change {
	const struct table *table;
	struct item_key key;
	struct value old, new;
};
/* Computes the plan and adds the indexes' units to *capacity; writes nothing. Errors: INTERNAL. */
bool index_plan(struct stage *s, const struct item_change *c, struct index_plan *plan, struct capacity *capacity,
		struct error *e) MUST_CHECK;
void index_stage(struct stage *s, const struct table *t, const struct index_plan *plan);
/* Adds the item to an index that may lack it, as if there were no old item; *made: it was missing. */
bool index_enter(struct stage *s, const struct index *i, const struct item_change *c, bool *made,
		 struct error *e) MUST_CHECK;

/* ---- tokens.c ---- */
/* *seen: the token was used before with this digest. Errors: IDEMPOTENT_MISMATCH, INTERNAL. */
bool token_check(struct stage *s, const struct write_request *r, bool *seen, struct error *e) MUST_CHECK;
void token_record(struct stage *s, const struct write_request *r);
/* Deletes some expired tokens; *swept: how many. */
bool token_sweep(struct stage *s, size_t *swept, struct error *e) MUST_CHECK;

/* ---- control*.c ---- */
bool control_run(struct stage *s, struct control *c, struct error *e) MUST_CHECK;

#endif
