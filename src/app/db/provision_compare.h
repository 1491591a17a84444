/* Compares a table's description (DescribeTable's `Table`) with a design. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_PROVISION_COMPARE_H
#define THORPE_APP_DB_PROVISION_COMPARE_H

#include "design/design.h"

/* `schema` is the KeySchema of the table itself or of one of its indexes. Types are compared, too. */
bool provision_same_key(const struct json *table, const struct json *schema, const struct key_schema *want);
bool provision_same_projection(const struct json *projection, const struct design_index *want);
/* The description of a global secondary index; NULL: the table has none of this name. */
const struct json *provision_index_in(const struct json *table, struct slice name);
/* The type that the table's definitions give an attribute ("S"); empty: it is in no key. */
struct slice provision_type_in(const struct json *table, struct slice attribute);

#endif
