/* Addresses: segments of paths and pairs of query strings, percent-decoded. Everything lives in the run's arena.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_TARGET_H
#define THORPE_APP_REST_TARGET_H

#include "app/run/run.h"

#define TARGET_MOST_SEGMENTS 32

/* Splits and decodes a path; a slash at its end does not matter. MALFORMED: bad escapes, no UTF-8, NULs; too many segments are
 * NOT_FOUND. `segments` has room for TARGET_MOST_SEGMENTS. */
bool target_segments(struct run *r, struct slice path, struct slice *segments, size_t *n) MUST_CHECK;
/* The pairs of a query string, decoded; ones without a value and a name are left out. `raw` is the value as sent. */
struct target_pair {
	struct slice name, value, raw;
};
bool target_query(struct run *r, struct slice query, struct target_pair **pairs, size_t *n) MUST_CHECK;
bool target_decode(struct run *r, struct slice text, bool plus, struct slice *out) MUST_CHECK;

#endif
