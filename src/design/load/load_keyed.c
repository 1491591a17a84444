/* Copies in keys: what a copy could not have in a key of its own must not be taken at its source, or the copy stays behind.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define COPIES_OF_COPIES_MOST 8 /* a circle of copies ends here */

static bool is_in(const struct key_schema *k, struct slice name)
{
	for (size_t i = 0; i < k->hash_count; i++)
		if (slice_equal(k->hash[i].name, name))
			return true;
	for (size_t i = 0; i < k->range_count; i++)
		if (slice_equal(k->range[i].name, name))
			return true;
	return false;
}

static bool is_key(const struct design *d, struct slice name)
{
	bool found = is_in(&d->key, name);

	for (size_t i = 0; i < d->index_count; i++)
		found = found || is_in(&d->indexes[i].key, name);
	return found;
}

static bool is_known(const struct attribute *source, const struct keyed_copy *k)
{
	for (size_t i = 0; i < source->keyed_count; i++) {
		const struct keyed_copy *x = &source->keyed[i];
		const struct template_part *p = &x->template->parts[x->template->part_count - 1];
		const struct template_part *q = &k->template->parts[k->template->part_count - 1];

		if (x->each == k->each && x->template->part_count == k->template->part_count &&
		    p->format == q->format && p->width == q->width)
			return true;
	}
	return false;
}

/* The placeholder as the source fills it: under its own name, alone where it is alone. */
static void add_part(struct load *l, struct attribute *source, const struct entity *e, const struct template *t,
		     const struct template_part *part, bool each)
{
	struct template *as = arena_new(l->a, struct template);
	struct template_part *parts = arena_array(l->a, struct template_part, 2);
	struct keyed_copy k = { .template = as, .each = each, .entity = e->name }, *list;
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

static void add_rules(struct load *l, struct attribute *source, const struct entity *e, const struct key_rule *rules,
		      size_t n, struct slice name, bool each)
{
	for (size_t i = 0; i < n; i++) {
		const struct template *t = rules[i].template;

		if (!t || !is_key(l->d, rules[i].attribute))
			continue;
		for (size_t k = 0; k < t->part_count; k++)
			if (t->parts[k].name_count == 1 && slice_equal(t->parts[k].names[0], name))
				add_part(l, source, e, t, &t->parts[k], each);
	}
}

/* The keys of `e` and of its companions that have its attribute `name` in them. */
static void add_keys(struct load *l, struct attribute *source, const struct entity *e, struct slice name)
{
	add_rules(l, source, e, e->keys, e->key_count, name, false);
	for (size_t i = 0; i < e->companion_count; i++) {
		const struct companion *c = &e->companions[i];
		const struct term *list = c->each_list;

		add_rules(l, source, e, c->rules, c->rule_count, name, false);
		if (list && list->kind == TERM_PATH && list->name_count == 1 && slice_equal(list->names[0], name))
			add_rules(l, source, e, c->rules, c->rule_count, c->each_variable, true);
	}
}

/* Copies of `name` of `of`, and copies of those. */
static void add_copies(struct load *l, struct attribute *source, const struct entity *of, struct slice name, int depth)
{
	for (size_t i = 0; depth < COPIES_OF_COPIES_MOST && i < l->d->entity_count; i++) {
		const struct entity *e = &l->entities[i];

		for (size_t k = 0; k < e->attribute_count; k++) {
			const struct attribute *a = &e->attributes[k];

			if (!a->kept_by.n || !slice_equal(a->copy_entity, of->name) ||
			    !slice_equal(a->copy_attribute, name))
				continue;
			add_keys(l, source, e, a->name);
			add_copies(l, source, e, a->name, depth + 1);
		}
	}
}

void load_keyed(struct load *l)
{
	for (size_t i = 0; i < l->d->entity_count; i++)
		for (size_t k = 0; k < l->entities[i].attribute_count; k++) {
			const struct attribute *a = &l->entities[i].attributes[k];

			add_copies(l, (struct attribute *)(uintptr_t)a, &l->entities[i], a->name, 0);
		}
}
