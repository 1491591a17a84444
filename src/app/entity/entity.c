/* Recognising items: their entity, their form, their key.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "wire/percent.h"

/* ---- which entity ----
 *
 * An item whose entity is not known yet has no slots: its key and its constants are looked up by their names, here
 * only. */

struct candidate {
	const struct entity *entity; /* NULL: a companion, or the secret of a login */
	const struct key_rule *rules;
	size_t rule_count;
	size_t literals;
};

struct recognition {
	struct run *run;
	struct value stored, keys[TABLE_KEY_MOST];
	struct candidate best;
	bool any;         /* `best` is set */
	bool asked, sure; /* of `best`: whether completing the item gives its own key */
};

static struct recognition recognition(struct run *r, struct value stored)
{
	struct recognition x = { .run = r, .stored = stored };

	for (size_t k = 0; k < key_count(r->design); k++)
		x.keys[k] = value_get(stored, r->design->key_at[k]->text);
	return x;
}

/* Whether the table key matches the rules' templates; counts the literal characters that match. */
static bool has_shape(const struct recognition *x, struct candidate *c)
{
	const struct design *d = x->run->design;

	c->literals = 0;
	for (size_t k = 0; k < key_count(d); k++) {
		size_t most = 0, literals;
		/* A key without a rule is an attribute itself: any value fits. */
		bool any = !key_has_rule(c->rules, c->rule_count, d->key_at[k]);

		if (any && (!c->entity || !slots_attribute(c->entity->slots, d->key_at[k])))
			return false;
		for (size_t i = 0; i < c->rule_count; i++) {
			if (c->rules[i].at != d->key_at[k] ||
			    !key_matches(x->run, c->rules[i].template, x->keys[k], &literals))
				continue;
			any = true;
			most = literals > most ? literals : most;
		}
		if (!any)
			return false;
		c->literals += most;
	}
	return true;
}

static size_t forms_of(const struct candidate *c, const struct name *attribute)
{
	size_t n = 0;

	for (size_t i = 0; i < c->rule_count; i++)
		n += c->rules[i].at == attribute;
	return n;
}

/* Whether the constants of the rules (entityType: POST) have their values. A projection may have left them out. */
static bool constants_agree(const struct candidate *c, struct value stored)
{
	for (size_t i = 0; i < c->rule_count; i++) {
		const struct key_rule *rule = &c->rules[i];
		struct value v;

		if (rule->when || !template_is_constant(rule->template))
			continue;
		v = value_get(stored, rule->attribute);
		if (value_present(v) &&
		    (value_type(v) != VALUE_S || !slice_equal(value_bytes(v), rule->template->text)) &&
		    forms_of(c, rule->at) == 1)
			return false;
	}
	return true;
}

/* Whether completing the item gives the key that it has. Needs every attribute that the conditions read. */
static bool leads_to_its_key(const struct recognition *x, const struct entity *e)
{
	struct run *r = x->run;
	struct problem before = r->problem;
	struct row item = row_lay(r->arena, e, x->stored), f;
	struct scope s = { .run = r, .item = &f };
	bool same = true;

	row_copy(&f, r->arena, &item);
	key_read(r, &item, &f, true);
	for (size_t k = 0; k < key_count(r->design) && same; k++) {
		const struct key_rule *rule;
		struct value v;

		if (!key_has_rule(e->keys, e->key_count, r->design->key_at[k]))
			continue;
		same = key_rule_choose(&s, e->keys, e->key_count, r->design->key_at[k], &rule) && rule &&
		       scope_try_fill(&s, rule->template, true, &v) == TEMPLATE_OK && value_equal(v, x->keys[k]);
	}
	r->problem = before;
	return same;
}

static bool is_sure(const struct recognition *x, const struct candidate *c)
{
	return !c->entity || leads_to_its_key(x, c->entity);
}

static void consider(struct recognition *x, struct candidate c)
{
	bool sure;

	if (!has_shape(x, &c) || !constants_agree(&c, x->stored))
		return;
	if (!x->any) {
		x->best = c;
		x->any = true;
		return;
	}
	if (!x->asked)
		x->sure = is_sure(x, &x->best);
	x->asked = true;
	sure = is_sure(x, &c);
	/* Entities are considered before companions, so an entity wins a tie. */
	if (x->sure > sure || (x->sure == sure && x->best.literals >= c.literals))
		return;
	x->best = c;
	x->sure = sure;
}

static void consider_others(struct recognition *x, const struct entity *e)
{
	for (size_t i = 0; i < e->companion_count; i++)
		consider(x, (struct candidate){ .rules = e->companions[i].rules,
						.rule_count = e->companions[i].rule_count });
	if (e->login.secret_count)
		consider(x, (struct candidate){ .rules = e->login.secret, .rule_count = e->login.secret_count });
}

const struct entity *entity_of(struct run *r, struct value stored)
{
	struct recognition x = recognition(r, stored);
	const struct design *d = r->design;

	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *e = &d->entities[i];

		consider(&x, (struct candidate){ .entity = e, .rules = e->keys, .rule_count = e->key_count });
	}
	for (size_t i = 0; x.any && i < d->entity_count; i++)
		consider_others(&x, &d->entities[i]);
	return x.any ? x.best.entity : NULL;
}

const struct entity *entity_of_likely(struct run *r, struct value stored, const struct entity *likely)
{
	struct candidate c = { .entity = likely };
	struct recognition x;

	if (!likely || !likely->slots->alone)
		return entity_of(r, stored);
	x = recognition(r, stored);
	c.rules = likely->keys;
	c.rule_count = likely->key_count;
	return has_shape(&x, &c) && constants_agree(&c, stored) ? likely : entity_of(r, stored);
}

struct row entity_recognise(struct run *r, struct value stored, const struct entity *likely)
{
	const struct entity *e;

	if (likely && likely->slots->alone) {
		const struct slots *s = likely->slots;
		struct row item = row_lay(r->arena, likely, stored);

		if (entity_item_expired(r, &item))
			return (struct row){ 0 };
		if (slots_are_keyed(r->arena, s, item.values) && slots_agree(s, item.values) &&
		    slots_are_whole(s, item.values))
			return item;
	}
	e = entity_expired(r, stored) ? NULL : entity_of_likely(r, stored, likely);
	return e ? entity_lay(r, e, stored) : (struct row){ 0 };
}

/* ---- forms ---- */

struct row entity_lay(struct run *r, const struct entity *e, struct value stored)
{
	struct row item = row_lay(r->arena, e, stored), f;

	if (!value_present(stored) || slots_are_whole(e->slots, item.values))
		return item;
	row_copy(&f, r->arena, &item);
	key_read(r, &item, &f, false);
	return row_lay(r->arena, e, row_item(&f));
}

struct value entity_full(struct run *r, const struct entity *e, struct value stored)
{
	return value_present(stored) ? entity_lay(r, e, stored).full : stored;
}

struct value entity_stored(struct run *r, const struct entity *e, const struct row *full)
{
	struct row f;

	row_copy(&f, r->arena, full);
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (a->from_key && !e->slots->list[e->slots->of_name[a->at->id]]->stored)
			row_drop(&f, a->at);
	}
	return row_item(&f);
}

/* Whether an item with this value of the ttl attribute is gone. */
static bool entity_expires(struct run *r, struct value ttl)
{
	int64_t now = r->now_ms / 1000;
	struct number n;

	if (value_type(ttl) != VALUE_N)
		return false;
	if (!r->second_size || r->second_of != now) {
		n = number_from_i64(now);
		r->second_size = number_encode(&n, r->second);
		r->second_of = now;
	}
	return slice_cmp(value_bytes(ttl), slice_make(r->second, r->second_size)) <=
	       0; /* encoded numbers sort by their bytes */
}

bool entity_item_expired(struct run *r, const struct row *item)
{
	const struct slots *s = item->slots;

	return s->ttl != SLOT_NONE && entity_expires(r, item->values[s->ttl]);
}

bool entity_expired(struct run *r, struct value item)
{
	return r->design->ttl.n && entity_expires(r, value_get(item, r->design->ttl));
}

/* ---- address ---- */

bool entity_copied(struct run *r, const struct attribute *copy, const struct row *source, struct value *out)
{
	struct scope s = { .run = r, .item = source };
	bool holds = true;

	*out = VALUE_ABSENT;
	if (!value_present(source->full))
		return true;
	if (copy->copy_if && !scope_holds(&s, copy->copy_if, &holds))
		return false;
	if (holds)
		*out = row_get(source, copy->copy_at);
	return true;
}

struct value *entity_identity(struct run *r, const struct row *item)
{
	const struct entity *e = item->entity;
	struct value *args = arena_array(r->arena, struct value, e->param_count);

	for (size_t i = 0; i < e->param_count; i++)
		args[i] = row_get(item, e->param_at[i]);
	return args;
}

static void put_value(struct buf *b, struct value v)
{
	char text[NUMBER_TEXT_MAX];
	struct number n;

	switch (value_type(v)) {
	case VALUE_S: percent_encode(b, value_bytes(v)); break;
	case VALUE_BOOL: buf_str(b, value_bool(v) ? "true" : "false"); break;
	case VALUE_N:
		n = value_number(v);
		percent_encode(b, slice_make(text, number_format(&n, text)));
		break;
	default: break;
	}
}

struct slice entity_path(struct run *r, const struct row *item)
{
	const struct template *t = item->entity->path_template;
	struct buf b;

	buf_init(&b, r->arena);
	for (size_t i = 0; t && i < t->part_count; i++) {
		if (t->parts[i].names)
			put_value(&b, row_get(item, t->parts[i].at));
		else
			buf_put(&b, t->parts[i].literal);
	}
	return buf_slice(&b);
}
