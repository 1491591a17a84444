/* rename: {then move: […]}: what follows an item that gets another identity.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

static const struct load_word rename_words[] = {
	{ "then move", WORD_TEXTS, LIST_AT(rename_rule, then_move, then_count), "a list of access patterns",
	  NAME_ACCESS_BY, FOUND(rename_rule, then_access) },
	{ 0 },
};

static const char *const rename_needs[] = { "then move", NULL };
const struct load_shape load_rename_shape = { SHAPE_WORDS, "'rename'", .words = rename_words, .needed = rename_needs };

void load_rename(struct load *l, void *into, const struct yaml *y)
{
	struct rename_rule *m = &((struct entity *)into)->rename;

	m->place = y->place;
	if (load_words(l, y, "'rename'", rename_words, m, NULL) && !m->then_count)
		load_error(l, y->place, "missing-word",
			   "'rename' needs 'then move': the patterns that find what follows");
}

/* An identity that never changes needs no rule; that of an item which follows another changes with that. */
static bool can_be_renamed(const struct load *l, const struct entity *e)
{
	for (size_t i = 0; i < l->d->entity_count; i++)
		if (&l->d->entities[i] != e && l->d->entities[i].rename.then_count &&
		    entity_follows(e, &l->d->entities[i], 0))
			return true;
	for (size_t i = 0; i < e->param_count; i++) {
		const struct attribute *a = entity_attribute(e, e->params[i]);

		if (a && !a->fixed && !a->id && !a->the_caller && !a->now)
			return true;
	}
	return false;
}

static void check_pattern(struct load *l, const struct entity *e, const struct access *x)
{
	const struct rename_rule *m = &e->rename;
	bool any = false, starts = false;

	if (x->kind != ACCESS_QUERY || x->count_only || x->unite.n) {
		load_error(l, m->place, "wrong-value", "'then move' needs patterns with a 'query', and '%.*s' has none",
			   SLICE_ARG(x->name));
		return;
	}
	for (size_t i = 0; i < x->param_count; i++)
		starts = starts || slice_among(e->params, e->param_count, x->params[i]);
	if (!starts)
		load_error(l, m->place, "wrong-value",
			   "'%.*s' does not start from the identity of a %.*s: none of its parameters is part of that",
			   SLICE_ARG(x->name), SLICE_ARG(e->name));
	if (x->filter)
		load_error(l, m->place, "wrong-value", "'%.*s' has a filter: what it leaves out would stay behind",
			   SLICE_ARG(x->name));
	if (x->of)
		any = entity_follows(x->of, e, 0) != NULL;
	for (size_t i = 0; !x->of && !any && i < l->d->entity_count; i++)
		any = entity_follows(&l->d->entities[i], e, 0) != NULL;
	if (!any)
		load_error(l, m->place, "wrong-value",
			   "nothing says which attributes of the rows of '%.*s' name the %.*s: they need 'requires' or 'counts' with it",
			   SLICE_ARG(x->name), SLICE_ARG(e->name));
}

static bool is_renamed(const struct load *l, const struct entity *e)
{
	for (size_t i = 0; i < l->d->entity_count; i++)
		if (l->d->entities[i].rename.then_count && entity_follows(e, &l->d->entities[i], 0))
			return true;
	return e->rename.then_count > 0;
}

void load_check_renames(struct load *l)
{
	for (size_t i = 0; i < l->d->entity_count; i++)
		l->entities[i].is_renamed = is_renamed(l, &l->entities[i]);
	EACH (struct entity, e, l->entities, l->d->entity_count) {
		load_subject(l, "entity", e->name);
		if (e->rename.then_count && !can_be_renamed(l, e))
			load_error(l, e->rename.place, "wrong-clause", "the identity of a %.*s never changes",
				   SLICE_ARG(e->name));
		for (size_t i = 0; i < e->rename.then_count; i++)
			if (e->rename.then_access[i])
				check_pattern(l, e, e->rename.then_access[i]);
	}
	l->subject = SLICE("");
}
