/* One value of plain JSON as an attribute's type has it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "app/entity/input_internal.h"
#include "app/entity/output.h"
#include "app/entity/packed.h"
#include "app/file/file.h"
#include "base/timestamp.h"
#include "design/term/fits.h"
#include "design/term/term_text.h"
#include "value/base64.h"
#include "value/codec.h"

static bool refuse_value(const struct input_place *at, const char *what)
{
	if (at->element)
		return run_invalid(at->r, at->name, "element %zu: %s", at->element, what);
	return run_invalid(at->r, at->name, "%s", what);
}

/* ---- ranges ---- */
static bool refuse_range(const struct input_place *at, const char *unit)
{
	char text[FITS_TEXT_MAX];

	attribute_range_text(at->attribute, unit, text);
	return refuse_value(at, text);
}

static bool in_range(const struct input_place *at, double v, const char *unit)
{
	const struct attribute *a = at->attribute;

	if (at->element) /* the range is the list's */
		return true;
	if ((a->has_min && v < a->min) || (a->has_max && v > a->max))
		return refuse_range(at, unit);
	return true;
}

/* ---- numbers ---- */
/* The shortest text that reads back as the same double. */
static struct slice double_text(struct arena *a, double d)
{
	char text[40];

	for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, d);
		if (strtod(text, NULL) == d)
			break;
	}
	return arena_copy(a, slice_str(text));
}

/* Any JSON number; text where that is what numbers come as. False: `j` is not a number DynamoDB can hold, and why. */
static bool read_number(struct input_place *at, const struct json *j, struct value *out, const char **why)
{
	struct error e = { 0 };
	struct number n;
	struct slice text;

	*why = "a number";
	if (j->type == JSON_INT) {
		*out = value_make_i64(at->r->arena, j->integer);
		return true;
	}
	if (j->type == JSON_DOUBLE)
		text = double_text(at->r->arena, j->number);
	else if (j->type == JSON_STRING && at->from_text)
		text = j->string;
	else
		return false;
	if (!number_parse(text, &n, at->r->arena, &e)) {
		if (memmem(e.message.p, e.message.n, "38", 2))
			*why = "a number of at most 38 digits";
		else if (j->type == JSON_DOUBLE)
			*why = "a number between -1e126 and 1e126";
		return false;
	}
	*out = value_make_n(at->r->arena, &n);
	return true;
}

static bool is_whole(struct value v)
{
	return value_number(v).exponent >= 0;
}

static bool take_number(struct input_place *at, const struct json *j, enum attr_type type, struct value *out)
{
	const char *why;
	int64_t seconds;
	struct number n;

	if (!read_number(at, j, out, &why))
		return refuse_value(at, type == ATTR_INTEGER && why[strlen("a number")] == 0 ? "a whole number" : why);
	if (type == ATTR_INTEGER && !is_whole(*out))
		return refuse_value(at, "a whole number");
	n = value_number(*out);
	if (type == ATTR_EPOCH && (!number_to_i64(&n, &seconds) || seconds < 0))
		return refuse_value(at, "a time in whole seconds since 1970");
	return in_range(at, value_double(*out), "");
}

/* ---- text ---- */
/* email, url, slug, name. Not checked for parameters of a read: a value that does not fit finds nothing. */
static bool has_form(const struct input_place *at, struct slice s)
{
	const char *why = at->from_text ? NULL : attribute_form_misses(at->attribute, s);

	return !why || refuse_value(at, why);
}

static bool take_string(struct input_place *at, const struct json *j, struct value *out)
{
	if (j->type != JSON_STRING)
		return refuse_value(at, "a string");
	*out = value_make_s(at->r->arena, j->string);
	if (at->element) /* the list is normalised as a whole */
		return has_form(at, value_bytes(input_normal(at->r, at->attribute, *out)));
	*out = input_normal(at->r, at->attribute, *out);
	return in_range(at, (double)text_count(value_bytes(*out)), "characters") && has_form(at, value_bytes(*out));
}

static bool take_choice(struct input_place *at, const struct json *j, struct value *out)
{
	const struct attribute *a = at->attribute;
	struct buf b;

	for (size_t i = 0; j->type == JSON_STRING && i < a->choice_count; i++)
		if (slice_equal(a->choices[i], j->string)) {
			*out = value_make_s(at->r->arena, j->string);
			return true;
		}
	buf_init(&b, at->r->arena);
	for (size_t i = 0; i < a->choice_count; i++) {
		buf_str(&b, i ? ", " : "one of: ");
		buf_put(&b, a->choices[i]);
	}
	buf_byte(&b, 0);
	return refuse_value(at, b.p);
}

static bool take_timestamp(struct input_place *at, const struct json *j, struct value *out)
{
	char text[TIME_TEXT_MAX];
	int64_t ms;

	if (j->type != JSON_STRING || !time_parse(j->string, &ms))
		return refuse_value(at, "a timestamp like 2026-01-15T10:30:00Z");
	*out = value_make_s(at->r->arena,
			    time_format_unit(ms, at->attribute->fine ? TIME_MILLISECOND : TIME_SECOND, text));
	return true;
}

static bool take_boolean(struct input_place *at, const struct json *j, struct value *out)
{
	bool is = j->type == JSON_BOOL && j->boolean;

	if (at->from_text && j->type == JSON_STRING) {
		is = slice_is(j->string, "true");
		if (!is && !slice_is(j->string, "false"))
			return refuse_value(at, "true or false");
	} else if (j->type != JSON_BOOL) {
		return refuse_value(at, "true or false");
	}
	*out = value_make_bool(at->r->arena, is);
	return true;
}

static bool take_binary(struct input_place *at, const struct json *j, struct value *out)
{
	uint8_t *bytes;
	size_t n;

	if (j->type != JSON_STRING || j->string.n % 4)
		return refuse_value(at, "base64");
	bytes = arena_alloc(at->r->arena, j->string.n / 4 * 3);
	if (!base64_decode(j->string, bytes, &n))
		return refuse_value(at, "base64");
	*out = value_make_b(at->r->arena, slice_make(bytes, n));
	return in_range(at, (double)n, "bytes");
}

/* ---- anything ---- */
static bool take_any(struct input_place *at, const struct json *j, int levels, struct value *out);

static bool take_any_list(struct input_place *at, const struct json *j, int levels, struct value *out)
{
	struct value *list = arena_array(at->r->arena, struct value, j->count);

	for (size_t i = 0; i < j->count; i++)
		if (!take_any(at, &j->items[i], levels - 1, &list[i]))
			return false;
	*out = value_make_list(at->r->arena, list, j->count);
	return true;
}

static bool take_any_map(struct input_place *at, const struct json *j, int levels, struct value *out)
{
	struct value_member *list = arena_array(at->r->arena, struct value_member, j->count);

	for (size_t i = 0; i < j->count; i++) {
		list[i].name = j->members[i].name;
		if (!list[i].name.n)
			return refuse_value(at, "no empty names");
		if (!take_any(at, &j->members[i].value, levels - 1, &list[i].value))
			return false;
	}
	*out = value_make_map(at->r->arena, list, j->count);
	return true;
}

/* `levels`: of lists and maps that may still stand in one another. */
static bool take_any(struct input_place *at, const struct json *j, int levels, struct value *out)
{
	struct input_place typed = *at;
	const char *why;

	typed.from_text = false;
	switch ((enum json_type)j->type) {
	case JSON_NULL: *out = value_make_null(at->r->arena); return true;
	case JSON_BOOL: *out = value_make_bool(at->r->arena, j->boolean); return true;
	case JSON_STRING: *out = value_make_s(at->r->arena, j->string); return true;
	case JSON_INT:
	case JSON_DOUBLE: return read_number(&typed, j, out, &why) || refuse_value(at, why);
	case JSON_ARRAY:
	case JSON_OBJECT:
		if (levels <= 0)
			return refuse_value(at, "less deeply nested lists and objects");
		return j->type == JSON_ARRAY ? take_any_list(at, j, levels, out) : take_any_map(at, j, levels, out);
	}
	return refuse_value(at, "JSON");
}

bool input_place_any(struct input_place *at, const struct json *j, struct value *out)
{
	return take_any(at, j, VALUE_LEVELS_MAX - 1 - at->depth, out);
}

/* ---- collections ---- */
static bool take_scalar(struct input_place *at, enum attr_type type, const struct json *j, struct value *out)
{
	int levels = VALUE_LEVELS_MAX - 1 - (at->element != 0) - at->depth;

	switch (type) {
	case ATTR_STRING:
	case ATTR_TEXT: return take_string(at, j, out);
	case ATTR_NUMBER:
	case ATTR_INTEGER:
	case ATTR_EPOCH: return take_number(at, j, type, out);
	case ATTR_BOOLEAN: return take_boolean(at, j, out);
	case ATTR_TIMESTAMP: return take_timestamp(at, j, out);
	case ATTR_ENUM: return take_choice(at, j, out);
	case ATTR_BINARY: return take_binary(at, j, out);
	case ATTR_LIST: /* only as an element: lists themselves are taken by take_list() */
		return j->type == JSON_ARRAY ? take_any(at, j, levels, out) : refuse_value(at, "a list");
	case ATTR_SET:
	case ATTR_MAP: break;
	}
	return take_any(at, j, levels, out);
}

#define BAD_ELEMENTS_TOLD 5

static bool take_elements(struct input_place *at, const struct json *j, struct value *list)
{
	size_t bad = 0;

	for (size_t i = 0; i < j->count && bad < BAD_ELEMENTS_TOLD; i++) {
		struct input_place one = *at;

		if (at->attribute->each) {
			one = input_place_inside(at, at->attribute->each, SLICE(""), i);
			one.patch = false; /* a list is given as a whole */
			bad += !input_place_value(&one, &j->items[i], &list[i]);
			continue;
		}
		one.element = i + 1;
		bad += !take_scalar(&one, at->attribute->element, &j->items[i], &list[i]);
	}
	return !bad;
}

static bool take_list(struct input_place *at, const struct json *j, struct value *out)
{
	struct value *list;

	if (j->type != JSON_ARRAY)
		return refuse_value(at, "a list");
	list = arena_array(at->r->arena, struct value, j->count);
	/* The count comes first: a list that is much too long needs no error for each element. */
	if (at->attribute->has_max && !at->attribute->lower && j->count > at->attribute->max)
		return refuse_range(at, "elements");
	if (!take_elements(at, j, list))
		return false;
	*out = input_normal(at->r, at->attribute, value_make_list(at->r->arena, list, j->count));
	return in_range(at, (double)value_count(*out), "elements");
}

static enum value_type set_type(enum attr_type element)
{
	switch (element) {
	case ATTR_NUMBER:
	case ATTR_INTEGER: return VALUE_NS;
	case ATTR_BINARY: return VALUE_BS;
	default: return VALUE_SS;
	}
}

static bool take_set(struct input_place *at, const struct json *j, struct value *out)
{
	struct arena *a = at->r->arena;
	struct value *list;
	struct slice *raw;

	if (j->type != JSON_ARRAY)
		return refuse_value(at, "a list without duplicates");
	list = arena_array(a, struct value, j->count);
	raw = arena_array(a, struct slice, j->count);
	if (!take_elements(at, j, list))
		return false;
	for (size_t i = 0; i < j->count; i++)
		raw[i] = value_bytes(list[i]);
	*out = VALUE_ABSENT;
	if (j->count) {
		*out = value_make_set(a, set_type(at->attribute->element), raw, j->count);
		if (value_count(*out) < j->count)
			return refuse_value(at, "a list without duplicates");
		*out = input_normal(at->r, at->attribute, *out);
	}
	return in_range(at, (double)value_count(*out), "elements");
}

static bool take_map(struct input_place *at, const struct json *j, struct value *out)
{
	if (j->type != JSON_OBJECT)
		return refuse_value(at, "an object");
	if (attribute_is_structured(at->attribute) ? !input_place_structure(at, j, out) : !input_place_any(at, j, out))
		return false;
	return at->patch || in_range(at, (double)value_count(*out), "members");
}

/* ---- all of it ---- */
static bool pack(struct input_place *at, struct value *v)
{
	struct buf b;

	buf_init(&b, at->r->arena);
	output_value(&b, *v);
	if (b.n > PACKED_MOST_IN)
		return refuse_value(at, "at most 1 MB of JSON");
	*v = packed_make(at->r->arena, buf_slice(&b));
	return true;
}

/* Of the object that a read shows, the id counts: the rest is known. */
static bool take_file(struct input_place *at, const struct json *j, struct value *out)
{
	return file_input(at->r->arena, j, out) || refuse_value(at, "the id of an uploaded file");
}

bool input_place_value(struct input_place *at, const struct json *j, struct value *out)
{
	bool good;

	if (at->attribute->file)
		return take_file(at, j, out);
	switch (at->attribute->type) {
	case ATTR_LIST: good = take_list(at, j, out); break;
	case ATTR_SET: good = take_set(at, j, out); break;
	case ATTR_MAP: good = take_map(at, j, out); break;
	default: good = take_scalar(at, at->attribute->type, j, out); break;
	}
	return good && (!at->attribute->compressed || !value_present(*out) || at->patch || pack(at, out));
}

bool input_json(struct run *r, const struct attribute *attribute, struct slice name, const struct json *j,
		struct value *out)
{
	struct input_place at = { .r = r, .attribute = attribute, .name = name };

	return input_place_value(&at, j, out);
}

bool input_patch(struct run *r, const struct attribute *attribute, const struct json *j, struct value *out)
{
	struct input_place at = { .r = r, .attribute = attribute, .name = attribute->name, .patch = true };

	return input_place_value(&at, j, out);
}

bool input_place_limits(struct input_place *at, struct value *v)
{
	return in_range(at, (double)value_count(*v), "members") && (!at->attribute->compressed || pack(at, v));
}
