/* What the names in a term stand for: an item, the item before the write, the input, variables; and the caller.
 *
 * A path resolves to the first match of: old.x · input.x · variable[.x…] · an attribute of the item · a parameter.
 * Names in a body are no parameters: if a rule finds an attribute absent, it must not read the client's value
 * instead.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_SCOPE_H
#define THORPE_APP_ENTITY_SCOPE_H

#include "app/run/run.h"

struct witness;

/* an empty scope is all zero except `run` */
struct scope {
	struct run *run;
	const struct row *item;   /* in full form (entity.h); NULL: none */
	const struct row *before; /* old.x: in full form; NULL: none */
	const struct row *input;  /* the body; in an access pattern its parameters */
	bool body;                /* it is a body: only input.x reads it */
	const struct term_variable *variables;
	size_t variable_count;
	bool as_caller; /* other items that the caller may not read are absent, as are their private attributes */
	struct witness *witness; /* notes reads of the item, if a write looks at this other item (witness.h); NULL: no notes */
	bool failed; /* something failed during the evaluation, and the run has the problem: scope_error() */
};

/* Makes the scope that terms are evaluated in; it points to `s`, which must outlive it. A caller that evaluates with
 * it directly turns errors into the run's problem by scope_error(), and checks s->failed even after a success:
 * `caller may` cannot report that looking up permissions failed. */
struct term_scope scope_bind(struct scope *s);
/* Sets the problem for an evaluation that failed with `e`, as run_error(), unless the run has one already. Returns
 * false. */
bool scope_error(struct scope *s, const struct error *e);
/* Calls `fn` once, or for each element of the list with the variable set. Stops when it returns false. */
typedef bool scope_fn(void *ctx, struct scope *s);
bool scope_each(struct scope *s, const struct each_rule *each, scope_fn *fn, void *ctx) MUST_CHECK;
/* Evaluate; false: the problem is set. */
bool scope_value(struct scope *s, const struct term *t, struct value *out) MUST_CHECK;
/* The same; an INVALID names the attribute. */
bool scope_value_for(struct scope *s, const struct term *t, struct slice attribute, struct value *out) MUST_CHECK;
bool scope_holds(struct scope *s, const struct term *t, bool *out) MUST_CHECK; /* t NULL: holds */
/* Reads every other item that the term can read, without a result (run_explores()). False: it reads none. */
bool scope_explore(struct scope *s, const struct term *t);
/* Fills a template; *out is absent if a placeholder has no value. `in_key` as in template_fill(). A value that does
 * not fit is INVALID, naming the placeholder. */
bool scope_fill(struct scope *s, const struct template *t, bool in_key, struct value *out) MUST_CHECK;
/* The same, but a value that does not fit counts as absent and sets no problem. */
enum template_result scope_try_fill(struct scope *s, const struct template *t, bool in_key,
				    struct value *out) MUST_CHECK;
/* The values of a reference's arguments, in the arena; an absent one is absent. */
bool scope_args(struct scope *s, const struct term *const *args, size_t n, struct value **out) MUST_CHECK;

#endif
