/* Key rules: which one applies, and which attributes a key contains.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"

struct value entity_key_of(struct run *r, const struct row *item)
{
	struct value_member members[TABLE_KEY_MOST];
	size_t n = 0;

	for (size_t i = 0; i < key_count(r->design); i++) {
		struct value v = row_get(item, r->design->key_at[i]);

		if (value_present(v))
			members[n++] = (struct value_member){ r->design->key_at[i]->text, v };
	}
	return value_make_map(r->arena, members, n);
}

/* ---- rules ---- */

bool key_rule_choose(struct scope *s, const struct key_rule *rules, size_t n, const struct name *attribute,
		     const struct key_rule **out)
{
	bool holds;

	*out = NULL;
	for (size_t i = 0; i < n; i++) {
		if (rules[i].at != attribute)
			continue;
		if (!rules[i].when) {
			*out = *out ? *out : &rules[i];
			continue;
		}
		if (!scope_holds(s, rules[i].when, &holds))
			return false;
		if (holds) {
			*out = &rules[i];
			return true;
		}
	}
	return true;
}

bool key_has_rule(const struct key_rule *rules, size_t n, const struct name *attribute)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].at == attribute)
			return true;
	return false;
}

bool entity_is_param(const struct entity *e, const struct name *n)
{
	return names_among(e->param_at, e->param_count, n);
}

bool key_matches(struct run *r, const struct template *t, struct value v, size_t *literals)
{
	*literals = 0;
	for (size_t i = 0; i < t->part_count; i++)
		*literals += t->parts[i].names ? 0 : t->parts[i].literal.n;
	if (value_type(v) != VALUE_S)
		return value_present(v) && template_is_bare(t);
	if (!slice_starts(value_bytes(v), template_prefix(t))) /* rejects most candidates without allocating */
		return false;
	return template_match(t, value_bytes(v), arena_array(r->arena, struct slice, t->part_count));
}

/* ---- reading a key ---- */

static struct value number_from(struct run *r, const struct template_part *part, struct slice text)
{
	struct number n, half = { .digits = 5, .exponent = part->width - 1 };
	struct error ignored = { 0 };

	if (!number_parse(text, &n, r->arena, &ignored))
		return VALUE_ABSENT;
	if (part->format == FORMAT_OFFSET && !number_sub(&n, &half, &n, r->arena, &ignored))
		return VALUE_ABSENT;
	return value_make_n(r->arena, &n);
}

/* A placeholder's text as a value of its attribute; absent if the format has lost it. */
static struct value read_part(struct run *r, const struct attribute *a, const struct template_part *part,
			      struct slice text)
{
	if (format_loses_value(part->format))
		return VALUE_ABSENT;
	if (attribute_is_number(a))
		return number_from(r, part, text);
	if (part->format == FORMAT_PAD || part->format == FORMAT_OFFSET)
		return VALUE_ABSENT;
	if (a->type == ATTR_BOOLEAN)
		return value_make_bool(r->arena, slice_is(text, "true"));
	return value_make_s(r->arena, text);
}

struct reading {
	struct run *run;
	const struct entity *entity;
	const struct row *stored;
	struct row *fields;
	bool all;
};

static bool is_wanted(const struct reading *x, const struct attribute *a, bool of_table)
{
	if (value_present(row_get(x->fields, a->at)))
		return false;
	return a->from_key || (of_table && (x->all || entity_is_param(x->entity, a->at)));
}

static void read_rule(const struct reading *x, const struct key_rule *rule, struct value v, bool of_table)
{
	const struct template *t = rule->template;
	struct slice *texts = arena_array(x->run->arena, struct slice, t->part_count);

	if (value_type(v) == VALUE_S && !template_match(t, value_bytes(v), texts))
		return;
	for (size_t i = 0; i < t->part_count; i++) {
		const struct template_part *part = &t->parts[i];
		const struct attribute *a = part->name_count == 1 ? slots_attribute(x->entity->slots, part->at) : NULL;
		struct value found = v;

		if (!a || !is_wanted(x, a, of_table))
			continue;
		if (value_type(v) == VALUE_S)
			found = read_part(x->run, a, part, texts[i]);
		if (value_present(found))
			row_set(x->fields, a->at, found);
	}
}

/* The rule that made the key: one that matches and whose condition holds; among several, the one with the most
 * literal text. */
static const struct key_rule *form_of(const struct reading *x, const struct name *attribute, struct value v)
{
	struct scope s = { .run = x->run, .item = x->fields };
	struct problem before = x->run->problem;
	const struct key_rule *best = NULL;
	size_t most = 0, literals;
	bool best_holds = false, holds;

	for (size_t i = 0; i < x->entity->key_count; i++) {
		const struct key_rule *rule = &x->entity->keys[i];

		if (rule->at != attribute || !key_matches(x->run, rule->template, v, &literals))
			continue;
		/* A condition that cannot be evaluated counts as false, without a problem for the request. */
		if (!scope_holds(&s, rule->when, &holds))
			holds = false;
		if (best && (best_holds > holds || (best_holds == holds && most >= literals)))
			continue;
		best = rule;
		best_holds = holds;
		most = literals;
	}
	x->run->problem = before;
	return best;
}

static bool is_first(const struct entity *e, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (e->keys[i].at == e->keys[at].at)
			return false;
	return true;
}

static void read_rules(const struct reading *x, bool of_table)
{
	const struct entity *e = x->entity;

	for (size_t i = 0; i < e->key_count; i++) {
		struct value v = row_get(x->stored, e->keys[i].at);
		const struct key_rule *rule;

		if (e->keys[i].at->of_table != of_table || !value_present(v) || !is_first(e, i))
			continue;
		rule = form_of(x, e->keys[i].at, v);
		if (rule)
			read_rule(x, rule, v, of_table);
	}
}

void key_read(struct run *r, const struct row *stored, struct row *f, bool all)
{
	const struct entity *e = stored->entity;
	struct reading x = { .run = r, .entity = e, .stored = stored, .fields = f, .all = all };

	read_rules(&x, true);
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].from_key && !value_present(row_get(f, e->attributes[i].at))) {
			read_rules(&x, false);
			break;
		}
}
