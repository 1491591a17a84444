/* `show`: what rows and items show besides their attributes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* ---- in the second pass ---- */

struct look {
	struct load *l;
	struct slice name;
	struct place place;
};

/* Reports an attribute that has reasons not to be shown to everyone. */
static void check_shown(struct load *l, const struct attribute *a, bool of_row, struct place p)
{
	if (a->hidden)
		load_error(l, p, "wrong-value", "'%.*s' is hidden: it never leaves the server", SLICE_ARG(a->name))
			->repair = SLICE("show another attribute");
	else if (a->private_ && of_row)
		load_error(l, p, "wrong-value", "'%.*s' is private, and 'show' is for all who may see the item",
			   SLICE_ARG(a->name));
	else if (a->compressed)
		load_error(l, p, "wrong-value", "'%.*s' is compressed, so no term can read it", SLICE_ARG(a->name));
}

static bool check_meaning(void *ctx, const struct load_meaning *x)
{
	struct look *k = ctx;

	if (!x->attribute || !slice_equal(x->name, k->name))
		return false;
	check_shown(k->l, x->attribute, true, k->place);
	return x->attribute->hidden || x->attribute->private_ || x->attribute->compressed;
}

struct visit {
	struct load *l;
	const struct load_scope *scope;
};

static void visit_term(void *ctx, const struct term *t)
{
	struct visit *v = ctx;
	const struct entity *e = t->kind == TERM_FETCH ? design_entity(v->l->d, t->name) : NULL;
	const struct attribute *a = e ? entity_attribute(e, t->attribute) : NULL;

	if (a)
		check_shown(v->l, a, false, t->place);
	if (t->kind == TERM_PATH && t->of == TERM_OF_ITEM)
		(void)load_each_name(v->l, v->scope, check_meaning, &(struct look){ v->l, t->names[0], t->place });
}

/* The entity of the rows, where the design says so. */
static const struct entity *entity_of_rows(const struct load *l, const struct load_scope *s)
{
	const struct access *a = s->access;
	struct slice name;

	if (!a)
		return s->entity;
	name = a->then.entity.n ? a->then.entity : a->entity.n ? a->entity : a->get.entity;
	return name.n ? design_entity(l->d, name) : NULL;
}

static const void *resolve_shown(struct load *l, const struct load_later *w)
{
	const struct attribute *a = w->thing;
	const struct entity *e = entity_of_rows(l, w->scope);
	struct visit v = { l, w->scope };

	if (e && load_entity_has(e, a->name))
		load_error(l, a->place, "duplicate-key", "%.*s has '%.*s' already", SLICE_ARG(e->name),
			   SLICE_ARG(a->name))
			->repair = SLICE("give what is shown another name");
	if (a->derived)
		term_walk(a->derived, visit_term, &v);
	return NULL;
}

/* ---- reading ---- */
static const struct load_shape shown_shape = { SHAPE_TYPE, .type = WORD_TERM };
const struct load_shape load_show_shape = { SHAPE_MAP, "what is shown, as in {author: User(author_id).display_name}",
					    "[A-Za-z_][A-Za-z0-9_]*", .of = &shown_shape };

size_t load_show(struct load *l, const struct yaml *y, const struct load_scope *scope, const struct attribute **out)
{
	size_t count;
	const struct yaml_entry *entries =
		load_map(l, y, "what is shown, as in {author: User(author_id).display_name}", &count);
	struct attribute *list = arena_array(l->a, struct attribute, count);

	for (size_t i = 0; i < count; i++) {
		list[i].name = entries[i].key.text;
		list[i].place = entries[i].key.place;
		if (!load_is_name(list[i].name) || slice_is(list[i].name, "children"))
			load_error(l, list[i].place, "bad-name",
				   "the name of what is shown has letters, digits and '_', and is not 'children'");
		list[i].derived = load_term(l, &entries[i].value, scope);
		load_later(l, (struct load_later){ .resolve = resolve_shown, .thing = &list[i], .scope = scope });
	}
	*out = list;
	return count;
}
