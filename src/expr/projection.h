/* Compiled projections.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_PROJECTION_H
#define THORPE_EXPR_PROJECTION_H

#include "expr/expr.h"

/* What lies at the paths (in path_cmp() order, apart from each other); VALUE_ABSENT when nothing.
 */
struct value projection_pick(struct arena *a, const struct path *const *sorted, size_t n, struct value item);

#endif
