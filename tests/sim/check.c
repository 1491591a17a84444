/* What must hold when everything has settled: the oracle finds nothing, and nothing is parked.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "held.h"
#include "oracle/oracle.h"
#include "ledger.h"
#include "process/checkpoint.h"
#include "sim.h"
#include "value/codec.h"

static void put_value(struct buf *b, struct value v)
{
	if (!value_present(v))
		buf_lit(b, "nothing");
	else if (value_type(v) == VALUE_M)
		item_to_json(b, v);
	else
		value_to_json(b, v);
}

/* What an SDK deletes and someone makes again before the keeper has seen it go has the rows of the one before, and counters that
 * begin anew (app/deleting.h: no marker covers that). */
static bool is_made_again(const struct sim *s, const struct oracle_finding *f)
{
	for (size_t i = 0; f->kind == ORACLE_COUNTER_DIFFERS && i < s->raw_deletes; i++)
		if (value_equal(s->raw_deleted[i], f->key))
			return true;
	return false;
}

static void tell(void *ctx, const struct oracle_finding *f)
{
	struct sim *s = ctx;
	struct buf b;

	if (f->weight == ORACLE_NOTE || is_made_again(s, f))
		return;
	buf_init(&b, &s->arena);
	put_value(&b, f->key);
	if (value_present(f->other)) {
		buf_lit(&b, ", ");
		put_value(&b, f->other);
	}
	buf_lit(&b, ": found ");
	put_value(&b, f->found);
	buf_lit(&b, ", expected ");
	put_value(&b, f->expected);
	sim_problem(s, "%s: %.*s: %.*s", oracle_kind_name(f->kind), SLICE_ARG(f->sentence), SLICE_ARG(buf_slice(&b)));
}

static void ask_oracle(struct sim *s)
{
	struct oracle_options o = { .now_ms = app_now_ms(s->app), .tell = tell, .ctx = s };
	struct oracle_summary summary = { 0 };
	char why[256] = "";

	if (!oracle_check(s->backend, s->design, &o, &summary, why, sizeof(why)))
		sim_problem(s, "the oracle cannot say: %s", why);
	s->items += summary.items;
}

static void check_parked(struct sim *s, struct arena *a)
{
	for (size_t i = 0; i < process_reading_count(s->process); i++) {
		struct process_reading r = process_reading(s->process, i);
		struct run run = { .app = s->app, .design = s->design, .backend = s->backend, .arena = a, .now_ms = app_now_ms(s->app) };
		struct slice next;
		struct parked *list;
		size_t n = 0;

		if (!r.parked)
			continue;
		if (!checkpoint_parked(&run, r.name, SLICE(""), 10, &list, &n, &next))
			abort();
		for (size_t k = 0; k < n; k++) {
			struct buf b;

			if (slice_is(list[k].reason, MACHINE_NOT_NOW))
				continue;
			buf_init(&b, a);
			put_value(&b, list[k].change.key);
			sim_problem(s, "%.*s has parked a change of %.*s: %.*s", SLICE_ARG(r.name), SLICE_ARG(buf_slice(&b)),
				    SLICE_ARG(list[k].reason));
		}
		if (!n)
			sim_problem(s, "%.*s says that it has parked %lld changes, but none is there", SLICE_ARG(r.name), (long long)r.parked);
	}
}

void check_all(struct sim *s)
{
	struct arena a;

	arena_init(&a);
	fiber_set_alone(true);
	if (!s->unfit) { /* of what does not fit nobody can say what should follow from it; that nothing stopped was seen */
		ask_oracle(s);
		check_parked(s, &a);
		ledger_check(s);
	}
	fiber_set_alone(false);
	arena_release(&a);
}
