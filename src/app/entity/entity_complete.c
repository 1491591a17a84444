/* Completes an item: derived attributes, attributes with a condition, and keys.
 *
 * They may depend on one another in any order, so each is computed when it is first needed, after the attributes that
 * it names. In a circle, the attribute where it began keeps the value that the item had.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "app/entity/input.h"
#include "base/timestamp.h"
#include "design/term/fits.h"

struct completion {
	struct run *run;
	const struct entity *entity;
	struct row *fields;
	struct scope scope;
	struct row old;
	bool *attributes, *keys; /* by index: computed, or being computed; keys: by the first rule for an attribute */
	bool failed;
};

static void need(void *ctx, const struct name *name);

/* ---- attributes ---- */

static struct value later(struct completion *c, const struct attribute *a)
{
	struct value v = row_get(c->fields, a->after_at);
	char text[TIME_TEXT_MAX];
	struct number n;
	int64_t ms, seconds;

	if (value_type(v) == VALUE_S && time_parse(value_bytes(v), &ms)) {
		seconds = (ms >= 0 ? ms : ms - 999) / 1000;
	} else if (value_type(v) == VALUE_N) {
		n = value_number(v);
		if (!number_to_i64(&n, &seconds) || seconds > TIME_MAX_MS / 1000 || seconds < TIME_MIN_MS / 1000)
			return VALUE_ABSENT;
	} else {
		return VALUE_ABSENT;
	}
	if (__builtin_add_overflow(seconds, a->after_seconds, &seconds))
		return VALUE_ABSENT;
	if (a->type != ATTR_TIMESTAMP)
		return value_make_i64(c->run->arena, seconds);
	if (seconds > TIME_MAX_MS / 1000)
		return VALUE_ABSENT;
	return value_make_s(c->run->arena, time_format(seconds * 1000, text));
}

static void put_value(struct completion *c, const struct name *name, struct value v)
{
	if (value_present(v))
		row_set(c->fields, name, v);
	else
		row_drop(c->fields, name);
}

/* A reference to another item is normalised as that item's identity is. */
static bool refer(struct completion *c, const struct attribute *a, struct value *v)
{
	struct attribute as = { .type = a->type, .lower = true };
	bool holds = false;

	for (size_t i = 0; i < a->lower_when_count && !holds; i++)
		if (!scope_holds(&c->scope, a->lower_when[i], &holds))
			return false;
	if (holds)
		*v = input_normal(c->run, &as, *v);
	return true;
}

static bool fits_key_of(struct completion *c, const struct attribute *a, const struct keyed_copy *k, struct value v)
{
	struct error e = { 0 };
	struct value key;
	struct slice why;

	if (template_fill_with(k->template, v, true, c->run->arena, &key, &e) != TEMPLATE_BAD)
		return true;
	/* The message begins with the attribute's name. */
	why = slice_make(e.message.p + a->name.n + 1, e.message.n - a->name.n - 1);
	return run_invalid(c->run, a->name, "%.*s (a %.*s has a copy of it)", SLICE_ARG(why), SLICE_ARG(k->entity));
}

/* Whether the keys that contain copies of it accept the value. */
static bool fits_copies(struct completion *c, const struct attribute *a, struct value v)
{
	for (size_t i = 0; i < a->keyed_count; i++) {
		struct value_iter it;

		if (!a->keyed[i].each) {
			if (!fits_key_of(c, a, &a->keyed[i], v))
				return false;
			continue;
		}
		it = value_iter(value_type_has_elements(value_type(v)) ? v : VALUE_ABSENT);
		while (value_next(&it))
			if (!fits_key_of(c, a, &a->keyed[i], value_element(c->run->arena, &it)))
				return false;
	}
	return true;
}

/* An unchanged value is not checked again: it may be older than the limit. */
static bool keep_limits(struct completion *c, const struct attribute *a)
{
	struct value v = row_get(c->fields, a->at);
	char room[FITS_TEXT_MAX];
	const char *why;

	if (!value_present(v) || value_type(v) == VALUE_NULL || value_equal(v, row_get(&c->old, a->at)) ||
	    a->at == c->entity->login.password_at) /* it holds a hash, so limits for passwords do not apply */
		return true;
	v = input_made(c->run, a, input_normal(c->run, a, v));
	if (a->lower_when_count && !refer(c, a, &v))
		return false;
	row_set(c->fields, a->at, v);
	if (!attribute_fits(a, v, room, &why))
		return run_invalid(c->run, a->name, "%s", why);
	if (a->in_address && value_type(v) == VALUE_S) {
		why = address_misses(value_bytes(v));
		if (why)
			return run_invalid(c->run, a->name, "%s", why);
	}
	return !a->keyed_count || fits_copies(c, a, v);
}

static bool compute(struct completion *c, const struct attribute *a)
{
	struct value v;
	bool holds;

	if (a->derived) {
		if (!scope_value_for(&c->scope, a->derived, a->name, &v))
			return false;
		put_value(c, a->at, v);
	} else if (a->after.n) {
		put_value(c, a->at, later(c, a));
	} else if (a->counter && !value_present(row_get(c->fields, a->at))) {
		row_set(c->fields, a->at, value_make_i64(c->run->arena, 0));
	}
	if (!scope_holds(&c->scope, a->when, &holds))
		return false;
	if (!holds)
		row_drop(c->fields, a->at);
	return keep_limits(c, a);
}

static void need_attribute(struct completion *c, size_t i)
{
	const struct attribute *a = &c->entity->attributes[i];

	if (c->attributes[i])
		return;
	c->attributes[i] = true;
	names_each(a->derived, need, c);
	names_each(a->when, need, c);
	for (size_t k = 0; k < a->lower_when_count; k++)
		names_each(a->lower_when[k], need, c);
	if (a->after.n)
		need(c, a->after_at);
	if (!c->failed)
		c->failed = !compute(c, a);
}

/* ---- keys ---- */

static bool wrong_type(struct completion *c, const struct key_attr *k, struct value v)
{
	return run_invalid(c->run, k->name, "is a key of type %s and cannot be of type %s", value_type_name(k->type),
			   value_type_name(value_type(v)));
}

/* The table's own key cannot be made: names the attribute that is missing. */
static bool no_key(struct completion *c, const struct name *attribute, const struct key_rule *rule)
{
	for (size_t i = 0; rule && i < rule->template->part_count; i++) {
		const struct template_part *p = &rule->template->parts[i];
		struct value v = p->names ? term_inside(row_get(c->fields, p->at), p->names + 1, p->name_count - 1)
					  : VALUE_ABSENT;
		struct buf name;

		if (!p->names || (value_present(v) && value_type(v) != VALUE_NULL))
			continue;
		buf_init(&name, c->run->arena);
		term_print_path(&name, p->names, p->name_count);
		return run_invalid(c->run, buf_slice(&name), "is part of the key and cannot be missing");
	}
	if (!rule && key_has_rule(c->entity->keys, c->entity->key_count, attribute))
		return run_fail(c->run, PROBLEM_INVALID,
				"A %.*s like this has no key: none of the conditions for %.*s holds",
				SLICE_ARG(c->entity->name), SLICE_ARG(attribute->text));
	return run_invalid(c->run, attribute->text, "is part of the key and cannot be missing");
}

static bool make_key(struct completion *c, const struct name *attribute)
{
	const struct key_attr *k = attribute->key;
	const struct key_rule *rule;
	struct value v = VALUE_ABSENT;

	if (!key_rule_choose(&c->scope, c->entity->keys, c->entity->key_count, attribute, &rule))
		return false;
	if (rule && !scope_fill(&c->scope, rule->template, k != NULL, &v))
		return false;
	if (!value_present(v) && attribute->of_table)
		return no_key(c, attribute, rule);
	if (k && value_present(v) && value_type(v) != k->type)
		return wrong_type(c, k, v);
	put_value(c, attribute, v);
	return true;
}

static void need_key(struct completion *c, const struct name *attribute)
{
	const struct entity *e = c->entity;
	size_t first = 0;

	while (first < e->key_count && e->keys[first].at != attribute)
		first++;
	if (first == e->key_count || c->keys[first])
		return;
	c->keys[first] = true;
	for (size_t i = first; i < e->key_count; i++) {
		if (e->keys[i].at != attribute)
			continue;
		names_each_template(e->keys[i].template, need, c);
		names_each(e->keys[i].when, need, c);
	}
	if (!c->failed)
		c->failed = !make_key(c, attribute);
}

static void need(void *ctx, const struct name *name)
{
	struct completion *c = ctx;
	const struct slots *s = c->entity->slots;
	uint32_t at = s->of_name[name->id];

	if (c->failed || at == SLOT_NONE)
		return;
	if (s->list[at]->attribute)
		need_attribute(c, (size_t)(s->list[at]->attribute - c->entity->attributes));
	if (!c->failed)
		need_key(c, name);
}

/* A key that is an attribute itself: DynamoDB accepts neither NULL nor an empty value there. */
static bool check_plain_key(struct completion *c, const struct name *name)
{
	const struct key_attr *k = name->key;
	struct value v;

	if (key_has_rule(c->entity->keys, c->entity->key_count, name))
		return true;
	v = row_get(c->fields, name);
	if (!value_present(v) || value_type(v) == VALUE_NULL) {
		row_drop(c->fields, name);
		return !name->of_table || no_key(c, name, NULL);
	}
	if (value_type(v) != k->type)
		return wrong_type(c, k, v);
	if (k->type != VALUE_N && value_bytes(v).n == 0)
		return run_invalid(c->run, k->name, "is part of a key and cannot be empty");
	return true;
}

bool entity_complete(struct run *r, const struct entity *e, struct row *f, struct value old)
{
	struct completion c = { .run = r, .entity = e, .fields = f };

	if (value_present(old))
		c.old = row_lay(r->arena, e, old);
	c.scope = (struct scope){ .run = r, .item = f, .before = &c.old };
	c.attributes = arena_array(r->arena, bool, e->attribute_count);
	c.keys = arena_array(r->arena, bool, e->key_count);
	for (size_t i = 0; i < e->attribute_count && !c.failed; i++)
		need_attribute(&c, i);
	for (size_t i = 0; i < e->key_count && !c.failed; i++)
		need_key(&c, e->keys[i].at);
	for (size_t i = 0; i < r->design->key_name_count && !c.failed; i++)
		c.failed = !check_plain_key(&c, r->design->key_names[i]);
	return !c.failed;
}
