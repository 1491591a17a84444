/* Addresses: the segments of a path and the pairs of a query string, percent-decoded. Everything lives in the run's
 * arena. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_TARGET_H
#define THORPE_APP_REST_TARGET_H

#include "app/run/run.h"

#define TARGET_MOST_SEGMENTS 32

/* Splits a path; a slash at its end does not matter. `segments` has room for TARGET_MOST_SEGMENTS. False: too many. */
bool target_split(struct slice path, struct slice *segments, size_t *n) MUST_CHECK;
/* The same, decoded. MALFORMED: bad escapes, NULs, not UTF-8; NOT_FOUND: too many segments. */
bool target_segments(struct run *r, struct slice path, struct slice *segments, size_t *n) MUST_CHECK;
/* The pairs of a query string, decoded; empty pairs are left out. `raw` is the value as sent. */
struct target_pair {
	struct slice name, value, raw;
};
bool target_query(struct run *r, struct slice query, struct target_pair **pairs, size_t *n) MUST_CHECK;
/* `plus`: '+' is a space. */
bool target_decode(struct run *r, struct slice text, bool plus, struct slice *out) MUST_CHECK;

#endif
