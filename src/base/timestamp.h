/* Timestamps as text: RFC 3339, UTC. Everything here counts milliseconds since 1970 and knows the
 * years 0000 to 9999.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_TIMESTAMP_H
#define THORPE_BASE_TIMESTAMP_H

#include "base/slice.h"

#define TIME_TEXT_MAX 21 /* "2026-11-15T12:00:00Z" with its NUL */
#define TIME_DATE_MAX 11 /* "2026-11-15" with its NUL */

/* What time_format() can write. */
#define TIME_MIN_MS INT64_C(-62167219200000)
#define TIME_MAX_MS INT64_C(253402300799999)

/* The first character behind a whole date is 'T' (or 't'); fractions of a second and offsets
 * (+02:00) are understood, and dates that do not exist are not. False: no timestamp. */
bool time_parse(struct slice text, int64_t *ms) __attribute__((warn_unused_result));
/* YYYY-MM-DD: its first moment. */
bool time_parse_date(struct slice text, int64_t *ms) __attribute__((warn_unused_result));

/* Whole seconds, rounded down, with Z. What lies outside the known years becomes the nearest
 * moment inside. Both are NUL-terminated and return the text. */
struct slice time_format(int64_t ms, char out[TIME_TEXT_MAX]);
struct slice time_format_date(int64_t ms, char out[TIME_DATE_MAX]);

#endif
