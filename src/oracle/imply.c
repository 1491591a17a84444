/* Turns an item's statements about other items into facts.
 * SPDX-License-Identifier: Apache-2.0 */
#include <xxhash.h>
#include "app/entity/input.h"
#include "app/entity/renamed.h"
#include "oracle/oracle_internal.h"

#define HASH_BYTES 16

/* ---- facts as bytes ---- */

struct buf fact_begin(struct oracle *o, enum fact_space space, struct slice join, enum fact_kind kind)
{
	struct buf b;

	buf_init(&b, o->run.arena);
	buf_byte(&b, (uint8_t)space);
	buf_be32(&b, (uint32_t)join.n);
	buf_put(&b, join);
	buf_byte(&b, (uint8_t)kind);
	return b;
}

static struct slice group_of(struct slice fact)
{
	return slice_make(fact.p, 5 + read_be32(fact.p + 1));
}

void fact_add(struct oracle *o, const struct buf *b)
{
	if (o->failed || (o->pass > 1 && !hash_set_has(&o->suspects, hash_bytes(group_of(buf_slice(b))))))
		return;
	o->failed = !facts_add(o->facts, buf_slice(b));
}

void fact_put_value(struct buf *b, struct value v)
{
	buf_part(b, value_slice(v));
}

void fact_put_hash(struct buf *b, struct value v)
{
	XXH128_canonical_t hash;

	XXH128_canonicalFromHash(&hash, XXH3_128bits(v.p ? (const void *)v.p : "", v.n));
	buf_add(b, hash.digest, HASH_BYTES);
}

uint8_t fact_u8(struct fact_reader *x)
{
	return (uint8_t)*x->p++;
}

uint16_t fact_u16(struct fact_reader *x)
{
	x->p += 2;
	return read_be16(x->p - 2);
}

struct value fact_value(struct fact_reader *x)
{
	uint64_t n = 0;

	x->p += read_varint(x->p, x->end, &n);
	x->p += n;
	return n ? (struct value){ (const uint8_t *)x->p - n, n } : VALUE_ABSENT;
}

struct slice fact_hash(struct fact_reader *x)
{
	x->p += HASH_BYTES;
	return slice_make(x->p - HASH_BYTES, HASH_BYTES);
}

/* ---- shapes of keys ---- */

/* Whether every item has the attribute. */
static bool is_always(const struct entity *e, const struct name *n)
{
	const struct attribute *a = slots_attribute(e->slots, n);

	return a && !a->when &&
	       (a->required || a->id || a->now || a->touched || a->counter || a->the_caller || a->default_ ||
		entity_is_param(e, n));
}

/* Whether the item has the constants of such a companion (entityType: LIKE_GUARD) and the attributes that every owner
 * gives it. An item put by hand to reserve a name has neither. */
static bool carries_its_own(const struct entity *e, const struct key_rule *rules, size_t n, struct value stored)
{
	for (size_t i = 0; i < n; i++) {
		struct value v = value_get(stored, rules[i].attribute);
		const struct template *t = rules[i].template;

		if (rules[i].when)
			continue;
		if (template_is_constant(t) && (value_type(v) != VALUE_S || !slice_equal(value_bytes(v), t->text)))
			return false;
		if (template_is_bare(t) && t->parts[0].name_count == 1 && is_always(e, t->parts[0].at) &&
		    !value_present(v))
			return false;
	}
	return true;
}

static unsigned shapes_of(struct oracle *o, struct value stored)
{
	struct run *r = &o->run;
	unsigned shapes = 0;

	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct entity *e = &r->design->entities[i];

		for (size_t k = 0; k < e->companion_count; k++) {
			const struct companion *c = &e->companions[k];

			if (!key_fits_rules(r, c->rules, c->rule_count, stored) ||
			    !carries_its_own(e, c->rules, c->rule_count, stored))
				continue;
			shapes |= c->unique.n ? SHAPE_GUARD : SHAPE_COMPANION;
			if (o->rules.entities[i].companion_impure[k])
				shapes |= SHAPE_IMPURE;
		}
		if (e->login.present && e->login.secret_count &&
		    key_fits_rules(r, e->login.secret, e->login.secret_count, stored))
			shapes |= SHAPE_SECRET;
	}
	return shapes;
}

static void imply_there(struct oracle *o, const struct entity *e, struct value stored, struct value key, unsigned shapes)
{
	struct buf b;

	if (e && !shapes)
		return;
	b = fact_begin(o, SPACE_KEY, value_slice(key), FACT_ITEM);
	buf_byte(&b, (uint8_t)shapes);
	buf_be16(&b, e ? (uint16_t)entity_index(o->run.design, e) : NO_ENTITY);
	fact_put_hash(&b, stored);
	fact_add(o, &b);
}

/* The only entity whose keys the item has, when wrong constants (entityType) keep it from being one of its items. It
 * is not judged, but nothing that belongs to it is reported as left over. */
static const struct entity *misfit_of(struct oracle *o, struct value stored)
{
	struct run *r = &o->run;
	const struct entity *found = NULL;

	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct entity *e = &r->design->entities[i];

		if (!key_fits_rules(r, e->keys, e->key_count, stored))
			continue;
		if (found)
			return NULL;
		found = e;
	}
	return found;
}

static void tell_misfit(struct oracle *o, const struct row *stored, struct value key)
{
	const struct entity *e = stored->entity;
	struct run *r = &o->run;

	for (size_t i = 0; i < e->key_count; i++) {
		const struct key_rule *rule = &e->keys[i];
		struct oracle_finding f = { .kind = ORACLE_MISFIT, .entity = e, .key = key, .attribute = rule->attribute };

		f.found = row_get(stored, rule->at);
		if (rule->when || !template_is_constant(rule->template) || !value_present(f.found))
			continue;
		f.expected = value_make_s(r->arena, rule->template->text);
		if (value_equal(f.found, f.expected))
			continue;
		tell(o, &f, "%.*s has the key of a %.*s, and %.*s = %.*s, where each %.*s has %.*s",
		     SLICE_ARG(say_key(r, key)), SLICE_ARG(e->name), SLICE_ARG(rule->attribute),
		     SLICE_ARG(say_value(r, f.found)), SLICE_ARG(e->name), SLICE_ARG(say_value(r, f.expected)));
	}
}

/* ---- companions, credentials ---- */

static void imply_companions(struct oracle *o, const struct entity *e, struct value key,
			     const struct companion_item *list, size_t n, enum fact_weight weight)
{
	for (size_t i = 0; i < n; i++) {
		size_t rule = (size_t)(list[i].rule - e->companions);
		bool impure = rules_of(o, e)->companion_impure[rule];
		struct buf b = fact_begin(o, SPACE_KEY, value_slice(list[i].key), FACT_EXPECT);

		buf_byte(&b, weight == FACT_FULL && impure ? FACT_EXPIRED : weight);
		buf_be16(&b, (uint16_t)entity_index(o->run.design, e));
		buf_be16(&b, (uint16_t)rule);
		fact_put_hash(&b, list[i].item);
		fact_put_value(&b, key);
		fact_add(o, &b);
	}
}

static void imply_account(struct oracle *o, const struct entity *e, const struct row *full, enum fact_weight weight)
{
	struct run *r = &o->run;
	struct scope s = { .run = r, .item = full };
	struct value_member m[TABLE_KEY_MOST];
	size_t n = key_count(r->design);
	struct buf b;

	if (!e->login.present || !e->login.secret_count)
		return;
	for (size_t k = 0; k < n; k++) {
		m[k] = (struct value_member){ r->design->key_at[k]->text, VALUE_ABSENT };
		for (size_t i = 0; i < e->login.secret_count; i++)
			if (e->login.secret[i].at == r->design->key_at[k] &&
			    scope_try_fill(&s, e->login.secret[i].template, true, &m[k].value) != TEMPLATE_OK)
				return;
		if (!value_present(m[k].value))
			return;
	}
	b = fact_begin(o, SPACE_KEY, value_slice(value_make_map(r->arena, m, n)), FACT_ACCOUNT);
	buf_byte(&b, weight);
	buf_be16(&b, (uint16_t)entity_index(r->design, e));
	fact_add(o, &b);
}

/* ---- identities ---- */

static struct value as_text(struct run *r, struct value v)
{
	char text[NUMBER_TEXT_MAX];
	struct number n;

	if (value_type(v) != VALUE_N)
		return v;
	n = value_number(v);
	return value_make_s(r->arena, slice_make(text, number_format(&n, text)));
}

bool identity_join(struct run *r, const struct entity *e, const struct value *args, size_t n, struct slice *join)
{
	struct buf b;

	if (r->renames)
		args = renamed_name(r, e, args, n);
	buf_init(&b, r->arena);
	buf_be16(&b, (uint16_t)entity_index(r->design, e));
	for (size_t i = 0; i < n; i++) {
		const struct attribute *a = slots_attribute(e->slots, e->param_at[i]);
		struct value v = args[i];

		if (!value_present(v) || value_type(v) == VALUE_NULL)
			return false;
		v = as_text(r, a ? input_normal(r, a, v) : v);
		buf_add(&b, v.p, v.n);
	}
	*join = buf_slice(&b);
	return true;
}

/* Carries attributes as they are stored, because copies are made of those. */
static void imply_target(struct oracle *o, const struct row *stored, struct value key, const struct row *full,
			 enum fact_weight weight)
{
	const struct entity *e = full->entity;
	const struct rule_entity *x = rules_of(o, e);
	struct run *r = &o->run;
	struct value_member *m;
	struct slice join;
	struct row is;
	size_t n = 0;
	struct buf b;

	if (!x->is_target || !identity_join(r, e, entity_identity(r, full), e->param_count, &join))
		return;
	is = entity_lay(r, e, stored->full);
	m = arena_array(r->arena, struct value_member, x->carried.count);
	for (size_t i = 0; i < x->carried.count; i++) {
		struct value v = row_get(&is, x->carried.list[i]);

		if (value_present(v))
			m[n++] = (struct value_member){ x->carried.list[i]->text, v };
	}
	b = fact_begin(o, SPACE_IDENTITY, join, FACT_TARGET);
	buf_byte(&b, weight);
	fact_put_value(&b, key);
	fact_put_value(&b, value_make_map(r->arena, m, n));
	fact_add(o, &b);
}

/* The same of a removed item. */
static void imply_gone_target(struct oracle *o, const struct row *full)
{
	const struct entity *e = full->entity;
	struct renamed *renames = o->run.renames;
	struct slice join;
	struct buf b;
	bool ok;

	o->run.renames = NULL; /* what left its name is not what has the new one */
	ok = rules_of(o, e)->is_target &&
	     identity_join(&o->run, e, entity_identity(&o->run, full), e->param_count, &join);
	o->run.renames = renames;
	if (!ok)
		return;
	b = fact_begin(o, SPACE_IDENTITY, join, FACT_GONE);
	fact_add(o, &b);
}

/* ---- counts ---- */

struct counting {
	struct oracle *o;
	const struct count_rule *rule;
	size_t at; /* of the counter, among the target's attributes */
	enum fact_weight weight;
};

/* What cannot be evaluated counts nowhere. */
static bool imply_one_count(void *ctx, struct scope *s)
{
	const struct counting *x = ctx;
	const struct count_rule *c = x->rule;
	struct run *r = s->run;
	struct value by = VALUE_ABSENT, *args;
	struct slice join;
	struct buf b;
	bool counts;

	if (!scope_holds(s, c->when, &counts) || !counts || (c->by && !scope_value(s, c->by, &by)) ||
	    (c->by && value_type(by) != VALUE_N) || !scope_args(s, c->target.args, c->target.arg_count, &args) ||
	    !identity_join(r, c->target.to, args, c->target.arg_count, &join)) {
		r->problem = (struct problem){ 0 };
		return true;
	}
	b = fact_begin(x->o, SPACE_IDENTITY, join, FACT_COUNT);
	buf_be16(&b, (uint16_t)x->at);
	buf_byte(&b, x->weight);
	fact_put_value(&b, c->by ? by : value_make_i64(r->arena, 1));
	fact_add(x->o, &b);
	return true;
}

static void imply_count(struct oracle *o, const struct count_rule *c, const struct row *full, enum fact_weight weight)
{
	struct run *r = &o->run;
	const struct entity *t = c->target.to;
	struct counting x = { .o = o, .rule = c, .weight = weight };
	struct scope s = { .run = r, .item = full };

	while (t && x.at < t->attribute_count && t->attributes[x.at].at != c->at)
		x.at++;
	if (!t || x.at == t->attribute_count || !rules_of(o, t)->counted[x.at])
		return;
	if (!scope_each(&s, &c->each, imply_one_count, &x))
		r->problem = (struct problem){ 0 };
}

/* ---- copies ---- */

static void imply_copy(struct oracle *o, size_t at, const struct row *stored, struct value key, const struct row *full)
{
	const struct entity *e = full->entity;
	const struct attribute *a = &e->attributes[at];
	struct run *r = &o->run;
	const struct entity *source = a->copy_of;
	struct scope s = { .run = r, .item = full };
	struct value *args;
	struct slice join;
	struct buf b;
	bool there;

	if (!source || !a->kept_access || !bond_has_row(o, a->kept_access, stored, full))
		return;
	if (!scope_holds(&s, a->when, &there) || !there || !scope_args(&s, a->copy_args, a->copy_arg_count, &args) ||
	    !identity_join(r, source, args, a->copy_arg_count, &join)) {
		r->problem = (struct problem){ 0 };
		return;
	}
	/* Of an item that has not followed yet: it is copied again when that follows. */
	if (r->renames && renamed_name(r, source, args, a->copy_arg_count) != args)
		return;
	b = fact_begin(o, SPACE_IDENTITY, join, FACT_COPY);
	fact_put_hash(&b, row_get(stored, a->at));
	buf_be16(&b, (uint16_t)entity_index(r->design, e));
	buf_be16(&b, (uint16_t)at);
	fact_put_value(&b, key);
	fact_add(o, &b);
}

/* ---- all of it ---- */

static void find_companions(struct run *r, const struct entity *e, const struct row *full, struct companion_item **list,
			    size_t *n)
{
	if (entity_companions(r, e, full, list, n))
		return;
	r->problem = (struct problem){ 0 };
	*list = NULL;
	*n = 0;
}

void imply_item(struct oracle *o, struct value stored, enum fact_weight weight)
{
	struct run *r = &o->run;
	const struct entity *e = entity_of(r, stored);
	struct value key = dyn_key_of(r, stored);
	struct companion_item *companions = NULL;
	unsigned shapes = o->rules.has_companions ? shapes_of(o, stored) : 0;
	bool misfit = !e && !shapes;
	struct row item, full;
	size_t n = 0;

	if (misfit)
		e = misfit_of(o, stored);
	imply_there(o, e, stored, key, shapes);
	if (!e)
		return;
	item = row_lay(r->arena, e, stored);
	if (misfit && weight == FACT_FULL)
		tell_misfit(o, &item, key);
	if (misfit)
		weight = FACT_EXPIRED;
	judge_item(o, &item, weight != FACT_FULL, &full);
	find_companions(r, e, &full, &companions, &n);
	imply_companions(o, e, key, companions, n, weight);
	imply_account(o, e, &full, weight);
	imply_target(o, &item, key, &full, weight);
	files_imply(o, &item, weight);
	for (size_t i = 0; i < e->count_count; i++)
		imply_count(o, &e->counts[i], &full, weight);
	for (size_t i = 0; weight == FACT_FULL && i < e->attribute_count; i++)
		if (e->attributes[i].kept_by.n)
			imply_copy(o, i, &item, key, &full);
	if (weight == FACT_FULL)
		lives_imply(o, e, &full, key);
	if (weight == FACT_FULL)
		refers_imply(o, &full, key);
	bonds_imply(o, &(struct scanned){ e, key, &item, &full, companions, n }, weight);
}

void imply_gone(struct oracle *o, const struct row *stored, bool traces)
{
	struct run *r = &o->run;
	const struct entity *e = stored->entity;
	struct value key = dyn_key_of(r, stored->full);
	struct companion_item *companions;
	struct row full, was = entity_lay(r, e, stored->full);
	size_t n;

	judge_item(o, stored, true, &full);
	bonds_imply(o, &(struct scanned){ e, key, stored, &full, NULL, 0 }, FACT_PENDING);
	imply_gone_target(o, &was);
	if (!traces)
		return;
	find_companions(r, e, &full, &companions, &n);
	imply_companions(o, e, key, companions, n, FACT_PENDING);
	imply_account(o, e, &full, FACT_PENDING);
	for (size_t i = 0; i < e->count_count; i++)
		imply_count(o, &e->counts[i], &full, FACT_PENDING);
}

void imply_deleting(struct oracle *o, const struct row *values)
{
	bonds_imply(o, &(struct scanned){ .entity = values->entity, .full = values }, FACT_PENDING);
	imply_gone_target(o, values);
}
