/* The types of an access pattern's parameters. The design declares those of the query string; those of the path have
 * the type of the attribute they are compared with.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read.h"
#include "app/rest/routes.h"

#define PATTERNS_DEEP 4 /* merges of merges */

static const struct attribute a_number = { .name = { "number", 6 }, .type = ATTR_NUMBER };

/* One search. `type` NULL: a string, if known. */
struct search {
	const struct design *d;
	const struct name *param;
	bool known;
	const struct attribute *type;
};

static void find_in(struct search *x, const struct access *c, int depth);

static void found(struct search *x, const struct attribute *type)
{
	x->known = true;
	x->type = type;
}

/* The whole template (then the key's type is the parameter's), or a padded number in it. */
static void find_in_template(struct search *x, const struct name *key, const struct template *t)
{
	for (size_t i = 0; t && i < t->part_count && !x->known; i++) {
		const struct template_part *part = &t->parts[i];

		if (!part->names || part->name_count != 1 || part->at != x->param)
			continue;
		if (part->format == FORMAT_PAD || part->format == FORMAT_OFFSET)
			found(x, &a_number);
		else if (template_is_bare(t) && key->key)
			found(x, key->key->type == VALUE_N ? &a_number : NULL);
	}
}

static void find_in_reference(struct search *x, const struct reference *get)
{
	const struct entity *e = get->to;

	for (size_t i = 0; e && i < get->arg_count && i < e->param_count && !x->known; i++)
		if (get->args[i]->kind == TERM_PATH && get->args[i]->name_count == 1 && get->args[i]->at == x->param)
			found(x, slots_attribute(e->slots, e->param_at[i]));
}

static void find_in_parts(struct search *x, const struct access *c, int depth)
{
	if (c->merge_rows)
		find_in(x, c->merge_rows, depth + 1);
	for (size_t i = 0; i < c->merge_of_count && !x->known; i++)
		find_in(x, c->merge_parts[i], depth + 1);
	if (c->merge_run && !x->known)
		find_in(x, c->merge_run, depth + 1);
}

/* The attribute of the same name, if a text can be its value. */
static void find_in_rows(struct search *x, const struct access *c)
{
	const struct entity *e = read_entity(x->d, c);
	const struct attribute *a = e ? slots_attribute(e->slots, x->param) : NULL;

	if (a && !a->compressed && a->type != ATTR_LIST && a->type != ATTR_SET && a->type != ATTR_MAP &&
	    a->type != ATTR_BINARY)
		found(x, a);
}

static void find_in(struct search *x, const struct access *c, int depth)
{
	for (size_t i = 0; i < c->query_param_count && !x->known; i++)
		if (c->query_params[i].at == x->param)
			found(x, &c->query_params[i]);
	for (size_t i = 0; i < c->where_count && !x->known; i++) {
		find_in_template(x, c->where[i].at, c->where[i].value);
		find_in_template(x, c->where[i].at, c->where[i].upper);
	}
	find_in_reference(x, &c->get);
	if (!x->known && depth < PATTERNS_DEEP)
		find_in_parts(x, c, depth);
	if (!x->known)
		find_in_rows(x, c);
}

const struct attribute *route_param(struct arena *a, const struct design *d, const struct access *access,
				    const struct name *param)
{
	struct search x = { .d = d, .param = param };
	struct attribute *type;

	for (size_t i = 0; i < access->query_param_count; i++)
		if (access->query_params[i].at == param)
			return &access->query_params[i];
	find_in(&x, access, 0);
	if (!x.type)
		return NULL;
	type = arena_new(a, struct attribute);
	*type = (struct attribute){ .name = param->text,
				    .type = x.type->type,
				    .fine = x.type->fine,
				    .choices = x.type->choices,
				    .choice_count = x.type->choice_count,
				    .lower = x.type->lower };
	return type;
}
