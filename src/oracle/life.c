/* `lives while`: items that processors write, and that exist only while another item does.
 *
 * For each `lives while`, an item adds a FACT_LIFE at the identity of the other item. If that one is missing, or the
 * `if` does not hold for it, the first item is left over. Processors put and remove such items under this condition
 * (docs/processors.md). So it is a difference if clients can neither make such items nor change their reference, and
 * the design has something that removes them; otherwise it is a note.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/witness.h"
#include "oracle/oracle_internal.h"

/* ---- what the design says ---- */

static bool removes(const struct design *d, const struct processor *p, const struct entity *e)
{
	const struct entity *rows = p->target_access ? read_entity(d, p->target_access) : NULL;

	if (p->effect == EFFECT_DELETE)
		return p->target_ref.to == e;
	return p->target_access && (!rows || rows == e);
}

/* After which changes of the target (ON_UPDATED, ON_DELETED) something removes items of the entity. */
static int removed_on(const struct design *d, const struct entity *e, const struct entity *target)
{
	int events = 0;

	for (size_t i = 0; i < d->processor_count; i++)
		if (d->processors[i].of == target && removes(d, &d->processors[i], e))
			events |= d->processors[i].events;
	for (size_t i = 0; i < target->delete_.then_count; i++)
		if (read_entity(d, target->delete_.then_access[i]) == e)
			events |= target->delete_.soft ? ON_UPDATED : ON_DELETED;
	return events;
}

static bool action_changes(const struct action *a, const struct name *at)
{
	for (size_t i = 0; i < a->set_count; i++)
		if (a->set[i].at == at)
			return true;
	return names_among(a->remove_at, a->remove_count, at) || names_among(a->input_at, a->input_count, at);
}

/* Whether clients make such items, or can change which target they need, also by writing something else (`also`). */
static bool clients_decide(const struct design *d, struct arena *a, const struct entity *e, const struct requirement *q)
{
	bool updates = !e->internal && e->allow[ALLOW_UPDATE] && e->allow[ALLOW_UPDATE]->kind != TERM_NEVER;
	struct name_list names = { 0 };

	if (!e->internal && e->allow[ALLOW_CREATE] && e->allow[ALLOW_CREATE]->kind != TERM_NEVER)
		return true;
	names_of_term(a, &names, e, q->when);
	for (size_t i = 0; i < q->target.arg_count; i++)
		names_of_term(a, &names, e, q->target.args[i]);
	for (size_t i = 0; i < names.count; i++) {
		const struct attribute *x = slots_attribute(e->slots, names.list[i]);

		if (x && design_also_sets(d, e, x->name))
			return true;
		if (x && updates && !x->fixed && !x->managed && !x->id && !x->derived)
			return true;
		for (size_t k = 0; k < e->action_count; k++)
			if (action_changes(&e->actions[k], names.list[i]))
				return true;
	}
	for (size_t i = 0; i < e->action_count; i++)
		if (e->actions[i].creates)
			return true;
	return design_also_puts(d, e);
}

void lives_mark(struct rules *x, struct rule_entity *r, struct arena *a)
{
	const struct entity *e = r->entity;

	r->lives = arena_array(a, struct rule_life, e->lives_count);
	for (size_t i = 0; i < e->lives_count; i++) {
		const struct requirement *q = &e->lives[i];
		const struct entity *target = q->target.to;
		struct rule_life *l = &r->lives[i];
		struct name_list names = { 0 };
		struct rule_entity *t;

		l->target = target;
		if (!target || term_reads_more(q->when))
			continue;
		l->judged = true;
		l->asks_if = q->if_ && !term_reads_more(q->if_);
		l->removed_on = clients_decide(x->design, a, e, q) ? 0 : removed_on(x->design, e, target);
		t = &x->entities[entity_index(x->design, target)];
		t->is_target = true;
		if (l->asks_if)
			names_of_term(a, &names, target, q->if_);
		for (size_t k = 0; k < names.count; k++)
			names_add(a, &t->carried, names.list[k]);
	}
}

bool lives_removes(const struct design *d, const struct processor *p)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].lives_count && removes(d, p, &d->entities[i]))
			return true;
	return false;
}

/* ---- facts ---- */

/* The identity of the item that it needs; false: the requirement does not apply. */
static bool applies(struct run *r, const struct requirement *q, const struct row *full, struct value **args)
{
	struct scope s = { .run = r, .item = full };
	bool is;

	if (scope_holds(&s, q->when, &is) && (!is || scope_args(&s, q->target.args, q->target.arg_count, args)))
		return is;
	r->problem = (struct problem){ 0 };
	return false;
}

static void tell_over(struct oracle *o, const struct entity *e, size_t at, struct value key, struct value target,
		      bool there)
{
	const struct requirement *q = &e->lives[at];
	const struct rule_life *l = &rules_of(o, e)->lives[at];
	struct oracle_finding f = {
		.kind = ORACLE_OUTLIVED, .entity = e, .key = key, .other_entity = l->target, .other = target
	};
	struct run *r = &o->run;
	const char *rest = "";
	struct buf b;

	if (!(l->removed_on & (there ? ON_UPDATED : ON_DELETED))) {
		f.weight = ORACLE_NOTE;
		rest = "; but nothing in the design removes it, or clients can bring it about";
	}
	buf_init(&b, r->arena);
	if (q->if_)
		term_print(&b, q->if_);
	if (there)
		tell(o, &f, "%.*s is left over: it lives while its %.*s has %.*s, which does not hold%s",
		     SLICE_ARG(say_item(r, e, key)), SLICE_ARG(l->target->name), SLICE_ARG(buf_slice(&b)), rest);
	else
		tell(o, &f, "%.*s is left over: it lives while its %.*s exists, which it does not%s",
		     SLICE_ARG(say_item(r, e, key)), SLICE_ARG(l->target->name), rest);
}

void lives_imply(struct oracle *o, const struct entity *e, const struct row *full, struct value key)
{
	struct run *r = &o->run;

	for (size_t i = 0; i < e->lives_count; i++) {
		const struct rule_life *l = &rules_of(o, e)->lives[i];
		struct value *args;
		struct slice join;
		struct buf b;

		if (!l->judged || !applies(r, &e->lives[i], full, &args))
			continue;
		if (!identity_join(r, l->target, args, e->lives[i].target.arg_count, &join)) {
			tell_over(o, e, i, key, VALUE_ABSENT, false);
			continue;
		}
		b = fact_begin(o, SPACE_IDENTITY, join, FACT_LIFE);
		buf_be16(&b, (uint16_t)entity_index(r->design, e));
		buf_be16(&b, (uint16_t)i);
		fact_put_value(&b, key);
		fact_add(o, &b);
	}
}

/* ---- and whether it still holds ---- */

static bool holds_of(struct run *r, const struct term *if_, const struct row *target)
{
	struct scope s = { .run = r, .item = target };
	bool holds;

	if (scope_holds(&s, if_, &holds))
		return holds;
	r->problem = (struct problem){ 0 };
	return false;
}

void lives_compare(struct oracle *o, struct fact_reader *f, bool there, const struct row *carried)
{
	struct run *r = &o->run;
	const struct entity *e = &r->design->entities[fact_u16(f)];
	size_t at = fact_u16(f);
	const struct rule_life *l = &rules_of(o, e)->lives[at];
	struct value key = fact_value(f), stored, target = VALUE_ABSENT, *args;
	struct row item, full;

	if (there && (!l->asks_if || holds_of(r, e->lives[at].if_, carried)))
		return;
	/* Finds the key of the target, whether it exists or not. */
	if (!dyn_get(r, key, true, &stored) || !value_present(stored) || entity_of(r, stored) != e)
		return; /* it has gone since */
	item = row_lay(r->arena, e, stored);
	judge_item(o, &item, true, &full);
	if (!applies(r, &e->lives[at], &full, &args))
		return;
	if (!entity_locate(r, l->target, args, e->lives[at].target.arg_count, &target)) {
		r->problem = (struct problem){ 0 };
		target = VALUE_ABSENT;
	}
	tell_over(o, e, at, key, target, there);
	scratch_clear(o); /* any number of items may need the same one */
}

/* ---- for mending ---- */

/* Reads the target, and notes it as a condition of the write. */
static bool look_at_target(struct run *r, const struct requirement *q, struct value *args, bool *holds)
{
	const struct entity *target = q->target.to;
	struct entity_look at;
	struct name_list names = { 0 };
	struct witness *w;
	struct value key;

	*holds = false;
	if (!entity_locate(r, target, args, q->target.arg_count, &key) ||
	    (value_present(key) && !entity_look_at(r, target, key, true, &at)))
		return false;
	if (!value_present(key))
		return true;
	w = witness_item(r, target, &at);
	if (!at.item.entity)
		return true;
	names_of_term(r->arena, &names, target, q->if_);
	for (size_t i = 0; i < names.count; i++)
		witness_reads(w, names.list[i], row_get(&at.item, names.list[i]));
	*holds = !q->if_ || holds_of(r, q->if_, &at.item);
	return true;
}

bool lives_still(struct run *r, const struct row *full, bool *out)
{
	const struct entity *e = full->entity;
	struct value *args;

	*out = true;
	for (size_t i = 0; i < e->lives_count && *out; i++)
		if (applies(r, &e->lives[i], full, &args) && !look_at_target(r, &e->lives[i], args, out))
			return false;
	return true;
}
