/* Versions that are times of whole seconds: no two writes of an item leave the same one.
 *
 * `touched` is the time of the write; of an item that was written in this very second it is the second after the one it has. So a
 * version names one state of the item, and If-Match with the version of an earlier one fails, however quickly they follow one
 * another. What is further ahead than VERSION_AHEAD_MOST came from elsewhere (an import, a clock that was set back), and is not followed.
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
