/* Items as plain JSON. Every reply shows items through this header: it omits hidden attributes, and shows private
 * ones only to callers who may update the item.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_OUTPUT_H
#define THORPE_APP_ENTITY_OUTPUT_H

#include "app/run/run.h"

/* Appends an item: its attributes in the entity's order, then computed attributes that are no keys (entityType).
 * Compressed attributes are shown as their JSON, binary as base64, sets as arrays, numbers with all their digits.
 * `tag`: begins with "@type":"Post", for lists of several entities. `without`: names to omit. A row without an entity
 * is a companion or a stranger: shows all but keys and the attributes that are hidden or (except to operators)
 * private in any entity. False: a rule about private attributes failed; the run has the problem. */
bool output_row(struct run *r, const struct row *item, bool tag, const struct name *const *without,
		size_t without_count, struct buf *b) MUST_CHECK;
/* The same for a full item, without a tag and with all names. e NULL: it has no entity. */
bool output_item(struct run *r, const struct entity *e, struct value full, struct buf *b) MUST_CHECK;
/* One value as plain JSON. */
void output_value(struct buf *b, struct value v);
/* application/problem+json. */
void output_problem(const struct problem *p, struct buf *b);
/* A strong validator, with its quotes, of everything in the item except counters and what depends on them. If-Match
 * compares it, unless the header has the version's value. */
struct slice output_etag(struct run *r, const struct row *item);

#endif
