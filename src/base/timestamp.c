/* Dates of the Gregorian calendar and days since 1970, without the C library's time zones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/timestamp.h"

#define DAY_MS       INT64_C(86400000)
#define DAYS_TO_1970 719468 /* from 0000-03-01 */

struct date {
	int64_t year;
	int month, day;
};

/* If years begin in March, the leap day is the last and every month has a fixed offset. */
static int64_t days_from_date(struct date d)
{
	int64_t y = d.month <= 2 ? d.year - 1 : d.year;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t of_era = y - era * 400;
	int64_t of_year = (153 * (d.month > 2 ? d.month - 3 : d.month + 9) + 2) / 5 + d.day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - DAYS_TO_1970;
}

static struct date date_from_days(int64_t days)
{
	int64_t z = days + DAYS_TO_1970;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t of_era = z - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153;
	struct date d;

	d.day = (int)(of_year - (153 * month + 2) / 5 + 1);
	d.month = (int)(month < 10 ? month + 3 : month - 9);
	d.year = year + era * 400 + (d.month <= 2);
	return d;
}

/* `n` digits at text.p + at; -1 if they are not digits. */
static int digits(struct slice text, size_t at, size_t n)
{
	int v = 0;

	if (at + n > text.n)
		return -1;
	for (size_t i = at; i < at + n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return -1;
		v = v * 10 + (text.p[i] - '0');
	}
	return v;
}

static bool has(struct slice text, size_t at, char c)
{
	return at < text.n && text.p[at] == c;
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && leap ? 29 : days[month - 1];
}

/* Parses the date at the start of the text. */
static bool parse_day(struct slice text, int64_t *ms)
{
	int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);

	if (year < 0 || month < 1 || month > 12 || day < 1 || !has(text, 4, '-') || !has(text, 7, '-') ||
	    day > days_in_month(year, month))
		return false;
	*ms = days_from_date((struct date){ year, month, day }) * DAY_MS;
	return true;
}

bool time_parse_date(struct slice text, int64_t *ms)
{
	return text.n == 10 && parse_day(text, ms);
}

/* Z or ±hh:mm, to the end of the text. */
static bool parse_offset(struct slice text, size_t at, int64_t *ms)
{
	int hours = digits(text, at + 1, 2), minutes = digits(text, at + 4, 2);

	*ms = 0;
	if (has(text, at, 'Z') || has(text, at, 'z'))
		return at + 1 == text.n;
	if (!has(text, at, '+') && !has(text, at, '-'))
		return false;
	if (at + 6 != text.n || !has(text, at + 3, ':') || hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
		return false;
	*ms = (hours * 60 + minutes) * INT64_C(60000);
	if (text.p[at] == '-')
		*ms = -*ms;
	return true;
}

bool time_parse(struct slice text, int64_t *ms)
{
	int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
	int64_t day, offset, fraction = 0;
	size_t at = 19;

	if (!parse_day(text, &day) || (!has(text, 10, 'T') && !has(text, 10, 't')) || !has(text, 13, ':') ||
	    !has(text, 16, ':'))
		return false;
	if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
		return false;
	if (has(text, at, '.')) {
		int64_t unit = 100;

		if (digits(text, ++at, 1) < 0)
			return false;
		for (; digits(text, at, 1) >= 0; at++, unit /= 10)
			fraction += unit * digits(text, at, 1);
	}
	if (!parse_offset(text, at, &offset))
		return false;
	*ms = day + (hour * 3600 + minute * 60 + second) * INT64_C(1000) + fraction - offset;
	return *ms >= TIME_MIN_MS && *ms <= TIME_MAX_MS;
}

static int64_t clamp(int64_t ms)
{
	return ms < TIME_MIN_MS ? TIME_MIN_MS : ms > TIME_MAX_MS ? TIME_MAX_MS : ms;
}

static char *put(char *p, int64_t v, int n, char after)
{
	for (int i = n - 1; i >= 0; i--, v /= 10)
		p[i] = (char)('0' + v % 10);
	p[n] = after;
	return p + n + 1;
}

static char *put_date(char *p, int64_t days, char after)
{
	struct date d = date_from_days(days);

	p = put(p, d.year, 4, '-');
	p = put(p, d.month, 2, '-');
	return put(p, d.day, 2, after);
}

static int64_t whole_days(int64_t ms)
{
	return (ms >= 0 ? ms : ms - (DAY_MS - 1)) / DAY_MS;
}

/* 2026-11-15T12:00:00 and `after`; the position after that. */
static char *put_time(char *out, int64_t at, char after)
{
	int64_t days = whole_days(at), second = (at - days * DAY_MS) / 1000;
	char *p = put_date(out, days, 'T');

	p = put(p, second / 3600, 2, ':');
	p = put(p, second / 60 % 60, 2, ':');
	return put(p, second % 60, 2, after);
}

struct slice time_format(int64_t ms, char out[TIME_TEXT_MAX])
{
	char *end = put_time(out, clamp(ms), 'Z');

	*end = '\0';
	return slice_make(out, (size_t)(end - out));
}

struct slice time_format_date(int64_t ms, char out[TIME_DATE_MAX])
{
	put_date(out, whole_days(clamp(ms)), '\0');
	return slice_make(out, TIME_DATE_MAX - 1);
}

/* ---- weeks ---- */

/* 0: Monday */
static int64_t weekday(int64_t days)
{
	int64_t d = (days + 3) % 7; /* 1970 began on a Thursday */

	return d < 0 ? d + 7 : d;
}

/* The Monday of the year's first week: of the one with January 4th. */
static int64_t first_monday(int64_t year)
{
	int64_t fourth = days_from_date((struct date){ year, 1, 4 });

	return fourth - weekday(fourth);
}

static void put_week(char *out, int64_t days)
{
	int64_t thursday = days - weekday(days) + 3, year = date_from_days(thursday).year;
	char *p = put(out, year < 0 ? 0 : year, 4, '-');

	*p++ = 'W';
	put(p, (thursday - 3 - first_monday(year)) / 7 + 1, 2, '\0');
}

/* 2026-W46 */
static bool parse_week(struct slice text, int64_t *ms)
{
	int year = digits(text, 0, 4), week = digits(text, 6, 2);
	int64_t days;

	if (text.n != 8 || year < 0 || week < 1 || !has(text, 4, '-') || !has(text, 5, 'W'))
		return false;
	days = first_monday(year) + (week - 1) * INT64_C(7);
	*ms = clamp(days * DAY_MS);
	return days < first_monday(year + 1);
}

/* ---- periods ---- */

/* clang-format off */
static const size_t widths[TIME_UNITS] = { 24, 20, 16, 13, 10, 8, 7, 4 };
static const int64_t lengths[TIME_UNITS] = { 1, 1000, 60000, 3600000, DAY_MS, 7 * DAY_MS, 0, 0 };
const char *const time_unit_names[TIME_UNITS] = {
	"millisecond", "second", "minute", "hour", "day", "week", "month", "year"
};
/* clang-format on */

size_t time_unit_width(enum time_unit unit)
{
	return widths[unit];
}

enum time_unit time_unit_named(struct slice word)
{
	int unit = 0;

	if (word.n > 1 && word.p[word.n - 1] == 's')
		word.n--;
	while (unit < TIME_UNITS && !slice_is(word, time_unit_names[unit]))
		unit++;
	return (enum time_unit)unit;
}

struct slice time_format_unit(int64_t ms, enum time_unit unit, char out[TIME_TEXT_MAX])
{
	int64_t at = clamp(ms);
	size_t n = widths[unit];
	char *end;

	if (unit == TIME_WEEK) {
		put_week(out, whole_days(at));
	} else if (unit >= TIME_DAY) {
		put_date(out, whole_days(at), '\0');
	} else {
		end = put_time(out, at, unit == TIME_MILLISECOND ? '.' : 'Z');
		if (unit == TIME_MILLISECOND)
			put(end, at - whole_days(at) * DAY_MS - (at - whole_days(at) * DAY_MS) / 1000 * 1000, 3, 'Z');
	}
	out[n] = '\0';
	return slice_make(out, n);
}

/* The text, completed to a timestamp: 2026-11 and -01T00:00:00Z. */
static bool parse_beginning(struct slice text, int64_t *ms)
{
	char whole[] = "0000-01-01T00:00:00Z";

	memcpy(whole, text.p, text.n);
	return time_parse(slice_str(whole), ms);
}

bool time_parse_unit(struct slice text, enum time_unit *unit, int64_t *ms)
{
	for (int u = TIME_MINUTE; u < TIME_UNITS && text.n < widths[TIME_SECOND]; u++) {
		if (text.n != widths[u])
			continue;
		*unit = (enum time_unit)u;
		return u == TIME_WEEK ? parse_week(text, ms) : parse_beginning(text, ms);
	}
	*unit = text.n > 19 && text.p[19] == '.' ? TIME_MILLISECOND : TIME_SECOND;
	return time_parse(text, ms);
}

/* Months, counted from year 0. */
static int64_t add_months(int64_t ms, int64_t n)
{
	int64_t days = whole_days(ms), of_day = ms - days * DAY_MS, months;
	struct date d = date_from_days(days);

	months = d.year * 12 + d.month - 1;
	if (n > 12 * 10000 || n < -12 * 10000 || months + n < 0 || months + n >= 12 * 10000)
		return n < 0 ? TIME_MIN_MS : TIME_MAX_MS;
	months += n;
	d.year = months / 12;
	d.month = (int)(months % 12) + 1;
	if (d.day > days_in_month((int)d.year, d.month))
		d.day = days_in_month((int)d.year, d.month);
	return days_from_date(d) * DAY_MS + of_day;
}

int64_t time_add(int64_t ms, enum time_unit unit, int64_t n)
{
	int64_t by;

	if (unit == TIME_MONTH)
		return add_months(clamp(ms), n);
	if (unit == TIME_YEAR)
		return __builtin_mul_overflow(n, 12, &by) ? (n < 0 ? TIME_MIN_MS : TIME_MAX_MS)
							  : add_months(clamp(ms), by);
	if (__builtin_mul_overflow(n, lengths[unit], &by) || __builtin_add_overflow(clamp(ms), by, &by))
		return n < 0 ? TIME_MIN_MS : TIME_MAX_MS;
	return clamp(by);
}
