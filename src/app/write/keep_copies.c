/* Updates copies after their source: finds them through the design's pattern and updates each one independently.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/keep.h"
#include "app/run/passed_over.h"
#include "app/read/read.h"
#include "app/write/write_plan.h"
#include "base/log.h"

struct copies {
	struct run *run;             /* reads the pattern */
	struct run *branch;          /* writes; cleared after each item */
	const struct entity *entity; /* of the copies */
	const struct entity *source;
};

/* Whether retrying is useless. */
static bool is_lasting(enum problem_type t)
{
	return t != PROBLEM_NONE && t != PROBLEM_BUSY && t != PROBLEM_INTERNAL;
}

/* Skips a copy that its item cannot have (an SDK has written a value that its key does not allow); the others are
 * updated. */
static void pass_over(struct copies *c, struct value key)
{
	struct slice text = entity_key_text(c->run, key), why = c->branch->problem.detail;

	run_pass_over(c->run, PASSED_OVER_REFUSED, "a copy of a %.*s at %.*s: %.*s", SLICE_ARG(c->source->name),
		      SLICE_ARG(text), SLICE_ARG(why));
	if (!c->run->passed_over)
		log_warn("%.*s: a copy of a %.*s at %.*s was not updated: %.*s", SLICE_ARG(c->run->design->name),
			 SLICE_ARG(c->source->name), SLICE_ARG(text), SLICE_ARG(why));
}

/* A row from an index may lack attributes: reads the item by its key. */
static bool refresh_row(void *ctx, const struct row *row, bool *stop)
{
	struct copies *c = ctx;
	struct value key = dyn_key_of(c->run, row->full);
	bool ok = true;

	(void)stop;
	if (row->entity == c->entity)
		ok = write_refresh(c->branch, c->entity, key, c->source);
	if (!ok && is_lasting(c->branch->problem.type)) {
		pass_over(c, key);
		ok = true;
	}
	if (!ok)
		(void)run_fail(c->run, c->branch->problem.type, "%.*s", SLICE_ARG(c->branch->problem.detail));
	branch_clear(c->branch, c->run);
	return ok;
}

/* The attributes of the source are the pattern's parameters. */
static bool refresh_all(struct run *r, const struct row *source, const struct entity *e, const struct access *pattern)
{
	struct copies c = { .run = r, .branch = branch_new(r), .entity = e, .source = source->entity };
	struct scope s = { .run = r, .item = source };

	return read_each(pattern, &s, NULL, 0, refresh_row, &c);
}

static bool differs(const struct row *old, const struct row *full, const struct name *n)
{
	return !value_equal(row_get(old, n), row_get(full, n));
}

/* Whether `a` is a copy of an attribute that differs. For the keeper, `old` only tells which attributes do. */
static bool is_out_of_date(struct run *r, const struct attribute *a, const struct row *old, const struct row *full)
{
	struct name_list names = { 0 };
	struct value copy;

	if (!a->kept_access || a->copy_of != full->entity)
		return false;
	names_of_term(r->arena, &names, full->entity, a->copy_if);
	for (size_t i = 0; i < names.count; i++)
		if (differs(old, full, names.list[i]))
			return true;
	if (!differs(old, full, a->copy_at))
		return false;
	/* A copy whose `if` did not hold, and still does not, stays empty. */
	return !a->copy_if || !value_present(row_get(full, a->copy_at)) || !entity_copied(r, a, full, &copy) ||
	       value_present(copy);
}

/* One visit brings all copies of an item up to date. */
static bool is_visited(struct run *r, const struct entity *e, size_t before, const struct row *old,
		       const struct row *full)
{
	for (size_t i = 0; i < before; i++)
		if (e->attributes[i].kept_access == e->attributes[before].kept_access &&
		    is_out_of_date(r, &e->attributes[i], old, full))
			return true;
	return false;
}

bool keep_copies(struct run *r, const struct entity *e, struct value old, struct value full)
{
	struct row was = row_lay(r->arena, e, old), is = row_lay(r->arena, e, full);
	const struct row *source = value_present(full) ? &is : &was;

	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct entity *x = &r->design->entities[i];

		for (size_t k = 0; k < x->attribute_count; k++) {
			if (!is_out_of_date(r, &x->attributes[k], &was, &is) || is_visited(r, x, k, &was, &is))
				continue;
			if (!refresh_all(r, source, x, x->attributes[k].kept_access))
				return false;
		}
	}
	return true;
}
