/* The grammar that all expressions share, and parsing from text to tree.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "expr/bind.h"
#include "expr/limits.h"
#include "expr/parser.h"

void parser_advance(struct parser *p)
{
	p->before = p->now;
	p->now = p->after;
	p->after = lexer_next(p->text, p->after.end);
}

/* DynamoDB quotes the token and, as "near", its neighbours with the text between them. */
unsigned parser_syntax_error(struct parser *p)
{
	struct token t = p->now;
	struct slice token = t.type == TOKEN_EOF ? SLICE("<EOF>") : slice_make(p->text.p + t.at, t.end - t.at);
	size_t from = p->before.at;
	struct slice near = slice_make(p->text.p + from, p->after.end - from);

	if (!p->failed)
		(void)error_set(p->e, p->arena, ERR_VALIDATION,
				"Invalid %s: Syntax error; token: \"%.*s\", near: \"%.*s\"", p->label, SLICE_ARG(token),
				SLICE_ARG(near));
	p->failed = true;
	return 0;
}

static bool refuse_syntax(struct parser *p, const char *why)
{
	if (!p->failed)
		(void)error_set(p->e, p->arena, ERR_VALIDATION, "Invalid %s: %s", p->label, why);
	p->failed = true;
	return false;
}

unsigned parser_redundant(struct parser *p)
{
	return refuse_syntax(p, "The expression has redundant parentheses;");
}

bool parser_enter(struct parser *p)
{
	if (++p->depth <= EXPR_DEPTH_MAX)
		return true;
	return refuse_syntax(p, "The expression contains too many operators; operator count: 301");
}

void parser_leave(struct parser *p)
{
	p->depth--;
}

bool parser_expect(struct parser *p, enum token_type type)
{
	if (p->failed)
		return false;
	if (p->now.type != type)
		return parser_syntax_error(p);
	parser_advance(p);
	return true;
}

unsigned parser_node(struct parser *p, enum node_kind kind)
{
	GROW_IN(p->arena, p->nodes, p->count, p->room, 64);
	p->nodes[p->count] = (struct node){
		.kind = (uint8_t)kind,
		.at = (uint16_t)p->now.at,
		.len = (uint16_t)(p->now.end - p->now.at),
	};
	return (unsigned)p->count++;
}

void parser_append(struct parser *p, uint16_t *first, uint16_t *last, unsigned node)
{
	if (*last)
		p->nodes[*last].next = (uint16_t)node;
	else
		*first = (uint16_t)node;
	*last = (uint16_t)node;
}

unsigned parser_join(struct parser *p, enum node_kind kind, unsigned child, unsigned next)
{
	unsigned n = parser_node(p, kind);

	p->nodes[n].child = (uint16_t)child;
	if (next)
		p->nodes[child].next = (uint16_t)next;
	return n;
}

static unsigned name(struct parser *p)
{
	unsigned n;

	if (p->now.type != TOKEN_NAME && p->now.type != TOKEN_NAME_REF)
		return parser_syntax_error(p);
	n = parser_node(p, p->now.type == TOKEN_NAME ? NODE_NAME : NODE_NAME_REF);
	parser_advance(p);
	return n;
}

static unsigned index_step(struct parser *p)
{
	unsigned n;

	if (p->now.type != TOKEN_NUMBER)
		return parser_syntax_error(p);
	n = parser_node(p, NODE_INDEX);
	parser_advance(p);
	return parser_expect(p, TOKEN_RBRACKET) ? n : 0;
}

unsigned parser_path(struct parser *p)
{
	unsigned path = parser_node(p, NODE_PATH), step = name(p);
	uint16_t first = 0, last = 0;

	while (step) {
		enum token_type t = p->now.type;

		parser_append(p, &first, &last, step);
		if (t != TOKEN_DOT && t != TOKEN_LBRACKET)
			break;
		parser_advance(p);
		step = t == TOKEN_DOT ? name(p) : index_step(p);
	}
	p->nodes[path].child = first;
	return step ? path : 0;
}

unsigned parser_operands(struct parser *p)
{
	uint16_t first = 0, last = 0;

	for (;;) {
		bool parens;
		unsigned n = parser_operand_parens(p, &parens);

		if (!n)
			return 0;
		parser_append(p, &first, &last, n);
		if (p->now.type != TOKEN_COMMA)
			return parser_expect(p, TOKEN_CLOSE) ? first : 0;
		parser_advance(p);
	}
}

static unsigned call(struct parser *p)
{
	unsigned n = parser_node(p, NODE_CALL), args;

	p->operators++;
	parser_advance(p);
	parser_advance(p);
	if (!parser_enter(p))
		return 0;
	args = parser_operands(p);
	parser_leave(p);
	if (!args)
		return 0;
	p->nodes[n].child = (uint16_t)args;
	return n;
}

unsigned parser_operand(struct parser *p)
{
	unsigned n;

	if (p->now.type == TOKEN_NAME && p->after.type == TOKEN_OPEN)
		return call(p);
	if (p->now.type != TOKEN_VALUE_REF)
		return parser_path(p);
	n = parser_node(p, NODE_VALUE_REF);
	parser_advance(p);
	return n;
}

unsigned parser_operand_parens(struct parser *p, bool *parens)
{
	bool inner;
	unsigned n;

	*parens = p->now.type == TOKEN_OPEN;
	if (!*parens)
		return parser_operand(p);
	if (!parser_enter(p))
		return 0;
	parser_advance(p);
	n = parser_operand_parens(p, &inner);
	parser_leave(p);
	if (!n || !parser_expect(p, TOKEN_CLOSE))
		return 0;
	return inner ? parser_redundant(p) : n;
}

static bool size_is_right(struct parser *p)
{
	if (p->text.n == 0)
		return refuse_syntax(p, "The expression can not be empty;");
	return p->text.n <= EXPR_SIZE_MAX || expr_refuse_size(p->arena, p->label, p->text.n, p->e);
}

static void start(struct parser *p)
{
	p->room = 64;
	p->nodes = arena_alloc(p->arena, p->room * sizeof(*p->nodes));
	p->nodes[0] = (struct node){ 0 }; /* T1 */
	p->count = 1;
	p->now = lexer_next(p->text, 0);
	p->after = lexer_next(p->text, p->now.end);
}

bool expr_parse(struct arena *a, const struct expr_text *x, const struct tree **out, struct error *e)
{
	struct parser p = { .arena = a, .e = e, .label = x->label, .text = x->text };
	struct tree *t;
	unsigned root;

	if (!size_is_right(&p))
		return false;
	start(&p);
	root = x->kind == TREE_CONDITION ? parse_condition(&p)
	       : x->kind == TREE_UPDATE  ? parse_update(&p)
					 : parse_projection(&p);
	if (!root || !parser_expect(&p, TOKEN_EOF))
		return false;
	if (!tree_check(a, x, p.nodes, root, e))
		return false;
	t = arena_new(a, struct tree);
	t->kind = x->kind;
	t->operators = p.operators;
	t->root = (uint16_t)root;
	t->node_count = p.count;
	t->nodes = p.nodes;
	t->text = x->text;
	*out = t;
	return true;
}
