/* The limits of expressions, each with what sets it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_LIMITS_H
#define THORPE_EXPR_LIMITS_H

/* AWS, "Service, account, and table quotas", expression parameters. */
#define EXPR_SIZE_MAX 4096
#define EXPR_OPERATORS_MAX 300
#define EXPR_IN_OPERANDS_MAX 100
#define EXPR_PLACEHOLDER_MAX 255
#define EXPR_NAME_MAX 65535
/* AWS: attributes nest 32 levels deep. */
#define EXPR_PATH_MAX 32
/* DynamoDB reads a list index into a signed 32-bit integer. */
#define EXPR_INDEX_MAX 2147483647
/* Ours, for the stack: 300 operators, each with a pair of parentheses that is not redundant, stay
 * below it, so what is deeper has too many operators. */
#define EXPR_DEPTH_MAX 640

#endif
