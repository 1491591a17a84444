/* Walks: from one partition to the next, whose hour, day, week, month or year is some steps earlier or later.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_internal.h"
#include "base/timestamp.h"

static const char *const examples[TIME_UNITS] = {
	[TIME_HOUR] = "an hour, as in 2026-01-15T10", [TIME_DAY] = "a date, as in 2026-01-15",
	[TIME_WEEK] = "a week, as in 2026-W03",       [TIME_MONTH] = "a month, as in 2026-01",
	[TIME_YEAR] = "a year, as in 2026",
};

/* In the form of the value: a date stays a date. Each step counts from the first one, so that months that end on the
 * 31st go on after one that does not. */
static bool step_from(struct run *r, const struct access *a, struct value from, int64_t steps, struct value *out)
{
	struct slice at = value_type(from) == VALUE_S ? value_bytes(from) : SLICE("");
	char text[TIME_TEXT_MAX];
	enum time_unit form;
	int64_t ms;

	/* A month has no days to walk. */
	if (!time_parse_unit(at, &form, &ms) || form > a->walk_unit)
		return run_invalid(r, a->walk_param, "must be %s", examples[a->walk_unit]);
	*out = value_make_s(r->arena, time_format_unit(time_add(ms, a->walk_unit, steps * a->walk_step), form, text));
	return true;
}

bool walk_params(const struct pattern *p, int64_t step, struct row *out, bool *none)
{
	struct run *r = p->g->r;
	const struct access *a = p->access;
	struct value from, to, before;

	row_copy(out, r->arena, p->params);
	if (!a->walk_param.n)
		return true;
	from = row_get(out, a->walk_at);
	if (!value_present(from))
		return true;
	if (!step_from(r, a, from, step, &to))
		return false;
	if (!step)
		return true;
	row_set(out, a->walk_at, to);
	/* The calendar ends, and the last partition is not read again. */
	if (!step_from(r, a, from, step - 1, &before))
		return false;
	*none = value_equal(to, before);
	return true;
}
