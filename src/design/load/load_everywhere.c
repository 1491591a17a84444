/* everywhere: {allow: tenant = caller.tenant}: a rule that holds in addition to those of each entity.
 *
 * It becomes a part of every `allow`, and stays with the entity for what no `allow` decides: items that others refer to,
 * items as they become, lists that show all rows, companions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/load/load.h"

/* ---- its words ---- */

static void read_rule(struct load *l, void *into, const struct yaml *y)
{
	struct everywhere *w = into;

	if (load_is_scalar(l, y, "a rule, as in tenant = caller.tenant"))
		l->everywhere = y;
	w->place = y->place;
}

static const struct slice *verb_names(void)
{
	static struct slice names[ALLOW_VERBS];

	for (size_t i = 0; i < ALLOW_VERBS; i++)
		names[i] = slice_str(allow_verb_names[i]);
	return names;
}

/* Plan, or "create User". */
static bool read_exception(struct load *l, const struct yaml_entry *e, struct exception *out)
{
	struct load_span name = load_whole(&e->key), verb;
	const struct slice *verbs = verb_names();
	const struct entity *of;

	out->verbs = 0;
	if (span_split(&name, ' ', &verb)) {
		for (size_t i = 0; i < ALLOW_VERBS; i++)
			if (slice_equal(span_text(verb), verbs[i]))
				out->verbs = 1u << i;
		if (!out->verbs) {
			load_error(l, e->key.place, "wrong-value",
				   "expected an entity, or one of create, read, update, "
				   "delete and list and an entity, as in create User");
			return false;
		}
	} else {
		name = verb;
		out->verbs = ~0u;
	}
	out->place = e->key.place;
	out->reason = load_text(l, &e->value, "the reason why the rule does not hold there");
	of = load_check_entity(l, span_text(name), e->key.place);
	out->entity = of;
	return of && out->reason.n;
}

static void read_exceptions(struct load *l, void *into, const struct yaml *y)
{
	struct everywhere *w = into;
	size_t count;
	const struct yaml_entry *entries = load_map(l, y, "a map of entities and reasons", &count);
	struct exception *list = arena_array(l->a, struct exception, count);

	for (size_t i = 0; i < count; i++)
		w->exception_count += read_exception(l, &entries[i], &list[w->exception_count]);
	w->exceptions = list;
}

static const struct load_shape rule_shape = { SHAPE_TYPE, .type = WORD_TERM };
static const struct load_shape exceptions_shape = { SHAPE_MAP, "entities, or 'create User', and reasons",
						    .of = &load_any_shape };

static const struct load_word words[] = {
	{ "allow", .read = read_rule, .shape = &rule_shape },
	{ "except", .read = read_exceptions, .shape = &exceptions_shape },
	{ 0 },
};

static const char *const needs[] = { "allow", NULL };
const struct load_shape load_everywhere_shape = { SHAPE_WORDS, "'everywhere'", .words = words, .needed = needs };

void load_everywhere(struct load *l, void *into, const struct yaml *y)
{
	struct design *d = into;

	l->subject = SLICE("everywhere");
	d->everywhere.place = y->place;
	if (load_words(l, y, "'everywhere'", words, &d->everywhere, NULL) && !l->everywhere)
		load_error(l, y->place, "missing-word", "'everywhere' needs 'allow': the rule");
	l->subject = SLICE("");
}

/* ---- who is exempt ---- */

static unsigned exempt_verbs(const struct design *d, const struct entity *e)
{
	unsigned verbs = 0;

	EACH (struct exception, x, d->everywhere.exceptions, d->everywhere.exception_count)
		if (x->entity == e)
			verbs |= x->verbs;
	return verbs;
}

struct lacking {
	const struct entity *e;
	struct slice name; /* empty: nothing */
};

static void find_lacking(void *ctx, const struct term *t)
{
	struct lacking *x = ctx;

	if (!x->name.n && t->kind == TERM_PATH && t->of == TERM_OF_ITEM && !load_entity_has(x->e, t->names[0]))
		x->name = t->names[0];
}

/* ---- spreading it ---- */

static const struct term *fresh(struct load *l, const struct entity *e)
{
	return load_span_term(l, load_whole(l->everywhere), load_scope_of(l, e));
}

/* Each rule has its own copy, which is numbered with it. */
static const struct term *both(struct load *l, const struct entity *e, const struct term *own)
{
	const struct term **args = arena_array(l->a, const struct term *, 2);
	struct term *t;

	if (!own || own->kind == TERM_NEVER)
		return own;
	args[0] = fresh(l, e);
	args[1] = own;
	if (own->kind == TERM_ALWAYS || !args[0])
		return args[0];
	t = arena_new(l->a, struct term);
	*t = (struct term){ .kind = TERM_AND, .place = own->place, .args = args, .arg_count = 2 };
	load_keep_scope(l, t, load_scope_of(l, e));
	return t;
}

static void spread_verbs(struct load *l, struct entity *e, unsigned exempt)
{
	const struct term *was[ALLOW_VERBS];

	memcpy(was, e->allow, sizeof(was));
	for (size_t i = 0; i < ALLOW_VERBS; i++) {
		size_t first = 0;

		if (exempt >> i & 1)
			continue;
		while (first < i && (was[first] != was[i] || exempt >> first & 1))
			first++;
		e->allow[i] = first < i ? e->allow[first] : both(l, e, was[i]);
	}
}

static void spread(struct load *l, struct entity *e)
{
	unsigned exempt = exempt_verbs(l->d, e);
	struct lacking lacks = { e, SLICE("") };
	const struct term *rule;

	if (exempt == ~0u)
		return;
	l->subject = arena_printf(l->a, "entity %.*s", SLICE_ARG(e->name));
	rule = term_parse(l->a, l->everywhere->text, l->everywhere->place, l->f);
	if (!rule)
		return;
	term_walk(rule, find_lacking, &lacks);
	if (lacks.name.n) {
		load_error(l, e->place, "missing-everywhere", "%.*s has no '%.*s', which the rule for everywhere reads",
			   SLICE_ARG(e->name), SLICE_ARG(lacks.name))
			->repair =
			arena_printf(l->a, "give it one, or exempt it with a reason: everywhere: {except: {%.*s: …}}",
				     SLICE_ARG(e->name));
		return;
	}
	e->everywhere = fresh(l, e);
	spread_verbs(l, e, exempt);
	for (size_t i = 0; !(exempt >> ALLOW_UPDATE & 1) && i < e->action_count; i++)
		OURS(struct action, &e->actions[i])->allow = both(l, e, e->actions[i].allow);
	e->everywhere_moves = !(exempt >> ALLOW_UPDATE & 1);
	e->everywhere_begins = !(exempt >> ALLOW_CREATE & 1);
}

void load_spread_everywhere(struct load *l)
{
	const char *why = NULL;
	const struct term *rule;

	if (!l->everywhere)
		return;
	rule = load_span_term(l, load_whole(l->everywhere), NULL);
	if (!rule)
		return;
	if (!term_can_filter(rule, &why)) {
		load_error(l, l->everywhere->place, "bad-everywhere",
			   "the rule for everywhere must be possible in DynamoDB, because references to other items are "
			   "checked with it: %s",
			   why);
		return;
	}
	for (size_t i = 0; i < l->d->entity_count; i++) {
		spread(l, &l->entities[i]);
		if (!l->d->everywhere.rule)
			l->d->everywhere.rule = l->entities[i].everywhere;
	}
	l->subject = SLICE("");
}
