/* From old names to new ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/renamed.h"

#include "app/db/beside.h"

#define CHAIN_MOST 16 /* names that lead to one another */

struct value renamed_identity(struct run *r, const struct entity *e, const struct value *args)
{
	struct value_member *list = arena_array(r->arena, struct value_member, e->param_count);

	for (size_t i = 0; i < e->param_count; i++) {
		if (!value_present(args[i]) || value_type(args[i]) == VALUE_NULL)
			return VALUE_ABSENT;
		list[i] = (struct value_member){ e->params[i], args[i] };
	}
	return value_make_map(r->arena, list, e->param_count);
}

const struct value *renamed_args(struct run *r, const struct entity *e, struct value identity)
{
	struct value *args = arena_array(r->arena, struct value, e->param_count);

	for (size_t i = 0; i < e->param_count; i++) {
		args[i] = value_type(identity) == VALUE_M ? value_get(identity, e->params[i]) : VALUE_ABSENT;
		if (!value_present(args[i]))
			return NULL;
	}
	return args;
}

struct slice renamed_kind(struct run *r, const struct entity *e)
{
	return arena_printf(r->arena, RENAMED_PREFIX "%.*s", SLICE_ARG(e->name));
}

struct value renamed_key(struct run *r, const struct entity *e, struct value identity)
{
	return beside_key(r, renamed_kind(r, e), beside_values(r, identity));
}

static void note(struct run *r, const struct entity *e, const struct value *from, const struct value *to)
{
	struct renamed *x = arena_new(r->arena, struct renamed);

	*x = (struct renamed){ .next = r->renames, .entity = e, .from = from, .to = to };
	r->renames = x;
}

static struct renamed *find(const struct run *r, const struct entity *e, const struct value *args, size_t n)
{
	for (struct renamed *x = r->renames; x; x = x->next)
		if (x->entity == e && n == e->param_count && values_equal(x->from, args, n))
			return x;
	return NULL;
}

const struct value *renamed_now(const struct run *r, const struct entity *e, const struct value *args, size_t n)
{
	const struct renamed *x = find(r, e, args, n);

	for (int i = 0; x && !x->over && i < CHAIN_MOST; i++) {
		args = x->to;
		x = find(r, e, args, n);
	}
	return args;
}

/* ---- looking ---- */

struct marked {
	const struct value *from, *to; /* NULL: there is no marker */
};

static bool read_marker(struct run *r, const struct entity *e, const struct value *args, struct marked *out)
{
	struct value identity = renamed_identity(r, e, args), item;

	*out = (struct marked){ NULL, NULL };
	if (!value_present(identity))
		return true;
	if (!beside_get(r, renamed_key(r, e, identity), &item))
		return false;
	if (!value_present(item) ||
	    !value_equal(value_get(item, SLICE("layout")), value_make_i64(r->arena, RENAMED_LAYOUT)))
		return true;
	out->from = renamed_args(r, e, value_get(item, SLICE("from")));
	out->to = renamed_args(r, e, value_get(item, SLICE("to")));
	if (!out->from || !out->to)
		*out = (struct marked){ NULL, NULL };
	return true;
}

static bool look_at_own(struct run *r, const struct entity *e, const struct value *args, bool *found)
{
	struct marked m;

	if (!read_marker(r, e, args, &m))
		return false;
	*found = m.from && values_equal(m.from, args, e->param_count); /* else the name is the new one */
	if (*found)
		note(r, e, m.from, m.to);
	return true;
}

bool renamed_away(struct run *r, const struct entity *e, const struct value *args, bool *out)
{
	struct marked m = { NULL, NULL };

	if (e->rename.then_count && !read_marker(r, e, args, &m))
		return false;
	*out = m.from && values_equal(m.from, args, e->param_count);
	return true;
}

/* Where the reference's arguments are in the entity's identity. */
static bool places_of(const struct entity *e, const struct reference *x, size_t *places)
{
	for (size_t i = 0; i < x->arg_count; i++) {
		const struct slice *name = term_name(x->args[i]);

		for (places[i] = 0; name && places[i] < e->param_count; places[i]++)
			if (slice_equal(e->params[places[i]], *name))
				break;
		if (!name || places[i] == e->param_count)
			return false;
	}
	return true;
}

static const struct value *with_parts(struct run *r, const struct entity *e, const struct value *args,
				      const size_t *places, const struct value *parts, size_t n)
{
	struct value *out = arena_array(r->arena, struct value, e->param_count);

	for (size_t i = 0; i < e->param_count; i++)
		out[i] = args[i];
	for (size_t i = 0; i < n; i++)
		out[places[i]] = parts[i];
	return out;
}

/* An item that follows another is under the old name or the new one of that. */
static bool look_at_parent(struct run *r, const struct entity *e, const struct value *args, const struct entity *parent,
			   bool *found)
{
	const struct reference *x;

	for (size_t k = 0; !*found && (x = entity_follows(e, parent, k)); k++) {
		size_t *places = arena_array(r->arena, size_t, x->arg_count);
		struct value *named = arena_array(r->arena, struct value, x->arg_count);
		struct marked m;

		if (!places_of(e, x, places))
			continue;
		for (size_t i = 0; i < x->arg_count; i++)
			named[i] = args[places[i]];
		if (!read_marker(r, parent, named, &m))
			return false;
		if (!m.from)
			continue;
		*found = true;
		note(r, e, with_parts(r, e, args, places, named, x->arg_count),
		     with_parts(r, e, args, places, values_equal(m.from, named, x->arg_count) ? m.to : m.from,
				x->arg_count));
	}
	return true;
}

bool renamed_look(struct run *r, const struct entity *e, const struct value *args, size_t n, bool *found)
{
	const struct design *d = r->design;
	struct renamed *known;

	*found = false;
	if (!e->is_renamed || n != e->param_count)
		return true;
	known = find(r, e, args, n);
	if (known) { /* missing there, too: it may have come here since */
		*found = !known->over;
		known->over = true;
		return true;
	}
	if (e->rename.then_count && !look_at_own(r, e, args, found))
		return false;
	for (size_t i = 0; i < d->entity_count && !*found; i++)
		if (d->entities[i].rename.then_count && &d->entities[i] != e &&
		    !look_at_parent(r, e, args, &d->entities[i], found))
			return false;
	return true;
}

const struct value *renamed_name(struct run *r, const struct entity *e, const struct value *args, size_t n)
{
	const struct reference *f;

	args = renamed_now(r, e, args, n);
	for (const struct renamed *x = r->renames; x && n == e->param_count; x = x->next)
		for (size_t k = 0; x->entity != e && (f = entity_follows(e, x->entity, k)); k++) {
			size_t *places = arena_array(r->arena, size_t, f->arg_count);
			bool is = places_of(e, f, places);

			for (size_t i = 0; is && i < f->arg_count; i++)
				is = value_present(args[places[i]]) && value_equal(args[places[i]], x->from[i]);
			if (is)
				args = with_parts(r, e, args, places, x->to, f->arg_count);
		}
	return args;
}
