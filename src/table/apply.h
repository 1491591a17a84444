/* Evaluating one action, one token, one control request on a stage. The writer's pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_APPLY_H
#define THORPE_TABLE_APPLY_H

#include "table/batch.h"

/* Evaluates the action; when it returns true its writes are staged, when false (a->error says why)
 * nothing of it is. */
bool apply_action(struct stage *s, struct write_action *a) MUST_CHECK;
/* The capacity of an action that was done under the same token before: that of reading its item. */
bool apply_replay(struct stage *s, struct write_action *a) MUST_CHECK;

/* ---- index_write.c ---- */
/* What one item's change means for one index. */
struct index_change {
	bool put, remove;
	struct slice new_key, old_key;
	struct value new_entry;
	int64_t items, bytes; /* what its counters gain */
};

struct index_plan {
	struct index_change changes[INDEXES_MAX]; /* by position in table->indexes */
	int64_t local_bytes;                      /* what its LSI entries add to the collection */
};

/* What an item was and becomes; either may be absent. */
struct item_change {
	const struct table *table;
	struct item_key key;
	struct value old, new;
};
/* Works out the plan and adds the indexes' units to *capacity; writes nothing. Errors: INTERNAL. */
bool index_plan(struct stage *s, const struct item_change *c, struct index_plan *plan, struct capacity *capacity,
		struct error *e) MUST_CHECK;
void index_stage(struct stage *s, const struct table *t, const struct index_plan *plan);
/* Enters the new item into an index that may not have it yet, as if there was no old one; *made tells whether it was missing. */
bool index_enter(struct stage *s, const struct index *i, const struct item_change *c, bool *made,
		 struct error *e) MUST_CHECK;

/* ---- tokens.c ---- */
/* *seen: this token was used with this digest. Errors: IDEMPOTENT_MISMATCH, INTERNAL. */
bool token_check(struct stage *s, const struct write_request *r, bool *seen, struct error *e) MUST_CHECK;
void token_record(struct stage *s, const struct write_request *r);
/* Forgets some expired tokens; *swept how many. */
bool token_sweep(struct stage *s, size_t *swept, struct error *e) MUST_CHECK;

/* ---- control*.c ---- */
bool control_run(struct stage *s, struct control *c, struct error *e) MUST_CHECK;

#endif
