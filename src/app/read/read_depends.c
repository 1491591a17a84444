/* What a pattern depends on, from the design alone: the caller, the time; and whether its list can be watched.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_internal.h"
#include "app/read/read_live.h"

static bool is_plain(const struct design *d, const struct access *access, bool part, const char **why)
{
	*why = NULL;
	if (d->stream != STREAM_NEW_AND_OLD)
		*why = "the table's stream does not have both images of a change";
	else if (access->count_only)
		*why = "it is only a number";
	else if (access->unite.n)
		*why = "it is made of many items";
	else if (access->tree_parent.n)
		*why = "it is a tree; watch the items in it by another list";
	else if (access->show_count)
		*why = "its rows show more than the items in it, whose changes alone would be told";
	else if (access->rank && access->rank_keep)
		*why = "which items are in it depends on all the others";
	else if (access->kind == ACCESS_BATCH)
		*why = "it is not a list but the items named";
	else if (part && access->kind != ACCESS_QUERY)
		*why = "a part of it is not a plain query";
	else if (access->kind == ACCESS_MERGE && (!access->merge_of_count || access->has_then))
		*why = "the lists it is made of depend on other items";
	return !*why;
}

bool read_live_can(const struct design *d, const struct access *access, const char **why)
{
	if (!is_plain(d, access, false, why))
		return false;
	for (size_t i = 0; i < access->merge_of_count; i++)
		if (!is_plain(d, access->merge_parts[i], true, why))
			return false;
	return true;
}

/* ---- the patterns of a merge ---- */

/* Calls visit() for each pattern that a merge runs, and for the one whose rows it runs them for, until one returns
 * true. */
static bool any_part(const struct access *a, bool (*visit)(void *ctx, const struct access *part), void *ctx)
{
	for (size_t i = 0; i < a->merge_of_count; i++)
		if (visit(ctx, a->merge_parts[i]))
			return true;
	return (a->merge_run && visit(ctx, a->merge_run)) || (a->merge_rows && visit(ctx, a->merge_rows));
}

/* ---- the caller ---- */

static bool is_path_to(const void *name, const struct term *t)
{
	return t->kind == TERM_PATH && t->of == TERM_OF_ITEM && t->at == name;
}

bool read_term_reads(const struct term *t, const struct name *name)
{
	return term_any(t, is_path_to, name);
}

static bool is_caller(const void *ctx, const struct term *t)
{
	(void)ctx;
	return t->kind == TERM_CALLER || t->kind == TERM_CLAIM || t->kind == TERM_IS_ROLE || t->kind == TERM_MAY ||
	       t->kind == TERM_VISIBLE /* asks rules of others */ ||
	       /* what the rule for everywhere keeps from the caller is absent */
	       ((t->kind == TERM_FETCH || t->kind == TERM_EXISTS) && t->entity && t->entity->everywhere);
}

static bool term_asks(const struct term *t)
{
	return term_any(t, is_caller, NULL);
}

/* <caller>, <caller.tenant> */
static bool template_asks(const struct design *d, const struct template *t)
{
	bool asks = template_reads(t, d->caller_at);

	for (size_t i = 0; i < d->callers.claim_count; i++)
		asks = asks || template_reads(t, d->callers.claims[i].attribute.at);
	return asks;
}

static bool entity_asks(const struct entity *e)
{
	bool hides = false;

	for (size_t i = 0; i < e->attribute_count; i++)
		hides = hides || e->attributes[i].private_;
	return term_asks(e->everywhere) || term_asks(e->allow[ALLOW_READ]) || term_asks(e->allow[ALLOW_LIST]) ||
	       (hides && term_asks(e->allow[ALLOW_UPDATE]));
}

static bool is_for_some(const void *ctx, const struct term *t)
{
	(void)ctx;
	return (t->kind == TERM_FETCH || t->kind == TERM_EXISTS) && t->entity && entity_asks(t->entity);
}

/* Other items are shown to those who may read them. */
static bool show_asks(const struct access *a)
{
	for (size_t i = 0; i < a->show_count; i++)
		if (term_asks(a->show[i].derived) || term_any(a->show[i].derived, is_for_some, NULL))
			return true;
	return false;
}

static bool pattern_asks(const struct design *d, const struct access *a)
{
	bool asks = term_asks(a->allow) || term_asks(a->filter) || (a->has_then && term_asks(a->then.keep)) ||
		    term_asks(a->range_list) || term_asks(a->rank) || show_asks(a);

	for (size_t i = 0; i < a->merge_with_count; i++)
		asks = asks || term_asks(a->merge_with[i].term);
	for (size_t i = 0; i < a->query_param_count; i++)
		asks = asks || term_asks(a->query_params[i].default_);
	for (size_t i = 0; i < a->where_count; i++)
		asks = asks || template_asks(d, a->where[i].value) || template_asks(d, a->where[i].upper);
	for (size_t i = 0; a->has_then && i < a->then.key_count; i++)
		asks = asks || template_asks(d, a->then.keys[i].template) || term_asks(a->then.keys[i].when);
	for (size_t i = 0; i < a->get.arg_count; i++)
		asks = asks || term_asks(a->get.args[i]);
	return asks || (a->has_then && !a->then.of); /* whatever it leads to */
}

static bool any_asks(const struct read_kinds *kinds)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (entity_asks(kinds->list[i]))
			return true;
	return false;
}

struct asking {
	const struct design *d;
	struct arena *a;
	int depth;
};

static bool asks_caller(void *ctx, const struct access *access)
{
	struct asking *x = ctx;
	struct asking inner = { x->d, x->a, x->depth + 1 };
	struct read_kinds kinds;

	if (x->depth > READ_MOST_NESTED || pattern_asks(x->d, access))
		return true;
	for (int returned = 0; returned < 2; returned++) {
		read_kinds(x->d, access, returned, x->a, &kinds);
		/* Companions must pass the rule for everywhere of their entity. */
		if (any_asks(&kinds) || (kinds.others && term_asks(x->d->everywhere.rule)))
			return true;
	}
	return any_part(access, asks_caller, &inner);
}

bool read_asks_caller(const struct design *d, const struct access *access, struct arena *a)
{
	return asks_caller(&(struct asking){ d, a, 0 }, access);
}

/* ---- the time of the first page ---- */

struct timing {
	const struct design *d;
	int depth;
	enum read_time time;
};

static void look_for_time(void *ctx, const struct term *t)
{
	struct timing *x = ctx;

	if (t->kind == TERM_NOW || t->kind == TERM_CALL || (t->kind == TERM_PATH && t->at == x->d->age_at))
		x->time = READ_BY_TIME;
	else if (t->kind == TERM_TODAY && x->time == READ_ANY_TIME)
		x->time = READ_BY_DAY;
}

/* True: no part can make it depend on more. */
static bool find_time(void *ctx, const struct access *access)
{
	struct timing *x = ctx;

	if (x->depth > READ_MOST_NESTED)
		x->time = READ_BY_TIME;
	for (size_t i = 0; i < access->query_param_count; i++)
		if (access->query_params[i].default_)
			term_walk(access->query_params[i].default_, look_for_time, x);
	if (access->rank)
		term_walk(access->rank, look_for_time, x);
	x->depth++;
	if (x->time != READ_BY_TIME)
		any_part(access, find_time, x);
	x->depth--;
	return x->time == READ_BY_TIME;
}

enum read_time read_time(const struct design *d, const struct access *access)
{
	struct timing x = { .d = d };

	find_time(&x, access);
	return x.time;
}

/* ---- the clock ---- */

/* A default that is not constant enters the key of a partition. */
static bool moves(const struct access *a, struct value given)
{
	for (size_t i = 0; a->kind == ACCESS_QUERY && i < a->query_param_count; i++) {
		const struct attribute *q = &a->query_params[i];

		if (!q->default_ || q->default_->kind == TERM_LITERAL || value_present(value_get(given, q->name)))
			continue;
		for (size_t k = 0; k < a->where_count; k++)
			if (a->where[k].op == WHERE_EQ && template_reads(a->where[k].value, q->at))
				return true;
	}
	return false;
}

bool read_live_moves(const struct read_live *w)
{
	bool found = moves(w->access, w->params);

	for (size_t i = 0; i < w->access->merge_of_count && !found; i++)
		found = moves(w->access->merge_parts[i], w->params);
	return found;
}
