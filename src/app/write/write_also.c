/* Items that are also written (P5 of write_plan.h): `also` of the entity and of the action.
 *
 * Each is a write of its own, by its entity's rules: what it becomes, its companions, counts, requirements and checks.
 * The one thing that is not asked is its `allow`: the rule that writes it stands for that. Its plan is joined into the
 * plan of the request's item, so that all of it is one transaction. Then come the rules of its own entity, level by
 * level; the loader has excluded circles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/write/deleting.h"
#include "app/write/write_plan.h"
#include "base/grow.h"

struct also {
	struct plan *root;
	struct plan *from; /* whose rules these are */
	const struct also_rule *rule;
	struct scope scope; /* of the item of `from`, and the element of `for` */
	size_t next;        /* of root->write->parts */
};

/* ---- which rules ---- */

static int event_of(const struct plan *p)
{
	if (!p->item) /* nor an old one: an update that only adds, which is no event */
		return value_present(p->old) ? ON_DELETED : 0;
	if (!value_present(p->old))
		return ON_CREATED;
	return p->changed.count || p->self.count || value_present(p->write->hash) ? ON_UPDATED : 0;
}

static bool is_for(const struct plan *p, const struct also_rule *x)
{
	return x->events & event_of(p);
}

bool plan_has_also(const struct plan *p)
{
	const struct entity *e = p->entity;

	if (p->write->quiet || !(e->also_count || p->write->action))
		return false;
	for (size_t i = 0; i < e->also_count; i++)
		if (is_for(p, &e->also[i]))
			return true;
	return p->write->action && p->write->action->also_count;
}

/* ---- what they read of the item ---- */

static void look_at_assignments(struct write *w, const struct assignment *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		write_looks_at(w, list[i].term);
}

static void look_at(struct write *w, const struct also_rule *x)
{
	write_looks_at(w, x->when);
	write_looks_at(w, x->each.list);
	for (size_t i = 0; i < x->to_ref.arg_count; i++)
		write_looks_at(w, x->to_ref.args[i]);
	look_at_assignments(w, x->with, x->with_count);
	look_at_assignments(w, x->add, x->add_count);
}

void plan_also_looks(struct plan *p)
{
	struct write *w = p->write;

	if (!plan_has_also(p))
		return;
	for (size_t i = 0; i < p->entity->also_count; i++)
		if (is_for(p, &p->entity->also[i]))
			look_at(w, &p->entity->also[i]);
	for (size_t i = 0; w->action && i < w->action->also_count; i++)
		look_at(w, &w->action->also[i]);
}

/* ---- parts ---- */

static bool has_identity(const struct plan *part)
{
	return part->item || value_present(part->old);
}

static struct slice name_of(struct plan *part)
{
	struct run *r = part->run;
	const struct row *item = part->item ? part->item : &part->old_row;

	return arena_printf(r->arena, "%.*s %.*s", SLICE_ARG(part->entity->name),
			    SLICE_ARG(write_identity_text(r, entity_identity(r, item), part->entity->param_count)));
}

/* Errors of attributes are those of the other entity: Membership.role. */
static bool tell_part(struct run *r, const struct entity *e, struct slice name)
{
	struct problem *p = &r->problem;

	if (p->type != PROBLEM_INVALID && p->type != PROBLEM_CONFLICT && p->type != PROBLEM_TAKEN)
		return false;
	/* A sentence about one of several items names it already. */
	if (!slice_starts(p->detail, arena_printf(r->arena, "%.*s: ", SLICE_ARG(name))))
		p->detail = arena_printf(r->arena, "%.*s: %.*s", SLICE_ARG(name), SLICE_ARG(p->detail));
	for (size_t i = 0; i < p->part_count; i++)
		if (p->parts[i].attribute.n)
			p->parts[i].attribute = arena_printf(r->arena, "%.*s.%.*s", SLICE_ARG(e->name),
							     SLICE_ARG(p->parts[i].attribute));
	return false;
}

bool plan_tell_part(struct plan *part)
{
	return has_identity(part) && tell_part(part->run, part->entity, name_of(part));
}

/* The write of the next part; what it made in an earlier try is the same in this one. */
static struct write *part_write(struct also *x)
{
	static const struct write_options none = { 0 };
	struct write *whole = x->root->write, *w;
	struct run *r = x->root->run;
	bool again = x->next < whole->part_count && whole->parts[x->next]->as == x->rule;

	if (x->next == whole->part_count) {
		GROW_IN(r->arena, whole->parts, whole->part_count, whole->part_capacity, 4);
		whole->part_count++;
	}
	if (!again)
		whole->parts[x->next] = arena_new(r->arena, struct write);
	w = whole->parts[x->next++];
	*w = (struct write){
		.run = r,
		.entity = x->rule->to,
		.options = &none,
		.whole = whole,
		.as = x->rule,
		.made = again ? w->made : (struct row){ 0 },
		.clash = again ? w->clash : VALUE_ABSENT,
		.skipped = again ? w->skipped : 0,
		.alone = true,
	};
	fields_init(&w->moves, r->arena);
	return w;
}

/* Takes the part into the transaction, and shows its items to later terms. */
static bool add_part(struct also *x, struct plan *part)
{
	struct plan *root = x->root;

	if (!plan_join(root, part))
		return false;
	if (root->count > DYN_MOST_ACTIONS)
		return run_fail(root->run, PROBLEM_INVALID,
				"this would change too many items: at most %d can be changed at once", DYN_MOST_ACTIONS);
	GROW_IN(root->run->arena, root->parts, root->part_count, root->part_capacity, 4);
	root->parts[root->part_count++] = part;
	root->outdated = root->outdated || part->outdated;
	return true;
}

/* ---- values ---- */

static bool give(struct also *x, struct row *out)
{
	const struct also_rule *rule = x->rule;
	struct run *r = x->root->run;

	row_init(out, r->arena, rule->to);
	for (size_t i = 0; i < rule->with_count; i++) {
		const struct assignment *w = &rule->with[i];
		const struct attribute *a = slots_attribute(rule->to->slots, w->at);
		struct value v;

		if (!scope_value_for(&x->scope, w->term, w->attribute, &v))
			return false;
		if (value_type(v) == VALUE_NULL && !(a && input_default_is_null(a)))
			v = VALUE_ABSENT;
		if (value_present(v) || rule->kind == ALSO_UPDATE) /* absent: it is removed */
			row_set(out, w->at, v);
	}
	return true;
}

static bool moves_of(struct also *x, struct fields *out)
{
	for (size_t i = 0; i < x->rule->add_count; i++) {
		const struct assignment *add = &x->rule->add[i];
		struct number n;
		struct value v;

		if (!scope_value_for(&x->scope, add->term, add->attribute, &v))
			return false;
		if (value_type(v) != VALUE_N)
			return run_invalid(x->root->run, add->attribute, "can only be changed by a number");
		n = value_number(v);
		if (!fields_move(x->root->run, out, add->attribute, &n))
			return false;
	}
	return true;
}

/* ---- put, update, delete ---- */

static bool put_part(struct also *x)
{
	struct run *r = x->root->run;
	struct write *w = part_write(x);
	struct plan *part = arena_new(r->arena, struct plan);
	struct row *given = arena_new(r->arena, struct row), *f = arena_new(r->arena, struct row);

	if (!give(x, given))
		return tell_part(r, w->entity, w->entity->name);
	w->input = given;
	if (!write_make(w, given, f) || !write_plan_new(w, f, part))
		return tell_part(r, w->entity, part->item ? name_of(part) : w->entity->name);
	return add_part(x, part);
}

/* An update that only adds is a count: it reads nothing and changes nothing else. */
static bool move_part(struct also *x, const struct plan_ask *ask, struct value key)
{
	struct write *w = part_write(x);
	struct plan *part = arena_new(x->root->run->arena, struct plan);
	struct fields moves;
	struct plan_action *a;

	fields_init(&moves, x->root->run->arena);
	if (!moves_of(x, &moves))
		return tell_part(x->root->run, w->entity, w->entity->name);
	w->input = x->root->write->input;
	plan_init(part, w, VALUE_ABSENT, NULL);
	a = plan_target(part, w->entity, key);
	a->named = true;
	for (size_t i = 0; i < moves.count; i++)
		fields_set(&a->add, moves.list[i].name, moves.list[i].value);
	return plan_add_ask(part, a, ask) && add_part(x, part);
}

/* *old absent: there is none. */
static bool read_target(struct also *x, struct plan_ask *ask, struct value *key, struct value *old)
{
	const struct reference *ref = &x->rule->to_ref;
	struct value *args;
	struct row item;
	bool keeps;

	*key = *old = VALUE_ABSENT;
	if (!scope_args(&x->scope, ref->args, ref->arg_count, &args))
		return false;
	*ask = (struct plan_ask){ .reference = ref, .args = args, .by = x->from->write, .each = &x->rule->each };
	if (!entity_locate(x->root->run, x->rule->to, args, ref->arg_count, key) || !value_present(*key))
		return x->root->run->problem.type == PROBLEM_NONE;
	if (x->rule->kind == ALSO_UPDATE && !x->rule->with_count)
		return true;
	if (!entity_fetch(x->root->run, x->rule->to, args, ref->arg_count, true, &item))
		return false;
	if (item.entity && !write_is_own(x->root->write)) { /* another tenant's: as if it were not there */
		if (!entity_keeps(x->root->run, &item, NULL, &keeps))
			return false;
		if (!keeps && !run_explores(x->root->run))
			return true;
	}
	*old = item.full;
	return true;
}

static bool update_part(struct also *x)
{
	struct run *r = x->root->run;
	struct row *given, *f;
	struct plan_ask ask;
	struct value key, old;
	struct write *w;
	struct plan *part;

	if (!read_target(x, &ask, &key, &old))
		return false;
	if (!value_present(key) || (x->rule->with_count && !value_present(old)))
		return plan_tell_missing(x->from->write, &ask);
	if (!x->rule->with_count)
		return move_part(x, &ask, key);
	w = part_write(x);
	write_looks_at(w, w->entity->everywhere);
	given = arena_new(r->arena, struct row);
	f = arena_new(r->arena, struct row);
	part = arena_new(r->arena, struct plan);
	w->args = ask.args;
	w->arg_count = x->rule->to_ref.arg_count;
	if (!give(x, given) || !moves_of(x, &w->moves))
		return tell_part(r, w->entity, w->entity->name);
	w->input = given;
	if (!write_plan_alter(w, old, f, part)) {
		row_from(f, r->arena, w->entity, old);
		part->item = f;
		part->run = r;
		part->entity = w->entity;
		return plan_tell_part(part);
	}
	return add_part(x, part);
}

/* What is gone already may be gone. */
static bool delete_part(struct also *x)
{
	struct run *r = x->root->run;
	struct plan_ask ask;
	struct value key, old;
	struct write *w;
	struct row *f;
	struct plan *part;

	if (!read_target(x, &ask, &key, &old))
		return false;
	if (!value_present(old))
		return true;
	w = part_write(x);
	write_looks_at(w, w->entity->everywhere);
	f = arena_new(r->arena, struct row);
	part = arena_new(r->arena, struct plan);
	w->args = ask.args;
	w->arg_count = x->rule->to_ref.arg_count;
	write_deletes(w);
	if (!write_plan_deletion(w, old, f, part))
		return tell_part(r, w->entity, w->entity->name);
	return add_part(x, part);
}

/* ---- all of them ---- */

static bool carry_out(void *ctx, struct scope *s)
{
	struct also *x = ctx;
	bool holds;

	x->scope = *s;
	if (!scope_holds(&x->scope, x->rule->when, &holds))
		return false;
	if (!holds)
		return true;
	switch (x->rule->kind) {
	case ALSO_PUT: return put_part(x);
	case ALSO_UPDATE: return update_part(x);
	case ALSO_DELETE: return delete_part(x);
	}
	return true;
}

static bool one_rule(struct also *x, struct scope *s, const struct also_rule *rule)
{
	x->rule = rule;
	return scope_each(s, &rule->each, carry_out, x);
}

/* Names stand for the item after the write; of a deletion, for the deleted item. */
static bool rules_of_plan(struct also *x, struct plan *from)
{
	const struct row *before = value_present(from->old) ? &from->old_row : NULL;
	const struct entity *e = from->entity;
	struct write *w = from->write;
	struct scope s;

	if (!plan_has_also(from))
		return true;
	x->from = from;
	s = write_scope(w, from->item ? from->item : &from->old_row, before);
	for (size_t i = 0; i < e->also_count; i++)
		if (is_for(from, &e->also[i]) && !one_rule(x, &s, &e->also[i]))
			return false;
	for (size_t i = 0; w->action && i < w->action->also_count; i++)
		if (!one_rule(x, &s, &w->action->also[i]))
			return false;
	return true;
}

/* A new item is checked with what other rules have moved in it, or could have (write_checks()). */
static bool check_new(struct plan *p)
{
	const struct plan_action *a = plan_main(p);
	struct run *r = p->run;
	struct row item;
	struct scope s = { .run = r, .item = &item };

	if (!a || a->kind != DYN_PUT || (value_present(p->old) && !p->self.count))
		return true;
	item = row_lay(r->arena, p->entity, entity_full(r, p->entity, a->item));
	for (size_t i = 0; i < p->entity->check_count; i++) {
		const struct check_rule *c = &p->entity->checks[i];
		bool holds;

		if (!scope_holds(&s, c->term, &holds))
			return false;
		if (!holds) {
			(void)run_fail(r, PROBLEM_CONFLICT, "%.*s", SLICE_ARG(c->sentence));
			return p->write->whole && plan_tell_part(p);
		}
	}
	return true;
}

static bool finish(struct plan *p)
{
	for (size_t i = 0; i < p->part_count; i++)
		if (!check_new(p->parts[i]))
			return false;
	if (!check_new(p) || !plan_held(p))
		return false;
	plan_witnesses(p);
	return true;
}

static void drop_idle_check(struct plan *p)
{
	if (p->count == 1 && p->actions[0].kind == DYN_CHECK && p->actions[0].role == PLAN_MAIN)
		p->count = 0;
}

bool plan_also(struct plan *p)
{
	struct also x = { .root = p };

	if (p->write->whole || !plan_has_also(p))
		return true;
	if (!plan_promise(p) || !rules_of_plan(&x, p))
		return false;
	for (size_t i = 0; i < p->part_count; i++)
		if (!rules_of_plan(&x, p->parts[i]))
			return false;
	p->run->memo = NULL; /* from here on, items are as they are stored */
	drop_idle_check(p);
	return finish(p);
}
