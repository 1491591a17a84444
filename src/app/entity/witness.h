/* Other items that a write has read to decide, and the values it has seen.
 *
 * While run->witnesses is set, every term that reads another item (E(…).attribute, exists, visible, and the rows and
 * groups that `caller may` depends on) leaves a note: which item, whether it existed, which attributes were read, and
 * their values. Operands that `and`, `or` and choose() skip leave no note. plan_witnesses() (write_plan.h) turns the
 * notes into conditions, so that the write succeeds only if all of it still holds.
 *
 * Not noted, because DynamoDB has no condition for it: that a query found nothing, or nothing more. So a missing
 * entity with `found by`, and a permission that the caller lacks, are not covered.
 *
 * Lifetime: the run's arena.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_WITNESS_H
#define THORPE_APP_ENTITY_WITNESS_H

#include "app/entity/entity.h"

struct access;

struct witness {
	struct witness *next;
	const struct entity *entity; /* the entity that was looked for; NULL: the row has none */
	struct value key;
	struct value stored; /* what is at the key; absent: nothing */
	bool there;          /* an item of the entity, not expired */
	bool torn;           /* it was read twice, and had changed in between */
	struct row seen;     /* the attributes that were read; an absent value: the item does not have it */
};

/* zero is empty */
struct witnesses {
	struct witness *first, **last;
};

/* Notes that the item was looked for. Returns NULL if the run takes no notes, or no key follows from the identity. */
struct witness *witness_item(struct run *r, const struct entity *e, const struct entity_look *look);
/* Notes that the pattern found the row: the attributes that its conditions read must stay unchanged. */
struct witness *witness_row(struct run *r, const struct access *access, const struct row *row);
/* Notes that an attribute was read. Does nothing if `w` is NULL. */
void witness_reads(struct witness *w, const struct name *n, struct value v);

#endif
