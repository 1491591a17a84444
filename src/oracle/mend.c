/* Mends a finding: one write, under the condition that what it follows from is still so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "app/entity/witness.h"
#include "app/write/write_plan.h"
#include "oracle/oracle_internal.h"

#define MEND_TRIES 4

struct mending {
	struct run *run;
	const struct oracle_finding *finding;
	enum oracle_mending outcome;
};

/* ---- in words ---- */

static bool is_table_key(const struct design *d, const struct oracle_finding *f)
{
	return f->kind == ORACLE_KEY_DIFFERS && design_is_table_key(d, f->attribute);
}

struct slice oracle_mend_words(struct arena *a, const struct design *d, const struct oracle_finding *f)
{
	struct run r = { .design = d, .arena = a };

	if (f->weight != ORACLE_DIFFERENCE || is_table_key(d, f))
		return SLICE("");
	switch (f->kind) {
	case ORACLE_DERIVED_DIFFERS:
	case ORACLE_KEY_DIFFERS:
	case ORACLE_COPY_DIFFERS:
	case ORACLE_COUNTER_DIFFERS:
		if (!value_present(f->expected))
			return arena_printf(a, "%.*s is removed", SLICE_ARG(f->attribute));
		return arena_printf(a, "%.*s becomes %.*s", SLICE_ARG(f->attribute),
				    SLICE_ARG(say_value(&r, f->expected)));
	case ORACLE_GUARD_MISSING:
	case ORACLE_COMPANION_MISSING: return arena_printf(a, "%.*s is put", SLICE_ARG(say_key(&r, f->key)));
	case ORACLE_GUARD_DIFFERS:
	case ORACLE_COMPANION_DIFFERS:
		return arena_printf(a, "%.*s is rewritten from its item", SLICE_ARG(say_key(&r, f->key)));
	case ORACLE_GUARD_LEFT:
	case ORACLE_COMPANION_LEFT:
	case ORACLE_CREDENTIALS_LEFT: return arena_printf(a, "%.*s is deleted", SLICE_ARG(say_key(&r, f->key)));
	case ORACLE_ORPHAN:
	case ORACLE_OUTLIVED:
		return arena_printf(a, "%.*s is removed, with its companions and counts",
				    SLICE_ARG(say_item(&r, f->entity, f->key)));
	default: return SLICE("");
	}
}

/* ---- writing ---- */

static bool commit(struct mending *m, const struct dyn_write *w, size_t n)
{
	struct dyn_refusal refusals[2];

	for (int i = 0; i < MEND_TRIES; i++) {
		switch (dyn_write(m->run, w, n, SLICE(""), refusals)) {
		case DYN_DONE: m->outcome = ORACLE_MENDED; return true;
		case DYN_REFUSED: m->outcome = ORACLE_MOVED; return true;
		case DYN_CONFLICT: continue;
		default: return false;
		}
	}
	m->outcome = ORACLE_MOVED;
	return true;
}

static bool moved(struct mending *m)
{
	m->outcome = ORACLE_MOVED;
	return true;
}

static bool is_from_key(const struct entity *e, struct slice name)
{
	const struct attribute *a = entity_attribute(e, name);

	return a && a->from_key;
}

/* "name is still this" for each of the names, as the item is stored. What is read from the key stays with it. */
static struct fields still(struct mending *m, const struct entity *e, struct value stored, const struct name_list *names)
{
	struct fields f;

	fields_init(&f, m->run->arena);
	for (size_t i = 0; i < names->count; i++)
		if (!design_is_table_key(m->run->design, names->list[i]) && !is_from_key(e, names->list[i]))
			fields_set(&f, names->list[i], value_get(stored, names->list[i]));
	return f;
}

/* The item as it is; absent: it is gone, or another one's. */
static bool read(struct mending *m, const struct entity *e, struct value key, struct value *stored)
{
	if (!dyn_get(m->run, key, true, stored))
		return false;
	if (value_present(*stored) && (entity_expired(m->run, *stored) || (e && entity_of(m->run, *stored) != e)))
		*stored = VALUE_ABSENT;
	return true;
}

/* ---- what follows from the item itself ---- */

static struct name_list names_behind(struct run *r, const struct entity *e, struct slice attribute)
{
	const struct attribute *a = entity_attribute(e, attribute);
	struct name_list names = { 0 };

	names_add(r->arena, &names, attribute);
	if (a) {
		names_of_term(r->arena, &names, e, a->derived);
		names_of_term(r->arena, &names, e, a->when);
		if (a->after.n)
			names_add(r->arena, &names, a->after);
	}
	for (size_t i = 0; i < e->key_count; i++)
		if (slice_equal(e->keys[i].attribute, attribute)) {
			names_of_template(r->arena, &names, e, e->keys[i].template);
			names_of_term(r->arena, &names, e, e->keys[i].when);
		}
	return names;
}

static bool mend_derived(struct mending *m)
{
	const struct oracle_finding *f = m->finding;
	struct run *r = m->run;
	struct name_list names = names_behind(r, f->entity, f->attribute);
	struct value stored, full, should;
	struct value_member set;
	struct dyn_write w = { .kind = DYN_UPDATE, .key = f->key, .set = &set, .set_count = 1, .must_exist = true };
	struct fields equal;
	struct row item;

	if (!read(m, f->entity, f->key, &stored))
		return false;
	if (!value_present(stored))
		return moved(m);
	full = entity_full(r, f->entity, stored);
	row_from(&item, r->arena, f->entity, full);
	if (!entity_complete(r, f->entity, &item, full)) {
		r->problem = (struct problem){ 0 };
		return moved(m);
	}
	should = entity_stored(r, f->entity, &item);
	set = (struct value_member){ f->attribute, value_get(should, f->attribute) };
	if (value_equal(set.value, value_get(stored, f->attribute)))
		return moved(m);
	equal = still(m, f->entity, stored, &names);
	w.equal = equal.list;
	w.equal_count = equal.count;
	return commit(m, &w, 1);
}

/* ---- counters ---- */

static bool mend_counter(struct mending *m)
{
	const struct oracle_finding *f = m->finding;
	struct run *r = m->run;
	struct number n = number_from_i64(0), expected = value_number(f->expected);
	struct value_member add, equal = { f->attribute, f->found };
	struct dyn_write w = { .kind = DYN_UPDATE,
			       .key = f->key,
			       .add = &add,
			       .add_count = 1,
			       .equal = &equal,
			       .equal_count = 1,
			       .must_exist = true };
	struct error e = { 0 };

	if (value_type(f->found) == VALUE_N)
		n = value_number(f->found);
	else if (value_present(f->found)) { /* no number: it is set, for ADD could not */
		add = (struct value_member){ f->attribute, f->expected };
		w.set = &add;
		w.set_count = 1;
		w.add_count = 0;
		return commit(m, &w, 1);
	}
	if (!number_sub(&expected, &n, &n, r->arena, &e))
		return run_error(r, &e);
	add = (struct value_member){ f->attribute, value_make_n(r->arena, &n) };
	return commit(m, &w, 1);
}

/* ---- copies ---- */

/* Both as they are now: what the copy is of, and what it is, are conditions. */
static bool mend_copy(struct mending *m)
{
	const struct oracle_finding *f = m->finding;
	const struct attribute *a = entity_attribute(f->entity, f->attribute);
	struct run *r = m->run;
	struct name_list names = { 0 }, source_names = { 0 };
	struct value copy, source = VALUE_ABSENT;
	struct value_member set = { f->attribute, VALUE_ABSENT };
	struct fields was, is;
	struct dyn_write w[2] = {
		{ .kind = DYN_UPDATE, .key = f->key, .set = &set, .set_count = 1, .must_exist = true },
		{ .kind = DYN_CHECK, .key = f->other },
	};

	if (!read(m, f->entity, f->key, &copy))
		return false;
	if (!value_present(copy) || !value_equal(value_get(copy, f->attribute), f->found))
		return moved(m);
	names_add(r->arena, &names, f->attribute);
	names_of_term(r->arena, &names, f->entity, a->when);
	for (size_t i = 0; i < a->copy_arg_count; i++)
		names_of_term(r->arena, &names, f->entity, a->copy_args[i]);
	was = still(m, f->entity, copy, &names);
	w[0].equal = was.list;
	w[0].equal_count = was.count;
	if (!value_present(f->other)) /* no item can have that identity */
		return commit(m, w, 1);
	if (!read(m, f->other_entity, f->other, &source))
		return false;
	if (!value_present(source)) {
		w[1].must_not_exist = true;
		return value_present(f->expected) ? moved(m) : commit(m, w, 2);
	}
	if (!entity_copied(r, a, &(struct row){ .full = entity_full(r, f->other_entity, source) }, &set.value))
		return false;
	if (!value_equal(set.value, f->expected))
		return moved(m);
	names_of_copy(r->arena, &source_names, f->other_entity, a);
	is = still(m, f->other_entity, source, &source_names);
	w[1].must_exist = true;
	w[1].equal = is.list;
	w[1].equal_count = is.count;
	return commit(m, w, 2);
}

/* ---- companions ---- */

static void names_of_rules(struct run *r, const struct entity *e, const struct companion *c, struct name_list *names)
{
	names_of_term(r->arena, names, e, c->when);
	names_of_term(r->arena, names, e, c->each_list);
	for (size_t i = 0; i < c->rule_count; i++) {
		names_of_template(r->arena, names, e, c->rules[i].template);
		names_of_term(r->arena, names, e, c->rules[i].when);
	}
}

/* The companion as its owner has it now, and the check that it still has. False: the problem is set; absent: it has none. */
static bool companion_now(struct mending *m, struct value *item, struct dyn_write *check)
{
	const struct oracle_finding *f = m->finding;
	struct run *r = m->run;
	struct companion_item *list;
	struct name_list names = { 0 };
	struct value stored, full;
	struct fields *equal = arena_new(r->arena, struct fields);
	struct row owner;
	size_t n;

	*item = VALUE_ABSENT;
	if (!read(m, f->other_entity, f->other, &stored))
		return false;
	if (!value_present(stored))
		return true;
	full = entity_full(r, f->other_entity, stored);
	row_from(&owner, r->arena, NULL, full);
	if (!entity_complete(r, f->other_entity, &owner, full) ||
	    !entity_companions(r, f->other_entity, &owner, &list, &n)) {
		r->problem = (struct problem){ 0 };
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (!value_equal(list[i].key, f->key))
			continue;
		*item = list[i].item;
		names_of_rules(r, f->other_entity, list[i].rule, &names);
		*equal = still(m, f->other_entity, stored, &names);
		*check = (struct dyn_write){ .kind = DYN_CHECK,
					     .key = f->other,
					     .must_exist = true,
					     .equal = equal->list,
					     .equal_count = equal->count };
	}
	return true;
}

/* All of what is there, so that nothing else is written over. */
static struct fields as_found(struct mending *m, struct value found)
{
	struct fields f;

	fields_init(&f, m->run->arena);
	for (struct value_iter it = value_iter(found); value_next(&it);)
		if (!design_is_table_key(m->run->design, it.name))
			fields_set(&f, it.name, it.value);
	return f;
}

/* It is an item of its own, too: what the companion does not say stays as it is. */
static bool mend_shared(struct mending *m, struct value item, struct value found, const struct dyn_write *owner)
{
	struct run *r = m->run;
	struct fields set, was;
	struct dyn_write w[2] = { { .kind = DYN_UPDATE, .key = m->finding->key, .must_exist = true }, *owner };

	fields_init(&set, r->arena);
	fields_init(&was, r->arena);
	for (struct value_iter it = value_iter(item); value_next(&it);)
		if (!value_equal(value_get(found, it.name), it.value)) {
			fields_set(&set, it.name, it.value);
			fields_set(&was, it.name, value_get(found, it.name));
		}
	if (!set.count)
		return moved(m);
	w[0].set = set.list;
	w[0].set_count = set.count;
	w[0].equal = was.list;
	w[0].equal_count = was.count;
	return commit(m, w, 2);
}

static bool mend_companion(struct mending *m)
{
	const struct oracle_finding *f = m->finding;
	struct value item, found;
	struct fields equal;
	struct dyn_write w[2] = { { .kind = DYN_PUT } };

	if (!companion_now(m, &item, &w[1]) || !read(m, NULL, f->key, &found))
		return false;
	if (!value_present(item) || value_equal(item, found))
		return moved(m);
	if (f->entity && value_present(found))
		return mend_shared(m, item, found, &w[1]);
	w[0].item = item;
	w[0].must_not_exist = !value_present(found);
	equal = as_found(m, found);
	w[0].equal = equal.list;
	w[0].equal_count = equal.count;
	w[0].must_exist = value_present(found);
	return commit(m, w, 2);
}

/* Whether the owner, should there be one by now, has it; and the check that it is as it was looked at. */
static bool owner_has(struct mending *m, const struct owner_found *owner, bool *has, struct dyn_write *check)
{
	struct run *r = m->run;
	struct companion_item *list;
	struct name_list names = { 0 };
	struct value stored, full;
	struct fields *equal = arena_new(r->arena, struct fields);
	struct row item;
	size_t n;

	*has = false;
	*check = (struct dyn_write){
		.kind = DYN_CHECK, .key = owner->key, .must_not_exist = true, .or_expired = r->design->ttl
	};
	if (!read(m, owner->entity, owner->key, &stored))
		return false;
	if (!value_present(stored))
		return true;
	full = entity_full(r, owner->entity, stored);
	row_from(&item, r->arena, NULL, full);
	*has = true; /* unless its companions say otherwise */
	if (!owner->rule)
		return true;
	if (!entity_complete(r, owner->entity, &item, full) || !entity_companions(r, owner->entity, &item, &list, &n)) {
		r->problem = (struct problem){ 0 };
		return true;
	}
	*has = false;
	for (size_t i = 0; i < n; i++)
		*has = *has || value_equal(list[i].key, m->finding->key);
	names_of_rules(r, owner->entity, owner->rule, &names);
	*equal = still(m, owner->entity, stored, &names);
	*check = (struct dyn_write){
		.kind = DYN_CHECK, .key = owner->key, .must_exist = true, .equal = equal->list, .equal_count = equal->count
	};
	return true;
}

/* Gone with the condition that it is as it was found, and that whose it would be does not have it. */
static bool mend_left(struct mending *m)
{
	struct value found;
	struct fields equal;
	struct owner_found owner;
	struct dyn_write w[2] = { { .kind = DYN_DELETE, .key = m->finding->key, .must_exist = true } };
	bool known, has = false;

	if (!read(m, NULL, m->finding->key, &found))
		return false;
	if (!value_present(found) || (value_present(m->finding->found) && !value_equal(found, m->finding->found)))
		return moved(m);
	known = owner_find(m->run, found, &owner) && !value_equal(owner.key, m->finding->key);
	if (known && !owner_has(m, &owner, &has, &w[1]))
		return false;
	if (has)
		return moved(m);
	equal = as_found(m, found);
	w[0].equal = equal.list;
	w[0].equal_count = equal.count;
	return commit(m, w, known ? 2 : 1);
}

/* ---- rows without a parent, items that have outlived what they live while ---- */

/* What the condition says of the item itself. */
static void look_at_reference(struct write *w, const struct reference *to, const struct term *when)
{
	write_looks_at(w, when);
	for (size_t i = 0; i < to->arg_count; i++)
		write_looks_at(w, to->args[i]);
}

static void look_at_references(struct write *w, const struct entity *parent)
{
	const struct entity *e = w->entity;

	for (size_t i = 0; i < e->require_count; i++)
		if (slice_equal(e->requires[i].target.entity, parent->name))
			look_at_reference(w, &e->requires[i].target, e->requires[i].when);
	for (size_t i = 0; i < e->count_count; i++)
		if (slice_equal(e->counts[i].target.entity, parent->name))
			look_at_reference(w, &e->counts[i].target, e->counts[i].when);
	for (size_t i = 0; i < e->lives_count; i++)
		if (slice_equal(e->lives[i].target.entity, parent->name))
			look_at_reference(w, &e->lives[i].target, e->lives[i].when);
}

/* Whether a parent that is there was deleted softly, and no row comes to it any more. */
static bool is_over(struct run *r, const struct entity *parent, const struct entity_look *at, const struct term *if_,
		    struct witness *seen)
{
	struct scope s = { .run = r, .full = at->item.full };
	struct name_list names = { 0 };
	bool holds = true;

	if (!if_ || term_reads_more(if_) || !bond_is_deleted(r, parent, at->item.full))
		return false;
	names_of_term(r->arena, &names, parent, if_);
	for (size_t i = 0; i < parent->delete_.set_count; i++)
		names_add(r->arena, &names, parent->delete_.set[i].attribute);
	for (size_t i = 0; i < names.count; i++)
		witness_reads(seen, names.list[i], value_get(at->item.full, names.list[i]));
	if (!scope_holds(&s, if_, &holds)) {
		r->problem = (struct problem){ 0 };
		return false;
	}
	return !holds;
}

/* Whether the row has a parent by now: what it names is looked for again, and must still not be there when the row goes. Of a parent
 * that no key follows from (`found by`) the database can hold no such condition. */
static bool is_no_orphan(void *ctx, struct write *w, struct value full, bool *stays)
{
	const struct mending *m = ctx;
	const struct entity *parent = m->finding->other_entity;
	struct run *r = w->run;
	const struct reference *to;
	const struct term *if_;
	struct entity_look at;
	struct witness *seen;
	struct value *args, key;
	size_t from = 0, found = 0;
	struct row f;
	struct scope s = { .run = r, .item = &f };

	*stays = false;
	row_from(&f, r->arena, NULL, full);
	look_at_references(w, parent);
	for (; !*stays && (to = bond_reference(r, w->entity, &f, parent, &from, &if_)); found++) {
		if (!scope_args(&s, to->args, to->arg_count, &args) ||
		    !entity_locate(r, parent, args, to->arg_count, &key))
			return false;
		if (!value_present(key))
			continue;
		if (!entity_look_at(r, parent, key, true, &at))
			return false;
		seen = witness_item(r, parent, &at);
		if (at.item.entity)
			*stays = !is_over(r, parent, &at, if_, seen);
		else
			w->gone = key;
	}
	*stays = *stays || !found;
	return true;
}

static bool lives(void *ctx, struct write *w, struct value full, bool *stays)
{
	const struct mending *m = ctx;

	look_at_references(w, m->finding->other_entity);
	return lives_still(w->run, w->entity, full, stays);
}

static bool mend_by_removal(struct mending *m, write_unless *unless)
{
	struct value stored;
	bool stays;

	if (!read(m, m->finding->entity, m->finding->key, &stored))
		return false;
	if (!value_present(stored))
		return moved(m);
	if (!write_remove_unless(m->run, m->finding->entity, m->finding->key, unless, m, &stays))
		return m->run->problem.type == PROBLEM_BUSY && moved(m);
	m->outcome = stays ? ORACLE_MOVED : ORACLE_MENDED;
	return true;
}

/* ---- all of it ---- */

static bool mend(struct mending *m)
{
	switch (m->finding->kind) {
	case ORACLE_DERIVED_DIFFERS:
	case ORACLE_KEY_DIFFERS: return mend_derived(m);
	case ORACLE_COUNTER_DIFFERS: return mend_counter(m);
	case ORACLE_COPY_DIFFERS: return mend_copy(m);
	case ORACLE_GUARD_MISSING:
	case ORACLE_GUARD_DIFFERS:
	case ORACLE_COMPANION_MISSING:
	case ORACLE_COMPANION_DIFFERS: return mend_companion(m);
	case ORACLE_GUARD_LEFT:
	case ORACLE_COMPANION_LEFT:
	case ORACLE_CREDENTIALS_LEFT: return mend_left(m);
	case ORACLE_ORPHAN: return mend_by_removal(m, is_no_orphan);
	case ORACLE_OUTLIVED: return mend_by_removal(m, lives);
	default: return true;
	}
}

bool oracle_mend(const struct oracle_table *t, const struct oracle_finding *f, enum oracle_mending *out, char *why,
		 size_t n)
{
	struct arena arena;
	struct run r = { .design = t->design,
			 .backend = t->backend,
			 .arena = &arena,
			 .now_ms = t->now_ms,
			 .caller = { .operator_ = true } };
	struct mending m = { .run = &r, .finding = f, .outcome = ORACLE_UNMENDABLE };
	volatile bool ok = true;

	*out = ORACLE_UNMENDABLE;
	if (f->weight != ORACLE_DIFFERENCE || is_table_key(t->design, f))
		return true;
	arena_init(&arena);
	ARENA_TRY(&arena, {
		ok = mend(&m);
		if (!ok)
			snprintf(why, n, "%.*s", SLICE_ARG(r.problem.detail));
	}, {
		ok = false;
		snprintf(why, n, "out of memory");
	});
	arena_release(&arena);
	*out = m.outcome;
	return ok;
}
