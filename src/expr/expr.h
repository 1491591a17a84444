/* DynamoDB's expressions: condition and filter, projection, update, key condition; and the legacy forms, which
 * compile to the same structures.
 *
 * Two steps. Parsing text into a syntax tree depends on the text alone and is cached (struct expr_cache, one per
 * thread). Compiling binds the tree to a request's names and values and checks what depends on them; the result
 * lives in the request's arena, is immutable, and may be evaluated by another thread (it holds a reference to the
 * cached tree until the arena is cleared).
 *
 * Evaluation walks encoded items in place (value/value.h).
 * Errors: VALIDATION with DynamoDB's texts, in DynamoDB's order ("Invalid FilterExpression: …").
 * Limits: 4 KB of text, 300 operators, 100 IN operands, 32 path levels… (expr/limits.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_EXPR_EXPR_H
#define THORPE_EXPR_EXPR_H

#include "value/value.h"

/* A document path: a.b[3].c with placeholders resolved. count >= 1, steps[0] is a name. */
struct path_step {
	bool is_index;
	uint32_t index;
	struct slice name;
};
struct path {
	const struct path_step *steps;
	size_t count;
};
/* VALUE_ABSENT if the item has nothing at the path. */
struct value path_get(const struct path *p, struct value item);
/* DynamoDB's spelling in messages: "[a, b, [3]]". */
struct slice path_print(const struct path *p, struct arena *a);

/* Parsed texts. One thread only (trees themselves are shared by atomic reference counts). */
struct expr_cache;
struct expr_cache *expr_cache_new(size_t most_entries); /* NULL: out of memory */
void expr_cache_free(struct expr_cache *c);

/* ExpressionAttributeNames and -Values of one request, and which of them were used. */
struct expr_bindings;
/* `names` and `values` are the request's objects or NULL. Makes the checks that need only these (empty maps,
 * "#name" and ":value" syntax, the values themselves). `cache` may be NULL. */
bool expr_bindings_new(struct arena *a, struct expr_cache *cache, const struct json *names, const struct json *values,
		       struct expr_bindings **out, struct error *e) MUST_CHECK;
/* Call after all expressions of the request are compiled: unused names or values are an error. */
bool expr_bindings_check_used(const struct expr_bindings *b, struct error *e) MUST_CHECK;

/* ---- conditions ---- */
enum condition_label { CONDITION_EXPRESSION, FILTER_EXPRESSION };
struct condition;
bool condition_compile(struct expr_bindings *b, enum condition_label label, struct slice text,
		       const struct condition **out, struct error *e) MUST_CHECK;
/* `item` absent: the item does not exist (no attribute exists). */
bool condition_holds(const struct condition *c, struct value item, struct arena *a);
/* Every path the condition reads, in order of appearance. */
size_t condition_paths(const struct condition *c, const struct path **out);

/* ---- projections ---- */
struct projection;
bool projection_compile(struct expr_bindings *b, struct slice text, const struct projection **out,
			struct error *e) MUST_CHECK;
/* The part of the item that the projection selects (an M; from lists the chosen elements, in order). */
struct value projection_apply(const struct projection *p, struct value item, struct arena *a);
size_t projection_paths(const struct projection *p, const struct path **out);
/* A projection of whole top-level attributes. The names are borrowed. */
const struct projection *projection_of_names(struct arena *a, const struct slice *names, size_t n);

/* ---- updates ---- */
struct update;
bool update_compile(struct expr_bindings *b, struct slice text, const struct update **out, struct error *e) MUST_CHECK;
/* `item` is the current item or, if there is none, its key attributes alone. All operands are read from it before
 * any action is applied. Errors: VALIDATION (wrong operand types, no such attribute, path invalid for update,
 * number overflow). */
bool update_apply(const struct update *u, struct value item, struct arena *a, struct value *out,
		  struct error *e) MUST_CHECK;
/* The paths written, in order of appearance: for key checks and UPDATED_OLD / UPDATED_NEW. */
size_t update_paths(const struct update *u, const struct path **out);
/* The paths its operands read. */
size_t update_reads(const struct update *u, struct arena *a, const struct path **out);
/* The type that the update gives to the attribute at update_paths()[i], as far as the request alone determines it;
 * VALUE_NONE if it depends on the item. */
enum value_type update_known_type(const struct update *u, size_t i);
/* Whether it only removes (REMOVE, DELETE): such an update does not create an item. */
bool update_only_takes(const struct update *u);
/* What UPDATED_OLD / UPDATED_NEW return from `item` (old or new): the parts at the update's paths. VALUE_ABSENT if
 * there are none. */
struct value update_touched(const struct update *u, struct value item, struct arena *a);

/* ---- key conditions ---- */
enum key_op { KEY_EQ, KEY_LT, KEY_LE, KEY_GT, KEY_GE, KEY_BETWEEN, KEY_BEGINS_WITH };
struct key_term {
	struct slice name; /* top-level attribute */
	enum key_op op;
	struct value value, upper; /* upper: BETWEEN only */
	bool not_indexable;        /* legacy only: an operator that keys do not support (NE, IN…) */
};
/* Two steps, because DynamoDB checks the request's other expressions in between. */
bool key_condition_compile(struct expr_bindings *b, struct slice text, const struct condition **out,
			   struct error *e) MUST_CHECK;
/* Flattens a AND b AND …; the caller checks names and types against the schema. */
bool key_condition_terms(struct arena *a, const struct condition *c, struct key_term **terms, size_t *count,
			 struct error *e) MUST_CHECK;

/* ---- legacy forms ---- */
/* QueryFilter, ScanFilter ({attr: {ComparisonOperator, AttributeValueList}}) with
 * ConditionalOperator ("AND"/"OR"; empty: AND). */
bool condition_from_filter(struct arena *a, const struct json *filter, struct slice conditional_operator,
			   const struct condition **out, struct error *e) MUST_CHECK;
/* Expected ({attr: {Value, Exists} or {ComparisonOperator, AttributeValueList}}). */
bool condition_from_expected(struct arena *a, const struct json *expected, struct slice conditional_operator,
			     const struct condition **out, struct error *e) MUST_CHECK;
bool key_terms_from_conditions(struct arena *a, const struct json *key_conditions, struct key_term **terms,
			       size_t *count, struct error *e) MUST_CHECK;
bool update_from_attribute_updates(struct arena *a, const struct json *updates, const struct update **out,
				   struct error *e) MUST_CHECK;
/* AttributesToGet: whole top-level attributes. */
bool projection_from_attributes(struct arena *a, const struct json *names, const struct projection **out,
				struct error *e) MUST_CHECK;

/* Whether `word` is one of DynamoDB's reserved words, ignoring case. */
bool expr_is_reserved(struct slice word);

#endif
