/* Which entity refers to which: by declaration (requires, counts, copies), or recognisable from keys and names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

static bool requires(const struct requirement *list, size_t n, const struct entity *to)
{
	EACH (struct requirement, r, list, n)
		if (r->target.to == to)
			return true;
	return false;
}

static bool refers_checked(const struct entity *from, const struct entity *to)
{
	bool found = requires(from->requires, from->require_count, to) || requires(from->lives, from->lives_count, to);
	EACH (struct count_rule, r, from->counts, from->count_count)
		found |= r->target.to == to;
	EACH (struct action, x, from->actions, from->action_count)
	found |= requires(x->requires, x->require_count, to);
	EACH (struct attribute, a, from->attributes, from->attribute_count)
		found |= a->copy_of == to || (a->refers && a->refers->to == to);
	return found;
}

/* The attribute in a part `LITERAL<x>` of a template, where LITERAL is what the other's key begins with. */
static const struct attribute *through_template(const struct entity *from, const struct template *t, struct slice prefix)
{
	for (size_t i = 0; i + 1 < t->part_count; i++) {
		const struct template_part *lit = &t->parts[i], *hole = &t->parts[i + 1];
		if (lit->names || !hole->names || hole->name_count != 1 || lit->literal.n < prefix.n)
			continue;
		size_t at = lit->literal.n - prefix.n;
		if (memcmp(lit->literal.p + at, prefix.p, prefix.n) != 0 || (at > 0 && lit->literal.p[at - 1] != '#'))
			continue;
		const struct attribute *a = entity_attribute(from, hole->names[0]);
		if (a && !a->id)
			return a;
	}
	return NULL;
}

static const struct attribute *through_key(const struct checker *c, const struct entity *from, const struct entity *to)
{
	const struct template *pk = entity_key(c, to, true);
	if (!pk || pk->part_count != 2 || pk->parts[0].names || !pk->parts[1].names)
		return NULL;
	/* Other items may be in that partition, too; its owner is the entity addressed by this one value alone. */
	if (to->param_count != 1 || !is_parameter(to, pk->parts[1].names[0]))
		return NULL;
	EACH (struct key_rule, r, from->keys, from->key_count) {
		const struct attribute *a = through_template(from, r->template, pk->parts[0].literal);
		if (a)
			return a;
	}
	return NULL;
}

static bool is_generic(struct arena *a, struct slice name)
{
	return name_is(a, name, "id name slug key code title email");
}

static bool names_entity(const struct checker *c, struct slice attribute, const struct entity *to)
{
	struct arena *m = c->arena;
	struct slice plain = plain_name(m, attribute), entity = plain_name(m, to->name);
	if (slice_equal(plain, entity))
		return true;
	if (to->param_count != 1)
		return false;
	struct slice param = plain_name(m, to->params[0]);
	if (slice_equal(plain, param) && !is_generic(m, param))
		return true;
	return slice_equal(plain, arena_printf(m, "%.*s%.*s", SLICE_ARG(entity), SLICE_ARG(param))) ||
	       slice_equal(plain, arena_printf(m, "%.*sid", SLICE_ARG(entity)));
}

/* Whether the attribute is something else than an item of that kind: the identity of another one, or of a type that
 * no identity has, or another one than this. */
static bool is_no_identity(const struct attribute *a, const struct entity *to)
{
	const struct attribute *id = to->param_count ? entity_attribute(to, to->params[to->param_count - 1]) : NULL;

	if (a->refers)
		return a->refers->to != to;
	if (a->type == ATTR_LIST || a->type == ATTR_SET)
		return false;
	return a->counter || a->type == ATTR_MAP || a->type == ATTR_BOOLEAN ||
	       (id && attribute_is_number(a) != attribute_is_number(id));
}

/* `to` is a view of another item, whose identity it has as a reference. */
static bool is_view(const struct entity *to)
{
	const struct attribute *id = to->param_count == 1 ? entity_attribute(to, to->params[0]) : NULL;

	return id && id->refers && id->refers->to != to;
}

enum refers entity_refers(const struct checker *c, const struct entity *from, const struct entity *to,
			  const struct attribute **through)
{
	*through = NULL;
	if (from == to)
		return REFERS_NOT;
	enum refers how = REFERS_NOT;
	*through = through_key(c, from, to);
	if (*through)
		how = REFERS_BY_KEY;
	EACH (struct attribute, a, from->attributes, from->attribute_count) {
		if (how != REFERS_NOT || a->id || !names_entity(c, a->name, to) || is_no_identity(a, to))
			continue;
		if (is_view(to) && !slice_equal(plain_name(c->arena, a->name), plain_name(c->arena, to->name)))
			continue;
		/* Two entities with the same identity are two views of one thing, neither refers to the other. */
		if (from->param_count == 1 && is_parameter(from, a->name) &&
		    !slice_equal(plain_name(c->arena, from->name), plain_name(c->arena, to->name)) &&
		    to->param_count == 1 && slice_equal(a->name, to->params[0]))
			continue;
		*through = a;
		how = REFERS_BY_NAME;
	}
	return refers_checked(from, to) ? REFERS_CHECKED : how;
}
