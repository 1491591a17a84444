/* Timestamps as text: RFC 3339, UTC. All functions count milliseconds since 1970 and accept the years 0000 to 9999.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_TIMESTAMP_H
#define THORPE_BASE_TIMESTAMP_H

#include "base/slice.h"

#define TIME_TEXT_MAX 21 /* "2026-11-15T12:00:00Z" with its NUL */
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

#endif
