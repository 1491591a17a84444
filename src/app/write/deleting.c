/* Markers: their keys and contents.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/deleting_internal.h"

#include "app/run/state.h"
#include "base/clock.h"
#include "base/timestamp.h"
#include "base/ulid.h"

#define LAYOUT 1
#define PREFIX "DELETING#"

/* ---- values ---- */

struct value marker_values(struct run *r, const struct access *x, struct value values)
{
	struct value_member *list = arena_array(r->arena, struct value_member, x->param_count + x->query_param_count);
	size_t n = 0;

	for (size_t i = 0; i < x->param_count + x->query_param_count; i++) {
		struct slice name = i < x->param_count ? x->params[i] : x->query_params[i - x->param_count].name;
		struct value v = value_get(values, name);

		if (!value_present(v) && i < x->param_count)
			return VALUE_ABSENT;
		if (value_present(v))
			list[n++] = (struct value_member){ name, v };
	}
	return value_make_map(r->arena, list, n);
}

/* ---- keys ---- */

struct slice marker_kind(struct run *r, const struct entity *e)
{
	return arena_printf(r->arena, PREFIX "%.*s", SLICE_ARG(e->name));
}

void markers_of(struct run *r, const struct entity *e, struct value full, struct marker **out, size_t *n)
{
	struct marker *list = arena_array(r->arena, struct marker, e->delete_.then_count);

	*n = 0;
	for (size_t i = 0; i < e->delete_.then_count; i++) {
		const struct access *x = e->delete_.then_access[i];
		struct value values = x ? marker_values(r, x, full) : VALUE_ABSENT;
		size_t k = 0;

		if (!value_present(values))
			continue;
		while (k < *n && !value_equal(list[k].values, values))
			k++;
		if (k < *n)
			continue;
		list[k] = (struct marker){ .entity = e, .values = values };
		list[k].key = beside_key(r, marker_kind(r, e), beside_values(r, values));
		if (!e->delete_.soft)
			list[k].gone = dyn_key_of(r, full);
		++*n;
	}
	*out = list;
}

/* ---- items ---- */

bool marker_make(struct run *r, struct marker *m, struct value *item)
{
	struct value_member list[7] = {
		{ SLICE("PK"), value_get(m->key, SLICE("PK")) },
		{ SLICE("SK"), value_get(m->key, SLICE("SK")) },
		{ SLICE("layout"), value_make_i64(r->arena, LAYOUT) },
		{ SLICE("values"), m->values },
	};
	char ulid[ULID_LENGTH], time[TIME_TEXT_MAX];
	size_t n = 4;

	m->at_ms = r->now_ms;
	if (!ulid_new(m->at_ms, ulid))
		return run_fail(r, PROBLEM_INTERNAL, "cannot get random bytes for an id");
	m->id = arena_copy(r->arena, slice_make(ulid, ULID_LENGTH));
	list[n++] = (struct value_member){ SLICE("id"), value_make_s(r->arena, m->id) };
	list[n++] = (struct value_member){ SLICE("at"), value_make_s(r->arena, time_format(m->at_ms, time)) };
	if (value_present(m->gone))
		list[n++] = (struct value_member){ SLICE("item"), m->gone };
	*item = value_make_map(r->arena, list, n);
	return true;
}

bool marker_read(struct run *r, struct value item, struct marker *m, bool *known)
{
	struct slice pk = beside_text(item, "PK"), prefix = SLICE(PREFIX);

	*m = (struct marker){ .id = beside_text(item, "id"), .values = value_get(item, SLICE("values")) };
	*known = value_equal(value_get(item, SLICE("layout")), value_make_i64(r->arena, LAYOUT)) && m->id.n &&
		 value_type(m->values) == VALUE_M && slice_starts(pk, prefix);
	if (!*known)
		return true;
	m->key = beside_key(r, pk, beside_text(item, "SK"));
	m->entity = design_entity(r->design, slice_make(pk.p + prefix.n, pk.n - prefix.n));
	m->gone = value_get(item, SLICE("item"));
	if (!ulid_ms(m->id.p, m->id.n, &m->at_ms)) /* `at` has only seconds */
		(void)!time_parse(beside_text(item, "at"), &m->at_ms);
	*known = m->entity != NULL;
	return true;
}
