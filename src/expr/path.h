/* Relations between document paths: their order, and which of them cannot be used together.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_PATH_H
#define THORPE_EXPR_PATH_H

#include "expr/expr.h"

/* Indexes before names, indexes by number, names by bytes; a prefix before longer paths. */
int path_cmp(const struct path *x, const struct path *y);
int path_step_cmp(const struct path_step *x, const struct path_step *y);
/* The paths in path_cmp() order, as pointers to them. */
const struct path **path_sorted(struct arena *a, const struct path *paths, size_t n);
/* Refuses paths that overlap (one equals the other or is its prefix) or conflict (an index and a name in the same
 * place). */
bool path_check_apart(struct arena *a, const char *label, const struct path *paths, size_t n,
		      struct error *e) MUST_CHECK;

static inline struct value path_step_get(const struct path_step *s, struct value v)
{
	return s->is_index ? value_at(v, s->index) : value_get(v, s->name);
}

#endif
