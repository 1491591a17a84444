/* What a write has looked at of other items while it was decided.
 *
 * While run->witnesses is set, every term that reads another item (E(…).attribute, exists, visible, the rows and groups that
 * `caller may` rests on) leaves a note: which item, whether it was there, and which of its attributes were read with
 * which values. `and`, `or` and choose() pass over what does not matter, and so nothing is noted of it. plan_witnesses()
 * (write_plan.h) makes conditions of the notes, so that the write happens only while all of it is still so.
 *
 * Not noted, as DynamoDB can hold no condition on it: that a query found nothing, or nothing more. An entity with `found by`
 * that is not there, and a permission that the caller does not have, are of that kind.
 * Lifetime: the run's arena.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_WITNESS_H
#define THORPE_APP_ENTITY_WITNESS_H

#include "app/entity/entity.h"

struct access;

struct witness {
	struct witness *next;
	const struct entity *entity; /* it was looked for as; NULL: a row of no entity */
	struct value key;
	struct value stored; /* what is at the key; absent: nothing */
	bool there;          /* an item of the entity, not expired */
	bool torn;           /* it was read twice, and had changed in between */
	struct row seen;     /* what was read of it; an absent value: the item has no such attribute */
};

/* zero is empty */
struct witnesses {
	struct witness *first, **last;
};

/* Notes that the item was looked for. NULL: no notes are taken, or no key follows from the identity. */
struct witness *witness_item(struct run *r, const struct entity *e, const struct entity_look *look);
/* Notes that a row was found by the pattern: what the pattern's conditions read of it is what has to stay. */
struct witness *witness_row(struct run *r, const struct access *access, const struct row *row);
/* An attribute was read. `w` NULL: nothing is noted. */
void witness_reads(struct witness *w, const struct name *n, struct value v);

#endif
