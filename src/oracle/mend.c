/* Mends a finding: one write, on the condition that everything that decided it is unchanged.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/witness.h"
#include "app/file/file.h"
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
	case ORACLE_FILE_LEFT:
		return arena_printf(a, "the file %.*s is removed by the next server", SLICE_ARG(value_bytes(f->found)));
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

/* Adds the condition that these attributes are as stored. Those read from the key cannot change. */
static void still(struct dyn_write *w, struct run *r, const struct row *stored, const struct name_list *names)
{
	struct value_member *list = arena_array(r->arena, struct value_member, names->count);

	w->must_exist = true;
	w->equal = list;
	w->equal_count = 0;
	for (size_t i = 0; i < names->count; i++) {
		const struct name *n = names->list[i];
		const struct attribute *a = slots_attribute(stored->slots, n);

		if (!n->of_table && !(a && a->from_key))
			list[w->equal_count++] = (struct value_member){ n->text, row_get(stored, n) };
	}
}

/* The item as it is now; absent: it is gone, or of another entity. */
static bool read(struct mending *m, const struct entity *e, struct value key, struct value *stored)
{
	if (!dyn_get(m->run, key, true, stored))
		return false;
	if (value_present(*stored) && (entity_expired(m->run, *stored) || (e && entity_of(m->run, *stored) != e)))
		*stored = VALUE_ABSENT;
	return true;
}

/* The same by its slots, and completed; *ok false: it is gone, or cannot be completed. */
static bool read_complete(struct mending *m, const struct entity *e, struct value key, struct row *stored,
			  struct row *item, bool *ok)
{
	struct run *r = m->run;
	struct value is;

	*ok = false;
	if (!read(m, e, key, &is))
		return false;
	*stored = row_lay(r->arena, e, is);
	if (!value_present(is))
		return true;
	is = entity_full(r, e, is);
	row_from(item, r->arena, e, is);
	*ok = entity_complete(r, e, item, is);
	if (!*ok)
		r->problem = (struct problem){ 0 };
	return true;
}

/* ---- what follows from the item itself ---- */

static struct name_list names_behind(struct run *r, const struct entity *e, const struct name *attribute)
{
	const struct attribute *a = slots_attribute(e->slots, attribute);
	struct name_list names = { 0 };

	names_add(r->arena, &names, attribute);
	if (a) {
		names_of_term(r->arena, &names, e, a->derived);
		names_of_term(r->arena, &names, e, a->when);
		if (a->after.n)
			names_add(r->arena, &names, a->after_at);
	}
	for (size_t i = 0; i < e->key_count; i++)
		if (e->keys[i].at == attribute) {
			names_of_template(r->arena, &names, e, e->keys[i].template);
			names_of_term(r->arena, &names, e, e->keys[i].when);
		}
	return names;
}

static bool mend_derived(struct mending *m)
{
	const struct oracle_finding *f = m->finding;
	struct run *r = m->run;
	const struct name *at = design_named(r->design, f->attribute);
	struct name_list names = names_behind(r, f->entity, at);
	struct value_member set;
	struct dyn_write w = { .kind = DYN_UPDATE, .key = f->key, .set = &set, .set_count = 1 };
	struct row stored, item, should;
	bool ok;

	if (!read_complete(m, f->entity, f->key, &stored, &item, &ok))
		return false;
	if (!ok)
		return moved(m);
	should = row_lay(r->arena, f->entity, entity_stored(r, f->entity, &item));
	set = (struct value_member){ f->attribute, row_get(&should, at) };
	if (value_equal(set.value, row_get(&stored, at)))
		return moved(m);
	still(&w, r, &stored, &names);
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
	else if (value_present(f->found)) { /* not a number: SET, because ADD would fail */
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

/* Reads both again: the source, and what leads the copy to it, become conditions. */
static bool mend_copy(struct mending *m)
{
	const struct oracle_finding *f = m->finding;
	const struct attribute *a = entity_attribute(f->entity, f->attribute);
	struct run *r = m->run;
	struct name_list names = { 0 }, source_names = { 0 };
	struct value is;
	struct value_member set = { f->attribute, VALUE_ABSENT };
	struct dyn_write w[2] = {
		{ .kind = DYN_UPDATE, .key = f->key, .set = &set, .set_count = 1 },
		{ .kind = DYN_CHECK, .key = f->other },
	};
	struct row copy, source;

	if (!read(m, f->entity, f->key, &is))
		return false;
	copy = row_lay(r->arena, f->entity, is);
	if (!value_present(is) || !value_equal(row_get(&copy, a->at), f->found))
		return moved(m);
	names_add(r->arena, &names, a->at);
	names_of_term(r->arena, &names, f->entity, a->when);
	for (size_t i = 0; i < a->copy_arg_count; i++)
		names_of_term(r->arena, &names, f->entity, a->copy_args[i]);
	still(&w[0], r, &copy, &names);
	if (!value_present(f->other)) /* no item can have this identity */
		return commit(m, w, 1);
	if (!read(m, f->other_entity, f->other, &is))
		return false;
	if (!value_present(is)) {
		w[1].must_not_exist = true;
		return value_present(f->expected) ? moved(m) : commit(m, w, 2);
	}
	source = entity_lay(r, f->other_entity, is);
	if (!entity_copied(r, a, &source, &set.value))
		return false;
	if (!value_equal(set.value, f->expected))
		return moved(m);
	names_of_copy(r->arena, &source_names, f->other_entity, a);
	source = row_lay(r->arena, f->other_entity, is);
	still(&w[1], r, &source, &source_names);
	return commit(m, w, 2);
}

/* ---- companions ---- */

struct companions_of {
	struct companion_item *list;
	size_t count;
	bool known; /* the owner exists and determines its companions */
};

static void names_of_rules(struct run *r, const struct entity *e, const struct companion *c, struct name_list *names)
{
	names_of_term(r->arena, names, e, c->when);
	names_of_term(r->arena, names, e, c->each_list);
	for (size_t i = 0; i < c->rule_count; i++) {
		names_of_template(r->arena, names, e, c->rules[i].template);
		names_of_term(r->arena, names, e, c->rules[i].when);
	}
}

/* The companions that the owner should have now; *ok false: it is gone, or cannot be completed. */
static bool companions_now(struct mending *m, const struct entity *e, struct value key, struct row *stored,
			   struct companions_of *out)
{
	struct run *r = m->run;
	struct row item;

	*out = (struct companions_of){ 0 };
	if (!read_complete(m, e, key, stored, &item, &out->known))
		return false;
	if (!out->known)
		return true;
	out->known = entity_companions(r, e, &item, &out->list, &out->count);
	if (!out->known)
		r->problem = (struct problem){ 0 };
	return true;
}

/* The check that everything the owner's companions depend on, by that rule, is unchanged. */
static void check_owner(struct dyn_write *check, struct run *r, const struct row *stored, const struct companion *rule)
{
	struct name_list names = { 0 };

	names_of_rules(r, stored->entity, rule, &names);
	*check = (struct dyn_write){ .kind = DYN_CHECK, .key = dyn_key_of(r, stored->full) };
	still(check, r, stored, &names);
}

/* The companion that its owner should have now, and the check that this is still so. Absent: none. False: the problem
 * is set. */
static bool companion_now(struct mending *m, struct value *item, struct dyn_write *check)
{
	const struct oracle_finding *f = m->finding;
	struct companions_of all;
	struct row stored;

	*item = VALUE_ABSENT;
	if (!companions_now(m, f->other_entity, f->other, &stored, &all))
		return false;
	for (size_t i = 0; i < all.count; i++) {
		if (!value_equal(all.list[i].key, f->key))
			continue;
		*item = all.list[i].item;
		check_owner(check, m->run, &stored, all.list[i].rule);
	}
	return true;
}

/* The condition that the item is exactly what was found. */
static void as_found(struct dyn_write *w, struct run *r, struct value found)
{
	struct value_member *list = arena_array(r->arena, struct value_member, value_count(found));

	w->must_exist = value_present(found);
	w->must_not_exist = !w->must_exist;
	w->equal = list;
	for (struct value_iter it = value_iter(found); value_next(&it);)
		if (!design_is_table_key(r->design, it.name))
			list[w->equal_count++] = (struct value_member){ it.name, it.value };
}

/* For a companion that is also an item of an entity: other attributes stay. */
static bool mend_shared(struct mending *m, struct value item, struct value found, const struct dyn_write *owner)
{
	struct arena *a = m->run->arena;
	struct value_member *set = arena_array(a, struct value_member, value_count(item));
	struct value_member *was = arena_array(a, struct value_member, value_count(item));
	struct dyn_write w[2] = { { .kind = DYN_UPDATE, .key = m->finding->key, .must_exist = true }, *owner };
	size_t n = 0;

	for (struct value_iter it = value_iter(item); value_next(&it);) {
		struct value is = value_get(found, it.name);

		if (value_equal(is, it.value))
			continue;
		set[n] = (struct value_member){ it.name, it.value };
		was[n++] = (struct value_member){ it.name, is };
	}
	if (!n)
		return moved(m);
	w[0].set = set;
	w[0].equal = was;
	w[0].set_count = w[0].equal_count = n;
	return commit(m, w, 2);
}

static bool mend_companion(struct mending *m)
{
	const struct oracle_finding *f = m->finding;
	struct value item, found;
	struct dyn_write w[2] = { { .kind = DYN_PUT } };

	if (!companion_now(m, &item, &w[1]) || !read(m, NULL, f->key, &found))
		return false;
	if (!value_present(item) || value_equal(item, found))
		return moved(m);
	if (f->entity && value_present(found))
		return mend_shared(m, item, found, &w[1]);
	w[0].item = item;
	as_found(&w[0], m->run, found);
	return commit(m, w, 2);
}

/* Whether the owner exists by now and has the companion; *check: that the owner is still as it was read. */
static bool owner_has(struct mending *m, const struct owner_found *owner, bool *has, struct dyn_write *check)
{
	struct run *r = m->run;
	struct companions_of all;
	struct row stored;

	*check = (struct dyn_write){
		.kind = DYN_CHECK, .key = owner->key, .must_not_exist = true, .or_expired = r->design->ttl
	};
	if (!companions_now(m, owner->entity, owner->key, &stored, &all))
		return false;
	*has = value_present(stored.full); /* the companions decide below */
	if (!*has || !owner->rule || !all.known)
		return true;
	*has = false;
	for (size_t i = 0; i < all.count; i++)
		*has = *has || value_equal(all.list[i].key, m->finding->key);
	check_owner(check, r, &stored, owner->rule);
	return true;
}

/* Deletes the item, on the condition that it is as found and that its owner should not have it. */
static bool mend_left(struct mending *m)
{
	struct value found;
	struct owner_found owner;
	struct dyn_write w[2] = { { .kind = DYN_DELETE, .key = m->finding->key } };
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
	as_found(&w[0], m->run, found);
	return commit(m, w, known ? 2 : 1);
}

/* ---- rows without a parent, items that have outlived what they live while ---- */

/* Adds the attributes that the reference reads to the write's condition. */
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
		if (e->requires[i].target.to == parent && !e->requires[i].each.list)
			look_at_reference(w, &e->requires[i].target, e->requires[i].when);
	for (size_t i = 0; i < e->count_count; i++)
		if (e->counts[i].target.to == parent && !e->counts[i].each.list)
			look_at_reference(w, &e->counts[i].target, e->counts[i].when);
	for (size_t i = 0; i < e->lives_count; i++)
		if (e->lives[i].target.to == parent)
			look_at_reference(w, &e->lives[i].target, e->lives[i].when);
}

/* Whether the parent was softly deleted, so that no row can be created under it. */
static bool is_over(struct run *r, const struct row *parent, const struct term *if_, struct witness *seen)
{
	struct scope s = { .run = r, .item = parent };
	struct name_list names = { 0 };
	bool holds = true;

	if (!if_ || term_reads_more(if_) || !bond_is_deleted(r, parent))
		return false;
	names_of_term(r->arena, &names, parent->entity, if_);
	for (size_t i = 0; i < parent->entity->delete_.set_count; i++)
		names_add(r->arena, &names, parent->entity->delete_.set[i].at);
	for (size_t i = 0; i < names.count; i++)
		witness_reads(seen, names.list[i], row_get(parent, names.list[i]));
	if (!scope_holds(&s, if_, &holds)) {
		r->problem = (struct problem){ 0 };
		return false;
	}
	return !holds;
}

/* Whether the row has a parent by now. The parent that it names is read again, and its absence is a condition of the
 * removal. A parent that only a pattern finds (`found by`) has no key, so there is no such condition. */
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
	f = row_lay(r->arena, w->entity, full);
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
			*stays = !is_over(r, &at.item, if_, seen);
		else
			w->gone = key;
	}
	*stays = *stays || !found;
	return true;
}

static bool lives(void *ctx, struct write *w, struct value full, bool *stays)
{
	const struct mending *m = ctx;
	struct row item = row_lay(w->run->arena, w->entity, full);

	look_at_references(w, m->finding->other_entity);
	return lives_still(w->run, &item, stays);
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

/* ---- files ---- */

/* As the keeper does when it sees the item lose the file. */
static bool mend_file(struct mending *m)
{
	const struct oracle_finding *f = m->finding;
	struct value_member id = { SLICE("file"), f->found }, attribute = { f->attribute, VALUE_ABSENT };

	attribute.value = value_make_map(m->run->arena, &id, 1);
	if (!file_follow(m->run, f->key, value_make_map(m->run->arena, &attribute, 1), VALUE_ABSENT))
		return false;
	m->outcome = ORACLE_MENDED;
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
	case ORACLE_FILE_LEFT: return mend_file(m);
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
