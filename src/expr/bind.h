/* Binding: resolves a tree's references to the request's names and values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_BIND_H
#define THORPE_EXPR_BIND_H

#include "base/map.h"
#include "expr/expr.h"
#include "expr/tree.h"

struct expr_bindings {
	struct arena *arena;
	struct expr_cache *cache;
	struct map names;  /* "#x" -> struct bound_name */
	struct map values; /* ":x" -> struct bound_value */
};

struct bound_name {
	struct slice name;
	bool used;
};

struct bound_value {
	struct value value;
	bool used;
};

/* The compilation of one tree. */
struct binder {
	struct expr_bindings *b;
	struct arena *arena;
	const struct tree *tree;
	const char *label;
	struct error *e;
	/* The paths seen, in order of appearance. */
	struct path *paths;
	size_t path_count, path_room;
};

bool binder_init(struct binder *x, struct expr_bindings *b, enum tree_kind kind, const char *label, struct slice text,
		 struct error *e) MUST_CHECK;
/* Errors: too many levels, a name that is not defined. */
bool binder_path(struct binder *x, const struct node *n, struct path *out) MUST_CHECK;
/* As binder_path(), and remembers the path in x->paths. */
bool binder_path_seen(struct binder *x, const struct node *n, struct path *out) MUST_CHECK;
bool binder_value(struct binder *x, const struct node *n, struct value *out) MUST_CHECK;
/* The paths of a list that must not overlap, checked from the last to the first. */
bool binder_paths_apart(struct binder *x, const struct node *const *nodes, size_t n, struct path *out) MUST_CHECK;
/* Errors about an expression's limits; both return false. */
bool expr_refuse_size(struct arena *a, const char *label, size_t size, struct error *e) MUST_CHECK;
bool expr_refuse_operators(struct arena *a, const char *label, struct error *e) MUST_CHECK;
/* The last check: the operator count. */
bool binder_finish(struct binder *x) MUST_CHECK;
/* "Invalid <label>: …" */
bool binder_refuse(struct binder *x, const char *fmt, ...) __attribute__((format(printf, 2, 3))) MUST_CHECK;
/* For an operand of a type that the operator or function does not accept. */
bool binder_refuse_type(struct binder *x, const char *op, const char *type) MUST_CHECK;

#endif
