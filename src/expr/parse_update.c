/* The grammar of updates.
 *
 *   update  := section { section }
 *   section := SET path = value { , … } | REMOVE path { , … }
 *            | ADD path :v { , … } | DELETE path :v { , … }
 *   value   := operand [ + operand | - operand ], the whole optionally in parentheses
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/parser.h"

struct part {
	unsigned node;
	bool parens;
};

static struct part value(struct parser *p)
{
	struct part x = { 0 };
	unsigned right;
	bool parens;
	enum node_kind kind;

	if (p->now.type == TOKEN_OPEN) {
		if (!parser_enter(p))
			return x;
		parser_advance(p);
		x = value(p);
		parser_leave(p);
		if (!x.node || !parser_expect(p, TOKEN_CLOSE))
			return (struct part){ 0 };
		if (x.parens)
			return (struct part){ parser_redundant(p), true };
		x.parens = true;
		kind = (enum node_kind)p->nodes[x.node].kind;
		if (kind == NODE_PLUS || kind == NODE_MINUS)
			return x;
	} else {
		x.node = parser_operand(p);
	}
	if (!x.node || (p->now.type != TOKEN_PLUS && p->now.type != TOKEN_MINUS))
		return x;
	kind = p->now.type == TOKEN_PLUS ? NODE_PLUS : NODE_MINUS;
	p->operators++;
	parser_advance(p);
	right = parser_operand_parens(p, &parens);
	if (!right)
		return (struct part){ 0 };
	return (struct part){ parser_join(p, kind, x.node, right), false };
}

static unsigned added_value(struct parser *p)
{
	unsigned n;

	if (p->now.type != TOKEN_VALUE_REF)
		return parser_syntax_error(p);
	n = parser_node(p, NODE_VALUE_REF);
	parser_advance(p);
	return n;
}

static unsigned action(struct parser *p, enum node_kind section)
{
	unsigned path = parser_path(p), operand;

	if (!path || section == NODE_REMOVE)
		return path;
	if (section == NODE_SET)
		operand = parser_expect(p, TOKEN_EQ) ? value(p).node : 0;
	else
		operand = added_value(p);
	return operand ? parser_join(p, NODE_ASSIGN, path, operand) : 0;
}

static enum node_kind section_kind(enum token_type t)
{
	switch (t) {
	case TOKEN_SET: return NODE_SET;
	case TOKEN_REMOVE: return NODE_REMOVE;
	case TOKEN_ADD: return NODE_ADD;
	case TOKEN_DELETE: return NODE_DELETE;
	default: return NODE_NONE;
	}
}

static unsigned section(struct parser *p)
{
	enum node_kind kind = section_kind(p->now.type);
	uint16_t first = 0, last = 0;
	unsigned n;

	if (kind == NODE_NONE)
		return parser_syntax_error(p);
	n = parser_node(p, kind);
	do {
		unsigned x;

		parser_advance(p);
		x = action(p, kind);
		if (!x)
			return 0;
		parser_append(p, &first, &last, x);
	} while (p->now.type == TOKEN_COMMA);
	p->nodes[n].child = first;
	return n;
}

unsigned parse_update(struct parser *p)
{
	unsigned root = parser_node(p, NODE_LIST);
	uint16_t first = 0, last = 0;

	do {
		unsigned n = section(p);

		if (!n)
			return 0;
		parser_append(p, &first, &last, n);
	} while (p->now.type != TOKEN_EOF);
	p->nodes[root].child = first;
	return root;
}
