/* design_check(): runs every rule over a loaded design, and how a rule speaks.
 *
 * A rule is one row of a family's table (check_*.c): name, severity, function, what it finds, why
 * it matters, what to do. docs/design-check.md lists them all. SPDX-License-Identifier: Apache-2.0
 */
#include "base/map.h"
#include "design/check/check.h"

static void judge_all_acceptances(struct checker *c);

/* Comes last: it asks what the others have said. */
static const struct rule rules_accept[] = {
	{ "accepts-nothing", SEVERITY_WARNING, judge_all_acceptances,
	  "An `accept` for a rule that does not exist or finds nothing there.",
	  "An `accept` tells the next reader that something was looked at; one without a finding "
	  "misleads.",
	  "Remove it, or correct the name of the rule." },
	{ NULL },
};

static const struct rule *const families[] = {
	check_rules_access,  check_rules_order,  check_rules_key,   check_rules_identity, check_rules_index,
	check_rules_visible, check_rules_unique, check_rules_count, check_rules_copy,     check_rules_life,
	check_rules_stream,  check_rules_limit,  check_rules_race,  rules_accept,
};
#define FAMILIES (sizeof(families) / sizeof(families[0]))

static const struct rule *rule_at(size_t i)
{
	for (size_t k = 0; k < FAMILIES; k++)
		for (const struct rule *r = families[k]; r->name; r++)
			if (i-- == 0)
				return r;
	return NULL;
}

const char *design_check_name(size_t i)
{
	const struct rule *r = rule_at(i);
	return r ? r->name : NULL;
}

/* ---- what a finding is about ---- */

struct about about_entity(struct checker *c, const struct entity *e)
{
	return (struct about){ arena_printf(c->arena, "entity %.*s", SLICE_ARG(e->name)),
			       e->place,
			       { &e->accepts, &c->d->accepts } };
}

struct about about_access(struct checker *c, const struct access *a)
{
	return (struct about){ arena_printf(c->arena, "access %.*s", SLICE_ARG(a->name)),
			       a->place,
			       { &a->accepts, &c->d->accepts } };
}

struct about about_space(struct checker *c, const struct space *s)
{
	if (!s->index)
		return about_table(c);
	return (struct about){ arena_printf(c->arena, "index %.*s", SLICE_ARG(s->index->name)),
			       s->index->place,
			       { &s->index->accepts, &c->d->accepts } };
}

struct about about_processor(struct checker *c, const struct processor *p)
{
	return (struct about){ arena_printf(c->arena, "processor %.*s", SLICE_ARG(p->name)),
			       p->place,
			       { &p->accepts, &c->d->accepts } };
}

struct about about_table(struct checker *c)
{
	return (struct about){ SLICE("table"), c->d->table_place, { &c->d->accepts } };
}

/* ---- speaking ---- */

static const struct acceptance *accepted(const struct accepted *list, const char *rule)
{
	EACH (struct acceptance, a, list->list, list->count)
		if (slice_is(a->rule, rule))
			return a;
	return NULL;
}

/* Acceptances are keyed by their address. */
static struct slice address(struct arena *a, const struct acceptance *x)
{
	return arena_copy(a, slice_make(&x, sizeof(x)));
}

void check_say(struct checker *c, const struct about *about, struct place place, const char *fmt, ...)
{
	const struct acceptance *a = NULL;
	c->last = NULL;
	for (size_t i = 0; !a && i < 3 && about->accepts[i]; i++)
		a = accepted(about->accepts[i], c->rule->name);
	if (a)
		map_set(c->used, address(c->arena, a), c);
	if (a && !c->tells_accepted)
		return;
	va_list ap;
	va_start(ap, fmt);
	struct slice message = arena_vprintf(c->arena, fmt, ap);
	va_end(ap);
	if (place.line == 0)
		place = about->place;
	c->last = findings_add(c->f, c->rule->severity, c->rule->name, place, "%.*s", SLICE_ARG(message));
	c->last->why = slice_str(c->rule->why);
	c->last->repair = slice_str(c->rule->repair);
	c->last->subject = about->subject;
	if (a)
		c->last->accepted = a->reason;
}

void check_severity(struct checker *c, enum severity severity)
{
	if (c->last)
		c->last->severity = severity;
}

void check_repair(struct checker *c, const char *fmt, ...)
{
	if (!c->last)
		return;
	va_list ap;
	va_start(ap, fmt);
	c->last->repair = arena_vprintf(c->arena, fmt, ap);
	va_end(ap);
}

/* ---- accept ---- */

static bool is_rule(struct slice name)
{
	for (size_t i = 0; design_check_name(i); i++)
		if (slice_is(name, design_check_name(i)))
			return true;
	return false;
}

static struct slice nearest_rule(struct arena *a, struct slice name)
{
	size_t n = 0;
	while (design_check_name(n))
		n++;
	struct slice *all = arena_array(a, struct slice, n);
	for (size_t i = 0; i < n; i++)
		all[i] = slice_str(design_check_name(i));
	return suggest_slice(name, all, n);
}

/* An acceptance stands for a judgement; one that silences nothing is out of date or misspelt. */
static void judge_acceptances(struct checker *c, struct about about, const struct accepted *list)
{
	about.accepts[0] = NULL;
	EACH (struct acceptance, a, list->list, list->count) {
		if (!is_rule(a->rule)) {
			check_say(c, &about, a->place, "no rule is called %.*s", SLICE_ARG(a->rule));
			struct slice near = nearest_rule(c->arena, a->rule);
			if (near.n)
				check_repair(c, "Did you mean %.*s?", SLICE_ARG(near));
		} else if (!map_get(c->used, address(c->arena, a))) {
			check_say(c, &about, a->place, "accepts %.*s, which finds nothing here", SLICE_ARG(a->rule));
		}
	}
}

static void judge_all_acceptances(struct checker *c)
{
	judge_acceptances(c, about_table(c), &c->d->accepts);
	for (size_t i = 1; i < c->space_count; i++)
		judge_acceptances(c, about_space(c, &c->spaces[i]), &c->spaces[i].index->accepts);
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		judge_acceptances(c, about_entity(c, e), &e->accepts);
	EACH (struct access, a, c->d->accesses, c->d->access_count)
		judge_acceptances(c, about_access(c, a), &a->accepts);
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		judge_acceptances(c, about_processor(c, p), &p->accepts);
}

static void check(const struct design *d, struct findings *f, bool tells_accepted)
{
	struct map used;
	struct checker c = { .d = d, .f = f, .arena = f->arena, .used = &used, .tells_accepted = tells_accepted };
	map_init(&used, f->arena);
	check_model(&c);
	for (size_t k = 0; k < FAMILIES; k++)
		for (c.rule = families[k]; c.rule->name; c.rule++)
			c.rule->run(&c);
	findings_sort(f);
}

void design_check(const struct design *d, struct findings *f)
{
	check(d, f, false);
}

void design_check_all(const struct design *d, struct findings *f)
{
	check(d, f, true);
}
