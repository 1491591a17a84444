/* Parameters that many operations take: conditions, projections, expression names and values.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_PARAMS_H
#define THORPE_API_OP_PARAMS_H

#include "api/op.h"

/* Expressions and legacy parameters do not mix; names and values need an expression. Both lists end
 * with NULL and are in the order in which DynamoDB names them. `obj` holds the parameters. */
bool params_check_mix(struct op_state *s, const struct json *obj, const char *const *expressions,
		      const char *const *legacy, struct error *e) MUST_CHECK;

/* ConditionExpression or Expected (with ConditionalOperator); *out is NULL without either. `b` is the
 * request's bindings. */
bool params_condition(struct op_state *s, const struct json *obj, struct expr_bindings *b, const struct condition **out,
		      struct error *e) MUST_CHECK;
/* ProjectionExpression or AttributesToGet; *out is NULL without either. */
bool params_projection(struct op_state *s, const struct json *obj, struct expr_bindings *b,
		       const struct projection **out, struct error *e) MUST_CHECK;
/* Refuses paths that lead into a key attribute of the table or an index: key attributes have no parts. */
bool params_check_key_paths(struct op_state *s, const struct table *t, const struct path *paths, size_t n,
			    struct error *e) MUST_CHECK;
/* The same for a projection, which may be NULL. */
bool params_check_projection_keys(struct op_state *s, const struct table *t, const struct projection *p,
				  struct error *e) MUST_CHECK;
/* The request's ExpressionAttributeNames and -Values. */
bool params_bindings(struct op_state *s, const struct json *obj, struct expr_bindings **out, struct error *e) MUST_CHECK;
/* ConditionalOperator needs at least two conditions in `conditions` (Expected, QueryFilter, ScanFilter). */
bool params_conditional_operator(struct op_state *s, const struct json *obj, const char *conditions,
				 struct error *e) MUST_CHECK;

#endif
