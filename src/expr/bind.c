/* ExpressionAttributeNames and -Values, and binding trees to them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/bind.h"
#include "base/grow.h"
#include "expr/limits.h"
#include "expr/path.h"
#include "value/codec.h"

#define NAMES  "ExpressionAttributeNames"
#define VALUES "ExpressionAttributeValues"

static bool is_placeholder(struct slice key, char sigil)
{
	if (key.n < 2 || key.p[0] != sigil)
		return false;
	for (size_t i = 1; i < key.n; i++) {
		char c = key.p[i];
		char lower = (char)(c | 0x20);

		if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '_')
			return false;
	}
	return true;
}

static bool check_key(struct arena *a, const char *map, struct slice key, char sigil, struct error *e)
{
	if (key.n > EXPR_PLACEHOLDER_MAX)
		return error_set(e, a, ERR_VALIDATION,
				 "%s contains invalid key: The expression attribute map contains a "
				 "key that is too long; size of key: %zu",
				 map, key.n);
	if (!is_placeholder(key, sigil))
		return error_set(e, a, ERR_VALIDATION, "%s contains invalid key: Syntax error; key: \"%.*s\"", map,
				 SLICE_ARG(key));
	return true;
}

static bool check_map(struct arena *a, const char *map, const struct json *j, char sigil, struct error *e)
{
	if (!json_is(j, JSON_OBJECT))
		return error_set(e, a, ERR_SERIALIZATION, "Unexpected field type");
	if (j->count == 0)
		return error_set(e, a, ERR_VALIDATION, "%s must not be empty", map);
	for (uint32_t i = 0; i < j->count; i++)
		if (!check_key(a, map, j->members[i].name, sigil, e))
			return false;
	return true;
}

static void bind_name(struct expr_bindings *b, struct slice placeholder, struct slice name)
{
	struct bound_name *n = arena_new(b->arena, struct bound_name);

	n->name = name;
	map_set(&b->names, placeholder, n);
}

static void bind_value(struct expr_bindings *b, struct slice placeholder, struct value v)
{
	struct bound_value *bound = arena_new(b->arena, struct bound_value);

	bound->value = v;
	map_set(&b->values, placeholder, bound);
}

static bool add_name(struct expr_bindings *b, const struct json_member *m, struct error *e)
{
	struct slice name;

	if (m->value.type != JSON_STRING)
		return error_set(e, b->arena, ERR_SERIALIZATION, "Unexpected value type in payload");
	name = m->value.string;
	if (name.n == 0)
		return error_set(e, b->arena, ERR_VALIDATION,
				 NAMES " contains invalid value: Empty attribute name for key %.*s", SLICE_ARG(m->name));
	if (name.n > EXPR_NAME_MAX)
		return error_set(e, b->arena, ERR_VALIDATION,
				 NAMES " contains invalid value: Attribute name is too large, must be "
				       "less than 65536 bytes for key %.*s",
				 SLICE_ARG(m->name));
	bind_name(b, m->name, name);
	return true;
}

static bool add_value(struct expr_bindings *b, const struct json_member *m, struct error *e)
{
	struct value v;

	if (!value_from_json(b->arena, &m->value, &v, e)) {
		if (e->code != ERR_VALIDATION)
			return false;
		return error_set(e, b->arena, ERR_VALIDATION, VALUES " contains invalid value: %.*s for key %.*s",
				 SLICE_ARG(e->message), SLICE_ARG(m->name));
	}
	bind_value(b, m->name, v);
	return true;
}

bool expr_bindings_new(struct arena *a, struct expr_cache *cache, const struct json *names, const struct json *values,
		       struct expr_bindings **out, struct error *e)
{
	struct expr_bindings *b = arena_new(a, struct expr_bindings);

	b->arena = a;
	b->cache = cache;
	map_init(&b->names, a);
	map_init(&b->values, a);
	if (names) {
		if (!check_map(a, NAMES, names, '#', e))
			return false;
		for (uint32_t i = 0; i < names->count; i++)
			if (!add_name(b, &names->members[i], e))
				return false;
	}
	if (values) {
		if (!check_map(a, VALUES, values, ':', e))
			return false;
		for (uint32_t i = 0; i < values->count; i++)
			if (!add_value(b, &values->members[i], e))
				return false;
	}
	*out = b;
	return true;
}

static bool refuse_unused(struct arena *a, const char *map, struct buf *keys, struct error *e)
{
	return error_set(e, a, ERR_VALIDATION, "Value provided in %s unused in expressions: keys: {%.*s}", map,
			 SLICE_ARG(buf_slice(keys)));
}

static void add_unused(struct buf *keys, struct slice key)
{
	if (keys->n)
		buf_lit(keys, ", ");
	buf_put(keys, key);
}

bool expr_bindings_check_used(const struct expr_bindings *b, struct error *e)
{
	struct buf keys;

	buf_init(&keys, b->arena);
	for (size_t i = 0; i < b->names.n; i++)
		if (!((const struct bound_name *)b->names.entries[i].value)->used)
			add_unused(&keys, b->names.entries[i].key);
	if (keys.n)
		return refuse_unused(b->arena, NAMES, &keys, e);
	for (size_t i = 0; i < b->values.n; i++)
		if (!((const struct bound_value *)b->values.entries[i].value)->used)
			add_unused(&keys, b->values.entries[i].key);
	return keys.n == 0 || refuse_unused(b->arena, VALUES, &keys, e);
}

bool binder_init(struct binder *x, struct expr_bindings *b, enum tree_kind kind, const char *label, struct slice text,
		 struct error *e)
{
	struct expr_text given = { kind, label, text };

	*x = (struct binder){ .b = b, .arena = b->arena, .label = label, .e = e };
	return expr_cache_parse(b->cache, b->arena, &given, &x->tree, e);
}

bool binder_refuse(struct binder *x, const char *fmt, ...)
{
	va_list ap;
	struct slice why;

	va_start(ap, fmt);
	why = arena_vprintf(x->arena, fmt, ap);
	va_end(ap);
	return error_set(x->e, x->arena, ERR_VALIDATION, "Invalid %s: %.*s", x->label, SLICE_ARG(why));
}

bool binder_refuse_type(struct binder *x, const char *op, const char *type)
{
	return binder_refuse(x,
			     "Incorrect operand type for operator or function; operator or function: "
			     "%s, operand type: %s",
			     op, type);
}

bool binder_path(struct binder *x, const struct node *n, struct path *out)
{
	size_t count = tree_children(x->tree, n), i = 0;
	struct path_step *steps;

	if (count > EXPR_PATH_MAX)
		return binder_refuse(x, "The document path has too many nesting levels; nesting levels: %zu", count);
	steps = arena_array(x->arena, struct path_step, count);
	for (unsigned s = n->child; s; s = tree_node(x->tree, s)->next, i++) {
		const struct node *step = tree_node(x->tree, s);
		struct bound_name *bound;

		steps[i].is_index = step->kind == NODE_INDEX;
		steps[i].index = step->index;
		steps[i].name = tree_text(x->tree, step);
		if (step->kind != NODE_NAME_REF)
			continue;
		bound = map_get(&x->b->names, steps[i].name);
		if (!bound)
			return binder_refuse(x,
					     "An expression attribute name used in the document path is "
					     "not defined; attribute name: %.*s",
					     SLICE_ARG(steps[i].name));
		bound->used = true;
		steps[i].name = bound->name;
	}
	*out = (struct path){ steps, count };
	return true;
}

bool binder_path_seen(struct binder *x, const struct node *n, struct path *out)
{
	if (!binder_path(x, n, out))
		return false;
	GROW_IN(x->arena, x->paths, x->path_count, x->path_room, 4);
	x->paths[x->path_count++] = *out;
	return true;
}

bool binder_value(struct binder *x, const struct node *n, struct value *out)
{
	struct slice key = tree_text(x->tree, n);
	struct bound_value *bound = map_get(&x->b->values, key);

	if (!bound)
		return binder_refuse(x,
				     "An expression attribute value used in expression is not defined; "
				     "attribute value: %.*s",
				     SLICE_ARG(key));
	bound->used = true;
	*out = bound->value;
	return true;
}

bool expr_refuse_size(struct arena *a, const char *label, size_t size, struct error *e)
{
	return error_set(e, a, ERR_VALIDATION,
			 "Invalid %s: Expression size has exceeded the maximum allowed size; expression size: %zu",
			 label, size);
}

bool expr_refuse_operators(struct arena *a, const char *label, struct error *e)
{
	return error_set(e, a, ERR_VALIDATION,
			 "Invalid %s: The expression contains too many operators; operator count: %d", label,
			 EXPR_OPERATORS_MAX + 1);
}

bool binder_finish(struct binder *x)
{
	return x->tree->operators <= EXPR_OPERATORS_MAX || expr_refuse_operators(x->arena, x->label, x->e);
}

/* DynamoDB resolves the last path first and compares each with those after it. So a conflict between two later
 * paths takes precedence over an error in an earlier path. */
bool binder_paths_apart(struct binder *x, const struct node *const *nodes, size_t n, struct path *out)
{
	struct error later = { 0 };

	for (size_t i = n; i-- > 0;) {
		if (binder_path(x, nodes[i], &out[i]))
			continue;
		if (!path_check_apart(x->arena, x->label, out + i + 1, n - i - 1, &later))
			*x->e = later;
		return false;
	}
	return path_check_apart(x->arena, x->label, out, n, x->e);
}
