/* Versions that are times of whole seconds: no two writes of an item leave the same one.
 *
 * `touched` is the time of the write; if the item's last write has the same or a later second, it is the second after
 * that. So a version identifies one state of the item, and If-Match with an earlier version fails, however quickly
 * writes follow each other. A time further ahead than VERSION_AHEAD_MOST came from elsewhere (an import, a clock set
 * back) and is ignored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/write_plan.h"
#include "base/timestamp.h"

#define VERSION_AHEAD_MOST 3600 /* seconds */

static bool second_of(struct value v, int64_t *second)
{
	struct number n;
	int64_t ms;

	if (value_type(v) == VALUE_N) {
		n = value_number(v);
		return number_to_i64(&n, second);
	}
	if (value_type(v) != VALUE_S || !time_parse(value_bytes(v), &ms))
		return false;
	*second = ms / 1000;
	return true;
}

struct value write_touched(struct run *r, const struct attribute *a, struct value old)
{
	struct value v = write_now(r, a);
	char text[TIME_TEXT_MAX];
	int64_t now = r->now_ms / 1000, was;

	if (!second_of(old, &was) || was < now || was - now >= VERSION_AHEAD_MOST)
		return v;
	was++;
	return value_type(v) == VALUE_N ? value_make_i64(r->arena, was)
					: value_make_s(r->arena, time_format(was * 1000, text));
}
