/* Lists that an action changes: elements appended, or one removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input_internal.h"
#include "design/term/fits.h"

static bool takes_so_many(struct run *r, const struct attribute *a, struct value list)
{
	double n = (double)value_count(list);
	char text[FITS_TEXT_MAX];

	if (!(a->has_min && n < a->min) && !(a->has_max && n > a->max))
		return true;
	attribute_range_text(a, "elements", text);
	return run_invalid(r, a->name, "%s", text);
}

bool input_append(struct run *r, const struct attribute *a, struct value was, struct value more, struct value *out)
{
	bool any = value_type(was) == VALUE_L;
	struct value *list = arena_array(r->arena, struct value, (any ? value_count(was) : 0) + value_count(more));
	size_t n = 0;

	for (struct value_iter it = value_iter(any ? was : more); any && value_next(&it);)
		list[n++] = it.value;
	for (struct value_iter it = value_iter(more); value_next(&it);)
		list[n++] = it.value;
	*out = input_normal(r, a, value_make_list(r->arena, list, n));
	return takes_so_many(r, a, *out);
}

bool input_remove_at(struct run *r, const struct attribute *a, struct value was, struct value index, struct value *out)
{
	size_t count = value_type(was) == VALUE_L ? value_count(was) : 0, n = 0, i = 0;
	struct value *list = arena_array(r->arena, struct value, count);
	struct number number = value_number(index);
	int64_t at;

	if (!number_to_i64(&number, &at) || at < 0 || (uint64_t)at >= count)
		return run_invalid(r, a->name, "there is no such element: it has %zu, and the first is 0", count);
	for (struct value_iter it = value_iter(was); value_next(&it); i++)
		if (i != (size_t)at)
			list[n++] = it.value;
	*out = value_make_list(r->arena, list, n);
	return takes_so_many(r, a, *out);
}
