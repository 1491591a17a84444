/* Whether a stored value is one that its attribute may have.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "app/entity/input.h"
#include "app/entity/packed.h"
#include "base/timestamp.h"
#include "design/term/fits.h"
#include "design/term/term_text.h"
#include "oracle/oracle_internal.h"

static const char *range_words(struct run *r, const struct attribute *a, const char *unit)
{
	struct buf b;

	buf_init(&b, r->arena);
	if (a->has_min && a->has_max)
		buf_printf(&b, "between %.15g and %.15g%s", a->min, a->max, unit);
	else if (a->has_max)
		buf_printf(&b, "at most %.15g%s", a->max, unit);
	else
		buf_printf(&b, "at least %.15g%s", a->min, unit);
	buf_byte(&b, 0);
	return b.p;
}

static const char *in_range(struct run *r, const struct attribute *a, double v, const char *unit)
{
	return (a->has_min && v < a->min) || (a->has_max && v > a->max) ? range_words(r, a, unit) : NULL;
}

static bool is_choice(const struct attribute *a, struct value v)
{
	for (size_t i = 0; value_type(v) == VALUE_S && i < a->choice_count; i++)
		if (slice_equal(a->choices[i], value_bytes(v)))
			return true;
	return false;
}

static const char *fit_timestamp(const struct attribute *a, struct value v)
{
	enum time_unit unit = a->fine ? TIME_MILLISECOND : TIME_SECOND;
	char text[TIME_TEXT_MAX];
	int64_t ms;

	if (value_type(v) == VALUE_S && time_parse(value_bytes(v), &ms) &&
	    slice_equal(time_format_unit(ms, unit, text), value_bytes(v)))
		return NULL;
	return a->fine ? "a timestamp like 2026-01-15T10:30:00.000Z" : "a timestamp like 2026-01-15T10:30:00Z";
}

static bool is_epoch(struct value v)
{
	struct number n;
	int64_t seconds;

	if (value_type(v) != VALUE_N)
		return false;
	n = value_number(v);
	return number_to_i64(&n, &seconds) && seconds >= 0;
}

/* Of one value, without its range. */
static const char *fit_scalar(const struct attribute *a, enum attr_type type, struct value v)
{
	enum value_type is = value_type(v);

	switch (type) {
	case ATTR_STRING:
	case ATTR_TEXT: return is == VALUE_S ? NULL : "a string";
	case ATTR_NUMBER: return is == VALUE_N ? NULL : "a number";
	case ATTR_INTEGER: return is == VALUE_N && value_number(v).exponent >= 0 ? NULL : "a whole number";
	case ATTR_EPOCH: return is_epoch(v) ? NULL : "a time in whole seconds since 1970";
	case ATTR_BOOLEAN: return is == VALUE_BOOL ? NULL : "true or false";
	case ATTR_TIMESTAMP: return fit_timestamp(a, v);
	case ATTR_BINARY: return is == VALUE_B ? NULL : "binary";
	case ATTR_LIST: return is == VALUE_L ? NULL : "a list";
	case ATTR_MAP: return is == VALUE_M ? NULL : "a map";
	case ATTR_SET:
	case ATTR_ENUM: break;
	}
	return NULL;
}

static const char *fit_elements(const struct attribute *a, struct value v)
{
	if (a->element == ATTR_MAP) /* of anything */
		return NULL;
	for (struct value_iter it = value_iter(v); value_next(&it);) {
		const char *wrong = a->element == ATTR_ENUM ? (is_choice(a, it.value) ? NULL : "a list of its words")
							    : fit_scalar(a, a->element, it.value);

		if (!wrong && a->matches && value_type(it.value) == VALUE_S &&
		    attribute_form_misses(a, value_bytes(it.value)))
			return attribute_form_misses(a, value_bytes(it.value));
		if (wrong)
			return a->element == ATTR_STRING || a->element == ATTR_TEXT ? "a list of strings"
										    : "a list of the declared type";
	}
	return NULL;
}

static const char *fit_set(struct run *r, const struct attribute *a, struct value v)
{
	enum value_type wanted = a->element == ATTR_NUMBER || a->element == ATTR_INTEGER ? VALUE_NS
				 : a->element == ATTR_BINARY                             ? VALUE_BS
											 : VALUE_SS;

	return value_type(v) == wanted ? in_range(r, a, (double)value_count(v), " elements")
				       : "a set of the declared type";
}

static const char *fit_packed(struct run *r, struct value v)
{
	struct buf b;

	buf_init(&b, r->arena);
	return value_type(v) == VALUE_B && packed_write(&b, v) ? NULL : "gzip of JSON";
}

static const char *fit_choice(struct run *r, const struct attribute *a, struct value v)
{
	struct buf b;

	if (is_choice(a, v))
		return NULL;
	buf_init(&b, r->arena);
	for (size_t i = 0; i < a->choice_count; i++) {
		buf_str(&b, i ? ", " : "one of ");
		buf_put(&b, a->choices[i]);
	}
	buf_byte(&b, 0);
	return b.p;
}

const char *fit_value(struct run *r, const struct attribute *a, struct value v)
{
	char room[FITS_TEXT_MAX];
	const char *wrong;

	if (a->compressed)
		return fit_packed(r, v);
	if (a->type == ATTR_SET)
		return fit_set(r, a, v);
	wrong = a->type == ATTR_ENUM ? fit_choice(r, a, v) : fit_scalar(a, a->type, v);
	if (wrong)
		return wrong;
	if (a->lower && !value_equal(input_normal(r, a, v), v))
		return "in lower case";
	if (attribute_is_structured(a) && !attribute_fits_inside(a, v, room))
		return arena_cstr(r->arena, slice_str(room));
	switch (a->type) {
	case ATTR_STRING:
	case ATTR_TEXT:
		wrong = a->matches ? attribute_form_misses(a, value_bytes(v)) : NULL;
		return wrong ? wrong : in_range(r, a, (double)text_count(value_bytes(v)), " characters");
	case ATTR_NUMBER:
	case ATTR_INTEGER:
	case ATTR_EPOCH: return in_range(r, a, value_double(v), "");
	case ATTR_BINARY: return in_range(r, a, (double)value_bytes(v).n, " bytes");
	case ATTR_LIST:
		wrong = fit_elements(a, v);
		return wrong ? wrong : in_range(r, a, (double)value_count(v), " elements");
	case ATTR_MAP: return in_range(r, a, (double)value_count(v), " members");
	default: return NULL;
	}
}
