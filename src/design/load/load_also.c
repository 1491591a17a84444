/* also: other items that are written in the same transaction.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* ---- one rule ---- */
static void read_for(struct load *l, void *into, const struct yaml *y)
{
	struct also_rule *x = into;

	if (load_is_scalar(l, y, "a loop, as in tag in tags"))
		l->scope = load_each(l, &x->each, load_whole(y), l->scope);
}

static void read_events(struct load *l, void *into, const struct yaml *y)
{
	static const struct slice names[] = { { "created", 7 }, { "updated", 7 }, { "deleted", 7 } };
	struct also_rule *x = into;
	struct load_span s, one;
	bool more = true;

	if (!load_is_scalar(l, y, "what happens to the item, as in created, updated"))
		return;
	s = load_whole(y);
	while (more) {
		more = span_split(&s, ',', &one);
		x->events |= 1 << load_choice(l, span_text(one), span_place(l, one), "event", &NAMES(names));
	}
}

static void read_put(struct load *l, void *into, const struct yaml *y)
{
	struct also_rule *x = into;

	x->kind = ALSO_PUT;
	x->target = load_text(l, y, "the name of an entity");
	if (x->target.n)
		load_later_found(l, NAME_ENTITY, x->target, y->place, SLICE(""), &x->to);
}

static void read_item(struct load *l, struct also_rule *x, const struct yaml *y, enum also_kind kind)
{
	x->kind = kind;
	if (load_item(l, y, "an item, as in Account(to)", l->scope, &x->to_ref))
		x->target = x->to_ref.entity;
}

static void read_update(struct load *l, void *into, const struct yaml *y)
{
	read_item(l, into, y, ALSO_UPDATE);
}

static void read_delete(struct load *l, void *into, const struct yaml *y)
{
	read_item(l, into, y, ALSO_DELETE);
}

static void read_with(struct load *l, void *into, const struct yaml *y)
{
	struct also_rule *x = into;

	x->with_count = load_assignments(l, y, l->scope, x->target, &x->with);
}

static void read_add(struct load *l, void *into, const struct yaml *y)
{
	struct also_rule *x = into;

	x->add_count = load_assignments(l, y, l->scope, x->target, &x->add);
}

static const struct load_shape events_shape = { SHAPE_TEXT, "what happens to the item, as in created, updated",
						.is_words = true };
static const struct load_shape for_shape = { SHAPE_TEXT, "a loop, as in tag in tags", "[A-Za-z_][A-Za-z0-9_]* in .+",
					     .is_words = true };
static const struct load_shape put_shape = { SHAPE_TEXT, "the name of an entity" };
static const struct load_shape with_shape = { SHAPE_TYPE, .type = WORD_ASSIGNMENTS };

/* The order matters: later words use names that earlier ones define. */
static const struct load_word words[] = {
	{ "on", .read = read_events, .shape = &events_shape },
	{ "for", .read = read_for, .shape = &for_shape },
	{ "when", WORD_TERM, AT(also_rule, when) },
	{ "put", .read = read_put, .shape = &put_shape },
	{ "update", .read = read_update, .shape = &load_item_shape },
	{ "delete", .read = read_delete, .shape = &load_item_shape },
	{ "with", .read = read_with, .shape = &with_shape },
	{ "add", .read = read_add, .shape = &with_shape },
	{ 0 },
};

static const char *const kinds[] = { "put", "update", "delete", NULL };
static const struct load_shape rule_shape = { SHAPE_WORDS, "'also'", .words = words, .one_of = { kinds } };
const struct load_shape load_also_shape = { SHAPE_LIST, "other items that are written in the same transaction",
					    .of = &rule_shape };

static void check_words(struct load *l, const struct also_rule *x, const struct yaml *y, bool of_action)
{
	const char *sentence = "what is also done is one of 'put', 'update' and 'delete'";

	if (!load_one_of(l, y, kinds, sentence))
		load_error(l, x->place, "missing-word", "%s", sentence)->repair =
			SLICE("as in put: Entry, with: {ticket: ticket}");
	else if (x->kind != ALSO_UPDATE && load_has_word(y, "add"))
		load_error(l, x->place, "wrong-clause", "'add' moves counters of an item: it goes with 'update'");
	else if (x->kind == ALSO_DELETE && load_has_word(y, "with"))
		load_error(l, x->place, "wrong-clause", "'delete' has no 'with'");
	else if (x->kind == ALSO_UPDATE && !x->with_count && !x->add_count)
		load_error(l, x->place, "missing-word", "'update' changes something: 'with' or 'add'");
	if (of_action && x->events)
		load_error(l, x->place, "wrong-clause",
			   "'on' is for the 'also' of an entity: this one is part of its action");
	if (!of_action && !load_has_word(y, "on"))
		load_error(l, x->place, "missing-word", "expected 'on': created, updated or deleted");
}

static size_t read_rules(struct load *l, const struct yaml *y, bool of_action, const struct also_rule **out)
{
	const struct load_scope *scope = l->scope;
	const struct yaml *items = y;
	size_t count = 1;
	struct also_rule *list;

	if (y->kind != YAML_MAP)
		items = load_list(l, y, "a list of what is also done, as in - {put: Membership, with: {…}}", &count);
	list = arena_array(l->a, struct also_rule, count);
	for (size_t i = 0; i < count; i++) {
		list[i].place = items[i].place;
		l->scope = load_scope_of(l, l->entity);
		if (load_words(l, &items[i], "'also'", words, &list[i], NULL))
			check_words(l, &list[i], &items[i], of_action);
	}
	l->scope = scope;
	*out = list;
	return count;
}

void load_also(struct load *l, void *into, const struct yaml *y)
{
	struct entity *e = into;

	e->also_count = read_rules(l, y, false, &e->also);
}

void load_also_of_action(struct load *l, void *into, const struct yaml *y)
{
	struct action *a = into;

	a->also_count = read_rules(l, y, true, &a->also);
}

/* ---- the second pass: what can be given ---- */
static const char *why_not_given(const struct also_rule *x, const struct attribute *a)
{
	if (a->counter)
		return "moves with what it counts: use 'add'";
	if (a->derived || a->after.n || a->copy_entity.n || a->next || a->last_writer)
		return "is made by the design and cannot be given";
	if (x->kind == ALSO_UPDATE && a->fixed)
		return "is fixed and cannot change";
	return NULL;
}

static void check_with(struct load *l, const struct also_rule *x)
{
	EACH (struct assignment, w, x->with, x->with_count) {
		const struct attribute *a = entity_attribute(x->to, w->attribute);
		const char *why = a ? why_not_given(x, a) : NULL;

		if (why)
			load_error(l, w->place, "wrong-clause", "'%.*s' of %.*s %s", SLICE_ARG(a->name),
				   SLICE_ARG(x->to->name), why);
	}
	EACH (struct assignment, w, x->add, x->add_count) {
		const struct attribute *a = entity_attribute(x->to, w->attribute);

		if (a && (!a->counter || a->sequence))
			load_error(l, w->place, "wrong-type", "'%.*s' of %.*s is no counter", SLICE_ARG(a->name),
				   SLICE_ARG(x->to->name));
	}
}

/* Whether a new item has a value for it that nobody gives. */
static bool comes_by_itself(const struct attribute *a)
{
	return a->id || a->now || a->touched || a->default_ || a->the_caller || a->counter || a->derived ||
	       a->after.n || a->copy_entity.n || a->next || a->from_key || a->when;
}

static void check_complete(struct load *l, const struct entity *to, const struct assignment *with, size_t with_count,
			   struct place p)
{
	EACH (struct attribute, a, to->attributes, to->attribute_count) {
		bool identity = slice_among(to->params, to->param_count, a->name);

		if ((!a->required && !identity) || comes_by_itself(a) || is_assigned(with, with_count, a->name))
			continue;
		load_error(l, p, "missing-word", "'with' gives no '%.*s', which every %.*s has", SLICE_ARG(a->name),
			   SLICE_ARG(to->name))
			->repair = arena_printf(l->a, "as in with: {%.*s: …}", SLICE_ARG(a->name));
	}
}

static void check_rules(struct load *l, struct also_rule *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct also_rule *x = &list[i];

		if (x->kind != ALSO_PUT)
			x->to = x->to_ref.to;
		if (!x->to)
			continue;
		check_with(l, x);
		if (x->kind == ALSO_PUT && !findings_errors(l->f)) /* otherwise some of `with` may be what is wrong */
			check_complete(l, x->to, x->with, x->with_count, x->place);
	}
}

/* ---- circles ---- */
static int event_of(enum also_kind kind)
{
	return kind == ALSO_PUT ? ON_CREATED : kind == ALSO_UPDATE ? ON_UPDATED : ON_DELETED;
}

/* Whether something done to `e` leads to `end` being done to `to`; at most `left` steps. */
static bool leads_to(const struct entity *e, int event, const struct also_rule *end, size_t left)
{
	EACH (struct also_rule, x, e->also, left ? e->also_count : 0) {
		if (!(x->events & event) || !x->to)
			continue;
		if (x == end || leads_to(x->to, event_of(x->kind), end, left - 1))
			return true;
	}
	return false;
}

#define STEPS_MOST 8

static void check_circles(struct load *l, const struct entity *e)
{
	EACH (struct also_rule, x, e->also, e->also_count)
		if (x->to && leads_to(x->to, event_of(x->kind), x, STEPS_MOST))
			load_error(l, x->place, "circle",
				   "this leads to itself: what is done to a %.*s is done to a %.*s again",
				   SLICE_ARG(x->to->name), SLICE_ARG(e->name))
				->repair = SLICE("leave one of the rules out, or make it a processor");
}

/* What a processor puts may be there already, and then gets what `with` gives. */
static void check_puts(struct load *l)
{
	EACH (struct processor, p, l->d->processors, findings_errors(l->f) ? 0 : l->d->processor_count) {
		load_subject(l, "processor", p->name);
		if (p->effect == EFFECT_PUT && p->target_entity)
			check_complete(l, p->target_entity, p->with, p->with_count, p->place);
	}
	l->subject = SLICE("");
}

void load_check_also(struct load *l)
{
	EACH (struct entity, e, l->entities, l->d->entity_count) {
		load_subject(l, "entity", e->name);
		check_rules(l, OURS(struct also_rule, e->also), e->also_count);
		EACH (struct action, x, e->actions, e->action_count)
			check_rules(l, OURS(struct also_rule, x->also), x->also_count);
	}
	EACH (struct entity, e, l->entities, l->d->entity_count) {
		load_subject(l, "entity", e->name);
		check_circles(l, e);
	}
	check_puts(l);
	l->subject = SLICE("");
}
