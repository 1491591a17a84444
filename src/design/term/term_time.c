/* Functions of time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/term_parts.h"

#define UNITS_MOST INT64_C(1000000000000) /* far beyond the years a timestamp knows */

bool term_moment(struct value v, int64_t *ms)
{
	enum time_unit unit;
	int64_t seconds;

	if (value_type(v) == VALUE_S)
		return time_parse_unit(value_bytes(v), &unit, ms);
	if (!term_whole(v, &seconds) || seconds < TIME_MIN_MS / 1000 || seconds > TIME_MAX_MS / 1000)
		return false;
	*ms = seconds * 1000;
	return true;
}

static struct value call_unit(struct arena *a, struct value v, enum time_unit unit)
{
	char text[TIME_TEXT_MAX];
	int64_t ms;

	return term_moment(v, &ms) ? value_make_s(a, time_format_unit(ms, unit, text)) : VALUE_ABSENT;
}

static struct value call_epoch(struct arena *a, struct value v)
{
	int64_t ms;

	if (!term_moment(v, &ms))
		return VALUE_ABSENT;
	return value_make_i64(a, (ms >= 0 ? ms : ms - 999) / 1000);
}

/* The result has the form of x: a date stays a date, milliseconds stay. */
static struct value call_later(struct arena *a, const struct value *args)
{
	enum time_unit form, unit;
	char text[TIME_TEXT_MAX];
	int64_t ms, n;

	if (value_type(args[0]) != VALUE_S || value_type(args[2]) != VALUE_S || !term_whole(args[1], &n))
		return VALUE_ABSENT;
	unit = time_unit_named(value_bytes(args[2]));
	if (unit == TIME_UNITS || !time_parse_unit(value_bytes(args[0]), &form, &ms))
		return VALUE_ABSENT;
	return value_make_s(a, time_format_unit(time_add(ms, unit, n), form, text));
}

struct value term_ago(struct arena *a, enum term_function f, struct value n, int64_t now_ms, bool fine)
{
	enum time_unit unit = f == CALL_DAYS_AGO ? TIME_DAY : f == CALL_HOURS_AGO ? TIME_HOUR : TIME_MINUTE;
	char text[TIME_TEXT_MAX];
	int64_t count;

	if (!term_whole(n, &count) || count < -UNITS_MOST || count > UNITS_MOST)
		return VALUE_ABSENT;
	return value_make_s(a, time_format_unit(time_add(now_ms, unit, -count), fine ? TIME_MILLISECOND : TIME_SECOND,
						text));
}

bool term_is_duration(const struct term *t, int64_t *n, enum time_unit *unit)
{
	if (t->kind != TERM_CALL || t->function != CALL_LATER || t->args[1]->kind != TERM_LITERAL ||
	    t->args[2]->kind != TERM_LITERAL || value_type(t->args[2]->value) != VALUE_S ||
	    !term_whole(t->args[1]->value, n))
		return false;
	*unit = time_unit_named(value_bytes(t->args[2]->value));
	return *unit != TIME_UNITS;
}

struct value term_call_time(struct arena *a, enum term_function f, const struct value *args)
{
	switch (f) {
	case CALL_DATE: return call_unit(a, args[0], TIME_DAY);
	case CALL_HOUR: return call_unit(a, args[0], TIME_HOUR);
	case CALL_WEEK: return call_unit(a, args[0], TIME_WEEK);
	case CALL_MONTH: return call_unit(a, args[0], TIME_MONTH);
	case CALL_YEAR: return call_unit(a, args[0], TIME_YEAR);
	case CALL_EPOCH: return call_epoch(a, args[0]);
	case CALL_LATER: return call_later(a, args);
	default: return VALUE_ABSENT;
	}
}
