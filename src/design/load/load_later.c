/* The second pass: looks up names that are declared elsewhere.
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
		const void *found;

		l->subject = w->subject;
		found = w->resolve(l, w);
		if (w->into)
			memcpy(w->into, &found, sizeof(found));
	}
	l->subject = SLICE("");
}

/* Reports a name that the scope does not have. */
static void check_in_scope(struct load *l, const struct load_scope *scope, const char *rule, const char *what,
			   const struct load_later *w)
{
	struct load_names names = { .a = l->a };

	if (load_scope_has(l, scope, w->name))
		return;
	load_names_of(l, scope, &names);
	load_unknown(l, w->place, rule, what, w->name, &names);
}

/* ---- entities, attributes ---- */
const struct entity *load_check_entity(struct load *l, struct slice name, struct place p)
{
	const struct entity *e = design_entity(l->d, name);
	struct load_names names = { .a = l->a };

	if (e)
		return e;
	if (load_is_stray(l, "entities", name))
		return NULL;
	EACH (struct entity, x, l->d->entities, l->d->entity_count)
		load_names_add(&names, x->name);
	load_unknown(l, p, "unknown-entity", "entity", name, &names);
	return NULL;
}

static const void *resolve_entity(struct load *l, const struct load_later *w)
{
	return load_check_entity(l, w->name, w->place);
}

void load_check_attribute(struct load *l, const struct entity *e, struct slice name, struct place p)
{
	check_in_scope(l, &(struct load_scope){ .entity = e }, "unknown-attribute",
		       arena_printf(l->a, "attribute of %.*s called", SLICE_ARG(e->name)).p,
		       &(struct load_later){ .name = name, .place = p });
}

/* An unknown entity has been reported where it is named. */
static const void *resolve_attribute(struct load *l, const struct load_later *w)
{
	const struct entity *e = design_entity(l->d, w->of);

	if (e)
		load_check_attribute(l, e, w->name, w->place);
	return NULL;
}

static const void *resolve_row_attribute(struct load *l, const struct load_later *w)
{
	check_in_scope(l, &(struct load_scope){ .rows = true, .over = w->of }, "unknown-attribute", "attribute", w);
	return NULL;
}

/* Unknown names are allowed, since other programs may write more attributes, but a probable typo is reported. */
static const void *resolve_projected(struct load *l, const struct load_later *w)
{
	struct load_scope any = { .rows = true };
	struct load_names names = { .a = l->a };

	load_names_of(l, &any, &names);
	if (!load_scope_has(l, &any, w->name) && suggest_slice(w->name, names.list, names.n).n)
		load_unknown(l, w->place, "unknown-attribute", "attribute", w->name, &names);
	return NULL;
}

/* The entity of the rows is not always known here: one of those possible must have the action. */
static const void *resolve_row_action(struct load *l, const struct load_later *w)
{
	const struct access *a = design_access(l->d, w->of);
	struct load_names names = { .a = l->a };

	EACH (struct entity, e, l->d->entities, l->d->entity_count) {
		if (a && a->entity.n && !slice_equal(a->entity, e->name))
			continue;
		if (entity_action(e, w->name))
			return NULL;
		EACH (struct action, x, e->actions, e->action_count)
			load_names_add(&names, x->name);
	}
	load_unknown(l, w->place, "unknown-action", "action", w->name, &names);
	return NULL;
}

/* ---- indexes and keys ---- */
static const void *resolve_index(struct load *l, const struct load_later *w)
{
	const struct design_index *found = design_index(l->d, w->name);
	struct load_names names = { .a = l->a };

	if (found)
		return found;
	if (load_is_stray(l, "indexes", w->name))
		return NULL;
	load_names_add(&names, SLICE("table"));
	EACH (struct design_index, x, l->d->indexes, l->d->index_count)
		load_names_add(&names, x->name);
	load_unknown(l, w->place, "unknown-index", "index", w->name, &names);
	return NULL;
}

static const void *resolve_where(struct load *l, const struct load_later *w)
{
	const struct access *a = design_access(l->d, w->of);
	const struct design_index *i = a && a->index.n ? design_index(l->d, a->index) : NULL;
	const struct key_schema *k = i ? &i->key : &l->d->key;
	struct load_names names = { .a = l->a };

	if (!a || (a->index.n && !i) || is_key_attribute(k, w->name))
		return NULL;
	if (load_scope_has(l, &(struct load_scope){ .rows = true }, w->name)) {
		load_error(l, w->place, "not-a-key", "'%.*s' is not part of the key of %.*s", SLICE_ARG(w->name),
			   SLICE_ARG(i ? i->name : SLICE("the table")))
			->repair =
			arena_printf(l->a, "put it into 'filter', or into the key of an index: filter: %.*s = …",
				     SLICE_ARG(w->name));
		return NULL;
	}
	for (size_t n = 0; n < key_attr_count(k); n++)
		load_names_add(&names, key_attr_at(k, n)->name);
	load_unknown(l, w->place, "unknown-attribute", "key attribute", w->name, &names);
	return NULL;
}

/* ---- access patterns ---- */
const struct access *load_check_access(struct load *l, struct slice name, struct place p)
{
	const struct access *found = design_access(l->d, name);
	struct load_names names = { .a = l->a };

	if (found)
		return found;
	if (load_is_stray(l, "access", name))
		return NULL;
	EACH (struct access, a, l->d->accesses, l->d->access_count)
		load_names_add(&names, a->name);
	load_unknown(l, p, "unknown-pattern", "access pattern", name, &names);
	return NULL;
}

static const void *resolve_access(struct load *l, const struct load_later *w)
{
	return load_check_access(l, w->name, w->place);
}

static const void *resolve_parameter(struct load *l, const struct load_later *w)
{
	const struct access *a = design_access(l->d, w->of);

	if (a)
		check_in_scope(l, &(struct load_scope){ .access = a }, "unknown-parameter",
			       arena_printf(l->a, "parameter of '%.*s' called", SLICE_ARG(a->name)).p, w);
	return NULL;
}

static const void *resolve_access_by(struct load *l, const struct load_later *w)
{
	bool is_bound;
	const struct access *bound = load_bind(l, w, &is_bound);
	const struct access *a = is_bound ? NULL : resolve_access(l, w);
	const struct entity *e = design_entity(l->d, w->of);

	if (is_bound)
		return bound;
	for (size_t i = 0; a && e && i < a->param_count; i++)
		if (!load_entity_has(e, a->params[i]))
			load_error(l, w->place, "unknown-attribute",
				   "'%.*s' has the parameter '%.*s', which is not an attribute of %.*s",
				   SLICE_ARG(a->name), SLICE_ARG(a->params[i]), SLICE_ARG(e->name))
				->repair = arena_printf(l->a, "bind it, as in %.*s(%.*s = …)", SLICE_ARG(a->name),
							SLICE_ARG(a->params[i]));
	return a;
}

/* ---- traffic ---- */
static bool is_verb(const struct entity *e, struct slice word)
{
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		if (slice_is(word, allow_verb_names[i]))
			return true;
	return entity_action(e, word) != NULL;
}

static const void *resolve_traffic(struct load *l, const struct load_later *w)
{
	struct slice verb;
	const struct entity *e = design_call(l->d, w->name, &verb);
	struct load_names names = { .a = l->a };

	if (e && is_verb(e, verb))
		return NULL;
	if (design_access(l->d, w->name))
		return NULL;
	EACH (struct access, a, l->d->accesses, l->d->access_count)
		load_names_add(&names, a->name);
	EACH (struct entity, x, l->d->entities, l->d->entity_count)
		for (size_t i = 0; i < ALLOW_VERBS; i++)
			load_names_add(&names, arena_printf(l->a, "%s %.*s", allow_verb_names[i], SLICE_ARG(x->name)));
	load_unknown(l, w->place, "unknown-pattern", "access pattern", w->name, &names);
	return NULL;
}

void load_later_found(struct load *l, enum load_name kind, struct slice name, struct place p, struct slice of,
		      void *into)
{
	static const void *(*const resolvers[NAMES_OF])(struct load *, const struct load_later *) = {
		[NAME_ENTITY] = resolve_entity,
		[NAME_ATTRIBUTE] = resolve_attribute,
		[NAME_ACCESS] = resolve_access,
		[NAME_ACCESS_BY] = resolve_access_by,
		[NAME_PARAMETER] = resolve_parameter,
		[NAME_ROW_ATTRIBUTE] = resolve_row_attribute,
		[NAME_ITEM_ATTRIBUTE] = resolve_row_attribute,
		[NAME_ROW_ACTION] = resolve_row_action,
		[NAME_WHERE] = resolve_where,
		[NAME_INDEX] = resolve_index,
		[NAME_PROJECTED] = resolve_projected,
		[NAME_TRAFFIC] = resolve_traffic,
	};

	load_later(l,
		   (struct load_later){ .resolve = resolvers[kind], .name = name, .of = of, .place = p, .into = into });
}

void load_later_name(struct load *l, enum load_name kind, struct slice name, struct place p, struct slice of)
{
	load_later_found(l, kind, name, p, of, NULL);
}
