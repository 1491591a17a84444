/* Updates derived attributes, keys and companions after the counters they derive from.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/keep.h"
#include "app/write/write_plan.h"

/* ---- dependencies ---- */

struct names {
	const struct entity *entity;
	struct arena arena;
	struct name_list list;
};

static void names_of_rules(struct names *n, const struct key_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		names_of_template(&n->arena, &n->list, n->entity, rules[i].template);
		names_of_term(&n->arena, &n->list, n->entity, rules[i].when);
	}
}

static void names_of_attributes(struct names *n)
{
	for (size_t i = 0; i < n->entity->attribute_count; i++) {
		const struct attribute *a = &n->entity->attributes[i];

		names_of_term(&n->arena, &n->list, n->entity, a->derived);
		names_of_term(&n->arena, &n->list, n->entity, a->when);
		if (a->after.n)
			names_add(&n->arena, &n->list, a->after_at);
	}
}

static void names_of_companions(struct names *n)
{
	for (size_t i = 0; i < n->entity->companion_count; i++) {
		const struct companion *c = &n->entity->companions[i];

		names_of_term(&n->arena, &n->list, n->entity, c->when);
		names_of_term(&n->arena, &n->list, n->entity, c->each_list);
		names_of_rules(n, c->rules, c->rule_count);
	}
}

static void names_of_counts(struct names *n)
{
	for (size_t i = 0; i < n->entity->count_count; i++) {
		const struct count_rule *c = &n->entity->counts[i];

		names_of_term(&n->arena, &n->list, n->entity, c->by);
		names_of_term(&n->arena, &n->list, n->entity, c->when);
		names_of_term(&n->arena, &n->list, n->entity, c->each.list);
		for (size_t k = 0; k < c->target.arg_count; k++)
			names_of_term(&n->arena, &n->list, n->entity, c->target.args[k]);
	}
}

bool keep_depends(const struct entity *e, const struct name *attribute)
{
	struct names n = { .entity = e };
	volatile bool depends = true; /* out of memory: assume it depends */

	arena_init(&n.arena);
	ARENA_TRY(&n.arena, {
		names_of_attributes(&n);
		names_of_rules(&n, e->keys, e->key_count);
		names_of_companions(&n);
		names_of_counts(&n);
		depends = names_have(&n.list, attribute);
	}, {});
	arena_release(&n.arena);
	return depends;
}

bool keep_item(struct run *r, const struct entity *e, struct value key)
{
	return write_refresh(r, e, key, NULL);
}
