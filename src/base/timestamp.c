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

struct slice time_format(int64_t ms, char out[TIME_TEXT_MAX])
{
	int64_t at = clamp(ms), days = whole_days(at), second = (at - days * DAY_MS) / 1000;
	char *p = put_date(out, days, 'T');

	p = put(p, second / 3600, 2, ':');
	p = put(p, second / 60 % 60, 2, ':');
	p = put(p, second % 60, 2, 'Z');
	*p = '\0';
	return slice_make(out, TIME_TEXT_MAX - 1);
}

struct slice time_format_date(int64_t ms, char out[TIME_DATE_MAX])
{
	put_date(out, whole_days(clamp(ms)), '\0');
	return slice_make(out, TIME_DATE_MAX - 1);
}
