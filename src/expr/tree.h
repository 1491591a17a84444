/* Syntax trees: the content of an expression's text, before names and values are known.
 *
 * A tree is one block of memory without pointers into itself (nodes refer to each other by number),
 * so the cache keeps it with one memcpy().
 * Invariants
 *   T1  node 0 is not a node: it ends every list.
 *   T2  a tree from expr_parse() has passed every check that needs only the text: syntax, parentheses, function
 *       names and their position, reserved words, index range.
 *   T3  a tree never changes after it is made, except its reference count.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_TREE_H
#define THORPE_EXPR_TREE_H

#include <stdatomic.h>
#include "base/error.h"

enum node_kind {
	NODE_NONE,
	NODE_PATH,      /* children: steps, the first a NAME or NAME_REF */
	NODE_NAME,      /* a plain name */
	NODE_NAME_REF,  /* #name */
	NODE_INDEX,     /* [index] */
	NODE_VALUE_REF, /* :value */
	NODE_CALL,      /* func; children: arguments */
	NODE_EQ,        /* NODE_EQ to NODE_GE: children left, right */
	NODE_NE,
	NODE_LT,
	NODE_LE,
	NODE_GT,
	NODE_GE,
	NODE_BETWEEN, /* children: operand, lower, upper */
	NODE_IN,      /* children: operand, then the list */
	NODE_AND,
	NODE_OR,
	NODE_NOT,
	NODE_PLUS,
	NODE_MINUS,
	NODE_SET,    /* a section of an update; children: ASSIGN */
	NODE_REMOVE, /* a section; children: PATH */
	NODE_ADD,    /* a section; children: ASSIGN */
	NODE_DELETE, /* a section; children: ASSIGN */
	NODE_ASSIGN, /* children: PATH, operand */
	NODE_LIST,   /* the root of updates (sections) and projections (paths) */
};

enum func {
	FUNC_NONE,
	FUNC_ATTRIBUTE_EXISTS,
	FUNC_ATTRIBUTE_NOT_EXISTS,
	FUNC_ATTRIBUTE_TYPE,
	FUNC_BEGINS_WITH,
	FUNC_CONTAINS,
	FUNC_SIZE,
	FUNC_IF_NOT_EXISTS,
	FUNC_LIST_APPEND,
};

struct node {
	uint8_t kind;     /* enum node_kind */
	uint8_t func;     /* NODE_CALL: enum func */
	uint16_t at, len; /* its token in the text */
	uint16_t child, next;
	uint32_t index; /* NODE_INDEX */
};

enum tree_kind { TREE_CONDITION, TREE_UPDATE, TREE_PROJECTION };

struct tree {
	atomic_uint refs; /* for trees in the cache's memory; not used in an arena */
	enum tree_kind kind;
	unsigned operators;
	uint16_t root;
	size_t node_count;
	const struct node *nodes;
	struct slice text;
	/* For the cache only. */
	uint64_t hash;
	struct tree *bucket_next, *newer, *older;
};

static inline const struct node *tree_node(const struct tree *t, unsigned n)
{
	return &t->nodes[n];
}

static inline struct slice tree_text(const struct tree *t, const struct node *n)
{
	return slice_make(t->text.p + n->at, n->len);
}

static inline size_t tree_children(const struct tree *t, const struct node *n)
{
	size_t count = 0;

	for (unsigned c = n->child; c; c = t->nodes[c].next)
		count++;
	return count;
}

/* An expression as it was sent. */
struct expr_text {
	enum tree_kind kind;
	const char *label; /* the parameter's name, for messages: "FilterExpression" */
	struct slice text;
};

/* Parses into the arena; the tree's text is the given one itself. Errors: VALIDATION. */
bool expr_parse(struct arena *a, const struct expr_text *x, const struct tree **out, struct error *e) MUST_CHECK;

/* As expr_parse(), through the cache if there is one. The tree is valid until the arena is cleared. */
struct expr_cache;
bool expr_cache_parse(struct expr_cache *c, struct arena *a, const struct expr_text *x, const struct tree **out,
		      struct error *e) MUST_CHECK;

/* The text-only checks that follow parsing (check.c): functions, reserved words, indexes, sections.
 * Fills in func and index of the nodes. */
bool tree_check(struct arena *a, const struct expr_text *x, struct node *nodes, unsigned root,
		struct error *e) MUST_CHECK;

#endif
