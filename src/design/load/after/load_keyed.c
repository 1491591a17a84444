/* Copies in keys: a source must not accept a value that its copy could not have in a key.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define COPIES_OF_COPIES_MOST 8 /* ends a cycle of copies */

/* a copy: the attribute `name` of `entity`, which follows `source` */
struct copy {
	struct attribute *source;
	const struct entity *entity;
	struct slice name;
};

static bool is_known(const struct attribute *source, const struct keyed_copy *k)
{
	EACH (struct keyed_copy, x, source->keyed, source->keyed_count) {
		const struct template_part *p = &x->template->parts[x->template->part_count - 1];
		const struct template_part *q = &k->template->parts[k->template->part_count - 1];

		if (x->each == k->each && x->template->part_count == k->template->part_count &&
		    p->format == q->format && p->width == q->width)
			return true;
	}
	return false;
}

/* The placeholder as the source fills it: under the source's name, alone where it is alone. */
static void add_part(struct load *l, const struct copy *c, const struct template *t, const struct template_part *part,
		     bool each)
{
	struct attribute *source = c->source;
	struct template *as = arena_new(l->a, struct template);
	struct template_part *parts = arena_array(l->a, struct template_part, 2);
	struct keyed_copy k = { .template = as, .each = each, .entity = c->entity->name }, *list;
	size_t n = 0;

	if (t->part_count > 1)
		parts[n++].literal = SLICE("#");
	parts[n] = *part;
	parts[n].names = &source->name;
	parts[n].of = TERM_OF_ITEM;
	parts[n++].name_count = 1;
	as->parts = parts;
	as->part_count = n;
	if (is_known(source, &k))
		return;
	list = arena_array(l->a, struct keyed_copy, source->keyed_count + 1);
	for (size_t i = 0; i < source->keyed_count; i++)
		list[i] = source->keyed[i];
	list[source->keyed_count++] = k;
	source->keyed = list;
}

/* The rules that make key attributes and have the placeholder `name`. */
static void add_rules(struct load *l, const struct copy *c, const struct key_rule *rules, size_t n, struct slice name)
{
	bool each = !slice_equal(name, c->name); /* a variable: one element of the copy */

	EACH (struct key_rule, r, rules, n)
		EACH (struct template_part, p, r->template->parts, r->template->part_count)
			if (p->name_count == 1 && slice_equal(p->names[0], name) && design_is_key(l->d, r->attribute))
				add_part(l, c, r->template, p, each);
}

/* The keys of the copy's entity and of its companions that have the copy in them. */
static void add_keys(struct load *l, const struct copy *copy)
{
	const struct entity *e = copy->entity;

	add_rules(l, copy, e->keys, e->key_count, copy->name);
	EACH (struct companion, c, e->companions, e->companion_count) {
		const struct slice *list = c->each_list ? term_name(c->each_list) : NULL;

		add_rules(l, copy, c->rules, c->rule_count, copy->name);
		if (list && slice_equal(*list, copy->name))
			add_rules(l, copy, c->rules, c->rule_count, c->each_variable);
	}
}

/* Copies of `name` of `of`, and copies of those. */
static void add_copies(struct load *l, struct attribute *source, const struct entity *of, struct slice name, int depth)
{
	EACH (struct entity, e, l->entities, depth < COPIES_OF_COPIES_MOST ? l->d->entity_count : 0)
		EACH (struct attribute, a, e->attributes, e->attribute_count) {
			if (!a->kept_by.n || a->copy_of != of || !slice_equal(a->copy_attribute, name))
				continue;
			add_keys(l, &(struct copy){ source, e, a->name });
			add_copies(l, source, e, a->name, depth + 1);
		}
}

void load_keyed(struct load *l)
{
	EACH (struct entity, e, l->entities, l->d->entity_count)
		EACH (struct attribute, a, e->attributes, e->attribute_count)
			add_copies(l, OURS(struct attribute, a), e, a->name, 0);
}
