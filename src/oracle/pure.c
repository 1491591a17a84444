/* Which attributes, keys, companions, counts and checks follow from the item alone (term_reads_more()).
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle/oracle_internal.h"

struct reads {
	const struct rule_entity *x;
	bool impure;
};

static void read_name(void *ctx, const struct name *name)
{
	struct reads *r = ctx;
	const struct entity *e = r->x->entity;

	for (size_t i = 0; i < e->attribute_count; i++)
		r->impure = r->impure || (r->x->impure[i] && e->attributes[i].at == name);
	for (size_t i = 0; i < e->key_count; i++)
		r->impure = r->impure || (r->x->key_impure[i] && e->keys[i].at == name);
}

static bool is_impure(const struct rule_entity *x, const struct term *t)
{
	struct reads r = { x, term_reads_more(t) };

	names_each(t, read_name, &r);
	return r.impure;
}

static bool template_is_impure(const struct rule_entity *x, const struct template *t)
{
	struct reads r = { x, false };

	names_each_template(t, read_name, &r);
	return r.impure;
}

/* One step; whether anything was new. */
static bool spread(struct rule_entity *x)
{
	const struct entity *e = x->entity;
	bool more = false;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];
		struct reads after = { x, false };

		if (a->after.n)
			read_name(&after, a->after_at);
		if (!x->impure[i] && (after.impure || is_impure(x, a->derived) || is_impure(x, a->when)))
			x->impure[i] = more = true;
	}
	for (size_t i = 0; i < e->key_count; i++)
		if (!x->key_impure[i] && (is_impure(x, e->keys[i].when) || template_is_impure(x, e->keys[i].template))) {
			/* Then all its forms are, because the choice between them is. */
			for (size_t k = 0; k < e->key_count; k++)
				if (e->keys[k].at == e->keys[i].at)
					x->key_impure[k] = true;
			more = true;
		}
	return more;
}

/* Gathered additions are written without checks, so a check of such a counter need not hold. */
struct gathered {
	const struct entity *entity;
	bool any;
};

static void read_gathered(void *ctx, const struct name *name)
{
	struct gathered *g = ctx;

	for (size_t i = 0; i < g->entity->action_count; i++)
		for (size_t k = 0; g->entity->actions[i].gather_seconds && k < g->entity->actions[i].add_count; k++)
			g->any = g->any || g->entity->actions[i].add[k].at == name;
}

/* Companions, counts and checks are evaluated on the item as it is stored, so the attributes that they read may be
 * made by any term; only their own terms must not read more than the item. */
void pure_mark(struct rule_entity *x)
{
	const struct entity *e = x->entity;

	while (spread(x))
		;
	for (size_t i = 0; i < e->companion_count; i++) {
		const struct companion *c = &e->companions[i];

		x->companion_impure[i] = term_reads_more(c->when) || term_reads_more(c->each_list);
		for (size_t k = 0; k < c->rule_count; k++)
			x->companion_impure[i] = x->companion_impure[i] || term_reads_more(c->rules[k].when);
	}
	for (size_t i = 0; i < e->count_count; i++) {
		const struct count_rule *c = &e->counts[i];

		x->count_impure[i] = term_reads_more(c->by) || term_reads_more(c->when) || term_reads_more(c->each.list);
		for (size_t k = 0; k < c->target.arg_count; k++)
			x->count_impure[i] = x->count_impure[i] || term_reads_more(c->target.args[k]);
	}
	for (size_t i = 0; i < e->check_count; i++) {
		struct gathered g = { e, false };

		names_each(e->checks[i].term, read_gathered, &g);
		x->check_impure[i] = g.any || term_reads_more(e->checks[i].term);
	}
}
