/* Versions that are times: no two writes of an item leave the same one.
 *
 * `touched` is the time of the write; if the item's last write has the same or a later second (millisecond, in a
 * `timestamp ms`), it is the one after that. So a version identifies one state of the item, and If-Match with an
 * earlier version fails, however quickly writes follow each other. A time further ahead than VERSION_AHEAD_MOST came
 * from elsewhere (an import, a clock set back) and is ignored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"
#include "base/timestamp.h"

#define SECOND_MS          1000
#define VERSION_AHEAD_MOST (3600 * SECOND_MS)

static bool time_of(struct value v, int64_t *ms)
{
	struct number n;

	if (value_type(v) == VALUE_N) {
		n = value_number(v);
		return number_to_i64(&n, ms) && !__builtin_mul_overflow(*ms, SECOND_MS, ms);
	}
	return value_type(v) == VALUE_S && time_parse(value_bytes(v), ms);
}

struct value write_touched(struct run *r, const struct attribute *a, struct value old)
{
	struct value v = write_now(r, a);
	int64_t step = a->fine ? 1 : SECOND_MS, now = r->now_ms / step * step, was;
	char text[TIME_TEXT_MAX];

	if (!time_of(old, &was) || was < now || was - now >= VERSION_AHEAD_MOST)
		return v;
	was = (was / step + 1) * step;
	if (value_type(v) == VALUE_N)
		return value_make_i64(r->arena, was / SECOND_MS);
	return value_make_s(r->arena, time_format_unit(was, a->fine ? TIME_MILLISECOND : TIME_SECOND, text));
}
