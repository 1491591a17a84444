/* Whether a value can be one of an attribute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/fits.h"
#include <stdio.h>
#include <stdlib.h>
#include "base/timestamp.h"
#include "design/term/term_text.h"

void attribute_range_text(const struct attribute *a, const char *unit, char out[FITS_TEXT_MAX])
{
	const char *space = unit[0] ? " " : "";

	if (a->has_min && a->has_max && a->min == a->max)
		snprintf(out, FITS_TEXT_MAX, "exactly %.15g%s%s", a->min, space, unit);
	else if (a->has_min && a->has_max && (a->min != 0 || !unit[0]))
		snprintf(out, FITS_TEXT_MAX, "between %.15g and %.15g%s%s", a->min, a->max, space, unit);
	else if (a->has_max)
		snprintf(out, FITS_TEXT_MAX, "at most %.15g%s%s", a->max, space, unit);
	else
		snprintf(out, FITS_TEXT_MAX, "at least %.15g%s%s", a->min, space, unit);
}

/* ---- types ---- */
static bool is_whole(struct value v)
{
	return value_number(v).exponent >= 0;
}

/* What the attribute expects instead of a value of this type; NULL: the type is right. */
static const char *type_misses(const struct attribute *a, struct value v)
{
	enum value_type t = value_type(v);
	int64_t ms;

	switch (a->type) {
	case ATTR_STRING:
	case ATTR_TEXT: return t == VALUE_S ? NULL : "a string";
	case ATTR_NUMBER: return t == VALUE_N ? NULL : "a number";
	case ATTR_INTEGER:
	case ATTR_EPOCH: return t == VALUE_N && is_whole(v) ? NULL : "a whole number";
	case ATTR_BOOLEAN: return t == VALUE_BOOL ? NULL : "true or false";
	case ATTR_TIMESTAMP:
		return t == VALUE_S && time_parse(value_bytes(v), &ms) ? NULL : "a timestamp like 2026-01-15T10:30:00Z";
	case ATTR_ENUM:
		return t == VALUE_S && slice_among(a->choices, a->choice_count, value_bytes(v)) ? NULL
												: "one of its words";
	case ATTR_LIST: return t == VALUE_L ? NULL : "a list";
	case ATTR_SET: return value_type_is_set(t) ? NULL : "a set";
	case ATTR_MAP: return t == VALUE_M ? NULL : "an object";
	case ATTR_BINARY: return t == VALUE_B ? NULL : "a binary";
	}
	return NULL;
}

/* ---- ranges ---- */
static double size_of(struct value v, const char **unit)
{
	char text[NUMBER_TEXT_MAX];
	struct number n;

	*unit = "elements";
	switch (value_type(v)) {
	case VALUE_S: *unit = "characters"; return (double)text_count(value_bytes(v));
	case VALUE_B: *unit = "bytes"; return (double)value_bytes(v).n;
	case VALUE_M: *unit = "members"; return (double)value_count(v);
	case VALUE_N:
		*unit = "";
		n = value_number(v);
		number_format(&n, text);
		return strtod(text, NULL);
	case VALUE_BOOL:
	case VALUE_NULL: return 0;
	default: return (double)value_count(v);
	}
}

static bool in_range(const struct attribute *a, struct value v, char room[FITS_TEXT_MAX])
{
	const char *unit;
	double size;

	if (!a->has_min && !a->has_max)
		return true;
	size = size_of(v, &unit);
	if ((!a->has_min || unit[0] || size >= a->min) && (!a->has_max || size <= a->max))
		return true;
	attribute_range_text(a, unit, room);
	return false;
}

/* ---- forms ---- */
static const char *form_misses(const struct attribute *a, struct value v)
{
	enum value_type t = value_type(v);
	struct value_iter it;
	const char *why = NULL;

	if (a->form == FORM_FREE && !a->matches)
		return NULL;
	if (t == VALUE_S)
		return attribute_form_misses(a, value_bytes(v));
	if (t != VALUE_L && t != VALUE_SS)
		return NULL;
	it = value_iter(v);
	while (!why && value_next(&it))
		if (t == VALUE_SS || value_type(it.value) == VALUE_S)
			why = attribute_form_misses(a, t == VALUE_SS ? it.element : value_bytes(it.value));
	return why;
}

bool attribute_fits_itself(const struct attribute *a, struct value v, char room[FITS_TEXT_MAX], const char **why)
{
	*why = NULL;
	if (!a->derived)
		*why = type_misses(a, v);
	if (!*why && !in_range(a, v, room))
		*why = room;
	if (!*why)
		*why = form_misses(a, v);
	return !*why;
}

bool attribute_fits(const struct attribute *a, struct value v, char room[FITS_TEXT_MAX], const char **why)
{
	*why = NULL;
	if (value_type(v) == VALUE_NULL || a->compressed || a->copy_entity.n)
		return true;
	if (!attribute_fits_itself(a, v, room, why))
		return false;
	if (attribute_fits_inside(a, v, room))
		return true;
	*why = room;
	return false;
}
