/* Terms that are asked of many items: what can be found out once is.
 *
 * A plan is made of a term once and asked of any number of items, each laid out beforehand: an attribute's value is taken from
 * its place and not searched for. What looks at no path (caller, caller is admin, days_ago(7), User(caller).status) is the same
 * for all items of one asking: it is evaluated when it is first needed, and remembered. Everything else is evaluated as
 * term_value() and term_holds() do, by the scope. The answers are always theirs, and so is the order of evaluation: what `and`
 * and `or` pass over is not asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DESIGN_TERM_PLAN_H
#define THORPE_DESIGN_TERM_PLAN_H

#include "design/term.h"

#define TERM_NO_PLACE SIZE_MAX

struct term_plan;
struct term_known;

/* Where items have the attribute that a path begins with; TERM_NO_PLACE: the scope's path() is to be asked. */
typedef size_t term_place(void *ctx, const struct slice *names, size_t n);
/* Lives in the arena, and as long as the term; read only from then on. */
const struct term_plan *term_plan_new(struct arena *a, const struct term *t, term_place *place, void *ctx);

/* One caller, one time, one view of other items: those of `scope`, whose path() must answer for the item that is asked about.
 * Remembers in the scope's arena. */
struct term_asking {
	const struct term_plan *plan;
	const struct term_scope *scope;
	struct term_known *known;
};
void term_asking_init(struct term_asking *q, const struct term_plan *plan, const struct term_scope *scope);
/* As term_holds(), of the item with these values at its places. */
bool term_ask(struct term_asking *q, const struct value *places, bool *out, struct error *e) MUST_CHECK;

#endif
