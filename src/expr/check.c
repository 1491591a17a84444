/* Finds errors in a tree that do not depend on names and values, in order of appearance: unknown or misplaced
 * functions, reserved words, indexes out of range, sections used twice.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/expr.h"
#include "expr/limits.h"
#include "expr/tree.h"

struct checker {
	struct arena *arena;
	struct error *e;
	const char *label;
	struct slice text;
	struct node *nodes;
	enum tree_kind kind;
};

static const char *const func_names[] = {
	[FUNC_ATTRIBUTE_EXISTS] = "attribute_exists",
	[FUNC_ATTRIBUTE_NOT_EXISTS] = "attribute_not_exists",
	[FUNC_ATTRIBUTE_TYPE] = "attribute_type",
	[FUNC_BEGINS_WITH] = "begins_with",
	[FUNC_CONTAINS] = "contains",
	[FUNC_SIZE] = "size",
	[FUNC_IF_NOT_EXISTS] = "if_not_exists",
	[FUNC_LIST_APPEND] = "list_append",
};

static enum func func_find(struct slice name)
{
	for (unsigned f = 1; f < sizeof(func_names) / sizeof(func_names[0]); f++)
		if (slice_is(name, func_names[f]))
			return (enum func)f;
	return FUNC_NONE;
}

static struct slice text_of(const struct checker *c, const struct node *n)
{
	return slice_make(c->text.p + n->at, n->len);
}

static bool refuse_expression(const struct checker *c, const char *what, struct slice which)
{
	return error_set(c->e, c->arena, ERR_VALIDATION, "Invalid %s: %s%.*s", c->label, what, SLICE_ARG(which));
}

static bool check_index(const struct checker *c, struct node *n)
{
	struct slice digits = text_of(c, n);
	uint64_t v = 0;

	for (size_t i = 0; i < digits.n && v <= EXPR_INDEX_MAX; i++)
		v = v * 10 + (uint64_t)(digits.p[i] - '0');
	if (v > EXPR_INDEX_MAX)
		return error_set(c->e, c->arena, ERR_VALIDATION,
				 "Invalid %s: List index is not within the allowable range; index: [%.*s]", c->label,
				 SLICE_ARG(digits));
	n->index = (uint32_t)v;
	return true;
}

static bool check_path(const struct checker *c, const struct node *path)
{
	for (unsigned s = path->child; s; s = c->nodes[s].next) {
		struct node *n = &c->nodes[s];

		if (n->kind == NODE_NAME && expr_is_reserved(text_of(c, n)))
			return refuse_expression(c, "Attribute name is a reserved keyword; reserved keyword: ",
						 text_of(c, n));
		if (n->kind == NODE_INDEX && !check_index(c, n))
			return false;
	}
	return true;
}

enum place { AS_CONDITION, AS_OPERAND, AS_WHOLE_VALUE };

static bool is_misplaced(enum func f, enum tree_kind kind, enum place place)
{
	if (kind == TREE_UPDATE)
		return f == FUNC_LIST_APPEND && place != AS_WHOLE_VALUE;
	return (f == FUNC_SIZE) == (place == AS_CONDITION);
}

static bool check_operand(const struct checker *c, unsigned at, enum place place);

static bool check_call(const struct checker *c, struct node *n, enum place place)
{
	struct slice name = text_of(c, n);
	enum func f = func_find(name);
	bool for_update = f == FUNC_IF_NOT_EXISTS || f == FUNC_LIST_APPEND;

	if (f == FUNC_NONE)
		return refuse_expression(c, "Invalid function name; function: ", name);
	if (for_update && c->kind != TREE_UPDATE)
		return refuse_expression(c, "The function is not allowed in a condition expression; function: ", name);
	if (!for_update && c->kind == TREE_UPDATE)
		return refuse_expression(c, "The function is not allowed in an update expression; function: ", name);
	if (is_misplaced(f, c->kind, place))
		return refuse_expression(c,
					 "The function is not allowed to be used this way in an expression; "
					 "function: ",
					 name);
	n->func = (uint8_t)f;
	for (unsigned x = n->child; x; x = c->nodes[x].next)
		if (!check_operand(c, x, AS_OPERAND))
			return false;
	return true;
}

static bool check_operand(const struct checker *c, unsigned at, enum place place)
{
	struct node *n = &c->nodes[at];

	switch (n->kind) {
	case NODE_PATH: return check_path(c, n);
	case NODE_CALL: return check_call(c, n, place);
	case NODE_PLUS:
	case NODE_MINUS:
		return check_operand(c, n->child, AS_OPERAND) && check_operand(c, c->nodes[n->child].next, AS_OPERAND);
	default: return true;
	}
}

static bool check_condition(const struct checker *c, unsigned at)
{
	struct node *n = &c->nodes[at];
	bool logical = n->kind == NODE_AND || n->kind == NODE_OR || n->kind == NODE_NOT;

	if (n->kind == NODE_CALL)
		return check_call(c, n, AS_CONDITION);
	for (unsigned x = n->child; x; x = c->nodes[x].next)
		if (!(logical ? check_condition(c, x) : check_operand(c, x, AS_OPERAND)))
			return false;
	return true;
}

static bool check_section(const struct checker *c, const struct node *section)
{
	for (unsigned x = section->child; x; x = c->nodes[x].next) {
		const struct node *n = &c->nodes[x];

		if (n->kind == NODE_PATH) {
			if (!check_path(c, n))
				return false;
			continue;
		}
		if (!check_path(c, &c->nodes[n->child]) || !check_operand(c, c->nodes[n->child].next, AS_WHOLE_VALUE))
			return false;
	}
	return true;
}

static bool check_sections(const struct checker *c, unsigned root)
{
	static const char *const names[] = { "SET", "REMOVE", "ADD", "DELETE" };
	bool seen[4] = { false };

	for (unsigned x = c->nodes[root].child; x; x = c->nodes[x].next) {
		unsigned kind = c->nodes[x].kind - NODE_SET;

		/* Errors inside a section take precedence over a repeated section. */
		if (!check_section(c, &c->nodes[x]))
			return false;
		if (seen[kind])
			return error_set(c->e, c->arena, ERR_VALIDATION,
					 "Invalid %s: The \"%s\" section can only be used once in an "
					 "update expression;",
					 c->label, names[kind]);
		seen[kind] = true;
	}
	return true;
}

bool tree_check(struct arena *a, const struct expr_text *text, struct node *nodes, unsigned root, struct error *e)
{
	struct checker c = { a, e, text->label, text->text, nodes, text->kind };

	if (text->kind == TREE_CONDITION)
		return check_condition(&c, root);
	if (text->kind == TREE_UPDATE)
		return check_sections(&c, root);
	for (unsigned x = nodes[root].child; x; x = nodes[x].next)
		if (!check_path(&c, &nodes[x]))
			return false;
	return true;
}
