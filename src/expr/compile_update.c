/* Binds an update's tree to a request's names and values: first every written path, then every value; both from
 * last to first, as DynamoDB does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/bind.h"
#include "expr/path.h"
#include "expr/update.h"

static bool check_operand_type(struct binder *x, const char *op, const struct source *s, enum value_type wanted)
{
	if (s->kind != SOURCE_VALUE || value_type(s->value) == wanted)
		return true;
	return binder_refuse_type(x, op, value_type_name(value_type(s->value)));
}

static bool compile_source(struct binder *x, const struct node *n, struct source *out);

/* Two operands of one type. */
static bool compile_pair(struct binder *x, const char *op, const struct node *n, enum value_type wanted,
			 struct source *out)
{
	struct source *pair = arena_array(x->arena, struct source, 2);
	const struct node *left = tree_node(x->tree, n->child);

	if (!compile_source(x, left, &pair[0]) || !compile_source(x, tree_node(x->tree, left->next), &pair[1]))
		return false;
	out->left = &pair[0];
	out->right = &pair[1];
	return check_operand_type(x, op, &pair[0], wanted) && check_operand_type(x, op, &pair[1], wanted);
}

static bool check_count(struct binder *x, const struct node *n, size_t count)
{
	struct slice name = tree_text(x->tree, n);
	struct source ignored;

	if (count == 2)
		return true;
	for (unsigned c = n->child; c; c = tree_node(x->tree, c)->next)
		if (!compile_source(x, tree_node(x->tree, c), &ignored))
			return false;
	return binder_refuse(x,
			     "Incorrect number of operands for operator or function; operator or "
			     "function: %.*s, number of operands: %zu",
			     SLICE_ARG(name), count);
}

static bool compile_if_not_exists(struct binder *x, const struct node *n, struct source *out)
{
	struct source *pair = arena_array(x->arena, struct source, 2);
	const struct node *first = tree_node(x->tree, n->child);

	if (!compile_source(x, first, &pair[0]) || !compile_source(x, tree_node(x->tree, first->next), &pair[1]))
		return false;
	if (pair[0].kind != SOURCE_PATH)
		return binder_refuse(x, "Operator or function requires a document path; operator or "
					"function: if_not_exists");
	out->path = pair[0].path;
	out->left = &pair[1];
	return true;
}

static bool compile_source(struct binder *x, const struct node *n, struct source *out)
{
	*out = (struct source){ 0 };
	switch ((enum node_kind)n->kind) {
	case NODE_VALUE_REF: out->kind = SOURCE_VALUE; return binder_value(x, n, &out->value);
	case NODE_PATH: out->kind = SOURCE_PATH; return binder_path(x, n, &out->path);
	case NODE_PLUS: out->kind = SOURCE_PLUS; return compile_pair(x, "+", n, VALUE_N, out);
	case NODE_MINUS: out->kind = SOURCE_MINUS; return compile_pair(x, "-", n, VALUE_N, out);
	default: break;
	}
	if (!check_count(x, n, tree_children(x->tree, n)))
		return false;
	if (n->func == FUNC_IF_NOT_EXISTS) {
		out->kind = SOURCE_IF_NOT_EXISTS;
		return compile_if_not_exists(x, n, out);
	}
	out->kind = SOURCE_LIST_APPEND;
	return compile_pair(x, "list_append", n, VALUE_L, out);
}

static const char *long_type_name(enum value_type t)
{
	switch (t) {
	case VALUE_S: return "STRING";
	case VALUE_N: return "NUMBER";
	case VALUE_B: return "BINARY";
	case VALUE_M: return "MAP";
	case VALUE_L: return "LIST";
	case VALUE_BOOL: return "BOOLEAN";
	case VALUE_NULL: return "NULL";
	default: return value_type_name(t);
	}
}

bool update_check_added(struct arena *a, const struct action *action, struct error *e)
{
	const char *op = action->kind == ACTION_ADD ? "ADD" : "DELETE";
	enum value_type t = value_type(action->source.value);

	if (value_type_is_set(t) || (action->kind == ACTION_ADD && t == VALUE_N))
		return true;
	return error_set(
		e, a, ERR_VALIDATION,
		"Invalid UpdateExpression: Incorrect operand type for operator or function; operator: %s, operand type: %s, "
		"typeSet: ALLOWED_FOR_%s_OPERAND",
		op, long_type_name(t), op);
}

/* The tree's actions in order of appearance. */
struct flat {
	const struct node **paths, **sources; /* sources[i] is NULL for REMOVE */
	struct action *actions;
	size_t count;
};

static size_t count_actions(const struct tree *t, const struct node *root)
{
	size_t count = 0;

	for (unsigned s = root->child; s; s = tree_node(t, s)->next)
		count += tree_children(t, tree_node(t, s));
	return count;
}

static void flatten(struct binder *x, struct flat *f)
{
	const struct tree *t = x->tree;
	const struct node *root = tree_node(t, t->root);
	size_t i = 0;

	f->count = count_actions(t, root);
	f->paths = arena_array(x->arena, const struct node *, f->count);
	f->sources = arena_array(x->arena, const struct node *, f->count);
	f->actions = arena_array(x->arena, struct action, f->count);
	for (unsigned s = root->child; s; s = tree_node(t, s)->next) {
		const struct node *section = tree_node(t, s);

		for (unsigned c = section->child; c; c = tree_node(t, c)->next, i++) {
			const struct node *n = tree_node(t, c);

			f->actions[i].kind = (enum action_kind)(section->kind - NODE_SET);
			f->paths[i] = n->kind == NODE_PATH ? n : tree_node(t, n->child);
			if (n->kind == NODE_ASSIGN)
				f->sources[i] = tree_node(t, f->paths[i]->next);
		}
	}
}

static bool compile_sources(struct binder *x, struct flat *f)
{
	for (size_t i = f->count; i-- > 0;) {
		struct action *a = &f->actions[i];

		if (!f->sources[i])
			continue;
		if (!compile_source(x, f->sources[i], &a->source))
			return false;
		if (a->kind != ACTION_SET && !update_check_added(x->arena, a, x->e))
			return false;
	}
	return true;
}

bool update_compile(struct expr_bindings *b, struct slice text, const struct update **out, struct error *e)
{
	struct update *u;
	struct path *paths;
	struct binder x;
	struct flat f;

	if (!binder_init(&x, b, TREE_UPDATE, "UpdateExpression", text, e))
		return false;
	flatten(&x, &f);
	paths = arena_array(b->arena, struct path, f.count);
	if (!binder_paths_apart(&x, f.paths, f.count, paths) || !compile_sources(&x, &f) || !binder_finish(&x))
		return false;
	u = arena_new(b->arena, struct update);
	u->actions = f.actions;
	u->paths = paths;
	u->count = f.count;
	u->sorted = path_sorted(b->arena, paths, f.count);
	*out = u;
	return true;
}
