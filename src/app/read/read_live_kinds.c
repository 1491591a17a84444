/* Which lists can be watched, and on what that depends; told from the design alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_internal.h"
#include "app/read/read_live.h"

#define READ_MOST_PARTS 64 /* of a merge that are looked at; one of more counts as the worst */

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
		 t->kind == TERM_VISIBLE /* asks rules of others */ ||
		 (t->kind == TERM_PATH && slice_is(t->names[0], "caller"));
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
	return term_asks(e->allow[ALLOW_READ]) || term_asks(e->allow[ALLOW_LIST]) ||
	       (hides && term_asks(e->allow[ALLOW_UPDATE]));
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

/* The patterns that a merge runs, and the one over whose rows. */
static size_t parts_of(const struct design *d, const struct access *access, const struct access **out)
{
	size_t n = 0;

	if (access->kind != ACCESS_MERGE)
		return 0;
	for (size_t i = 0; i < access->merge_of_count && n < READ_MOST_PARTS; i++)
		out[n++] = design_access(d, access->merge_of[i]);
	if (access->merge_pattern.n)
		out[n++] = design_access(d, access->merge_pattern);
	if (access->merge_over.n)
		out[n++] = design_access(d, access->merge_over);
	return n;
}

static bool merge_asks(const struct access *a)
{
	bool asks = term_asks(a->range_list) || term_asks(a->rank);

	for (size_t i = 0; i < a->merge_with_count; i++)
		asks = asks || term_asks(a->merge_with[i].term);
	return asks;
}

static bool asks_caller(const struct design *d, const struct access *access, struct arena *a, int depth)
{
	const struct access *parts[READ_MOST_PARTS + 2];
	size_t n = parts_of(d, access, parts);
	struct read_kinds kinds;

	if (depth > READ_MOST_NESTED || access->merge_of_count > READ_MOST_PARTS || pattern_asks(access) ||
	    merge_asks(access))
		return true;
	read_kinds(d, access, a, &kinds);
	if (any_asks(&kinds))
		return true;
	read_possible(d, access, a, &kinds);
	if (any_asks(&kinds))
		return true;
	for (size_t i = 0; i < n; i++)
		if (parts[i] && asks_caller(d, parts[i], a, depth + 1))
			return true;
	return false;
}

bool read_asks_caller(const struct design *d, const struct access *access, struct arena *a)
{
	return asks_caller(d, access, a, 0);
}

bool read_live_depends_on_caller(const struct design *d, const struct access *access, struct arena *a)
{
	return read_asks_caller(d, access, a);
}

/* ---- the time of the first page ---- */

static void look_for_time(void *ctx, const struct term *t)
{
	enum read_time *time = ctx;

	if (t->kind == TERM_NOW || t->kind == TERM_CALL || (t->kind == TERM_PATH && slice_is(t->names[0], "age")))
		*time = READ_BY_TIME;
	else if (t->kind == TERM_TODAY && *time == READ_ANY_TIME)
		*time = READ_BY_DAY;
}

static void time_of(const struct design *d, const struct access *access, int depth, enum read_time *time)
{
	const struct access *parts[READ_MOST_PARTS + 2];
	size_t n = parts_of(d, access, parts);

	if (depth > READ_MOST_NESTED || access->merge_of_count > READ_MOST_PARTS)
		*time = READ_BY_TIME;
	for (size_t i = 0; i < access->query_param_count; i++)
		if (access->query_params[i].default_)
			term_walk(access->query_params[i].default_, look_for_time, time);
	if (access->rank)
		term_walk(access->rank, look_for_time, time);
	for (size_t i = 0; i < n && *time != READ_BY_TIME; i++)
		if (parts[i])
			time_of(d, parts[i], depth + 1, time);
}

enum read_time read_time(const struct design *d, const struct access *access)
{
	enum read_time time = READ_ANY_TIME;

	time_of(d, access, 0, &time);
	return time;
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
