/* A name used in a design, for attributes, keys, parameters and variables alike: one struct per text.
 *
 * The loader numbers them. Names of one design are compared by address, and the number leads to a slot (slots.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_NAME_H
#define THORPE_DESIGN_NAME_H

#include "base/slice.h"

struct key_attr;

struct name {
	uint32_t id; /* from 0, without gaps */
	struct slice text;
	const struct key_attr *key; /* of the table or of an index (table/schema.h); NULL: no key */
	bool of_table;              /* of the table's own key */
};

static inline bool names_among(const struct name *const *list, size_t count, const struct name *n)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == n)
			return true;
	return false;
}

#endif
