/* Rules about values in keys: whether they sort, can be absent, and fit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

static void say_of(struct checker *c, const struct hole_visit *v, const char *text)
{
	check_say(c, v->template->place, "%.*s in %.*s %s", SLICE_ARG(v->hole->names[0]), SLICE_ARG(v->template->text),
		  text);
}

static bool is_plain(const struct hole_visit *v)
{
	return v->hole->format == FORMAT_PLAIN || v->hole->format == FORMAT_LOWER;
}

/* ---- numbers ---- */

static bool is_number(const struct hole_visit *v)
{
	return v->attribute && attribute_is_number(v->attribute);
}

/* Weekdays 0..6 and years 1000..9999 sort as texts, too. */
static bool has_one_width(const struct attribute *a)
{
	if (!a || a->type != ATTR_INTEGER || !a->has_min || !a->has_max || a->min < 0)
		return false;
	for (double ten = 10; ten <= a->max; ten *= 10)
		if (a->min < ten)
			return false;
	return true;
}

static void number_in_key(struct checker *c, const struct hole_visit *v)
{
	if (!v->sort || v->type == VALUE_N || !is_plain(v) || !is_number(v) || has_one_width(v->attribute))
		return;
	if (v->template->part_count == 1)
		return; /* stays a number: key-type reports it */
	say_of(c, v, "is a number that sorts as text");
	bool negative = attribute_can_be_negative(c, v->entry->shape->entity, v->attribute);
	check_repair(c, negative ? "Offset and pad it: <%.*s:+10>." : "Pad it with zeros: <%.*s:06>.",
		     SLICE_ARG(v->hole->names[0]));
}

static void negative_in_key(struct checker *c, const struct hole_visit *v)
{
	if (v->hole->format != FORMAT_PAD || !is_number(v) ||
	    !attribute_can_be_negative(c, v->entry->shape->entity, v->attribute))
		return;
	say_of(c, v, "can be negative");
	check_repair(c, "Write <%.*s:+10>, or give it a range from 0.", SLICE_ARG(v->hole->names[0]));
}

static void short_padding(struct checker *c, const struct hole_visit *v)
{
	if (v->hole->format != FORMAT_PAD || !is_number(v) || !v->attribute->has_max)
		return;
	double room = 1;
	for (int i = 0; i < v->hole->width; i++)
		room *= 10;
	if (v->attribute->max < room)
		return;
	say_of(c, v, "can have more digits than it is padded to");
}

/* ---- times ---- */

static void time_not_sortable(struct checker *c, const struct hole_visit *v)
{
	const struct attribute *a = v->attribute;
	if (!v->sort || !is_plain(v) || !a || a->now || a->touched || a->derived)
		return;
	if ((a->type != ATTR_STRING && a->type != ATTR_TEXT) || !name_says_time(c->arena, a->name))
		return;
	if (a->matches)
		return; /* its pattern says which form it has */
	say_of(c, v, "is a time stored as free text");
	check_repair(c, "Declare %.*s as timestamp: UTC, seconds, Z.", SLICE_ARG(a->name));
}

/* ---- absence ---- */

static void absent_in_key(struct checker *c, const struct hole_visit *v)
{
	const struct entity *e = v->entry->shape->entity;
	const struct attribute *a = v->attribute;
	const struct attribute *own = v->hole->name_count == 1 ? entity_attribute(e, v->hole->names[0]) : NULL;
	if (!a || !own || !attribute_can_be_absent(e, own))
		return;
	if (v->entry->when_count)
		return; /* `keys when` or the companion's `when` says when */
	if (v->template->part_count == 1 && v->template->place.line == own->place.line)
		return; /* the attribute is the key itself: sparse on purpose */
	say_of(c, v, "can be absent, and the item then lacks this key");
	if (!v->space->index)
		check_severity(c, SEVERITY_ERROR);
	check_repair(c, "Put it under `keys when %.*s is present`, or make it required.", SLICE_ARG(own->name));
}

/* ---- what fits ---- */

static void text_in_key(struct checker *c, const struct hole_visit *v)
{
	const struct attribute *a = v->attribute;
	double limit = v->sort ? 1024 : 2048;
	if (!a || !is_plain(v))
		return;
	if (a->type == ATTR_TEXT)
		say_of(c, v, "is free text");
	else if (a->type == ATTR_STRING && a->has_max && a->max > limit)
		say_of(c, v,
		       v->sort ? "can be longer than the 1024 bytes of a sort key"
			       : "can be longer than the 2048 bytes of a partition key");
}

static bool has_delimiter(struct slice s)
{
	return s.n && memchr(s.p, '#', s.n);
}

static void delimiter_in_value(struct checker *c, const struct hole_visit *v)
{
	const struct attribute *a = v->attribute;
	if (!a)
		return;
	bool found = has_delimiter(a->id_prefix);
	for (size_t i = 0; i < a->choice_count; i++)
		found |= has_delimiter(a->choices[i]);
	if (a->default_ && a->default_->kind == TERM_LITERAL && value_type(a->default_->value) == VALUE_S)
		found |= has_delimiter(value_bytes(a->default_->value));
	if (found)
		say_of(c, v, "contains # by its own definition");
}

static void hole_type(struct checker *c, const struct hole_visit *v)
{
	bool bare = v->template->part_count == 1 && v->hole->format == FORMAT_PLAIN;
	bool number = bare && is_number(v);
	if (v->attribute && v->type == VALUE_N && !number)
		say_of(c, v, "is not a number, but the key is");
	else if (v->type == VALUE_S && number)
		say_of(c, v, "is a number, but the key is a string");
}

static void constant_type(struct checker *c, const struct space *s, const struct entry *e)
{
	for (size_t i = 0; i < key_attr_count(s->key); i++) {
		const struct template *t = entry_key(s, e, i);
		if (key_attr_at(s->key, i)->type == VALUE_N && !template_holes(t))
			check_say(c, t->place, "'%.*s' is not a number, but the key of %.*s is", SLICE_ARG(t->text),
				  SLICE_ARG(s->name));
	}
}

/* ---- prefixes ---- */

/* SITE#<siteId> where the item's siteId is itself computed as SITE#…. */
static bool doubles(const struct key_rule *r, const struct key_rule *rules, size_t n)
{
	struct slice prefix = template_prefix(r->template);
	const struct template_part *hole = template_hole(r->template, 0);
	if (!prefix.n || !hole || hole->name_count != 1)
		return false;
	EACH (struct key_rule, other, rules, n)
		if (slice_equal(other->attribute, hole->names[0]) &&
		    slice_equal(template_prefix(other->template), prefix))
			return true;
	return false;
}

static void double_prefix_of_shape(struct checker *c, const struct shape *s)
{
	size_t n;
	const struct key_rule *rules = shape_rules(s, &n);
	bool said = false;
	EACH (struct key_rule, r, rules, n) {
		if (said || !doubles(r, rules, n))
			continue;
		const struct template_part *hole = template_hole(r->template, 0);
		const struct attribute *a = entity_attribute(s->entity, hole->names[0]);
		if (s->companion && a) /* the placeholder is the entity's attribute, not the companion's */
			continue;
		c->about = about_entity(c, s->entity);
		check_say(c, r->place, "%.*s means two values: %.*s is made from it, and it begins with %.*s itself",
			  SLICE_ARG(hole->names[0]), SLICE_ARG(r->template->text),
			  SLICE_ARG(template_prefix(r->template)));
		said = true;
	}
}

static void double_prefix_of_then(struct checker *c, const struct reach *r)
{
	EACH (struct key_rule, k, r->access->then.keys, r->access->then.key_count)
		EACH (struct entry, x, r->entries, r->entry_count) {
			size_t n;
			const struct key_rule *rules = shape_rules(x->shape, &n);
			if (!doubles(k, rules, n))
				continue;
			c->about = about_access(c, r->access);
			check_say(c, k->place, "%.*s doubles the prefix: the rows hold it already",
				  SLICE_ARG(k->template->text));
			break;
		}
}

static void double_prefix(struct checker *c)
{
	EACH (struct shape, s, c->shapes, c->shape_count)
		double_prefix_of_shape(c, s);
	EACH (struct reach, r, c->reaches, c->d->access_count)
		double_prefix_of_then(c, r);
}

const struct rule check_rules_key[] = {
	{ "number-in-key", SEVERITY_ERROR, "Strings sort character by character: 1, 10, 2; and 99 above 1000.",
	  "Pad it with zeros: <x:06>.", .hole = number_in_key },
	{ "negative-in-key", SEVERITY_WARNING, "-3 and -2 as text sort the wrong way round, and before every digit.",
	  "Offset it: <x:+10>, or give it a range from 0.", .hole = negative_in_key },
	{ "short-padding", SEVERITY_WARNING,
	  "The first number with more digits is refused on write, or would sort before the others.",
	  "Pad to the digits of its maximum, or lower the maximum.", .hole = short_padding },
	{ "time-not-sortable", SEVERITY_ERROR,
	  "RFC 3339 allows +02:00 and .5: 10:00:00.5Z sorts before 10:00:00Z, and +02:00 by local time.",
	  "Declare it as timestamp: UTC, seconds, Z.", .hole = time_not_sortable },
	{ "absent-in-key", SEVERITY_WARNING,
	  "Without the attribute the item silently is not in the index; for the table's key it cannot be written.",
	  "Say when the key is there: `keys when x is present`.", .hole = absent_in_key },
	{ "text-in-key", SEVERITY_WARNING,
	  "A sort key has at most 1024 bytes, a partition key 2048, and # separates the parts.",
	  "Use an id or a slug in the key, or limit the length.", .hole = text_in_key },
	{ "delimiter-in-value", SEVERITY_ERROR,
	  "# separates the parts of a key; a value with it is refused, for it could pose as another item's key.",
	  "Choose values without #.", .hole = delimiter_in_value },
	{ "key-type", SEVERITY_ERROR, "DynamoDB refuses the write: a key attribute has the type the table declares.",
	  "Declare the key as number, or make the template a string.", .hole = hole_type, .entry = constant_type },
	{ "double-prefix", SEVERITY_ERROR, "One of the two readers builds SITE#SITE#…, and finds nothing.",
	  "Give the raw id and the ready-made key two names.", .design = double_prefix },
	{ NULL },
};
