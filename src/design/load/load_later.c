/* The second turn: names of other things are looked up where they were used.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

void load_later(struct load *l, struct load_later what)
{
	struct load_later *later = arena_new(l->a, struct load_later);

	*later = what;
	later->next = NULL;
	later->subject = l->subject;
	*l->later_end = later;
	l->later_end = &later->next;
}

void load_resolve(struct load *l)
{
	for (const struct load_later *w = l->later; w; w = w->next) {
		l->subject = w->subject;
		w->resolve(l, w);
	}
	l->subject = SLICE("");
}

/* ---- names, found or not ---- */
bool load_names_add(void *ctx, struct slice name)
{
	struct load_names *names = ctx;

	if (names->n == names->room) {
		size_t room = names->room ? 2 * names->room : 32;

		names->list = arena_grow(names->a, names->list, names->room * sizeof(*names->list),
					 room * sizeof(*names->list));
		names->room = room;
	}
	names->list[names->n++] = name;
	return false;
}

static bool is_it(void *ctx, struct slice name)
{
	return slice_equal(*(const struct slice *)ctx, name);
}

/* ---- entities, attributes ---- */
bool load_check_entity(struct load *l, struct slice name, struct place p, const struct entity **out)
{
	struct load_names names = { .a = l->a };

	*out = design_entity(l->d, name);
	if (*out)
		return true;
	for (size_t i = 0; i < l->d->entity_count; i++)
		load_names_add(&names, l->d->entities[i].name);
	load_unknown(l, p, "unknown-entity", "entity", name, names.list, names.n);
	return false;
}

static void resolve_entity(struct load *l, const struct load_later *w)
{
	const struct entity *e;

	(void)load_check_entity(l, w->name, w->place, &e);
}

void load_later_entity(struct load *l, struct slice name, struct place p)
{
	load_later(l, (struct load_later){ .resolve = resolve_entity, .name = name, .place = p });
}

void load_check_attribute(struct load *l, const struct entity *e, struct slice name, struct place p)
{
	struct load_scope scope = { .entity = e };
	struct load_names names = { .a = l->a };
	const char *what;

	if (load_entity_has(e, name))
		return;
	load_each_name(l, &scope, load_names_add, &names);
	what = arena_printf(l->a, "attribute of %.*s called", SLICE_ARG(e->name)).p;
	load_unknown(l, p, "unknown-attribute", what, name, names.list, names.n);
}

/* An unknown entity has been reported where it is named. */
static void resolve_attribute(struct load *l, const struct load_later *w)
{
	const struct entity *e = design_entity(l->d, w->of);

	if (e)
		load_check_attribute(l, e, w->name, w->place);
}

void load_later_attribute(struct load *l, struct slice name, struct place p, struct slice entity)
{
	load_later(l, (struct load_later){ .resolve = resolve_attribute, .name = name, .of = entity, .place = p });
}

static void resolve_row_attribute(struct load *l, const struct load_later *w)
{
	struct slice name = w->name;
	struct load_names names = { .a = l->a };

	if (load_each_row_name(l, w->thing, false, is_it, &name))
		return;
	load_each_row_name(l, w->thing, false, load_names_add, &names);
	load_unknown(l, w->place, "unknown-attribute", "attribute", w->name, names.list, names.n);
}

void load_later_row_attribute(struct load *l, struct slice name, struct place p, const struct access *a)
{
	load_later(l, (struct load_later){ .resolve = resolve_row_attribute, .name = name, .place = p, .thing = a });
}

/* Which of several entities the rows are is not always known here: one of them has to have it. */
static void resolve_row_action(struct load *l, const struct load_later *w)
{
	const struct access *a = w->thing;
	struct load_names names = { .a = l->a };

	for (size_t i = 0; i < l->d->entity_count; i++) {
		const struct entity *e = &l->d->entities[i];

		if (a->entity.n && !slice_equal(a->entity, e->name))
			continue;
		if (entity_action(e, w->name))
			return;
		for (size_t k = 0; k < e->action_count; k++)
			load_names_add(&names, e->actions[k].name);
	}
	load_unknown(l, w->place, "unknown-action", "action", w->name, names.list, names.n);
}

void load_later_row_action(struct load *l, struct slice name, struct place p, const struct access *a)
{
	load_later(l, (struct load_later){ .resolve = resolve_row_action, .name = name, .place = p, .thing = a });
}

/* ---- indexes and keys ---- */
static void resolve_index(struct load *l, const struct load_later *w)
{
	struct load_names names = { .a = l->a };

	if (design_index(l->d, w->name))
		return;
	load_names_add(&names, SLICE("table"));
	for (size_t i = 0; i < l->d->index_count; i++)
		load_names_add(&names, l->d->indexes[i].name);
	load_unknown(l, w->place, "unknown-index", "index", w->name, names.list, names.n);
}

void load_later_index(struct load *l, struct slice name, struct place p)
{
	load_later(l, (struct load_later){ .resolve = resolve_index, .name = name, .place = p });
}

static void add_key(struct load_names *names, const struct key_schema *k)
{
	for (size_t i = 0; i < k->hash_count; i++)
		load_names_add(names, k->hash[i].name);
	for (size_t i = 0; i < k->range_count; i++)
		load_names_add(names, k->range[i].name);
}

/* That a known attribute is no key of the index is for design_check() to say: it would be a scan.
 */
static void resolve_key(struct load *l, const struct load_later *w)
{
	const struct access *a = w->thing;
	const struct design_index *i = a->index.n ? design_index(l->d, a->index) : NULL;
	const struct key_schema *k = i ? &i->key : &l->d->key;
	struct load_names names = { .a = l->a };
	struct slice name = w->name;

	if ((a->index.n && !i) || is_key_attribute(k, name) || load_each_row_name(l, NULL, false, is_it, &name))
		return;
	add_key(&names, k);
	load_unknown(l, w->place, "unknown-attribute", "key attribute", w->name, names.list, names.n);
}

void load_later_key(struct load *l, struct slice name, struct place p, const struct access *a)
{
	load_later(l, (struct load_later){ .resolve = resolve_key, .name = name, .place = p, .thing = a });
}

/* ---- access patterns ---- */
static const struct access *find_access(struct load *l, struct slice name, struct place p)
{
	const struct access *a = design_access(l->d, name);
	struct load_names names = { .a = l->a };

	if (a)
		return a;
	for (size_t i = 0; i < l->d->access_count; i++)
		load_names_add(&names, l->d->accesses[i].name);
	load_unknown(l, p, "unknown-pattern", "access pattern", name, names.list, names.n);
	return NULL;
}

static void resolve_access(struct load *l, const struct load_later *w)
{
	(void)find_access(l, w->name, w->place);
}

void load_later_access(struct load *l, struct slice name, struct place p)
{
	load_later(l, (struct load_later){ .resolve = resolve_access, .name = name, .place = p });
}

static void resolve_param(struct load *l, const struct load_later *w)
{
	const struct access *a = design_access(l->d, w->of);
	struct load_scope scope = { .access = a };
	struct load_names names = { .a = l->a };
	struct slice name = w->name;

	if (!a || load_each_name(l, &scope, is_it, &name))
		return;
	/* a merge hands on what the pattern it runs takes */
	load_each_name(l, &scope, load_names_add, &names);
	load_unknown(l, w->place, "unknown-parameter",
		     arena_printf(l->a, "parameter of '%.*s' called", SLICE_ARG(a->name)).p, w->name, names.list,
		     names.n);
}

void load_later_param(struct load *l, struct slice name, struct place p, struct slice access)
{
	load_later(l, (struct load_later){ .resolve = resolve_param, .name = name, .of = access, .place = p });
}

static void resolve_pattern_of(struct load *l, const struct load_later *w)
{
	const struct access *a = find_access(l, w->name, w->place);
	const struct entity *e = design_entity(l->d, w->of);

	for (size_t i = 0; a && e && i < a->param_count; i++)
		if (!load_entity_has(e, a->params[i]))
			load_error(l, w->place, "unknown-attribute",
				   "'%.*s' has the parameter '%.*s', which is no attribute of %.*s", SLICE_ARG(a->name),
				   SLICE_ARG(a->params[i]), SLICE_ARG(e->name))
				->repair = SLICE("name the parameter like the attribute whose value it gets");
}

void load_later_pattern_of(struct load *l, struct slice name, struct place p, struct slice entity)
{
	load_later(l, (struct load_later){ .resolve = resolve_pattern_of, .name = name, .of = entity, .place = p });
}

/* ---- traffic ---- */
static bool is_verb(const struct entity *e, struct slice word)
{
	static const char *const verbs[] = { "create", "read", "update", "delete", "list" };

	for (size_t i = 0; i < 5; i++)
		if (slice_is(word, verbs[i]))
			return true;
	for (size_t i = 0; i < e->action_count; i++)
		if (slice_equal(e->actions[i].name, word))
			return true;
	return false;
}

static void resolve_traffic(struct load *l, const struct load_later *w)
{
	const struct traffic_rule *t = w->thing;
	const char *space = memchr(t->pattern.p, ' ', t->pattern.n);
	size_t n = space ? (size_t)(space - t->pattern.p) : 0;
	const struct entity *e = n ? design_entity(l->d, slice_make(space + 1, t->pattern.n - n - 1)) : NULL;

	if (!e || !is_verb(e, slice_make(t->pattern.p, n)))
		(void)find_access(l, t->pattern, t->place);
}

void load_later_traffic(struct load *l, const struct traffic_rule *t)
{
	load_later(l, (struct load_later){ .resolve = resolve_traffic, .thing = t });
}
