/* Cleans up after an item that the database removed by time to live: companions and counts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"

struct traces {
	struct write write; /* first member: write_try() passes it back */
	struct value gone;  /* full */
};

/* The item that has the same key by now, if any: its companions stay. */
struct heir {
	struct companion_item *list;
	size_t count;
	bool there;
};

static bool find_heir(struct write *w, struct value key, struct heir *out)
{
	struct value stored;
	struct row f;

	*out = (struct heir){ 0 };
	if (!dyn_get(w->run, key, true, &stored))
		return false;
	out->there = value_present(stored);
	if (!out->there || entity_of(w->run, stored) != w->entity)
		return true;
	row_from(&f, w->run->arena, w->entity, entity_full(w->run, w->entity, stored));
	return entity_companions(w->run, w->entity, &f, &out->list, &out->count);
}

/* Removes a companion only if it is still the item's: another item may have the same key by now. */
static bool guard_companion(struct write *w, struct plan_action *a, const struct companion_item *was,
			    const struct heir *heir)
{
	struct value now;
	struct value_iter it;

	if (!dyn_get(w->run, a->key, true, &now))
		return false;
	if (companion_find(heir->list, heir->count, a->key) || !was || !value_equal(now, was->item)) {
		a->left_out = true;
		return true;
	}
	for (it = value_iter(now); value_next(&it);)
		if (!is_key_attribute(&w->run->design->key, it.name))
			fields_set(&a->equal, it.name, it.value);
	a->must_exist = true;
	a->role = PLAN_OLD; /* if refused: start again */
	return true;
}

static bool guard(struct write *w, struct plan *p, bool *any)
{
	struct companion_item *was;
	struct heir heir;
	size_t n;

	if (!find_heir(w, p->old_key, &heir) || !entity_companions(w->run, w->entity, &p->old_row, &was, &n))
		return false;
	for (size_t i = 0; i < p->count; i++) {
		struct plan_action *a = &p->actions[i];

		if (a->role == PLAN_COMPANION && !guard_companion(w, a, companion_find(was, n, a->key), &heir))
			return false;
		if (a->role == PLAN_SECRET)
			a->left_out = heir.there;
		if (a->role == PLAN_MAIN) { /* no item is created or deleted in between */
			a->kind = DYN_CHECK;
			a->equal.count = 0;
			a->also = NULL;
			a->must_exist = heir.there;
			a->must_not_exist = !heir.there;
			continue;
		}
		*any = *any || !a->left_out;
	}
	return true;
}

static enum plan_end traces_once(struct write *w, struct write_result *out)
{
	struct traces *t = (struct traces *)w;
	struct plan p;
	enum plan_end end;
	bool any = false;

	plan_init(&p, w, t->gone, NULL);
	if (!plan_make(&p) || !guard(w, &p, &any))
		return PLAN_FAILED;
	if (!any)
		return PLAN_DONE;
	end = plan_commit(&p);
	out->created = end == PLAN_DONE;
	return end;
}

bool write_remove_traces(struct run *r, const struct entity *e, struct value gone, bool *wrote)
{
	struct traces t = { .write = { .run = r, .entity = e, .trusted = true, .quiet = true, .deletes = true },
			    .gone = gone };
	struct write_result out = { 0 };
	bool ok = write_try(&t.write, traces_once, &out);

	*wrote = ok && out.created;
	return ok;
}
