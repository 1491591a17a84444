/* Copies after their source: found through the pattern that the design names, each brought up to date by itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/keep.h"
#include "app/run/passed_over.h"
#include "app/read/read.h"
#include "app/write/write_plan.h"
#include "base/log.h"

struct copies {
	struct run *run;             /* that reads the pattern */
	struct run *branch;          /* that writes, cleared from item to item */
	const struct entity *entity; /* of the copies */
	struct slice source;
};

/* What no waiting mends. */
static bool is_lasting(enum problem_type t)
{
	return t != PROBLEM_NONE && t != PROBLEM_BUSY && t != PROBLEM_INTERNAL;
}

/* A copy that its item cannot have (an SDK has written a value that its key does not take) stays behind; the others do not. */
static void pass_over(struct copies *c, struct value key)
{
	struct slice text = entity_key_text(c->run, key), why = c->branch->problem.detail;

	run_pass_over(c->run, PASSED_OVER_REFUSED, "a copy of a %.*s at %.*s: %.*s", SLICE_ARG(c->source),
		      SLICE_ARG(text), SLICE_ARG(why));
	if (!c->run->passed_over)
		log_warn("%.*s: a copy of a %.*s at %.*s stays behind: %.*s", SLICE_ARG(c->run->design->name),
			 SLICE_ARG(c->source), SLICE_ARG(text), SLICE_ARG(why));
}

/* A row that was found through an index may lack attributes: the item is read again by its key. */
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

/* `full`: the source, whose attributes are the pattern's parameters. */
static bool refresh_all(struct run *r, const struct entity *source, const struct entity *e, struct slice pattern,
			struct value full)
{
	const struct access *access = design_access(r->design, pattern);
	struct copies c = { .run = r, .branch = branch_new(r), .entity = e, .source = source->name };
	struct row f;
	struct scope s = { .run = r, .item = &f };

	if (!access)
		return run_fail(r, PROBLEM_INTERNAL, "There is no access pattern '%.*s'", SLICE_ARG(pattern));
	row_from(&f, r->arena, source, full);
	return read_each(access, &s, NULL, 0, refresh_row, &c);
}

static bool differs(struct value old, struct value full, struct slice name)
{
	return !value_equal(value_get(old, name), value_get(full, name));
}

/* Whether `a` is a copy of something that differs. The keeper knows of `old` no more than which attributes do. */
static bool is_out_of_date(struct run *r, const struct attribute *a, const struct entity *source, struct value old,
			   struct value full)
{
	struct name_list names = { 0 };
	struct value copy;

	if (!a->kept_by.n || !slice_equal(a->copy_entity, source->name))
		return false;
	if (a->copy_if)
		names_of_term(r->arena, &names, source, a->copy_if);
	for (size_t i = 0; i < names.count; i++)
		if (differs(old, full, names.list[i]))
			return true;
	if (!differs(old, full, a->copy_attribute))
		return false;
	/* What was kept back before and still is changes unseen. */
	return !a->copy_if || !value_present(value_get(full, a->copy_attribute)) ||
	       !entity_copied(r, a, &(struct row){ .full = full }, &copy) || value_present(copy);
}

bool keep_copies(struct run *r, const struct entity *e, struct value old, struct value full)
{
	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct entity *x = &r->design->entities[i];
		struct name_list done = { 0 };

		for (size_t k = 0; k < x->attribute_count; k++) {
			const struct attribute *a = &x->attributes[k];

			/* One visit brings all copies of an item up to date. */
			if (!is_out_of_date(r, a, e, old, full) || names_have(&done, a->kept_by))
				continue;
			names_add(r->arena, &done, a->kept_by);
			if (!refresh_all(r, e, x, a->kept_by, value_present(full) ? full : old))
				return false;
		}
	}
	return true;
}
