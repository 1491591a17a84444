/* Walks: from one partition to the next, whose date is some days earlier.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_internal.h"
#include "base/timestamp.h"

#define DAY_MS INT64_C(86400000)

/* In the form of the value: a date stays a date. */
static bool earlier(struct run *r, struct slice name, struct value from, int64_t days, struct value *out)
{
	char text[TIME_TEXT_MAX];
	struct slice at = value_type(from) == VALUE_S ? value_bytes(from) : SLICE("");
	int64_t ms;

	if (time_parse_date(at, &ms))
		*out = value_make_s(r->arena, time_format_date(ms - days * DAY_MS, text));
	else if (time_parse(at, &ms))
		*out = value_make_s(r->arena, time_format(ms - days * DAY_MS, text));
	else
		return run_invalid(r, name, "must be a date, as in 2026-01-15");
	return true;
}

bool walk_params(const struct pattern *p, int64_t step, struct row *out)
{
	struct run *r = p->g->r;
	const struct access *a = p->access;
	struct value from, to;

	row_copy(out, r->arena, p->params);
	if (!a->walk_param.n)
		return true;
	from = row_get(out, a->walk_at);
	if (!value_present(from))
		return true;
	if (!earlier(r, a->walk_param, from, step * a->walk_days, &to))
		return false;
	if (step)
		row_set(out, a->walk_at, to);
	return true;
}
