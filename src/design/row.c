/* Rows to work on, and all entries of a row.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "design/row.h"

#define FIRST_CAPACITY 8

struct row row_lay(struct arena *a, const struct entity *e, struct value full)
{
	return (struct row){ .entity = e, .slots = e->slots, .full = full, .values = slots_lay(a, e->slots, full) };
}

struct row row_without(struct arena *a, const struct row *w, struct slice name)
{
	struct value full = value_map_with(a, w->full, name, VALUE_ABSENT);

	return w->entity ? row_lay(a, w->entity, full) : row_of(full);
}

void row_init(struct row *w, struct arena *a, const struct entity *e)
{
	*w = (struct row){ .entity = e, .slots = e ? e->slots : NULL, .arena = a };
	if (!w->slots)
		return;
	w->values = arena_array(a, struct value, w->slots->count);
	w->has = arena_array(a, bool, w->slots->count);
}

static void add_other(struct row *w, const struct name *at, struct slice name, struct value v)
{
	GROW_IN(w->arena, w->others, w->other_count, w->other_capacity, FIRST_CAPACITY);
	w->others[w->other_count++] = (struct row_entry){ at, name, v };
}

/* Both have their names in order of the bytes. */
static void add_strangers(struct row *w, struct value item)
{
	const struct slot *s = w->slots->sorted, *last = s + w->slots->count;

	for (struct value_iter it = value_iter(item); value_next(&it);) {
		int order = 1;

		while (s < last && (order = slice_cmp(s->name->text, it.name)) < 0)
			s++;
		if (s == last || order > 0)
			add_other(w, NULL, it.name, it.value);
	}
}

void row_from(struct row *w, struct arena *a, const struct entity *e, struct value item)
{
	size_t found = 0;

	row_init(w, a, e);
	if (value_type(item) != VALUE_M)
		return;
	if (!w->slots) {
		w->other_capacity = value_count(item);
		w->others = arena_array(a, struct row_entry, w->other_capacity);
		for (struct value_iter it = value_iter(item); value_next(&it);)
			w->others[w->other_count++] = (struct row_entry){ NULL, it.name, it.value };
		return;
	}
	w->values = slots_lay(a, w->slots, item);
	for (size_t i = 0; i < w->slots->count; i++) {
		w->has[i] = value_present(w->values[i]);
		found += w->has[i];
	}
	if (found < value_count(item))
		add_strangers(w, item);
}

void row_copy(struct row *w, struct arena *a, const struct row *from)
{
	if (!from->arena) {
		row_from(w, a, from->slots ? from->entity : NULL, from->full);
		for (size_t i = 0; w->slots && i < w->slots->count; i++) {
			w->values[i] = from->values[i];
			w->has[i] = value_present(w->values[i]);
		}
		return;
	}
	row_init(w, a, from->entity);
	if (w->slots) {
		memcpy(w->values, from->values, w->slots->count * sizeof(*w->values));
		memcpy(w->has, from->has, w->slots->count * sizeof(*w->has));
	}
	w->others = arena_array(a, struct row_entry, from->other_count);
	if (from->other_count)
		memcpy(w->others, from->others, from->other_count * sizeof(*w->others));
	w->other_count = w->other_capacity = from->other_count;
}

/* Names of one design differ when their addresses do; what came by its text alone is compared by that. */
static struct row_entry *entry_of(const struct row *w, const struct name *n)
{
	for (size_t i = 0; i < w->other_count; i++) {
		struct row_entry *x = &w->others[i];

		if (x->at ? x->at == n : slice_equal(x->name, n->text))
			return x;
	}
	return NULL;
}

static struct row_entry *entry_named(const struct row *w, struct slice name)
{
	for (size_t i = 0; i < w->other_count; i++)
		if (slice_equal(w->others[i].name, name))
			return &w->others[i];
	return NULL;
}

static uint32_t slot_of(const struct row *w, const struct name *n)
{
	return w->slots ? w->slots->of_name[n->id] : SLOT_NONE;
}

static uint32_t slot_named(const struct row *w, struct slice name)
{
	return w->slots ? slots_find(w->slots, name) : SLOT_NONE;
}

static struct value value_in(const struct row_entry *x)
{
	return x ? x->value : VALUE_ABSENT;
}

struct value row_get_other(const struct row *w, const struct name *n)
{
	return w->arena ? value_in(entry_of(w, n)) : value_get(w->full, n->text);
}

struct value row_find(const struct row *w, struct slice name)
{
	uint32_t at = slot_named(w, name);

	if (at != SLOT_NONE)
		return w->values[at];
	return w->arena ? value_in(entry_named(w, name)) : value_get(w->full, name);
}

static bool has_slot(const struct row *w, uint32_t at)
{
	return w->has ? w->has[at] : value_present(w->values[at]);
}

bool row_has(const struct row *w, const struct name *n)
{
	uint32_t at = slot_of(w, n);

	if (at != SLOT_NONE)
		return has_slot(w, at);
	return w->arena ? entry_of(w, n) != NULL : value_present(value_get(w->full, n->text));
}

bool row_has_text(const struct row *w, struct slice name)
{
	uint32_t at = slot_named(w, name);

	if (at != SLOT_NONE)
		return has_slot(w, at);
	return w->arena ? entry_named(w, name) != NULL : value_present(value_get(w->full, name));
}

/* Returns whether there is a slot or an entry. */
static bool set_value(struct row *w, uint32_t at, struct row_entry *x, struct value v)
{
	if (at != SLOT_NONE) {
		w->values[at] = v;
		w->has[at] = true;
	} else if (x) {
		x->value = v;
	}
	return at != SLOT_NONE || x;
}

void row_set(struct row *w, const struct name *n, struct value v)
{
	uint32_t at = slot_of(w, n);

	if (!set_value(w, at, at == SLOT_NONE ? entry_of(w, n) : NULL, v))
		add_other(w, n, n->text, v);
}

void row_put(struct row *w, struct slice name, struct value v)
{
	uint32_t at = slot_named(w, name);

	if (!set_value(w, at, at == SLOT_NONE ? entry_named(w, name) : NULL, v))
		add_other(w, NULL, name, v);
}

static void drop_value(struct row *w, uint32_t at, struct row_entry *x)
{
	if (at != SLOT_NONE) {
		w->values[at] = VALUE_ABSENT;
		w->has[at] = false;
	} else if (x) {
		w->other_count--;
		memmove(x, x + 1, (size_t)(w->others + w->other_count - x) * sizeof(*x));
	}
}

void row_drop(struct row *w, const struct name *n)
{
	drop_value(w, slot_of(w, n), entry_of(w, n));
}

void row_take(struct row *w, struct slice name)
{
	drop_value(w, slot_named(w, name), entry_named(w, name));
}

bool row_next(struct row_iter *it)
{
	const struct row *w = it->row;
	size_t slots = w->slots ? w->slots->count : 0;

	for (; it->next < slots; it->next++) {
		if (!has_slot(w, (uint32_t)it->next))
			continue;
		it->slot = w->slots->list[it->next];
		it->name = it->slot->name->text;
		it->value = w->values[it->next++];
		return true;
	}
	it->slot = NULL;
	if (it->next - slots >= w->other_count)
		return false;
	it->name = w->others[it->next - slots].name;
	it->value = w->others[it->next++ - slots].value;
	return true;
}

bool row_is_empty(const struct row *w)
{
	struct row_iter it = row_iter(w);

	return !row_next(&it);
}

struct value row_item(const struct row *w)
{
	size_t slots = w->slots ? w->slots->count : 0, n = 0;
	struct value_member *present;

	if (!w->arena)
		return w->full;
	present = arena_array(w->arena, struct value_member, slots + w->other_count);
	for (size_t i = 0; i < slots; i++) {
		const struct slot *s = &w->slots->sorted[i];

		if (value_present(w->values[s->at]))
			present[n++] = (struct value_member){ s->name->text, w->values[s->at] };
	}
	for (size_t i = 0; i < w->other_count; i++)
		if (value_present(w->others[i].value))
			present[n++] = (struct value_member){ w->others[i].name, w->others[i].value };
	return value_make_map(w->arena, present, n);
}
