/* Compares facts group by group: a group has the facts of several items about one subject.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle_internal.h"

struct owner {
	const struct entity *entity;
	const struct companion *rule;
	struct value key;
};

/* a group of SPACE_KEY */
struct at_key {
	struct value key;
	bool there;
	unsigned shapes;
	const struct entity *entity; /* of the item */
	struct slice hash;
	size_t full, expired, pending; /* expectations, by weight */
	bool matches;
	struct owner owner, second; /* of the first two FACT_FULL */
	size_t accounts, accounts_pending;
};

struct sum {
	struct number full, low, high; /* the certain sum, and the range of what may count in addition */
	struct number pending_low, pending_high;
};

struct at_identity {
	const struct entity *entity;
	size_t targets;
	bool circled;
	bool gone; /* removed, and the keeper has not processed that yet */
	enum fact_weight weight;
	struct value key, second;
	struct row carried;
	struct sum *sums; /* by attribute */
};

struct at_bond {
	const struct bond *bond;
	bool there, pending;
	struct value deleted; /* the key of a parent that was deleted and stays; absent: none */
};

struct comparing {
	struct oracle *o;
	struct at_key at_key;
	struct at_identity at_identity;
	struct at_bond at_bond;
	struct at_file at_file;
	struct sum *sums;
};

static struct slice keep_in_group(struct comparing *c, struct slice s)
{
	return arena_copy(&c->o->group, s);
}

static struct value keep_value(struct comparing *c, struct value v)
{
	struct slice s = keep_in_group(c, value_slice(v));

	return value_present(v) ? (struct value){ (const uint8_t *)s.p, s.n } : VALUE_ABSENT;
}

/* ---- at a key ---- */

static void take_expectation(struct comparing *c, struct fact_reader *f)
{
	const struct design *d = c->o->run.design;
	struct at_key *x = &c->at_key;
	enum fact_weight weight = fact_u8(f);
	struct owner owner = { .entity = &d->entities[fact_u16(f)] };
	struct slice hash;

	owner.rule = &owner.entity->companions[fact_u16(f)];
	hash = fact_hash(f);
	owner.key = fact_value(f);
	x->matches = x->matches || (x->there && slice_equal(hash, x->hash));
	x->expired += weight == FACT_EXPIRED;
	x->pending += weight == FACT_PENDING;
	if (weight != FACT_FULL)
		return;
	if (x->full < 2) {
		owner.key = keep_value(c, owner.key);
		*(x->full ? &x->second : &x->owner) = owner;
	}
	x->full++;
}

static void at_key_fact(struct comparing *c, enum fact_kind kind, struct fact_reader *f)
{
	const struct design *d = c->o->run.design;
	struct at_key *x = &c->at_key;
	uint16_t entity;

	switch (kind) {
	case FACT_ITEM:
		x->there = true;
		x->shapes = fact_u8(f);
		entity = fact_u16(f);
		x->entity = entity == NO_ENTITY ? NULL : &d->entities[entity];
		x->hash = keep_in_group(c, fact_hash(f));
		break;
	case FACT_EXPECT: take_expectation(c, f); break;
	default: /* FACT_ACCOUNT */
		if (fact_u8(f) == FACT_PENDING)
			x->accounts_pending++;
		else
			x->accounts++;
		break;
	}
}

/* The companion that its owner should have now; absent: none. */
static struct value companion_of(struct oracle *o, const struct owner *owner, struct value key)
{
	struct run *r = &o->run;
	struct companion_item *list;
	struct value stored;
	struct row item, full;
	size_t n;

	if (!dyn_get(r, owner->key, true, &stored) || !value_present(stored) || entity_expired(r, stored) ||
	    entity_of(r, stored) != owner->entity)
		return VALUE_ABSENT;
	item = row_lay(r->arena, owner->entity, stored);
	judge_item(o, &item, true, &full);
	if (!entity_companions(r, owner->entity, &full, &list, &n)) {
		r->problem = (struct problem){ 0 };
		return VALUE_ABSENT;
	}
	for (size_t i = 0; i < n; i++)
		if (value_equal(list[i].key, key))
			return list[i].item;
	return VALUE_ABSENT;
}

/* The first attribute that differs. If the item belongs to an entity, too, compares only the companion's attributes. */
static struct slice first_difference(struct value found, struct value expected, bool part)
{
	for (struct value_iter it = value_iter(expected); value_next(&it);)
		if (!value_equal(value_get(found, it.name), it.value))
			return it.name;
	for (struct value_iter it = value_iter(found); !part && value_next(&it);)
		if (!value_present(value_get(expected, it.name)))
			return it.name;
	return SLICE("");
}

static void tell_missing(struct oracle *o, const struct at_key *x, struct value expected)
{
	struct run *r = &o->run;
	bool guard = x->owner.rule->unique.n > 0;
	struct oracle_finding f = { .kind = guard ? ORACLE_GUARD_MISSING : ORACLE_COMPANION_MISSING,
				    .key = x->key,
				    .expected = expected,
				    .other_entity = x->owner.entity,
				    .other = x->owner.key };

	f.attribute = x->owner.rule->unique;
	if (guard)
		tell(o, &f, "%.*s has no guard for its %.*s: %.*s is missing",
		     SLICE_ARG(say_item(r, x->owner.entity, x->owner.key)), SLICE_ARG(x->owner.rule->unique),
		     SLICE_ARG(say_key(r, x->key)));
	else
		tell(o, &f, "%.*s has no companion %.*s", SLICE_ARG(say_item(r, x->owner.entity, x->owner.key)),
		     SLICE_ARG(say_key(r, x->key)));
}

static void tell_different(struct oracle *o, const struct at_key *x, struct value found, struct value expected)
{
	struct run *r = &o->run;
	bool guard = x->owner.rule->unique.n > 0;
	struct oracle_finding f = { .kind = guard ? ORACLE_GUARD_DIFFERS : ORACLE_COMPANION_DIFFERS,
				    .entity = x->entity,
				    .key = x->key,
				    .found = found,
				    .expected = expected,
				    .other_entity = x->owner.entity,
				    .other = x->owner.key };

	f.attribute = first_difference(found, expected, x->entity != NULL);
	if (f.attribute.n)
		tell(o, &f, "the %s %.*s of %.*s has %.*s = %.*s and should have %.*s", guard ? "guard" : "companion",
		     SLICE_ARG(say_key(r, x->key)), SLICE_ARG(say_item(r, x->owner.entity, x->owner.key)),
		     SLICE_ARG(f.attribute), SLICE_ARG(say_value(r, value_get(found, f.attribute))),
		     SLICE_ARG(say_value(r, value_get(expected, f.attribute))));
}

static void tell_left(struct oracle *o, const struct at_key *x, bool pending)
{
	struct run *r = &o->run;
	bool guard = x->shapes & SHAPE_GUARD && !(x->shapes & SHAPE_COMPANION);
	struct oracle_finding f = { .kind = guard ? ORACLE_GUARD_LEFT : ORACLE_COMPANION_LEFT,
				    .entity = x->entity,
				    .key = x->key,
				    .weight = pending ? ORACLE_PENDING : ORACLE_DIFFERENCE };

	if (dyn_get(r, x->key, true, &f.found) && value_present(f.found))
		tell(o, &f,
		     guard ? "the guard %.*s is left over: no item has that value"
			   : "the companion %.*s is left over: it belongs to no item",
		     SLICE_ARG(say_key(r, x->key)));
}

static void tell_credentials(struct oracle *o, const struct at_key *x)
{
	struct run *r = &o->run;
	struct oracle_finding f = { .kind = ORACLE_CREDENTIALS_LEFT,
				    .entity = x->entity,
				    .key = x->key,
				    .weight = x->accounts_pending ? ORACLE_PENDING : ORACLE_DIFFERENCE };

	tell(o, &f, "the credentials %.*s are left over: their account does not exist", SLICE_ARG(say_key(r, x->key)));
}

static void tell_stranger(struct oracle *o, const struct at_key *x)
{
	struct oracle_finding f = { .kind = ORACLE_STRANGER, .weight = ORACLE_NOTE, .key = x->key };

	tell(o, &f, "%.*s fits no entity and is not a companion", SLICE_ARG(say_key(&o->run, x->key)));
}

static void tell_clash(struct oracle *o, const struct at_key *x)
{
	struct run *r = &o->run;
	struct oracle_finding f = { .kind = ORACLE_UNIQUE_CLASH,
				    .entity = x->owner.entity,
				    .key = x->owner.key,
				    .attribute = x->owner.rule->unique,
				    .other_entity = x->second.entity,
				    .other = x->second.key };

	tell(o, &f, "%.*s and %.*s have the same %.*s, which is unique",
	     SLICE_ARG(say_item(r, x->owner.entity, x->owner.key)),
	     SLICE_ARG(say_item(r, x->second.entity, x->second.key)), SLICE_ARG(x->owner.rule->unique));
}

static void compare_expected(struct oracle *o, const struct at_key *x)
{
	struct value expected, found = VALUE_ABSENT;

	if (x->full > 1 && x->owner.rule->unique.n && x->second.rule->unique.n)
		tell_clash(o, x);
	if (x->there && x->matches)
		return;
	expected = companion_of(o, &x->owner, x->key);
	if (!value_present(expected) || !dyn_get(&o->run, x->key, true, &found))
		return; /* something changed since the scan */
	if (!value_present(found))
		tell_missing(o, x, expected);
	else if (!value_equal(found, expected))
		tell_different(o, x, found, expected);
}

static void at_key_end(struct comparing *c)
{
	struct oracle *o = c->o;
	const struct at_key *x = &c->at_key;
	bool is_entity = x->entity && !rules_of(o, x->entity)->only_companion;

	if (x->full) {
		compare_expected(o, x);
		return;
	}
	if (!x->there || x->expired)
		return;
	if (x->shapes & SHAPE_SECRET) {
		if (!x->accounts)
			tell_credentials(o, x);
		return;
	}
	if (x->pending || (x->shapes & (SHAPE_GUARD | SHAPE_COMPANION) && !(x->shapes & SHAPE_IMPURE) && !is_entity))
		tell_left(o, x, x->pending > 0);
	else if (!x->entity && !(x->shapes & SHAPE_IMPURE))
		tell_stranger(o, x);
}

/* ---- at an identity ---- */

static void add_number(struct comparing *c, struct number *to, const struct number *n)
{
	struct error e = { 0 };

	if (!number_add(to, n, to, c->o->run.arena, &e))
		*to = *n; /* the sum is too large for any counter, so any wrong value will do */
}

static void take_count(struct comparing *c, struct fact_reader *f)
{
	const struct number zero = number_from_i64(0);
	struct sum *s = &c->at_identity.sums[fact_u16(f)];
	enum fact_weight weight = fact_u8(f);
	struct number n = value_number(fact_value(f));
	bool down = number_cmp(&n, &zero) < 0;

	if (weight == FACT_FULL)
		add_number(c, &s->full, &n);
	else if (weight == FACT_EXPIRED)
		add_number(c, down ? &s->low : &s->high, &n);
	else
		add_number(c, down ? &s->pending_low : &s->pending_high, &n);
}

/* Whether deleting the source also removes the pattern's rows: without the source they are reported as orphans
 * instead. */
static bool goes_along(const struct entity *source, const struct access *pattern)
{
	for (size_t i = 0; i < source->delete_.then_count; i++)
		if (source->delete_.then_access[i] == pattern)
			return true;
	return false;
}

/* Reports a copy whose source is missing. */
static void tell_copy_of_nothing(struct oracle *o, struct oracle_finding *f, const struct attribute *a,
				 const struct row *copy)
{
	struct run *r = &o->run;
	const struct entity *e = copy->entity;
	struct scope s = { .run = r, .item = copy };
	struct value *args, source = VALUE_ABSENT;

	f->found = row_get(copy, a->at);
	if (!scope_args(&s, a->copy_args, a->copy_arg_count, &args) ||
	    !entity_locate(r, f->other_entity, args, a->copy_arg_count, &f->other) ||
	    (value_present(f->other) && !entity_fetch_key(r, f->other_entity, f->other, true, &source))) {
		r->problem = (struct problem){ 0 };
		return;
	}
	if (value_present(source) || !value_present(f->found))
		return; /* the source was made since the scan */
	tell(o, f, "%.*s has %.*s = %.*s, but there is no %.*s it could be a copy of", SLICE_ARG(say_item(r, e, f->key)),
	     SLICE_ARG(a->name), SLICE_ARG(say_value(r, f->found)), SLICE_ARG(f->other_entity->name));
}

static void tell_copy(struct oracle *o, const struct at_identity *x, const struct entity *e, const struct attribute *a,
		      struct value key)
{
	struct run *r = &o->run;
	struct oracle_finding f = { .kind = ORACLE_COPY_DIFFERS,
				    .entity = e,
				    .key = key,
				    .attribute = a->name,
				    .other_entity = x->entity,
				    .other = x->key };
	struct value stored;
	struct row copy, source;

	if (!dyn_get(r, key, true, &stored) || !value_present(stored))
		return;
	copy = entity_lay(r, e, stored);
	if (!x->targets) {
		tell_copy_of_nothing(o, &f, a, &copy);
		return;
	}
	if (!dyn_get(r, x->key, true, &stored) || !value_present(stored))
		return;
	source = entity_lay(r, x->entity, stored);
	f.found = row_get(&copy, a->at);
	if (!entity_copied(r, a, &source, &f.expected) || value_equal(f.found, f.expected))
		return;
	tell(o, &f, "%.*s has %.*s = %.*s, and the %.*s of %.*s is %.*s", SLICE_ARG(say_item(r, e, key)),
	     SLICE_ARG(a->name), SLICE_ARG(say_value(r, f.found)), SLICE_ARG(a->copy_attribute),
	     SLICE_ARG(say_item(r, x->entity, x->key)), SLICE_ARG(say_value(r, f.expected)));
}

static void take_copy(struct comparing *c, struct fact_reader *f)
{
	struct oracle *o = c->o;
	const struct at_identity *x = &c->at_identity;
	struct slice hash = fact_hash(f);
	const struct entity *e = &o->run.design->entities[fact_u16(f)];
	const struct attribute *a = &e->attributes[fact_u16(f)];
	struct value key = fact_value(f), source;
	struct buf b;

	if (x->targets > 1 || (x->targets ? x->weight != FACT_FULL : goes_along(x->entity, a->kept_access)))
		return;
	if (!entity_copied(&o->run, a, &x->carried, &source) || (!value_present(source) && a->default_))
		return;
	buf_init(&b, o->run.arena);
	fact_put_hash(&b, source);
	if (!slice_equal(buf_slice(&b), hash))
		tell_copy(o, x, e, a, key);
	scratch_clear(o); /* one source may have any number of copies */
}

/* A row that names this parent, and that its pattern reaches through other rows. */
static void take_row(struct comparing *c, struct fact_reader *f)
{
	struct oracle *o = c->o;
	const struct bond *b = &o->rules.bonds[fact_u16(f)];
	const struct entity *e = &o->run.design->entities[fact_u16(f)];

	if (c->at_identity.targets)
		return;
	bond_tell(o, b, e, fact_value(f), VALUE_ABSENT, c->at_identity.gone ? ORACLE_PENDING : ORACLE_DIFFERENCE);
	scratch_clear(o);
}

static void at_identity_fact(struct comparing *c, enum fact_kind kind, struct fact_reader *f)
{
	struct at_identity *x = &c->at_identity;

	switch (kind) {
	case FACT_TARGET:
		x->targets++;
		if (x->targets == 1) {
			x->weight = fact_u8(f);
			x->key = keep_value(c, fact_value(f));
			x->carried = row_lay(&c->o->group, x->entity, keep_value(c, fact_value(f)));
		} else if (fact_u8(f) != FACT_FULL || x->weight != FACT_FULL) {
			x->targets--; /* an expired or removed item does not count as a second one */
		} else {
			x->second = keep_value(c, fact_value(f));
		}
		break;
	case FACT_GONE: x->gone = true; break;
	case FACT_COUNT: take_count(c, f); break;
	case FACT_LIFE:
		if (!x->targets ||
		    (x->targets == 1 && x->weight == FACT_FULL)) /* while an expired target lingers, this may */
			lives_compare(c->o, f, x->targets, &x->carried);
		break;
	case FACT_ROW: take_row(c, f); break;
	case FACT_REFER:
		if (!x->targets)
			refers_compare(c->o, f);
		break;
	default: /* FACT_COPY */ take_copy(c, f); break;
	}
}

static bool lies_between(struct comparing *c, const struct number *n, const struct sum *s, bool pending)
{
	struct number low = s->full, high = s->full;

	add_number(c, &low, &s->low);
	add_number(c, &high, &s->high);
	if (pending) {
		add_number(c, &low, &s->pending_low);
		add_number(c, &high, &s->pending_high);
	}
	return number_cmp(n, &low) >= 0 && number_cmp(n, &high) <= 0;
}

static void compare_counter(struct comparing *c, size_t at)
{
	struct oracle *o = c->o;
	struct run *r = &o->run;
	const struct at_identity *x = &c->at_identity;
	const struct attribute *a = &x->entity->attributes[at];
	struct value found = row_get(&x->carried, a->at);
	struct number n = value_type(found) == VALUE_N ? value_number(found) : number_from_i64(0);
	struct oracle_finding f = {
		.kind = ORACLE_COUNTER_DIFFERS, .entity = x->entity, .key = x->key, .attribute = a->name
	};

	if (lies_between(c, &n, &x->sums[at], false))
		return;
	f.weight = lies_between(c, &n, &x->sums[at], true) ? ORACLE_PENDING : ORACLE_DIFFERENCE;
	f.found = found;
	f.expected = value_make_n(r->arena, &x->sums[at].full);
	tell(o, &f, "%.*s has %.*s = %.*s, but the recount is %.*s", SLICE_ARG(say_item(r, x->entity, x->key)),
	     SLICE_ARG(a->name), SLICE_ARG(say_value(r, found)), SLICE_ARG(say_value(r, f.expected)));
}

static void at_identity_end(struct comparing *c)
{
	const struct at_identity *x = &c->at_identity;
	const struct rule_entity *rule = rules_of(c->o, x->entity);
	struct run *r = &c->o->run;

	if (!x->targets || x->weight != FACT_FULL)
		return;
	if (x->targets > 1) {
		struct oracle_finding f = { .kind = ORACLE_IDENTITY_TWICE,
					    .entity = x->entity,
					    .key = x->key,
					    .other_entity = x->entity,
					    .other = x->second };

		tell(c->o, &f, "%.*s and %.*s have the same address", SLICE_ARG(say_item(r, x->entity, x->key)),
		     SLICE_ARG(say_key(r, x->second)));
		return;
	}
	if (x->circled)
		refers_tell_circle(c->o, x->entity, x->key);
	for (size_t i = 0; i < x->entity->attribute_count; i++)
		if (rule->counted[i])
			compare_counter(c, i);
}

/* ---- at a bond ---- */

/* A row of a softly deleted parent is left over, unless it may have been made after the deletion. */
static void compare_deleted(struct oracle *o, const struct at_bond *x, const struct entity *e, struct value key)
{
	const struct entity *p = x->bond->parent;
	struct run *r = &o->run;
	struct value row, stored, *args;
	struct slice is, named;
	const struct reference *to;
	const struct term *if_;
	size_t from = 0, asks = 0;
	struct row item, full, parent;
	struct scope s = { .run = r, .item = &full }, of_parent = { .run = r, .item = &parent };
	bool holds;

	if (!dyn_get(r, key, true, &row) || !dyn_get(r, x->deleted, true, &stored) || !value_present(row) ||
	    !value_present(stored) || entity_of(r, row) != e || entity_of(r, stored) != p)
		return;
	item = row_lay(r->arena, e, row);
	judge_item(o, &item, true, &full);
	parent = entity_lay(r, p, stored);
	if (!identity_join(r, p, entity_identity(r, &parent), p->param_count, &is))
		return;
	while ((to = bond_reference(r, e, &full, p, &from, &if_))) {
		if (!if_ || term_reads_more(if_) || !scope_args(&s, to->args, to->arg_count, &args) ||
		    !identity_join(r, p, args, to->arg_count, &named) || !slice_equal(is, named) ||
		    !scope_holds(&of_parent, if_, &holds))
			holds = true;
		r->problem = (struct problem){ 0 };
		asks += !holds;
	}
	if (asks)
		bond_tell(o, x->bond, e, key, x->deleted, x->pending ? ORACLE_PENDING : ORACLE_DIFFERENCE);
}

static void take_parent(struct comparing *c, struct fact_reader *f)
{
	struct at_bond *x = &c->at_bond;
	enum fact_weight weight = fact_u8(f);

	x->pending = x->pending || weight == FACT_PENDING;
	x->there = x->there || weight == FACT_FULL || weight == FACT_EXPIRED;
	if (weight == FACT_DELETED)
		x->deleted = keep_value(c, fact_value(f));
}

static void at_bond_fact(struct comparing *c, enum fact_kind kind, struct fact_reader *f)
{
	struct oracle *o = c->o;
	const struct at_bond *x = &c->at_bond;
	const struct entity *e;
	struct value key;
	bool sure;

	if (kind == FACT_PARENT) {
		take_parent(c, f);
		return;
	}
	if (x->there)
		return;
	e = &o->run.design->entities[fact_u16(f)];
	sure = fact_u8(f);
	key = fact_value(f);
	if (value_present(x->deleted))
		compare_deleted(o, x, e, key);
	else
		bond_tell(o, x->bond, e, key, VALUE_ABSENT,
			  !sure        ? ORACLE_NOTE
			  : x->pending ? ORACLE_PENDING
				       : ORACLE_DIFFERENCE);
	scratch_clear(o); /* any number of rows may be left */
}

/* ---- all of it ---- */

static void begin_group(struct comparing *c, enum fact_space space, struct slice join)
{
	struct oracle *o = c->o;
	const struct design *d = o->run.design;

	arena_clear(&o->group);
	scratch_clear(o);
	switch (space) {
	case SPACE_KEY:
		join = keep_in_group(c, join);
		c->at_key = (struct at_key){ .key = { (const uint8_t *)join.p, join.n } };
		break;
	case SPACE_IDENTITY:
		c->at_identity = (struct at_identity){ .entity = &d->entities[read_be16(join.p)],
						       .circled = hash_set_has(&o->circled, hash_bytes(join)),
						       .sums = c->sums };
		memset(c->sums, 0, c->at_identity.entity->attribute_count * sizeof(*c->sums));
		for (size_t i = 0; i < c->at_identity.entity->attribute_count; i++) {
			struct number zero = number_from_i64(0);

			c->sums[i] = (struct sum){ zero, zero, zero, zero, zero };
		}
		break;
	case SPACE_BOND: c->at_bond = (struct at_bond){ .bond = &o->rules.bonds[read_be16(join.p)] }; break;
	case SPACE_FILE: files_begin(&c->at_file, o, join); break;
	}
}

static void end(struct comparing *c, enum fact_space space)
{
	if (space == SPACE_KEY)
		at_key_end(c);
	else if (space == SPACE_IDENTITY)
		at_identity_end(c);
	else if (space == SPACE_FILE)
		files_end(&c->at_file, c->o);
}

static bool go_on(struct oracle *o, uint64_t n)
{
	struct oracle_progress p = {
		.items = o->summary->items, .of = o->summary->items, .pass = o->pass, .comparing = true
	};

	if (n % 65536 == 0 && o->options->progress)
		o->stopped = !o->options->progress(o->options->ctx, &p);
	return !o->stopped;
}

/* The part of a fact that all facts of its group share: the space, and what they are about. */
static struct slice group_of(struct slice fact)
{
	return slice_make(fact.p, 5 + read_be32(fact.p + 1));
}

static void change_group(struct comparing *c, struct buf *group, struct slice to)
{
	if (group->n)
		end(c, (enum fact_space)group->p[0]);
	group->n = 0;
	buf_put(group, to);
	c->o->group_hash = to.n ? hash_bytes(to) : 0;
	if (to.n)
		begin_group(c, (enum fact_space)to.p[0], slice_make(to.p + 5, to.n - 5));
}

static void take_fact(struct comparing *c, struct slice group, struct slice fact)
{
	struct fact_reader f = { group.p + group.n, fact.p + fact.n };
	enum fact_kind kind = (enum fact_kind)fact_u8(&f);

	switch ((enum fact_space)group.p[0]) {
	case SPACE_KEY: at_key_fact(c, kind, &f); break;
	case SPACE_IDENTITY: at_identity_fact(c, kind, &f); break;
	case SPACE_BOND: at_bond_fact(c, kind, &f); break;
	case SPACE_FILE: files_fact(&c->at_file, c->o, kind, &f); break;
	}
}

static struct sum *make_sums(struct oracle *o)
{
	size_t most = 0;

	for (size_t i = 0; i < o->run.design->entity_count; i++)
		if (o->run.design->entities[i].attribute_count > most)
			most = o->run.design->entities[i].attribute_count;
	return arena_array(&o->kept, struct sum, most);
}

bool compare_all(struct oracle *o)
{
	struct comparing c = { .o = o, .sums = make_sums(o) };
	struct buf group;
	struct slice fact;
	bool got = true;

	buf_init(&group, &o->kept);
	if (!facts_sort(o->facts))
		return false;
	for (uint64_t n = 0; got; n++) {
		struct slice of;

		if (!go_on(o, n) || !facts_next(o->facts, &fact, &got))
			return false;
		of = got ? group_of(fact) : SLICE("");
		if (!slice_equal(of, buf_slice(&group)))
			change_group(&c, &group, of);
		if (got)
			take_fact(&c, of, fact);
	}
	return true;
}
