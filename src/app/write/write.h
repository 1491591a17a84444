/* Writes: each is one DynamoDB request, or one transaction, whose condition says what must still be true.
 *
 * A write reads the item (strongly consistent), computes the new item, and writes it under the condition that every
 * attribute used in the computation is unchanged; otherwise it starts again with the reading, a bounded number of
 * times. Counters are moved with ADD, never set; but an item whose key changes is put under the new key with its
 * counters, so then the condition includes them.
 *
 * The parts of a write (write_plan.h): the item; its old and new companions, compared by key; counts, as differences
 * on their targets; requirements. Actions on the same item are merged, because DynamoDB allows only one. A failed
 * condition is reported by the rule that needs it: EXISTS, TAKEN (with the attribute), NOT_FOUND / INVALID / CONFLICT
 * with the requirement's sentence. A count whose target is gone is dropped, unless the item only starts to count
 * there. An expired item in the place of a new one is removed first, with its companions. After the commit, values
 * derived from counters and copies are updated, and cascades are carried out (keep.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_WRITE_H
#define THORPE_APP_WRITE_WRITE_H

#include "app/entity/entity.h"

struct receipt;

struct write_options {
	struct slice if_match; /* the header: "*", the version's value, or the ETag, or a list of them; empty: none */
	struct slice token;    /* ClientRequestToken; empty: none */
	const struct receipt *receipt; /* records that it was done, instead of the token (receipt.h); NULL: none */
	bool merge;                    /* update: maps in the changes are patches of the existing ones (INPUT_PATCH) */
	struct slice entry; /* with `merge`: the changes set or remove this one member of one map; empty: none */
	bool put;           /* create by PUT on the identity's own path: path parameters are given in `given` */
	/* Update: asked of the item in each try; what it reads is in `still_reads`, and part of the condition. */
	bool (*still)(void *ctx, struct run *r, const struct row *full);
	void *still_ctx;
	const struct name *const *still_reads;
	size_t still_count;
	bool shown; /* the caller wants the item in the reply: the read rule is checked before the commit */
};

/* Which item: the entity's parameters, in their order. */
struct identity {
	const struct entity *entity;
	const struct value *args;
	size_t count;
};

struct write_result {
	struct value full; /* after the write; absent after a deletion or a gathered action */
	bool created;
	bool gathered; /* the action will be written later */
	enum write_shown {
		SHOWN_UNKNOWN,
		SHOWN_YES,
		SHOWN_NO
	} shown; /* whether the caller may read it (write_shown.c) */
};

/* `given`: from input_body(), and the path's parameters. */
bool write_create(struct run *r, const struct entity *e, const struct row *given, const struct write_options *o,
		  struct write_result *out) MUST_CHECK;
bool write_update(struct run *r, const struct identity *of, const struct row *changes, const struct write_options *o,
		  struct write_result *out) MUST_CHECK;
bool write_action(struct run *r, const struct identity *of, const struct action *action, const struct row *given,
		  const struct write_options *o, struct write_result *out) MUST_CHECK;
bool write_delete(struct run *r, const struct identity *of, const struct write_options *o,
		  struct write_result *out) MUST_CHECK;

/* For the runtime itself (cascades, processors): checks no rules. */
/* Removes an item permanently with its companions and counts, whatever `delete` says; a missing item is fine. */
bool write_remove(struct run *r, const struct entity *e, struct value key) MUST_CHECK;
/* For an item that the database has removed by time to live: removes its companions and reverts its counts. Not
 * idempotent: the position must be a rider (dyn.h). *wrote: there was anything to do. */
bool write_remove_traces(struct run *r, const struct entity *e, struct value gone, bool *wrote) MUST_CHECK;
/* Puts an item made of `given` (processors' put), unless it exists already; *made: it did not. */
bool write_put(struct run *r, const struct entity *e, const struct row *given, bool *made) MUST_CHECK;

/* Actions with `gather` wait in memory, per app. Writes those that are due, or everything (`all`, at the end). */
bool write_flush_gathered(struct run *r, bool all) MUST_CHECK;
struct gather *gather_new(void); /* NULL: out of memory */
void gather_free(struct gather *g);

#endif
