/* What type a parameter of an access pattern has: the design says it of those in the query string; of those in the path it
 * follows from what they are compared with.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/rest/routes.h"
#include "app/read/read.h"

#define PATTERNS_DEEP 4 /* merges of merges */

static const struct attribute a_number = { .name = { "number", 6 }, .type = ATTR_NUMBER };

static const struct attribute *of_pattern(const struct design *d, const struct access *c, struct slice name, int depth,
					  bool *known);

static const struct key_attr *key_attribute(const struct design *d, struct slice index, struct slice name)
{
	const struct design_index *x = index.n ? design_index(d, index) : NULL;
	const struct key_schema *k = x ? &x->key : &d->key;

	for (size_t i = 0; i < k->hash_count; i++)
		if (slice_equal(k->hash[i].name, name))
			return &k->hash[i];
	for (size_t i = 0; i < k->range_count; i++)
		if (slice_equal(k->range[i].name, name))
			return &k->range[i];
	return NULL;
}

/* In a template: the whole of it (then the key's type is the parameter's), or a padded number. */
static const struct attribute *of_template(const struct design *d, const struct access *c, struct slice key,
					   const struct template *t, struct slice name, bool *known)
{
	const struct key_attr *k;

	for (size_t i = 0; t && i < t->part_count; i++) {
		const struct template_part *part = &t->parts[i];

		if (!part->names || part->name_count != 1 || !slice_equal(part->names[0], name))
			continue;
		if (part->format == FORMAT_PAD || part->format == FORMAT_OFFSET) {
			*known = true;
			return &a_number;
		}
		k = t->part_count == 1 && part->format == FORMAT_PLAIN ? key_attribute(d, c->index, key) : NULL;
		if (k) {
			*known = true;
			return k->type == VALUE_N ? &a_number : NULL;
		}
	}
	return NULL;
}

static const struct attribute *of_where(const struct design *d, const struct access *c, struct slice name, bool *known)
{
	const struct attribute *found = NULL;

	for (size_t i = 0; i < c->where_count && !*known; i++) {
		found = of_template(d, c, c->where[i].attribute, c->where[i].value, name, known);
		if (!*known)
			found = of_template(d, c, c->where[i].attribute, c->where[i].upper, name, known);
	}
	return found;
}

static const struct attribute *of_reference(const struct design *d, const struct access *c, struct slice name,
					    bool *known)
{
	const struct entity *e = c->get.entity.n ? design_entity(d, c->get.entity) : NULL;

	for (size_t i = 0; e && i < c->get.arg_count && i < e->param_count; i++) {
		const struct term *t = c->get.args[i];

		if (t->kind != TERM_PATH || t->name_count != 1 || !slice_equal(t->names[0], name))
			continue;
		*known = true;
		return entity_attribute(e, e->params[i]);
	}
	return NULL;
}

/* Of what it merges. */
static const struct attribute *of_merged(const struct design *d, const struct access *c, struct slice name, int depth,
					 bool *known)
{
	const struct access *part = c->merge_over.n ? design_access(d, c->merge_over) : NULL;
	const struct attribute *found = part ? of_pattern(d, part, name, depth + 1, known) : NULL;

	for (size_t i = 0; i < c->merge_of_count && !*known; i++) {
		part = design_access(d, c->merge_of[i]);
		found = part ? of_pattern(d, part, name, depth + 1, known) : NULL;
	}
	part = !*known && c->merge_pattern.n ? design_access(d, c->merge_pattern) : NULL;
	return part ? of_pattern(d, part, name, depth + 1, known) : found;
}

/* The attribute of the same name, where a text can be one. */
static const struct attribute *of_rows(const struct design *d, const struct access *c, struct slice name, bool *known)
{
	const struct entity *e = read_entity(d, c);
	const struct attribute *a = e ? entity_attribute(e, name) : NULL;

	if (!a || a->compressed || a->type == ATTR_LIST || a->type == ATTR_SET || a->type == ATTR_MAP ||
	    a->type == ATTR_BINARY)
		return NULL;
	*known = true;
	return a;
}

static const struct attribute *of_pattern(const struct design *d, const struct access *c, struct slice name, int depth,
					  bool *known)
{
	const struct attribute *found;

	for (size_t i = 0; i < c->query_param_count; i++) {
		if (slice_equal(c->query_params[i].name, name)) {
			*known = true;
			return &c->query_params[i];
		}
	}
	found = of_where(d, c, name, known);
	if (!*known)
		found = of_reference(d, c, name, known);
	if (!*known && depth < PATTERNS_DEEP)
		found = of_merged(d, c, name, depth, known);
	if (!*known)
		found = of_rows(d, c, name, known);
	return found;
}

const struct attribute *route_param(struct arena *a, const struct design *d, const struct access *access,
				    struct slice name)
{
	struct attribute *type;
	const struct attribute *found;
	bool known = false;

	for (size_t i = 0; i < access->query_param_count; i++)
		if (slice_equal(access->query_params[i].name, name))
			return &access->query_params[i];
	found = of_pattern(d, access, name, 0, &known);
	if (!found)
		return NULL;
	type = arena_new(a, struct attribute);
	*type = (struct attribute){ .name = name,
				    .type = found->type,
				    .choices = found->choices,
				    .choice_count = found->choice_count,
				    .lower = found->lower };
	return type;
}
