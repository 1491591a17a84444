/* The actions of a write: the item and its companions, old and new compared.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/renaming/renaming.h"
#include "base/grow.h"

/* ---- adding ---- */

bool names_meet(const struct name_list *x, const struct name_list *y)
{
	for (size_t i = 0; i < x->count; i++)
		if (names_have(y, x->list[i]))
			return true;
	return false;
}

bool value_move(struct run *r, struct value v, const struct number *n, struct value *out)
{
	struct number sum = value_type(v) == VALUE_N ? value_number(v) : number_from_i64(0);
	struct error e = { 0 };

	if (!number_add(&sum, n, &sum, r->arena, &e))
		return run_error(r, &e);
	*out = value_make_n(r->arena, &sum);
	return true;
}

bool fields_move(struct run *r, struct fields *f, struct slice name, const struct number *n)
{
	struct value v;

	if (!value_move(r, fields_get(f, name), n, &v))
		return false;
	fields_set(f, name, v);
	return true;
}

bool row_move(struct run *r, struct row *f, struct slice name, const struct number *n)
{
	struct value v;

	if (!value_move(r, row_find(f, name), n, &v))
		return false;
	row_put(f, name, v);
	return true;
}

static bool is_counter(const struct entity *e, struct slice name)
{
	const struct attribute *a = entity_attribute(e, name);

	return a && a->counter;
}

/* ---- the plan ---- */

/* The value of an entry in the other row; both rows usually have the entity's layout. */
static struct value beside(const struct row *other, const struct row_iter *it)
{
	return it->slot && it->row->slots == other->slots ? other->values[it->slot->at] : row_find(other, it->name);
}

/* Whether the entry is a counter, which moves on its own. */
static bool is_moving(const struct plan *p, const struct row_iter *it)
{
	return it->slot ? it->slot->attribute && it->slot->attribute->counter : is_counter(p->entity, it->name);
}

/* An attribute that the design does not know stays as it is. */
static void note_change(struct plan *p, const struct row_iter *it)
{
	const struct name *n = it->slot ? it->slot->name : design_named(p->run->design, it->name);

	if (n)
		names_add(p->run->arena, &p->changed, n);
}

static void note_changes(struct plan *p)
{
	for (struct row_iter it = row_iter(p->item); row_next(&it);)
		if (!is_moving(p, &it) && !value_equal(it.value, beside(&p->old_row, &it)))
			note_change(p, &it);
	for (struct row_iter it = row_iter(&p->old_row); row_next(&it);)
		if (!is_moving(p, &it) && !value_present(beside(p->item, &it)))
			note_change(p, &it);
}

void plan_init(struct plan *p, struct write *w, struct value old, const struct row *item)
{
	struct run *r = w->run;

	*p = (struct plan){ .write = w, .run = r, .entity = w->entity, .old = old, .item = item };
	row_from(&p->old_row, r->arena, w->entity, old);
	fields_init(&p->self, r->arena);
	for (size_t i = 0; i < w->moves.count; i++)
		fields_set(&p->self, w->moves.list[i].name, w->moves.list[i].value);
	if (value_present(old))
		p->old_key = dyn_key_of(r, old);
	if (item)
		p->key = entity_key_of(r, item);
	if (item && value_present(old))
		note_changes(p);
}

struct plan_action *plan_add(struct plan *p, enum plan_role role, enum dyn_write_kind kind, struct value key)
{
	struct arena *a = p->run->arena;
	struct plan_action *x;

	GROW_IN(a, p->actions, p->count, p->capacity, 8);
	x = &p->actions[p->count++];
	*x = (struct plan_action){ .role = role, .of = p, .kind = kind, .key = key };
	fields_init(&x->set, a);
	fields_init(&x->add, a);
	fields_init(&x->equal, a);
	return x;
}

struct plan_action *plan_find(struct plan *p, struct value key)
{
	for (size_t i = 0; i < p->count; i++)
		if (!p->actions[i].table.n && value_equal(p->actions[i].key, key))
			return &p->actions[i];
	return NULL;
}

bool write_is_move(const struct plan *p)
{
	return value_present(p->old_key) && value_present(p->key) && !value_equal(p->old_key, p->key);
}

/* P1 for actions that cannot be merged: a design in which two rules write the same item. */
static struct plan_action *add_alone(struct plan *p, enum plan_role role, enum dyn_write_kind kind, struct value key)
{
	/* A list may have any length and a companion for each element: stops early. */
	if (p->count > DYN_MOST_ACTIONS) {
		(void)run_fail(p->run, PROBLEM_INVALID,
			       "this would change too many items: at most %d can be changed at once", DYN_MOST_ACTIONS);
		return NULL;
	}
	if (!plan_find(p, key))
		return plan_add(p, role, kind, key);
	(void)run_fail(p->run, PROBLEM_INTERNAL, "Two rules of %.*s write the same item", SLICE_ARG(p->entity->name));
	return NULL;
}

/* ---- companions ---- */

static bool is_counter_path(const void *entity, const struct term *t)
{
	return t->kind == TERM_PATH && !t->member && is_counter(entity, t->names[0]);
}

/* Whether a companion derives from a counter itself. Then the item alone does not tell its current form. One from a
 * derived attribute is as that says, because both are written together. */
static bool reads_counter(const struct entity *e, const struct companion *c)
{
	bool reads = term_any(c->when, is_counter_path, e) || term_any(c->each_list, is_counter_path, e);

	for (size_t i = 0; i < c->rule_count; i++) {
		const struct template *t = c->rules[i].template;

		reads = reads || term_any(c->rules[i].when, is_counter_path, e);
		for (size_t k = 0; k < t->part_count; k++)
			reads = reads || (t->parts[k].name_count && is_counter(e, t->parts[k].names[0]));
	}
	return reads;
}

/* Reads the existing companions of that kind instead of computing them. */
static bool look_up(struct plan *p, struct companion_item *old, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct value now;

		if (!reads_counter(p->entity, old[i].rule))
			continue;
		if (!dyn_get(p->run, old[i].key, true, &now))
			return false;
		if (value_present(now))
			old[i].item = now;
	}
	return true;
}

static bool put_companion(struct plan *p, const struct companion_item *c, const struct companion_item *was)
{
	struct plan_action *a;

	if (was && value_equal(was->item, c->item))
		return true;
	a = add_alone(p, PLAN_COMPANION, DYN_PUT, c->key);
	if (!a)
		return false;
	a->item = c->item;
	a->companion = c->rule;
	a->must_not_exist = !was && c->rule->unique.n;
	return true;
}

static bool drop_companions(struct plan *p, const struct companion_item *old, size_t old_count,
			    const struct companion_item *now, size_t count)
{
	for (size_t i = 0; i < old_count; i++) {
		struct plan_action *a;

		if (companion_find(now, count, old[i].key))
			continue;
		a = add_alone(p, PLAN_COMPANION, DYN_DELETE, old[i].key);
		if (!a)
			return false;
		a->companion = old[i].rule;
	}
	return true;
}

static bool plan_companions(struct plan *p)
{
	struct companion_item *old = NULL, *now = NULL;
	size_t old_count = 0, count = 0;

	if (value_present(p->old) && !entity_companions(p->run, p->entity, &p->old_row, &old, &old_count))
		return false;
	if (p->item && !entity_companions(p->run, p->entity, p->item, &now, &count))
		return false;
	if (p->item && p->write->trusted && !look_up(p, old, old_count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!put_companion(p, &now[i], companion_find(old, old_count, now[i].key)))
			return false;
	return drop_companions(p, old, old_count, now, count);
}

/* ---- the item itself ---- */

/* Includes the counters that this write moves. */
static bool whole_item(struct plan *p, struct value *item)
{
	struct row f;

	*item = entity_stored(p->run, p->entity, p->item);
	if (!p->write->follows)
		*item = renaming_hidden(p->run->arena, *item);
	if (!p->self.count)
		return true;
	row_from(&f, p->run->arena, p->entity, *item);
	for (size_t i = 0; i < p->self.count; i++) {
		struct number n = value_number(p->self.list[i].value);

		if (!row_move(p->run, &f, p->self.list[i].name, &n))
			return false;
	}
	*item = row_item(&f);
	return true;
}

static bool plan_put(struct plan *p)
{
	struct plan_action *a = add_alone(p, PLAN_MAIN, DYN_PUT, p->key);

	if (!a)
		return false;
	a->must_not_exist = true;
	return whole_item(p, &a->item);
}

/* An item that was marked for a rename since it was read is read again: the stream would say that it follows, not that
 * it is gone (renaming_unmark()). */
static void watch_mark(struct plan *p, struct plan_action *a)
{
	if (p->entity->is_renamed && !p->write->follows)
		fields_set(&a->equal, RENAMING_LEAVES, VALUE_ABSENT);
}

/* The condition includes everything: the new item is made from the whole old one. */
static bool plan_move(struct plan *p)
{
	struct plan_action *a = add_alone(p, PLAN_OLD, DYN_DELETE, p->old_key);
	struct value_iter it = value_iter(entity_stored(p->run, p->entity, &p->old_row));

	if (!a)
		return false;
	a->must_exist = true;
	watch_mark(p, a);
	for (size_t i = 0; i < p->entity->attribute_count; i++) /* and it has no new attributes */
		if (!p->entity->attributes[i].from_key)
			fields_set(&a->equal, p->entity->attributes[i].name, VALUE_ABSENT);
	while (value_next(&it))
		fields_set(&a->equal, it.name, it.value);
	return plan_put(p);
}

static bool plan_delete(struct plan *p)
{
	struct plan_action *a = add_alone(p, PLAN_MAIN, DYN_DELETE, p->old_key);

	if (!a)
		return false;
	a->must_exist = true;
	watch_mark(p, a);
	plan_watch(p, a);
	return true;
}

/* Sets the stored attributes that differ. */
static void set_changes(struct plan *p, struct plan_action *a)
{
	for (struct row_iter it = row_iter(p->item); row_next(&it);)
		if (value_present(it.value) && !is_moving(p, &it) && (!it.slot || it.slot->stored) &&
		    !value_equal(it.value, beside(&p->old_row, &it)))
			fields_set(&a->set, it.name, it.value);
	for (struct row_iter it = row_iter(&p->old_row); row_next(&it);)
		if (!is_moving(p, &it) && (!it.slot || it.slot->stored) && !value_present(beside(p->item, &it)))
			fields_set(&a->set, it.name, VALUE_ABSENT);
}

static bool plan_update(struct plan *p)
{
	size_t others = p->count;
	struct plan_action *a = add_alone(p, PLAN_MAIN, DYN_UPDATE, p->key);

	if (!a)
		return false;
	a->must_exist = true;
	set_changes(p, a);
	for (size_t i = 0; i < p->self.count; i++)
		fields_set(&a->add, p->self.list[i].name, p->self.list[i].value);
	if (a->set.count || a->add.count) {
		plan_watch(p, a);
	} else if (others || plan_has_also(p)) {
		a->kind = DYN_CHECK;
		plan_watch(p, a);
	} else {
		p->count--;
	}
	return true;
}

static bool plan_item(struct plan *p)
{
	if (!value_present(p->old))
		return plan_put(p);
	return write_is_move(p) ? plan_move(p) : plan_update(p);
}

bool plan_make(struct plan *p)
{
	plan_also_looks(p);
	if (!plan_counts(p) || !plan_takes(p) || !plan_requires(p) || !plan_companions(p) || !plan_secret(p))
		return false;
	if (!(p->item ? plan_item(p) : plan_delete(p)))
		return false;
	plan_files(p);
	if (p->write->whole || plan_has_also(p))
		return true; /* plan_also() */
	if (!plan_held(p))
		return false;
	plan_witnesses(p);
	return true;
}

struct plan_action *plan_main(struct plan *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->actions[i].role == PLAN_MAIN && p->actions[i].of == p)
			return &p->actions[i];
	return NULL;
}

bool plan_is_empty(const struct plan *p)
{
	return p->count == 0;
}
