/* Compiled projections.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_PROJECTION_H
#define THORPE_EXPR_PROJECTION_H

#include "expr/expr.h"

/* The parts of the item at the paths, which are in path_cmp() order and do not overlap; VALUE_ABSENT if there are
 * none. */
struct value projection_pick(struct arena *a, const struct path *const *sorted, size_t n, struct value item);

#endif
