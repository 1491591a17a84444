/* Which attributes of an item name another item: what the design declares (requires, counts, copies), and what its
 * keys and names show. The console links the two items; the other need not exist.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>

#include "console/design_doc.h"

struct references {
	struct buf *out;
	const struct design *d;
	const struct entity *from;
	struct buf seen; /* "User(author_id)\n" for each one written */
};

/* Whether it is new; remembers it. */
static bool is_new(struct references *x, struct slice entity, const struct slice *args, size_t n)
{
	struct buf text;

	buf_init(&text, x->out->arena);
	buf_printf(&text, "\n%.*s(", SLICE_ARG(entity));
	for (size_t i = 0; i < n; i++)
		buf_printf(&text, "%.*s,", SLICE_ARG(args[i]));
	buf_lit(&text, ")\n");
	if (x->seen.n && memmem(x->seen.p, x->seen.n, text.p, text.n))
		return false;
	buf_put(&x->seen, buf_slice(&text));
	return true;
}

static void add_reference(struct references *x, struct slice entity, const struct slice *args, size_t n)
{
	if (!is_new(x, entity, args, n))
		return;
	json_open(x->out, '{');
	doc_member(x->out, "entity", entity);
	doc_member_texts(x->out, "args", args, n);
	json_close(x->out, '}');
}

/* A reference can be followed only if each argument is an attribute of the item. */
static void add_declared(struct references *x, struct slice entity, const struct term *const *args, size_t n)
{
	const struct entity *to = design_entity(x->d, entity);
	struct slice *names = arena_array(x->out->arena, struct slice, n);

	for (size_t i = 0; i < n; i++) {
		if (args[i]->kind != TERM_PATH || args[i]->name_count != 1 ||
		    !entity_attribute(x->from, args[i]->names[0]))
			return;
		names[i] = args[i]->names[0];
	}
	if (to && to->param_count == n)
		add_reference(x, entity, names, n);
}

static void add_requirements(struct references *x, const struct requirement *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		add_declared(x, list[i].target.entity, list[i].target.args, list[i].target.arg_count);
}

static void add_all_declared(struct references *x)
{
	const struct entity *e = x->from;

	for (const struct attribute *a = e->attributes; a != e->attributes + e->attribute_count; a++)
		if (a->refers)
			add_declared(x, a->refers->entity, a->refers->args, a->refers->arg_count);

	add_requirements(x, e->requires, e->require_count);
	for (size_t i = 0; i < e->count_count; i++)
		add_declared(x, e->counts[i].target.entity, e->counts[i].target.args, e->counts[i].target.arg_count);
	for (const struct attribute *a = e->attributes; a != e->attributes + e->attribute_count; a++)
		if (a->copy_entity.n)
			add_declared(x, a->copy_entity, a->copy_args, a->copy_arg_count);
	for (size_t i = 0; i < e->action_count; i++)
		add_requirements(x, e->actions[i].requires, e->actions[i].require_count);
}

/* ---- what keys and names show ---- */

/* "USER#" of an entity whose partition is USER#<user_id> and whose identity is user_id alone: its owner. */
static struct slice owner_prefix(const struct design *d, const struct entity *to)
{
	for (size_t i = 0; i < to->key_count; i++) {
		const struct template *t = to->keys[i].template;

		if (!slice_equal(to->keys[i].attribute, d->key.hash[0].name))
			continue;
		if (t->part_count == 2 && !t->parts[0].names && t->parts[1].names && t->parts[1].name_count == 1 &&
		    t->parts[1].format == FORMAT_PLAIN && slice_equal(t->parts[1].names[0], to->params[0]))
			return t->parts[0].literal;
	}
	return (struct slice){ 0 };
}

/* The attribute in a part `…#USER#<x>` of a template. */
static const struct attribute *after_prefix(const struct entity *from, const struct template *t, struct slice prefix)
{
	for (size_t i = 0; i + 1 < t->part_count; i++) {
		struct slice text = t->parts[i].literal;
		const struct template_part *hole = &t->parts[i + 1];
		size_t at = text.n - prefix.n;

		if (t->parts[i].names || !hole->names || hole->name_count != 1 || text.n < prefix.n ||
		    memcmp(text.p + at, prefix.p, prefix.n) || (at && text.p[at - 1] != '#'))
			continue;
		return entity_attribute(from, hole->names[0]);
	}
	return NULL;
}

static void add_by_key(struct references *x, const struct entity *to)
{
	struct slice prefix = owner_prefix(x->d, to);

	for (size_t i = 0; prefix.n && i < x->from->key_count; i++) {
		const struct attribute *a = after_prefix(x->from, x->from->keys[i].template, prefix);

		if (a && !a->id)
			add_reference(x, to->name, &a->name, 1);
	}
}

static bool is_generic(struct slice name)
{
	static const char *const words[] = { "id", "name", "slug", "key", "code", "title", "email", "date" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (name.n == strlen(words[i]) && !strncasecmp(name.p, words[i], name.n))
			return true;
	return false;
}

/* Among entities with the same identity, the first is meant. */
static bool is_first_of_identity(const struct design *d, const struct entity *to)
{
	for (const struct entity *e = d->entities; e != to; e++)
		if (!e->internal && e->param_count == 1 && slice_equal(e->params[0], to->params[0]))
			return false;
	return true;
}

static void add_by_name(struct references *x, const struct entity *to)
{
	const struct attribute *a = entity_attribute(x->from, to->params[0]);

	if (a && !a->id && !is_generic(a->name) && is_first_of_identity(x->d, to))
		add_reference(x, to->name, &a->name, 1);
}

void design_references_doc(struct buf *b, const struct design *d, const struct entity *e)
{
	struct references x = { .out = b, .d = d, .from = e };

	buf_init(&x.seen, b->arena);
	json_open(b, '[');
	add_all_declared(&x);
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *to = &d->entities[i];

		if (to == e || to->internal || to->param_count != 1)
			continue;
		add_by_key(&x, to);
		add_by_name(&x, to);
	}
	json_close(b, ']');
}
