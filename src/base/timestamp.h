/* Timestamps as text: RFC 3339, UTC. All functions count milliseconds since 1970 and accept the years 0000 to 9999.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_TIMESTAMP_H
#define THORPE_BASE_TIMESTAMP_H

#include "base/slice.h"

#define TIME_TEXT_MAX 25 /* "2026-11-15T12:00:00.000Z" with its NUL */
#define TIME_DATE_MAX 11 /* "2026-11-15" with its NUL */

/* The range time_format() can write. */
#define TIME_MIN_MS INT64_C(-62167219200000)
#define TIME_MAX_MS INT64_C(253402300799999)

/* Parses a date, 'T' (or 't') and a time, with an optional fraction of a second, and Z or an offset (+02:00).
 * Rejects dates that do not exist. False: not a timestamp. */
bool time_parse(struct slice text, int64_t *ms) __attribute__((warn_unused_result));
/* YYYY-MM-DD; returns the first moment of that day. */
bool time_parse_date(struct slice text, int64_t *ms) __attribute__((warn_unused_result));

/* Whole seconds, rounded down, with Z. Times outside the supported years become the nearest one inside. Both write
 * a NUL-terminated text and return it. */
struct slice time_format(int64_t ms, char out[TIME_TEXT_MAX]);
struct slice time_format_date(int64_t ms, char out[TIME_DATE_MAX]);

/* ---- periods ---- */
/* Texts of one unit have one length and sort by time. Weeks are those of ISO 8601: they begin on Monday, and the first
 * of a year has its first Thursday. */
enum time_unit {
	TIME_MILLISECOND, /* 2026-11-15T12:00:00.000Z */
	TIME_SECOND,      /* 2026-11-15T12:00:00Z */
	TIME_MINUTE,      /* 2026-11-15T12:00 */
	TIME_HOUR,        /* 2026-11-15T12 */
	TIME_DAY,         /* 2026-11-15 */
	TIME_WEEK,        /* 2026-W46 */
	TIME_MONTH,       /* 2026-11 */
	TIME_YEAR,        /* 2026 */
	TIME_UNITS,
};

/* The period that a moment is in, as text; rounded down. */
struct slice time_format_unit(int64_t ms, enum time_unit unit, char out[TIME_TEXT_MAX]);
/* Parses any of these texts, and timestamps with an offset: its unit and its first moment. False: none of them. */
bool time_parse_unit(struct slice text, enum time_unit *unit, int64_t *ms) __attribute__((warn_unused_result));
/* `n` units later, or earlier. A day that the month does not have becomes its last: January 31st and one month is
 * February 28th. Times outside the supported years become the nearest one inside. */
int64_t time_add(int64_t ms, enum time_unit unit, int64_t n);
/* How many characters the texts of the unit have. */
size_t time_unit_width(enum time_unit unit);
/* "day", "days"; TIME_UNITS: no unit. */
enum time_unit time_unit_named(struct slice word);
extern const char *const time_unit_names[TIME_UNITS];

#endif
