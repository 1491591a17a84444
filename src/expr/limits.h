/* The limits of expressions, each with what sets it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_LIMITS_H
#define THORPE_EXPR_LIMITS_H

#include "value/limits.h"

/* AWS, "Service, account, and table quotas", expression parameters. */
#define EXPR_SIZE_MAX        4096
#define EXPR_OPERATORS_MAX   300
#define EXPR_IN_OPERANDS_MAX 100
#define EXPR_PLACEHOLDER_MAX 255
#define EXPR_NAME_MAX        ATTRIBUTE_NAME_BYTES_MAX
/* AWS: attributes nest 32 levels deep. */
#define EXPR_PATH_MAX VALUE_LEVELS_MAX
/* DynamoDB reads a list index into a signed 32-bit integer. */
#define EXPR_INDEX_MAX 2147483647
/* Ours: the legacy forms have no size of their own, only the request's 16 MB, and each of these is
 * looked for in every item of a page, or while everybody waits for the writer. Of a filter or
 * Expected, conditions and their values together; of AttributeUpdates, ADD and DELETE together. */
#define EXPR_LEGACY_MAX 1000
/* Ours: new values of an update that are larger, in their encoded form, cannot fit an item of
 * 400 KB, and need not all be made to find that out. */
#define EXPR_UPDATE_BYTES_MAX (4 * ITEM_BYTES_MAX)
/* Ours, for the stack: 300 operators, each with a pair of parentheses that is not redundant, stay
 * below it, so what is deeper has too many operators. */
#define EXPR_DEPTH_MAX 640

#endif
