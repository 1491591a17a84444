/* Whether what is inside a list or map fits its type.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "design/term/fits.h"

/* where the check is: [2].quantity */
struct inside {
	char path[FITS_TEXT_MAX / 2];
	size_t n;
	const char *why;
	char room[FITS_TEXT_MAX];
};

static bool fits(struct inside *x, const struct attribute *a, struct value v);

static size_t step(struct inside *x, struct slice name, size_t element)
{
	size_t before = x->n;
	int n = name.n ? snprintf(x->path + before, sizeof(x->path) - before, "%s%.*s", before ? "." : "",
				  SLICE_ARG(name))
		       : snprintf(x->path + before, sizeof(x->path) - before, "[%zu]", element);

	x->n = before + (size_t)n < sizeof(x->path) ? before + (size_t)n : sizeof(x->path) - 1;
	return before;
}

static bool fits_at(struct inside *x, struct slice name, size_t element, const struct attribute *a, struct value v)
{
	size_t before = step(x, name, element);

	if (a ? !fits(x, a, v) : x->why != NULL)
		return false;
	x->n = before;
	x->path[before] = 0;
	return true;
}

static bool refuse_at(struct inside *x, struct slice name, const char *why)
{
	x->why = why;
	return fits_at(x, name, 0, NULL, VALUE_ABSENT);
}

static bool members_fit(struct inside *x, const struct structure *s, struct value v)
{
	EACH (struct attribute, m, s->members, s->member_count)
		if (m->required && !value_present(value_get(v, m->name)))
			return refuse_at(x, m->name, "is required");
	for (struct value_iter it = value_iter(v); value_next(&it);) {
		const struct attribute *m = structure_member(s, it.name);

		if (!m && !s->open)
			return refuse_at(x, it.name, "there is no such member");
		if (m && !fits_at(x, m->name, 0, m, it.value))
			return false;
	}
	return true;
}

static bool fits(struct inside *x, const struct attribute *a, struct value v)
{
	bool map = value_type(v) == VALUE_M;
	size_t n = 0;

	if (!attribute_fits_itself(a, v, x->room, &x->why))
		return false;
	if (map && a->members)
		return members_fit(x, a->members, v);
	if (!a->each || (!map && value_type(v) != VALUE_L))
		return true;
	for (struct value_iter it = value_iter(v); value_next(&it); n++)
		if (!fits_at(x, map ? it.name : SLICE(""), n, a->each, it.value))
			return false;
	return true;
}

bool attribute_fits_inside(const struct attribute *a, struct value v, char room[FITS_TEXT_MAX])
{
	struct inside x = { .n = 0 };

	if (!attribute_is_structured(a) || a->compressed || fits(&x, a, v))
		return true;
	if (x.n)
		snprintf(room, FITS_TEXT_MAX, "%s: %.*s", x.path, FITS_TEXT_MAX / 2 - 4, x.why);
	else
		snprintf(room, FITS_TEXT_MAX, "%s", x.why);
	return false;
}
