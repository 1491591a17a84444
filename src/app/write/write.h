/* Writes: each is one DynamoDB request, or one transaction, and says in advance what must still be true.
 *
 * A write reads the item (strongly consistent), makes what it would become, and asks for it under the condition that
 * every attribute the making looked at is still the same; if not, it is done again from the reading, a bounded number of
 * times. Counters are moved with ADD, never set; an item whose key moves is put under the new key with its counters, so
 * then they are in the condition, too.
 *
 * What one write is made of (write_plan.h): the item; its companions old and new, compared by key; counts as differences
 * on their targets; requirements. Actions on one item are merged into one, for DynamoDB takes no two. A refused condition is
 * told in the words of whoever asked for it: EXISTS, TAKEN (with the attribute), NOT_FOUND / INVALID / CONFLICT with the
 * requirement's sentence. A count whose target is gone is let go, unless the item only starts to count there. What has
 * expired where a new item is to be goes first, with its companions.
 * After the commit, what hangs on counters and copies is brought after it, and cascades are carried out (keep.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_WRITE_H
#define THORPE_APP_WRITE_WRITE_H

#include "app/entity/entity.h"

struct receipt;

struct write_options {
	struct slice if_match; /* the header; empty: none. "*", the version's value, or the ETag; a list of them */
	struct slice token;    /* ClientRequestToken; empty: none */
	const struct receipt *receipt; /* notes that it was done, in place of the token (receipt.h); NULL: none */
	bool merge; /* update: maps among the changes are patches of those that are there (INPUT_PATCH) */
	bool put;   /* create by PUT on the identity's own path: path parameters are given in `given` */
	bool shown; /* the caller wants to see the item: whether that is allowed is found out before the commit */
};

/* Which item: the entity's parameters, in their order. */
struct identity {
	const struct entity *entity;
	const struct value *args;
	size_t count;
};

struct write_result {
	struct value full; /* as it is now; absent after a deletion or a gathered action */
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

/* For the runtime itself (cascades, processors): no rules are asked. */
/* Removes an item for good with its companions and counts, whatever `delete` says; gone already is fine. */
bool write_remove(struct run *r, const struct entity *e, struct value key) MUST_CHECK;
/* The item has been removed by the database, whose time to live knows nothing of designs: takes its companions away and its
 * counts back. Not idempotent: the position rides along (dyn.h). *wrote: there was anything to do. */
bool write_remove_traces(struct run *r, const struct entity *e, struct value gone, bool *wrote) MUST_CHECK;
/* Puts an item made of `given` (processors' put): one that is there already stays as it is, *made says which. */
bool write_put(struct run *r, const struct entity *e, const struct row *given, bool *made) MUST_CHECK;

/* Actions with `gather` wait in memory, per app. Writes what has waited long enough, or everything (`all`, at the end). */
bool write_flush_gathered(struct run *r, bool all) MUST_CHECK;
struct gather *gather_new(void); /* NULL: out of memory */
void gather_free(struct gather *g);

#endif
