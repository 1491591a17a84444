/* Which terms DynamoDB can express as a condition, and the reason for the others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/term_parts.h"
#include "expr/limits.h"

bool term_reads_item(const struct term *t)
{
	if (t->kind == TERM_PATH)
		return t->name_count == 1 || t->inside;
	for (size_t i = 0; i < t->arg_count; i++)
		if (term_reads_item(t->args[i]))
			return true;
	return false;
}

static bool is_size(const struct term *t)
{
	return t->kind == TERM_CALL && t->function == CALL_SIZE;
}

static const char *why_no_operand(const struct term *t)
{
	enum term_function f;

	switch (t->kind) {
	case TERM_ADD:
		return "DynamoDB does not add in a filter: keep the sum in an attribute of its own (= term) and compare with that";
	case TERM_SUB:
		return "DynamoDB does not subtract in a filter: keep the difference in an attribute of its own (= term) and compare with that";
	case TERM_MUL:
		return "DynamoDB does not multiply: keep the product in an attribute of its own (= term) and compare with that";
	case TERM_DIV:
		return "DynamoDB does not divide: keep the quotient in an attribute of its own (= term) and compare with that";
	case TERM_NEGATE:
		return "DynamoDB does not negate numbers: compare the attribute with the negated value instead";
	case TERM_FETCH:
		return "a filter sees one item and cannot read another one: keep a copy of the attribute in this item (copy of)";
	case TERM_CALL:
		f = t->function;
		if (f == CALL_SIZE)
			return "DynamoDB takes the size of an attribute only, not of something computed from it";
		return f == CALLS ? "DynamoDB has no such function" : term_functions[f].unfiltered;
	default: return "DynamoDB cannot compare the outcome of a comparison: join comparisons by and, or and not";
	}
}

static const struct term *bad_operand(const struct term *t, const char **why)
{
	if (t->kind == TERM_PATH || !term_reads_item(t))
		return NULL;
	if (is_size(t) && t->args[0]->kind == TERM_PATH)
		return NULL;
	*why = why_no_operand(t);
	return t;
}

/* Why a term cannot be a condition, apart from its operands; NULL: it can. */
static const char *why_no_condition(const struct term *t)
{
	switch (t->kind) {
	case TERM_VISIBLE:
	case TERM_EXISTS:
		return "a filter sees one item and cannot look for another one: put what it would find out into the key or into an attribute, or make it a rule of allow or keep";
	case TERM_MATCHES:
		return "DynamoDB has no patterns: keep the outcome in an attribute of its own (= x matches '…') and compare with that, or write begins with or contains";
	case TERM_MAY:
		return "whether the caller may do something is decided before the filter runs, so the permission cannot come from the item";
	case TERM_IN:
		if (t->arg_count - 1 > EXPR_IN_OPERANDS_MAX)
			return "DynamoDB takes at most 100 values after in";
		return NULL;
	default: return NULL;
	}
}

static bool is_comparison(enum term_kind kind)
{
	return (kind >= TERM_EQ && kind <= TERM_GE) || (kind >= TERM_IN && kind <= TERM_CONTAINS);
}

static const struct term *bad_condition(const struct term *t, int *operators, const char **why)
{
	bool logic = t->kind == TERM_AND || t->kind == TERM_OR || t->kind == TERM_NOT;
	const struct term *bad = NULL;

	if (!term_reads_item(t))
		return NULL;
	*why = why_no_condition(t);
	if (*why)
		return t;
	if (!logic && !is_comparison(t->kind))
		bad = bad_operand(t, why);
	else
		for (size_t i = 0; i < t->arg_count && !bad; i++)
			bad = logic ? bad_condition(t->args[i], operators, why) : bad_operand(t->args[i], why);
	if (!bad && ++*operators > EXPR_OPERATORS_MAX) {
		*why = "DynamoDB takes at most 300 operators in an expression";
		return t;
	}
	return bad;
}

const struct term *term_unfilterable(const struct term *t, const char **why)
{
	int operators = 0;

	*why = NULL;
	return bad_condition(t, &operators, why);
}

bool term_can_filter(const struct term *t, const char **why)
{
	return !term_unfilterable(t, why);
}
