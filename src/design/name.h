/* A name of a design: an attribute, a key, a parameter or a variable, once for all that are called so.
 *
 * The loader numbers them. Whoever holds a `struct name` has no name to compare any more: two of one design are the same if their
 * addresses are, and the number leads to a slot (slots.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_NAME_H
#define THORPE_DESIGN_NAME_H

#include "base/slice.h"

struct key_attr;

struct name {
	uint32_t id; /* from 0, without gaps */
	struct slice text;
	const struct key_attr *key; /* of the table or of an index (table/schema.h); NULL: it is no key */
	bool of_table;              /* of the table's own */
};

#endif
