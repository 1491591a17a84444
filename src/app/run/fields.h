/* The attributes in a request to the table: names and values in a growing array. Lives in its arena. (Items are rows:
 * row.h.)
 *
 * An entry with an absent value means "remove", or "must not exist". fields_get() returns absent for it, and for a
 * missing name; fields_has() tells them apart.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_RUN_FIELDS_H
#define THORPE_APP_RUN_FIELDS_H

#include "value/value.h"

struct fields {
	struct arena *arena;
	struct value_member *list; /* in order of arrival, no name twice */
	size_t count, capacity;
};

void fields_init(struct fields *f, struct arena *a);
struct value fields_get(const struct fields *f, struct slice name);
bool fields_has(const struct fields *f, struct slice name);
void fields_set(struct fields *f, struct slice name, struct value v); /* v absent: an entry without value */
void fields_drop(struct fields *f, struct slice name);                /* no entry at all */

#endif
