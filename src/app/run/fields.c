/* Names and values of a request. There are few, so a linear search is fastest. SPDX-License-Identifier: Apache-2.0 */
#include "app/run/fields.h"
#include "base/grow.h"

void fields_init(struct fields *f, struct arena *a)
{
	*f = (struct fields){ .arena = a };
}

static struct value_member *find_field(const struct fields *f, struct slice name)
{
	for (size_t i = 0; i < f->count; i++)
		if (slice_equal(f->list[i].name, name))
			return &f->list[i];
	return NULL;
}

struct value fields_get(const struct fields *f, struct slice name)
{
	const struct value_member *m = find_field(f, name);

	return m ? m->value : VALUE_ABSENT;
}

bool fields_has(const struct fields *f, struct slice name)
{
	return find_field(f, name) != NULL;
}

void fields_set(struct fields *f, struct slice name, struct value v)
{
	struct value_member *m = find_field(f, name);

	if (m) {
		m->value = v;
		return;
	}
	GROW_IN(f->arena, f->list, f->count, f->capacity, 16);
	f->list[f->count++] = (struct value_member){ name, v };
}

void fields_drop(struct fields *f, struct slice name)
{
	struct value_member *m = find_field(f, name);

	if (!m)
		return;
	f->count--;
	memmove(m, m + 1, (size_t)(f->list + f->count - m) * sizeof(*m));
}
