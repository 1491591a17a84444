/* Applies updates: computes every new value from the old item, then puts all in place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/limits.h"
#include "expr/projection.h"
#include "expr/update.h"
#include "value/codec.h"

struct applier {
	struct arena *arena;
	struct error *e;
	const struct update *update;
	struct value item;
};

static bool refuse_update(struct applier *x, const char *why)
{
	return error_set(x->e, x->arena, ERR_VALIDATION, "%s", why);
}

static bool refuse_type(struct applier *x)
{
	return refuse_update(x, x->update->legacy ? "Type mismatch for attribute to update"
						  : "An operand in the update expression has an incorrect data type");
}

static struct value append(struct arena *a, struct value x, struct value y)
{
	size_t n = 0;
	struct value *all = arena_array(a, struct value, value_count(x) + value_count(y));
	struct value_iter it = value_iter(x);

	while (value_next(&it))
		all[n++] = it.value;
	it = value_iter(y);
	while (value_next(&it))
		all[n++] = it.value;
	return value_make_list(a, all, n);
}

static bool arithmetic(struct applier *x, bool minus, struct value left, struct value right, struct value *out)
{
	struct number p = value_number(left), q = value_number(right), r;

	if (!(minus ? number_sub(&p, &q, &r, x->arena, x->e) : number_add(&p, &q, &r, x->arena, x->e)))
		return false;
	*out = value_make_n(x->arena, &r);
	return true;
}

static bool evaluate(struct applier *x, const struct source *s, struct value *out);

static bool evaluate_as(struct applier *x, const struct source *s, enum value_type wanted, struct value *out)
{
	return evaluate(x, s, out) && (value_type(*out) == wanted || refuse_type(x));
}

static bool evaluate(struct applier *x, const struct source *s, struct value *out)
{
	enum value_type wanted = s->kind == SOURCE_LIST_APPEND ? VALUE_L : VALUE_N;
	struct value left, right;

	switch (s->kind) {
	case SOURCE_VALUE: *out = s->value; return true;
	case SOURCE_PATH:
		*out = path_get(&s->path, x->item);
		return value_present(*out) ||
		       refuse_update(x, "The provided expression refers to an attribute that does not exist "
					"in the item");
	case SOURCE_IF_NOT_EXISTS:
		/* The second operand must exist even if it is not needed. */
		if (!evaluate(x, s->left, &left))
			return false;
		*out = path_get(&s->path, x->item);
		if (!value_present(*out))
			*out = left;
		return true;
	default: break;
	}
	if (!evaluate_as(x, s->left, wanted, &left) || !evaluate_as(x, s->right, wanted, &right))
		return false;
	if (s->kind != SOURCE_LIST_APPEND)
		return arithmetic(x, s->kind == SOURCE_MINUS, left, right, out);
	*out = append(x->arena, left, right);
	return true;
}

static bool apply_add(struct applier *x, struct value old, struct value v, struct value *out)
{
	*out = v;
	if (!value_present(old))
		return true;
	if (value_type(old) != value_type(v))
		return refuse_type(x);
	if (value_type(v) == VALUE_N)
		return arithmetic(x, false, old, v, out);
	*out = value_type(v) == VALUE_L ? append(x->arena, old, v) : value_set_union(x->arena, old, v);
	return true;
}

static bool subtract(struct applier *x, struct value old, struct value v, struct value *out)
{
	*out = VALUE_ABSENT;
	if (!value_present(old))
		return true;
	if (value_type(old) != value_type(v))
		return refuse_type(x);
	*out = value_set_minus(x->arena, old, v);
	return true;
}

static size_t levels(struct value v)
{
	enum value_type t = value_type(v);
	struct value_iter it;
	size_t most = 0;

	if (t != VALUE_L && t != VALUE_M)
		return 1;
	it = value_iter(v);
	while (value_next(&it)) {
		size_t n = levels(it.value);

		most = n > most ? n : most;
	}
	return 1 + most;
}

static bool edit_of(struct applier *x, size_t i, struct edit *out)
{
	const struct action *a = &x->update->actions[i];
	const struct path *p = &x->update->paths[i];

	*out = (struct edit){ .path = p };
	if (!edit_is_possible(p, x->item))
		return refuse_update(x, "The document path provided in the update expression is invalid for "
					"update");
	switch (a->kind) {
	case ACTION_REMOVE: return true;
	case ACTION_DELETE: return subtract(x, path_get(p, x->item), a->source.value, &out->value);
	case ACTION_ADD:
		if (!apply_add(x, path_get(p, x->item), a->source.value, &out->value))
			return false;
		break;
	case ACTION_SET:
		if (!evaluate(x, &a->source, &out->value))
			return false;
		break;
	}
	if (p->count - 1 + levels(out->value) > VALUE_LEVELS_MAX)
		return refuse_update(x, "Nesting Levels have exceeded supported limits: Attributes in the item "
					"have nested levels beyond supported limit");
	return true;
}

bool update_apply(const struct update *u, struct value item, struct arena *a, struct value *out, struct error *e)
{
	static const enum action_kind order[] = { ACTION_SET, ACTION_REMOVE, ACTION_ADD, ACTION_DELETE };
	struct applier x = { a, e, u, item };
	struct edit *edits = arena_array(a, struct edit, u->count);
	size_t bytes = 0;

	/* Which error comes first does not depend on the order of the sections. */
	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		for (size_t i = 0; i < u->count; i++) {
			if (u->actions[i].kind != order[k])
				continue;
			if (!edit_of(&x, i, &edits[i]))
				return false;
			bytes += edits[i].value.n;
			if (bytes > EXPR_UPDATE_BYTES_MAX)
				return refuse_update(&x, "Item size to update has exceeded the maximum "
							 "allowed size");
		}
	}
	*out = edit_apply(a, item, edits, u->count);
	return true;
}

size_t update_paths(const struct update *u, const struct path **out)
{
	*out = u->paths;
	return u->count;
}

bool update_only_takes(const struct update *u)
{
	for (size_t i = 0; i < u->count; i++)
		if (u->actions[i].kind != ACTION_REMOVE && u->actions[i].kind != ACTION_DELETE)
			return false;
	return true;
}

static size_t count_reads(const struct source *s)
{
	size_t n = s->kind == SOURCE_PATH || s->kind == SOURCE_IF_NOT_EXISTS;

	return n + (s->left ? count_reads(s->left) : 0) + (s->right ? count_reads(s->right) : 0);
}

static void collect_reads(const struct source *s, struct path *out, size_t *n)
{
	if (s->kind == SOURCE_PATH || s->kind == SOURCE_IF_NOT_EXISTS)
		out[(*n)++] = s->path;
	if (s->left)
		collect_reads(s->left, out, n);
	if (s->right)
		collect_reads(s->right, out, n);
}

size_t update_reads(const struct update *u, struct arena *a, const struct path **out)
{
	struct path *paths;
	size_t n = 0;

	for (size_t i = 0; i < u->count; i++)
		if (u->actions[i].kind == ACTION_SET)
			n += count_reads(&u->actions[i].source);
	paths = arena_array(a, struct path, n);
	n = 0;
	for (size_t i = 0; i < u->count; i++)
		if (u->actions[i].kind == ACTION_SET)
			collect_reads(&u->actions[i].source, paths, &n);
	*out = paths;
	return n;
}

static enum value_type known_type(const struct source *s)
{
	switch (s->kind) {
	case SOURCE_VALUE: return value_type(s->value);
	case SOURCE_IF_NOT_EXISTS: return known_type(s->left);
	case SOURCE_LIST_APPEND: return VALUE_L;
	case SOURCE_PLUS:
	case SOURCE_MINUS: return VALUE_N;
	case SOURCE_PATH: break;
	}
	return VALUE_NONE;
}

enum value_type update_known_type(const struct update *u, size_t i)
{
	const struct action *a = &u->actions[i];

	if (u->paths[i].count > 1 || a->kind == ACTION_REMOVE)
		return VALUE_NONE;
	return known_type(&a->source);
}

/* DynamoDB looks up the same paths in either item: after REMOVE l[0], UPDATED_NEW shows the element that moved
 * there; after SET l[99], nothing if the list is shorter. */
struct value update_touched(const struct update *u, struct value item, struct arena *a)
{
	return projection_pick(a, u->sorted, u->count, item);
}
