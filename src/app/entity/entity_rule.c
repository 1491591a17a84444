/* Evaluates an entity's `allow` rules, for one item or for many.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity.h"

static enum allow_verb verb_with_rule(const struct entity *e, enum allow_verb verb)
{
	return e->allow[verb] || verb != ALLOW_LIST ? verb : ALLOW_READ;
}

bool entity_allows(struct run *r, const struct entity *e, enum allow_verb verb, struct value full, struct value old,
		   bool *out)
{
	struct row item = row_lay(r->arena, e, full), before;

	if (value_present(old))
		before = row_lay(r->arena, e, old);
	return entity_allows_row(r, e, verb, &item, value_present(old) ? &before : NULL, out);
}

bool entity_allows_row(struct run *r, const struct entity *e, enum allow_verb verb, const struct row *item,
		       const struct row *before, bool *out)
{
	const struct term *rule = e->allow[verb_with_rule(e, verb)];
	struct scope s = { .run = r, .item = item, .before = before };

	*out = r->caller.operator_;
	if (*out || !rule)
		return true;
	if (!scope_holds(&s, rule, out))
		return false;
	*out = *out || run_explores(r);
	return true;
}

static void asking_init(struct entity_asking *q, struct run *r, const struct entity *e, enum allow_verb verb)
{
	*q = (struct entity_asking){ .otherwise = r->caller.operator_, .scope = { .run = r } };
	verb = verb_with_rule(e, verb);
	if (r->caller.operator_ || !e->allow[verb])
		return;
	q->rule = e->allow[verb];
	q->bound = scope_bind(&q->scope);
	term_remember(q->rule, &q->bound);
}

bool entity_allows_item(struct run *r, enum allow_verb verb, const struct row *item, bool *out)
{
	struct entity_asking q;

	asking_init(&q, r, item->entity, verb);
	return entity_ask(&q, item, out);
}

bool entity_allows_witnessed(struct run *r, enum allow_verb verb, const struct row *item, struct witness *w, bool *out)
{
	const struct term *rule = item->entity->allow[verb_with_rule(item->entity, verb)];
	struct scope s = { .run = r, .item = item, .witness = w };

	*out = r->caller.operator_;
	return *out || !rule || scope_holds(&s, rule, out);
}

bool entity_keeps(struct run *r, const struct row *item, struct witness *w, bool *out)
{
	struct scope s = { .run = r, .item = item, .witness = w };

	*out = r->caller.operator_ || r->is_own;
	return *out || !item->entity || scope_holds(&s, item->entity->everywhere, out);
}

void entity_asking_rule(struct entity_asking *q, struct run *r, const struct term *rule)
{
	*q = (struct entity_asking){ .otherwise = true, .scope = { .run = r } };
	if (r->caller.operator_ || !rule)
		return;
	q->rule = rule;
	q->bound = scope_bind(&q->scope);
	term_remember(rule, &q->bound);
}

bool entity_ask(struct entity_asking *q, const struct row *item, bool *out)
{
	struct error e = { 0 };

	*out = q->otherwise;
	if (!q->rule)
		return true;
	if (run_explores(q->scope.run)) {
		q->scope.item = item;
		(void)scope_explore(&q->scope, q->rule);
		return *out = true;
	}
	q->bound.item = item;
	q->scope.failed = false;
	if (!term_holds(q->rule, &q->bound, out, &e))
		return scope_error(&q->scope, &e);
	return !q->scope.failed;
}
