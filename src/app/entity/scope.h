/* What the names in a term stand for: an item, what it was before, the input, variables; and the caller.
 *
 * A path resolves, first match: old.x · input.x · variable[.x…] · an attribute of the item · a parameter. What a body says is
 * no parameter: a rule that finds an attribute absent must not read there what the caller would like it to be.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_SCOPE_H
#define THORPE_APP_ENTITY_SCOPE_H

#include "app/run/run.h"

struct witness;

/* zero but for `run` is a scope without anything */
struct scope {
	struct run *run;
	const struct row *item;   /* in full form (entity.h); NULL: none */
	const struct row *before; /* old.x: in full form; NULL: none */
	const struct row *input;  /* the body; in an access pattern its parameters */
	bool body;                /* it is a body: only input.x reads it */
	const struct term_variable *variables;
	size_t variable_count;
	struct witness *witness; /* of the item, when it is another one that a write looks at (witness.h); NULL: it is not */
	bool failed;             /* while evaluating something failed that the run's problem tells of: scope_error() */
};

/* Binds it. The term_scope points to `s`, which must outlive it. Whoever evaluates with it by himself turns the error into
 * the run's problem by scope_error(), and asks s->failed also after a success: a permission cannot say that asking failed. */
struct term_scope scope_bind(struct scope *s);
/* The problem of an evaluation that failed with `e`: the one that is there already, else as run_error(). False. */
bool scope_error(struct scope *s, const struct error *e);
/* Evaluate; false: the problem is set. */
bool scope_value(struct scope *s, const struct term *t, struct value *out) MUST_CHECK;
/* The same for an attribute, which an INVALID then names. */
bool scope_value_for(struct scope *s, const struct term *t, struct slice attribute, struct value *out) MUST_CHECK;
bool scope_holds(struct scope *s, const struct term *t, bool *out) MUST_CHECK; /* t NULL: holds */
/* Looks at all other items that the term can ask for, without an answer (run_explores()). False: there are none. */
bool scope_explore(struct scope *s, const struct term *t);
/* Fills a template; absent in *out when a placeholder has no value. `in_key` as template_fill(). A value that does not fit
 * is INVALID, with the placeholder as the attribute. */
bool scope_fill(struct scope *s, const struct template *t, bool in_key, struct value *out) MUST_CHECK;
/* The same where a value that does not fit is no problem, only no value. */
enum template_result scope_try_fill(struct scope *s, const struct template *t, bool in_key,
				    struct value *out) MUST_CHECK;
/* The values of a reference's arguments, in the arena; an absent one is absent. */
bool scope_args(struct scope *s, const struct term *const *args, size_t n, struct value **out) MUST_CHECK;

#endif
