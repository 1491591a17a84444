/* Shapes that several operations share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_SHAPE_SHAPE_COMMON_H
#define THORPE_API_SHAPE_SHAPE_COMMON_H

#include "api/shape/shape.h"

extern const struct shape shape_string;
extern const struct shape shape_attribute_name; /* up to 65535 */
extern const struct shape shape_boolean;
extern const struct shape shape_attribute_value;
extern const struct shape shape_item;            /* Map<AttributeValue> */
extern const struct shape shape_key_map;         /* the same, inside a list */
extern const struct shape shape_attribute_names; /* ExpressionAttributeNames */
extern const struct shape shape_attributes_to_get;
extern const struct shape shape_table_name;     /* of item operations: 1 to 255, or an ARN */
extern const struct shape shape_new_table_name; /* of table operations: 3 to 255, or an ARN */
extern const struct shape shape_index_name;
extern const struct shape shape_return_capacity;
extern const struct shape shape_return_metrics;
extern const struct shape shape_return_values;
extern const struct shape shape_return_on_failure;
extern const struct shape shape_conditional_operator;
extern const struct shape shape_select;
extern const struct shape shape_expected;   /* Map<ExpectedAttributeValue> */
extern const struct shape shape_conditions; /* Map<Condition>: KeyConditions, filters */
extern const struct shape shape_limit;      /* at least 1 */

bool shape_is_name(struct slice s);        /* [a-zA-Z0-9_.-]+ */
bool shape_is_name_or_arn(struct slice s); /* the same, or arn:… */
#define NAME_PATTERN "[a-zA-Z0-9_.-]+"

#endif
