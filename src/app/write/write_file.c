/* Files in a write: those that the item takes, and those that it takes along when it moves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"

/* An attribute that keeps some of its files must still have them: otherwise they may be gone (P2). */
bool write_take_files(struct write *w, const struct attribute *a, struct value was, struct value *v)
{
	struct file_ask of = { .entity = w->entity, .attribute = a };

	if (!attribute_file(a) || w->whole || w->trusted)
		return true;
	if (value_present(was))
		names_add(w->run->arena, &w->looked_at, a->at);
	return file_take(w->run, &w->claims, &of, was, v);
}

void write_forget_files(struct write *w)
{
	w->claims.count = 0;
}

static void add_write(struct plan *p, const struct dyn_write *d)
{
	struct plan_action *a = plan_add(p, PLAN_FILE, d->kind, d->key);

	a->table = d->table;
	a->item = d->item;
	a->must_exist = d->must_exist;
	a->must_not_exist = d->must_not_exist;
	for (size_t i = 0; i < d->set_count; i++)
		fields_set(&a->set, d->set[i].name, d->set[i].value);
}

static void move_file(struct plan *p, const struct attribute *a, struct value file)
{
	const struct file_claims *c = &p->write->claims;
	struct dyn_write d;

	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].used && slice_equal(c->list[i].id, file_id(file)))
			return; /* it is new */
	if (!file_id(file).n)
		return;
	d = file_move_write(p->run, p->entity, a, file, p->key);
	add_write(p, &d);
}

static void move_files(struct plan *p)
{
	EACH (struct attribute, a, p->entity->attributes, p->entity->attribute_count) {
		struct value v = attribute_file(a) ? row_get(p->item, a->at) : VALUE_ABSENT;

		if (value_type(v) == VALUE_M)
			move_file(p, a, v);
		if (value_type(v) == VALUE_L)
			for (struct value_iter it = value_iter(v); value_next(&it);)
				move_file(p, a, it.value);
	}
}

void plan_files(struct plan *p)
{
	const struct file_claims *c = &p->write->claims;
	struct dyn_write d[FILE_CLAIM_WRITES];

	if (!p->item)
		return;
	for (size_t i = 0; i < c->count; i++) {
		if (!c->list[i].used)
			continue;
		file_claim_writes(p->run, &c->list[i], p->key, d);
		for (size_t k = 0; k < FILE_CLAIM_WRITES; k++)
			add_write(p, &d[k]);
	}
	if (write_is_move(p))
		move_files(p);
}
