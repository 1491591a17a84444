/* The grammar of conditions, filters and key conditions.
 *
 *   or      := and { OR and }
 *   and     := not { AND not }
 *   not     := NOT not | primary
 *   primary := operand compared | call | ( or ) | ( operand ) compared
 * An opening parenthesis does not tell what it encloses. So inside parentheses a bare operand is accepted if the
 * closing one follows, and the caller must then find a comparison after it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/parser.h"

struct part {
	unsigned node;
	bool parens; /* just a pair of parentheses and its content */
};

static struct part parse_or(struct parser *p, bool bare);

static enum node_kind comparison_kind(enum token_type t)
{
	return (enum node_kind)(NODE_EQ + (t - TOKEN_EQ));
}

static bool is_comparison(enum token_type t)
{
	return (t >= TOKEN_EQ && t <= TOKEN_GE) || t == TOKEN_BETWEEN || t == TOKEN_IN;
}

static unsigned between(struct parser *p, unsigned n)
{
	bool parens;
	unsigned lower = parser_operand_parens(p, &parens), upper;

	if (!lower || !parser_expect(p, TOKEN_AND))
		return 0;
	upper = parser_operand_parens(p, &parens);
	if (!upper)
		return 0;
	p->nodes[p->nodes[n].child].next = (uint16_t)lower;
	p->nodes[lower].next = (uint16_t)upper;
	return n;
}

static unsigned compared(struct parser *p, unsigned left)
{
	enum token_type t = p->now.type;
	enum node_kind kind = t == TOKEN_BETWEEN ? NODE_BETWEEN : t == TOKEN_IN ? NODE_IN : comparison_kind(t);
	unsigned n = parser_join(p, kind, left, 0), right;
	bool parens;

	p->operators++;
	parser_advance(p);
	if (t == TOKEN_BETWEEN)
		return between(p, n);
	if (t == TOKEN_IN)
		right = parser_expect(p, TOKEN_OPEN) ? parser_operands(p) : 0;
	else
		right = parser_operand_parens(p, &parens);
	if (!right)
		return 0;
	p->nodes[left].next = (uint16_t)right;
	return n;
}

static struct part enclosed(struct parser *p)
{
	struct part inner = { 0 };

	if (!parser_enter(p))
		return inner;
	parser_advance(p);
	inner = parse_or(p, true);
	parser_leave(p);
	if (!inner.node || !parser_expect(p, TOKEN_CLOSE))
		return (struct part){ 0 };
	return (struct part){ inner.parens ? parser_redundant(p) : inner.node, true };
}

static struct part primary(struct parser *p, bool bare)
{
	struct part x;
	unsigned kind;

	if (p->now.type == TOKEN_OPEN)
		x = enclosed(p);
	else
		x = (struct part){ parser_operand(p), false };
	if (!x.node)
		return x;
	kind = p->nodes[x.node].kind;
	if (kind != NODE_PATH && kind != NODE_VALUE_REF && kind != NODE_CALL)
		return x;
	if (is_comparison(p->now.type))
		return (struct part){ compared(p, x.node), false };
	if (kind != NODE_CALL && !(bare && p->now.type == TOKEN_CLOSE))
		x.node = parser_syntax_error(p);
	return x;
}

static struct part parse_not(struct parser *p, bool bare)
{
	unsigned n, inner;

	if (p->now.type != TOKEN_NOT)
		return primary(p, bare);
	n = parser_node(p, NODE_NOT);
	p->operators++;
	if (!parser_enter(p))
		return (struct part){ 0 };
	parser_advance(p);
	inner = parse_not(p, false).node;
	parser_leave(p);
	p->nodes[n].child = (uint16_t)inner;
	return (struct part){ inner ? n : 0, false };
}

static struct part parse_and(struct parser *p, bool bare)
{
	struct part x = parse_not(p, bare);

	while (x.node && p->now.type == TOKEN_AND) {
		unsigned right;

		p->operators++;
		parser_advance(p);
		right = parse_not(p, false).node;
		if (!right)
			return (struct part){ 0 };
		x = (struct part){ parser_join(p, NODE_AND, x.node, right), false };
	}
	return x;
}

static struct part parse_or(struct parser *p, bool bare)
{
	struct part x = parse_and(p, bare);

	while (x.node && p->now.type == TOKEN_OR) {
		unsigned right;

		p->operators++;
		parser_advance(p);
		right = parse_and(p, false).node;
		if (!right)
			return (struct part){ 0 };
		x = (struct part){ parser_join(p, NODE_OR, x.node, right), false };
	}
	return x;
}

unsigned parse_condition(struct parser *p)
{
	return parse_or(p, false).node;
}
