/* One child follows a renamed item: it gets the new identity where it has the old one, and moves with its companions
 * (N3, N4 of renaming.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/renamed.h"
#include "app/write/deleting.h"
#include "app/write/renaming/renaming.h"

/* ---- what follows ---- */

static bool finds(const struct entity *of, const struct entity *e)
{
	return of->rename.then_count && entity_follows(e, of, 0);
}

static const struct entity *next_above(struct run *r, struct value_iter *it)
{
	const struct entity *e = NULL;

	while (!e && value_next(it))
		e = value_type(it->value) == VALUE_M
			    ? design_entity(r->design, value_bytes(value_get(it->value, SLICE("entity"))))
			    : NULL;
	return e;
}

bool renaming_takes(struct run *r, const struct renaming *m, const struct entity *e)
{
	struct value_iter it;

	if (e == m->entity || finds(m->entity, e))
		return true;
	if (!value_present(m->above))
		return false;
	it = value_iter(m->above);
	for (const struct entity *of = next_above(r, &it); of; of = next_above(r, &it))
		if (of == e || finds(of, e))
			return true;
	return false;
}

static void set_reference(struct run *r, const struct reference *x, const struct value *to, struct row *f)
{
	for (size_t i = 0; i < x->arg_count; i++)
		row_set(f, design_named(r->design, x->args[i]->names[0]), to[i]);
}

bool renaming_apply(struct run *r, const struct renaming *m, const struct entity *e, struct row *f, bool *out)
{
	const struct value *from = renamed_args(r, m->entity, m->from), *to = renamed_args(r, m->entity, m->to);
	struct row before;
	struct scope s = { .run = r, .item = &before };
	const struct reference *x;

	*out = false;
	row_copy(&before, r->arena, f);
	for (size_t i = 0; (x = entity_follows(e, m->entity, i)); i++) {
		struct value *args;

		if (!scope_args(&s, x->args, x->arg_count, &args))
			return false;
		if (!values_equal(args, from, x->arg_count))
			continue;
		set_reference(r, x, to, f);
		*out = true;
	}
	return true;
}

/* ---- the write ---- */

/* Before it leaves its key: so that the stream's record of the removal says what it is. */
static enum plan_end mark(struct write *w, struct value *old)
{
	struct run *r = w->run;
	struct value id = value_make_s(r->arena, w->follows->id);
	const struct value_member set = { RENAMING_LEAVES, id };
	struct dyn_write x = {
		.kind = DYN_UPDATE,
		.key = w->key,
		.must_exist = true,
		.set = &set,
		.set_count = 1,
	};
	struct dyn_refusal refusal;

	if (r->design->stream == STREAM_NONE || value_equal(value_get(*old, RENAMING_LEAVES), id))
		return PLAN_DONE;
	switch (dyn_write(r, &x, 1, SLICE(""), &refusal)) {
	case DYN_DONE: *old = value_map_with(r->arena, *old, RENAMING_LEAVES, id); return PLAN_DONE;
	case DYN_FAILED: return PLAN_FAILED;
	case DYN_REFUSED:
	case DYN_CONFLICT:
	case DYN_MISMATCH: break;
	}
	return PLAN_AGAIN;
}

static enum plan_end move(struct write *w, struct value full, struct row *f)
{
	struct run *r = w->run;
	struct row before = row_lay(r->arena, w->entity, full);
	struct plan p;
	enum plan_end end;

	if (!write_copy_again(w, f, &before) || !entity_complete(r, w->entity, f, full))
		return PLAN_FAILED;
	plan_init(&p, w, full, f);
	if (write_is_move(&p)) {
		end = mark(w, &full);
		if (end != PLAN_DONE)
			return end;
		row_take(f, RENAMING_LEAVES);
		row_put(f, RENAMING_CAME, value_make_s(r->arena, w->follows->id));
		plan_init(&p, w, full, f);
	}
	if (!plan_make(&p) || !plan_deleting(&p))
		return PLAN_FAILED;
	end = plan_commit(&p);
	if (end != PLAN_DONE)
		return end;
	plan_follow(&p);
	deleting_follow(&p);
	return PLAN_DONE;
}

struct following {
	struct write write; /* first member: write_try() passes it back */
	bool followed;
};

static enum plan_end follow_once(struct write *w, struct write_result *out)
{
	struct run *r = w->run;
	struct following *x = (struct following *)w;
	struct value stored, full;
	struct row as_stored, was, f;
	struct slice why;
	bool names;
	enum plan_end end;

	(void)out;
	if (!dyn_get(r, w->key, true, &stored))
		return PLAN_FAILED;
	if (!value_present(stored) || entity_of(r, stored) != w->entity)
		return PLAN_DONE;
	as_stored = row_lay(r->arena, w->entity, stored);
	if (!entity_fits(r, &as_stored, &why)) {
		(void)run_fail(r, PROBLEM_CONFLICT, "%.*s", SLICE_ARG(why));
		return PLAN_FAILED;
	}
	full = entity_full(r, w->entity, stored);
	row_from(&f, r->arena, w->entity, full);
	row_copy(&was, r->arena, &f);
	if (!renaming_apply(r, w->follows, w->entity, &f, &names))
		return PLAN_FAILED;
	if (!names)
		return PLAN_DONE;
	for (size_t i = 0; i < w->entity->attribute_count; i++)
		if (!value_equal(row_get(&f, w->entity->attributes[i].at), row_get(&was, w->entity->attributes[i].at)))
			names_add(r->arena, &w->looked_at, w->entity->attributes[i].at);
	end = move(w, full, &f);
	x->followed = end == PLAN_DONE;
	return end;
}

bool write_follow(struct run *r, const struct entity *e, struct value key, const struct renaming *m, bool *followed,
		  bool *over)
{
	struct following x = {
		.write = { .run = r, .entity = e, .key = key, .trusted = true, .quiet = true, .follows = m }
	};
	struct write_result out;
	bool ok = write_try(&x.write, follow_once, &out);

	*followed = x.followed;
	*over = x.write.over;
	return ok;
}
