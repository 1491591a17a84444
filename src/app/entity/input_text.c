/* Values from text, and text brought into its normal form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/entity/input_internal.h"
#include "base/map.h"
#include "base/timestamp.h"
#include "design/term/term_text.h"

/* ---- normal form ---- */
static struct slice normal_text(struct arena *a, struct slice s)
{
	return text_lower(a, slice_trim(s, SLICE_BLANKS));
}

/* Of equal elements the first stays. */
static struct value normal_list(struct arena *a, struct value v)
{
	struct value *list = arena_array(a, struct value, value_count(v));
	struct value_iter it = value_iter(v);
	struct map seen;
	size_t n = 0;

	map_init(&seen, a);
	while (value_next(&it)) {
		list[n] = it.value;
		if (value_type(it.value) == VALUE_S)
			list[n] = value_make_s(a, normal_text(a, value_bytes(it.value)));
		if (!map_set(&seen, value_slice(list[n]), &list[n]))
			n++;
	}
	return value_make_list(a, list, n);
}

static struct value normal_set(struct arena *a, struct value v)
{
	struct slice *list = arena_array(a, struct slice, value_count(v));
	struct value_iter it = value_iter(v);
	size_t n = 0;

	while (value_next(&it))
		list[n++] = normal_text(a, it.element);
	return value_make_set(a, VALUE_SS, list, n);
}

/* In the attribute's unit: a time of another attribute may have, or lack, milliseconds. */
static struct value normal_time(struct arena *a, const struct attribute *attribute, struct value v)
{
	enum time_unit unit = attribute->fine ? TIME_MILLISECOND : TIME_SECOND;
	char text[TIME_TEXT_MAX];
	int64_t ms;

	if (value_type(v) != VALUE_S || value_bytes(v).n == time_unit_width(unit) || !time_parse(value_bytes(v), &ms))
		return v;
	return value_make_s(a, time_format_unit(ms, unit, text));
}

struct value input_normal(struct run *r, const struct attribute *attribute, struct value v)
{
	if (attribute && attribute->type == ATTR_TIMESTAMP)
		return normal_time(r->arena, attribute, v);
	if (!attribute || !attribute->lower)
		return v;
	switch (value_type(v)) {
	case VALUE_S: return value_make_s(r->arena, normal_text(r->arena, value_bytes(v)));
	case VALUE_L: return normal_list(r->arena, v);
	case VALUE_SS: return normal_set(r->arena, v);
	default: return v;
	}
}

/* ---- what the design makes ---- */
static struct value cut_text(struct run *r, const struct attribute *a, struct value v)
{
	struct slice s = value_bytes(v);
	bool slug = a->form == FORM_SLUG ||
		    (a->default_ && a->default_->kind == TERM_CALL && a->default_->function == CALL_SLUG) ||
		    (a->derived && a->derived->kind == TERM_CALL && a->derived->function == CALL_SLUG);

	if (s.n <= a->max || (double)text_count(s) <= a->max)
		return v;
	s = text_first(s, (size_t)a->max);
	while (slug && s.n && s.p[s.n - 1] == '-')
		s.n--;
	return value_make_s(r->arena, s);
}

static struct value cut_list(struct run *r, const struct attribute *a, struct value v)
{
	struct value *list;
	struct value_iter it = value_iter(v);
	size_t n = 0;

	if ((double)value_count(v) <= a->max)
		return v;
	list = arena_array(r->arena, struct value, (size_t)a->max);
	while (n < (size_t)a->max && value_next(&it))
		list[n++] = it.value;
	return value_make_list(r->arena, list, n);
}

struct value input_made(struct run *r, const struct attribute *a, struct value v)
{
	if (!a->has_max || a->compressed || a->copy_entity.n || a->form == FORM_EMAIL || a->form == FORM_URL ||
	    a->matches)
		return v;
	if (value_type(v) == VALUE_S)
		return cut_text(r, a, v);
	return value_type(v) == VALUE_L ? cut_list(r, a, v) : v;
}

/* ---- parameters ---- */
static struct json string_of(struct slice s)
{
	return (struct json){ .type = JSON_STRING, .string = s };
}

/* Splits "a,b,c"; an empty text is an empty list. */
static struct json list_of(struct arena *a, struct slice s)
{
	size_t most = s.n ? 1 : 0, n = 0;
	struct json *items;
	struct slice item;

	for (size_t i = 0; i < s.n; i++)
		most += s.p[i] == ',';
	items = arena_array(a, struct json, most);
	while (n < most && slice_next(&s, ',', &item))
		items[n++] = string_of(item);
	return (struct json){ .type = JSON_ARRAY, .count = (uint32_t)n, .items = items };
}

bool input_text(struct run *r, const struct attribute *attribute, struct slice name, struct slice text,
		struct value *out)
{
	struct input_place at = { .r = r, .attribute = attribute, .name = name, .from_text = true };
	const struct json *parsed = NULL;
	struct json j = string_of(text);

	if (!text_is_utf8(text))
		return run_invalid(r, name, "UTF-8 is expected");
	if (!attribute) {
		*out = value_make_s(r->arena, text);
		return true;
	}
	if (attribute->type == ATTR_LIST || attribute->type == ATTR_SET)
		j = list_of(r->arena, text);
	else if (attribute->type == ATTR_MAP)
		parsed = json_parse(r->arena, text);
	return input_place_value(&at, parsed ? parsed : &j, out);
}
