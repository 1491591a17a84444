/* Which lists can be watched, and on what that depends; told from the design alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read_internal.h"
#include "app/read_live.h"

static bool is_plain(const struct design *d, const struct access *access, bool part, const char **why)
{
	*why = NULL;
	if (d->stream != STREAM_NEW_AND_OLD)
		*why = "the table's stream has not both images of a change";
	else if (access->count_only)
		*why = "it is only a number";
	else if (access->unite.n)
		*why = "it is put together from many items";
	else if (access->tree_parent.n)
		*why = "it is a tree; watch the items in it by another list";
	else if (access->rank && access->rank_keep)
		*why = "which items are in it depends on all the others";
	else if (access->kind == ACCESS_BATCH)
		*why = "it is no list but the items that were named";
	else if (part && access->kind != ACCESS_QUERY)
		*why = "a part of it is no plain query";
	else if (access->kind == ACCESS_MERGE && (!access->merge_of_count || access->has_then))
		*why = "which lists it is made of depends on other items";
	return !*why;
}

bool read_live_can(const struct design *d, const struct access *access, const char **why)
{
	if (!is_plain(d, access, false, why))
		return false;
	for (size_t i = 0; i < access->merge_of_count; i++) {
		const struct access *part = design_access(d, access->merge_of[i]);

		if (part && !is_plain(d, part, true, why))
			return false;
	}
	return true;
}

/* ---- the caller ---- */

static void look_for_caller(void *ctx, const struct term *t)
{
	bool *found = ctx;

	*found = *found || t->kind == TERM_CALLER || t->kind == TERM_IS_ROLE || t->kind == TERM_MAY ||
		 t->kind == TERM_VISIBLE /* asks rules of others */ || (t->kind == TERM_PATH && slice_is(t->names[0], "caller"));
}

static bool term_asks(const struct term *t)
{
	bool found = false;

	if (t)
		term_walk(t, look_for_caller, &found);
	return found;
}

static bool names(const struct template *t, struct slice name)
{
	for (size_t i = 0; t && i < t->part_count; i++)
		if (t->parts[i].names && slice_equal(t->parts[i].names[0], name))
			return true;
	return false;
}

static bool template_asks(const struct template *t)
{
	return names(t, SLICE("caller"));
}

static bool entity_asks(const struct entity *e)
{
	bool hides = false;

	for (size_t i = 0; i < e->attribute_count; i++)
		hides = hides || e->attributes[i].private_;
	return term_asks(e->allow[ALLOW_READ]) || term_asks(e->allow[ALLOW_LIST]) || (hides && term_asks(e->allow[ALLOW_UPDATE]));
}

static bool pattern_asks(const struct access *a)
{
	bool asks = term_asks(a->allow) || term_asks(a->filter) || (a->has_then && term_asks(a->then.keep));

	for (size_t i = 0; i < a->query_param_count; i++)
		asks = asks || term_asks(a->query_params[i].default_);
	for (size_t i = 0; i < a->where_count; i++)
		asks = asks || template_asks(a->where[i].value) || template_asks(a->where[i].upper);
	for (size_t i = 0; a->has_then && i < a->then.key_count; i++)
		asks = asks || template_asks(a->then.keys[i].template) || term_asks(a->then.keys[i].when);
	for (size_t i = 0; i < a->get.arg_count; i++)
		asks = asks || term_asks(a->get.args[i]);
	return asks || (a->has_then && !a->then.entity.n); /* whatever it leads to */
}

static bool any_asks(const struct read_kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (entity_asks(kinds->list[i]))
			return true;
	return false;
}

bool read_live_depends_on_caller(const struct design *d, const struct access *access, struct arena *a)
{
	struct read_kinds kinds;

	read_kinds(d, access, a, &kinds);
	if (any_asks(&kinds))
		return true;
	read_possible(d, access, a, &kinds);
	if (any_asks(&kinds) || pattern_asks(access))
		return true;
	for (size_t i = 0; i < access->merge_of_count; i++) {
		const struct access *part = design_access(d, access->merge_of[i]);

		if (part && pattern_asks(part))
			return true;
	}
	return false;
}

/* ---- the clock ---- */

static bool is_partition_key(const struct access *a, const struct where_rule *w, struct slice name)
{
	return a->kind == ACCESS_QUERY && w->op == WHERE_EQ && names(w->value, name);
}

static bool moves(const struct access *a, struct value given)
{
	for (size_t i = 0; i < a->query_param_count; i++) {
		const struct attribute *q = &a->query_params[i];

		if (!q->default_ || q->default_->kind == TERM_LITERAL || value_present(value_get(given, q->name)))
			continue;
		for (size_t k = 0; k < a->where_count; k++)
			if (is_partition_key(a, &a->where[k], q->name))
				return true;
	}
	return false;
}

bool read_live_moves(const struct design *d, const struct read_live *w)
{
	bool found = moves(w->access, w->params);

	for (size_t i = 0; i < w->access->merge_of_count && !found; i++) {
		const struct access *part = design_access(d, w->access->merge_of[i]);

		found = part && moves(part, w->params);
	}
	return found;
}
