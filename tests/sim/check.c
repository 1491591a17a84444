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

/* An item deleted by an SDK and recreated before the keeper sees the deletion has the old item's rows, and fresh
 * counters (app/write/deleting.h: no marker covers that). */
static bool is_made_again(const struct sim *s, const struct oracle_finding *f)
{
	for (size_t i = 0; f->kind == ORACLE_COUNTER_DIFFERS && i < s->raw_deletes; i++)
		if (value_equal(s->raw_deleted[i], f->key))
			return true;
	return false;
}

/* An SDK deleted what the design keeps. */
static bool was_taken_away(const struct sim *s, const struct oracle_finding *f)
{
	for (size_t i = 0; f->kind == ORACLE_DANGLING && i < s->raw_deletes; i++)
		if (value_equal(s->raw_deleted[i], f->other))
			return true;
	return false;
}

static bool was_made_unfit(const struct sim *s, struct value key)
{
	for (size_t i = 0; i < s->unfit; i++)
		if (value_equal(s->unfit_keys[i], key))
			return true;
	return false;
}

/* For an item that does not fit, its effects are undefined: counts, dependents, companions. Everything about other
 * items must still hold. */
static bool follows_from_unfit(const struct sim *s, const struct oracle_finding *f)
{
	if (!s->unfit)
		return false;
	switch (f->kind) {
	case ORACLE_ATTRIBUTE_MISSING:
	case ORACLE_ATTRIBUTE_UNFIT:
	case ORACLE_CHECK_BROKEN:
	case ORACLE_DERIVED_DIFFERS:
	case ORACLE_KEY_DIFFERS:
	case ORACLE_INCOMPLETE:
	case ORACLE_GUARD_MISSING:
	case ORACLE_GUARD_DIFFERS:
	case ORACLE_COMPANION_MISSING:
	case ORACLE_COMPANION_DIFFERS:
	case ORACLE_COPY_DIFFERS:
	case ORACLE_OUTLIVED: return was_made_unfit(s, f->key) || was_made_unfit(s, f->other);
	default: return true;
	}
}

static void tell(void *ctx, const struct oracle_finding *f)
{
	struct sim *s = ctx;
	struct buf b;

	if (f->weight == ORACLE_NOTE || is_made_again(s, f) || was_taken_away(s, f) || follows_from_unfit(s, f))
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
		struct run run = { .app = s->app,
				   .design = s->design,
				   .backend = s->backend,
				   .arena = a,
				   .now_ms = app_now_ms(s->app) };
		struct parked_page page;

		if (!r.parked)
			continue;
		if (!checkpoint_parked(&run, r.name, SLICE(""), 10, &page))
			abort();
		for (size_t k = 0; k < page.count; k++) {
			struct buf b;

			if (slice_is(page.list[k].reason, MACHINE_NOT_NOW))
				continue;
			buf_init(&b, a);
			put_value(&b, page.list[k].change.key);
			sim_problem(s, "%.*s has parked a change of %.*s: %.*s", SLICE_ARG(r.name),
				    SLICE_ARG(buf_slice(&b)), SLICE_ARG(page.list[k].reason));
		}
		if (!page.count)
			sim_problem(s, "%.*s says that it has parked %lld changes, but none is there",
				    SLICE_ARG(r.name), (long long)r.parked);
	}
}

void check_all(struct sim *s)
{
	struct arena a;

	arena_init(&a);
	fiber_set_alone(true);
	ask_oracle(s);
	if (!s->unfit) /* otherwise changes that depend on unfit items may be parked */
		check_parked(s, &a);
	ledger_check(s);
	fiber_set_alone(false);
	arena_release(&a);
}
