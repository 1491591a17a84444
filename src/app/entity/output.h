/* Items as plain JSON. The one way out: what is hidden never passes, what is private only to who may update the item.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_OUTPUT_H
#define THORPE_APP_ENTITY_OUTPUT_H

#include "app/run/run.h"

/* The attributes of an item in the entity's order, then other computed ones that are no key of table or index (entityType);
 * compressed ones as what they were. Binary is base64, sets are arrays, numbers keep all their digits.
 * `tag`: begins with "@type":"Post", for lists of several entities. A row of no entity is a companion or stranger: all of it but
 * the keys of table and indexes, and attributes hidden or (but for operators) private in any entity. `without`: names left out. */
bool output_row(struct run *r, const struct row *item, bool tag, const struct name *const *without,
		size_t without_count, struct buf *b) MUST_CHECK;
/* The same of an item in full form, without a tag and with all names. e NULL: of no entity. */
bool output_item(struct run *r, const struct entity *e, struct value full, struct buf *b) MUST_CHECK;
/* One value as plain JSON. */
void output_value(struct buf *b, struct value v);
/* application/problem+json. */
void output_problem(const struct problem *p, struct buf *b);
/* A strong validator, with its quotes, of the item without its counters and what hangs on them: what If-Match compares when it
 * is not the version's value. */
struct slice output_etag(struct run *r, const struct row *item);

#endif
