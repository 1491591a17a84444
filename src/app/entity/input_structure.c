/* Structures in a body: members, and values of maps of one type.
 *
 * A patch (RFC 7396) gives some of the members. They are checked as they arrive; what only the whole can show (members
 * that are required, defaults, how many there are) is checked when the patch has been merged: input_place_whole().
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input_internal.h"

#define BAD_VALUES_TOLD  5
#define SUGGEST_FOR_MOST 64 /* bytes: longer names get no suggestion */

/* ---- places ---- */
struct input_place input_place_inside(const struct input_place *at, const struct attribute *a, struct slice name,
				      size_t element)
{
	struct input_place in = *at;

	in.attribute = a;
	in.name = name.n ? arena_printf(at->r->arena, "%.*s.%.*s", SLICE_ARG(at->name), SLICE_ARG(name))
			 : arena_printf(at->r->arena, "%.*s[%zu]", SLICE_ARG(at->name), element);
	in.element = 0;
	in.from_text = false;
	in.depth++;
	return in;
}

static bool refuse_unknown(const struct input_place *at, const struct structure *s, struct slice name)
{
	struct slice *known = arena_array(at->r->arena, struct slice, s->member_count), near = { 0 };

	for (size_t i = 0; i < s->member_count; i++)
		known[i] = s->members[i].name;
	if (name.n <= SUGGEST_FOR_MOST)
		near = suggest_slice(name, known, s->member_count);
	if (near.n)
		return run_invalid(at->r, at->name, "there is no such member; did you mean '%.*s'?", SLICE_ARG(near));
	return run_invalid(at->r, at->name, "there is no such member");
}

/* ---- members ---- */
struct taking {
	struct input_place *at;
	struct value_member *list; /* those taken so far */
	size_t count, bad;
	bool *given; /* by member: present or refused */
};

static void take(struct taking *t, const struct attribute *m, const struct json_member *j)
{
	struct input_place in = input_place_inside(t->at, m, j->name, 0);
	const struct structure *s = t->at->attribute->members;
	struct value v;

	if (j->value.type == JSON_NULL && !t->at->patch)
		return;
	if (m)
		t->given[m - s->members] = true;
	if (!j->name.n)
		t->bad += !run_invalid(t->at->r, t->at->name, "no empty names");
	else if (!m && !s->open)
		t->bad += !refuse_unknown(&in, s, j->name);
	else if (j->value.type == JSON_NULL)
		t->list[t->count++] = (struct value_member){ j->name, value_make_null(t->at->r->arena) };
	else if (m ? !input_place_value(&in, &j->value, &v) : !input_place_any(&in, &j->value, &v))
		t->bad++;
	else if (value_present(v))
		t->list[t->count++] = (struct value_member){ j->name, v };
}

/* What the client leaves out: a default, or an error. */
static void add_missing(struct taking *t)
{
	const struct structure *s = t->at->attribute->members;

	EACH (struct attribute, m, s->members, s->member_count) {
		if (t->given[m - s->members])
			continue;
		if (m->default_)
			t->list[t->count++] = (struct value_member){ m->name, m->default_->value };
		else if (m->required)
			t->bad += !run_invalid(t->at->r, input_place_inside(t->at, m, m->name, 0).name, "is required");
	}
}

static bool take_members(struct input_place *at, const struct json *j, struct value *out)
{
	const struct structure *s = at->attribute->members;
	struct arena *a = at->r->arena;
	struct taking t = { .at = at, .given = arena_array(a, bool, s->member_count) };

	t.list = arena_array(a, struct value_member, j->count + s->member_count);
	for (size_t i = 0; i < j->count && t.bad < BAD_VALUES_TOLD; i++)
		take(&t, structure_member(s, j->members[i].name), &j->members[i]);
	if (!at->patch)
		add_missing(&t);
	*out = value_make_map(a, t.list, t.count);
	return !t.bad;
}

/* map of T */
static bool take_values(struct input_place *at, const struct json *j, struct value *out)
{
	struct value_member *list = arena_array(at->r->arena, struct value_member, j->count);
	size_t bad = 0, n = 0;

	for (size_t i = 0; i < j->count && bad < BAD_VALUES_TOLD; i++) {
		const struct json_member *m = &j->members[i];
		struct input_place in = input_place_inside(at, at->attribute->each, m->name, 0);

		if (!m->name.n)
			bad += !run_invalid(at->r, at->name, "no empty names");
		else if (m->value.type == JSON_NULL && at->patch)
			list[n++] = (struct value_member){ m->name, value_make_null(at->r->arena) };
		else if (input_place_value(&in, &m->value, &list[n].value))
			list[n++].name = m->name;
		else
			bad++;
	}
	*out = value_make_map(at->r->arena, list, n);
	return !bad;
}

bool input_place_structure(struct input_place *at, const struct json *j, struct value *out)
{
	return at->attribute->members ? take_members(at, j, out) : take_values(at, j, out);
}

/* ---- the whole ---- */
static bool whole_member(struct input_place *at, const struct attribute *m, struct value was, struct value_member *out)
{
	struct input_place in = input_place_inside(at, m, m->name, 0);

	*out = (struct value_member){ m->name, was };
	if (value_present(was))
		return input_place_whole(&in, &out->value);
	if (m->default_)
		out->value = m->default_->value;
	return m->default_ || !m->required || run_invalid(at->r, in.name, "is required");
}

static bool whole_members(struct input_place *at, struct value *v)
{
	const struct structure *s = at->attribute->members;
	struct value_member *list = arena_array(at->r->arena, struct value_member, s->member_count + value_count(*v));
	size_t n = 0;
	bool good = true;

	EACH (struct attribute, m, s->members, s->member_count) {
		good &= whole_member(at, m, value_get(*v, m->name), &list[n]);
		n += value_present(list[n].value);
	}
	for (struct value_iter it = value_iter(*v); value_next(&it);)
		if (!structure_member(s, it.name))
			list[n++] = (struct value_member){ it.name, it.value };
	*v = value_make_map(at->r->arena, list, n);
	return good;
}

static bool whole_values(struct input_place *at, struct value *v)
{
	struct value_member *list = arena_array(at->r->arena, struct value_member, value_count(*v));
	size_t n = 0;
	bool good = true;

	for (struct value_iter it = value_iter(*v); value_next(&it); n++) {
		struct input_place in = input_place_inside(at, at->attribute->each, it.name, 0);

		list[n] = (struct value_member){ it.name, it.value };
		good &= input_place_whole(&in, &list[n].value);
	}
	*v = value_make_map(at->r->arena, list, n);
	return good;
}

bool input_place_whole(struct input_place *at, struct value *v)
{
	bool good = true;

	if (value_type(*v) != VALUE_M || at->attribute->type != ATTR_MAP)
		return true;
	if (at->attribute->members)
		good = whole_members(at, v);
	else if (at->attribute->each)
		good = whole_values(at, v);
	return good && input_place_limits(at, v);
}
