/* The limits of expressions, each with its source.
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
/* Ours: the legacy forms have no size limit except the request's 16 MB, and each of these is looked up in every
 * item of a page, or while other writes wait for the writer. For a filter or Expected, it counts conditions and
 * their values together; for AttributeUpdates, ADD and DELETE together. */
#define EXPR_LEGACY_MAX 1000
/* Ours: new values of an update that exceed this in their encoded form cannot fit an item of 400 KB, so there is no
 * need to compute the rest. */
#define EXPR_UPDATE_BYTES_MAX (4 * ITEM_BYTES_MAX)
/* Ours, for the stack: 300 operators, each with a pair of parentheses that is not redundant, stay below it, so a
 * deeper expression has too many operators. */
#define EXPR_DEPTH_MAX 640

#endif
