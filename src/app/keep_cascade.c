/* What goes with an item that is gone: `then remove`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/keep.h"
#include "app/read.h"
#include "app/write_plan.h"

struct cascade {
	struct run *run;    /* that reads the pattern */
	struct run *branch; /* that removes, cleared from item to item */
	struct value gone;  /* its key; absent: it may still be there */
};

/* What belongs to no entity is just an item. */
static bool remove_stranger(struct run *r, struct value key)
{
	struct dyn_write w = { .kind = DYN_DELETE, .key = key };
	struct dyn_refusal refusal;

	switch (dyn_write(r, &w, 1, SLICE(""), &refusal)) {
	case DYN_FAILED: return false;
	case DYN_CONFLICT: return run_fail(r, PROBLEM_BUSY, "others are changing the same thing");
	default: return true;
	}
}

static bool remove_row(void *ctx, const struct read_row *row, bool *stop)
{
	struct cascade *c = ctx;
	struct value key = dyn_key_of(c->run, row->full);
	bool ok;

	(void)stop;
	ok = row->entity ? write_remove_after(c->branch, row->entity, key, c->gone) : remove_stranger(c->branch, key);
	if (!ok)
		(void)run_fail(c->run, c->branch->problem.type, "%.*s", SLICE_ARG(c->branch->problem.detail));
	branch_clear(c->branch, c->run);
	return ok;
}

bool keep_cascade(struct run *r, const struct entity *e, struct value gone)
{
	struct cascade c = { .run = r, .branch = branch_new(r) };
	struct fields f;
	struct scope s = { .run = r, .item = &f };

	if (!e->delete_.soft)
		c.gone = dyn_key_of(r, gone);
	c.branch->depth = r->depth; /* as deep as the items hang on one another; each goes once, so there is an end */
	fields_from_item(&f, r->arena, gone);
	for (size_t i = 0; i < e->delete_.then_count; i++) {
		const struct access *x = design_access(r->design, e->delete_.then_remove[i]);

		if (!x)
			return run_fail(r, PROBLEM_INTERNAL, "There is no access pattern '%.*s'",
					SLICE_ARG(e->delete_.then_remove[i]));
		if (!read_each(r, x, &s, NULL, 0, remove_row, &c))
			return false;
	}
	return true;
}
