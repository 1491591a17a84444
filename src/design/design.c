/* Looking things up in a loaded design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/design.h"

const struct entity *design_entity(const struct design *d, struct slice name)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (slice_equal(d->entities[i].name, name))
			return &d->entities[i];
	return NULL;
}

const struct name *design_named(const struct design *d, struct slice text)
{
	return d->by_name ? map_get(d->by_name, text) : NULL;
}

const struct access *design_access(const struct design *d, struct slice name)
{
	for (size_t i = 0; i < d->access_count; i++)
		if (slice_equal(d->accesses[i].name, name))
			return &d->accesses[i];
	return NULL;
}

const struct design_index *design_index(const struct design *d, struct slice name)
{
	for (size_t i = 0; i < d->index_count; i++)
		if (slice_equal(d->indexes[i].name, name))
			return &d->indexes[i];
	return NULL;
}

const struct attribute *entity_attribute(const struct entity *e, struct slice name)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (slice_equal(e->attributes[i].name, name))
			return &e->attributes[i];
	return NULL;
}

bool entity_takes(const struct entity *e)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].next)
			return true;
	return false;
}

const struct action *entity_action(const struct entity *e, struct slice name)
{
	for (size_t i = 0; i < e->action_count; i++)
		if (slice_equal(e->actions[i].name, name))
			return &e->actions[i];
	return NULL;
}

bool design_is_table_key(const struct design *d, struct slice name)
{
	return is_key_attribute(&d->key, name);
}

bool design_is_key(const struct design *d, struct slice name)
{
	for (size_t i = 0; i < d->index_count; i++)
		if (is_key_attribute(&d->indexes[i].key, name))
			return true;
	return is_key_attribute(&d->key, name);
}

struct reference attribute_source(const struct attribute *a)
{
	return (struct reference){ .entity = a->copy_entity, .args = a->copy_args, .arg_count = a->copy_arg_count };
}

const char *const allow_verb_names[ALLOW_VERBS] = { "create", "read", "update", "delete", "list" };

const struct entity *design_call(const struct design *d, struct slice call, struct slice *verb)
{
	const char *space = memchr(call.p, ' ', call.n);
	size_t n = space ? (size_t)(space - call.p) : 0;

	*verb = slice_make(call.p, n);
	return n ? design_entity(d, slice_make(space + 1, call.n - n - 1)) : NULL;
}
