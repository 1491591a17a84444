/* design_check(): runs every rule over a loaded design, and reports its findings.
 *
 * A rule is one row of a family's table (check_*.c): name, severity, why it matters, what to do, and the function that
 * looks at each entity, attribute, access pattern and so on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/check/check.h"

static void judge_all_acceptances(struct checker *c);

/* The last rule: it looks at the findings of all others. */
static const struct rule rules_accept[] = {
	{ "accepts-nothing", SEVERITY_WARNING,
	  "An `accept` tells the next reader that something was reviewed; one without a finding misleads.",
	  "Remove it, or correct the name of the rule.", .design = judge_all_acceptances },
	{ NULL },
};

static const struct rule *const families[] = {
	check_rules_access,  check_rules_order,  check_rules_key,   check_rules_identity, check_rules_index,
	check_rules_visible, check_rules_unique, check_rules_count, check_rules_copy,     check_rules_life,
	check_rules_stream,  check_rules_limit,  check_rules_race,  check_rules_agree,    check_rules_everywhere,
	check_rules_hold,    rules_accept,
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

struct about about_entity(const struct checker *c, const struct entity *e)
{
	return (struct about){ "entity", e->name, e->place, { &e->accepts, &c->d->accepts } };
}

struct about about_access(const struct checker *c, const struct access *a)
{
	return (struct about){ "access", a->name, a->place, { &a->accepts, &c->d->accepts } };
}

struct about about_space(const struct checker *c, const struct space *s)
{
	if (!s->index)
		return (struct about){ "table", SLICE(""), c->d->table_place, { &c->d->accepts } };
	return (struct about){ "index", s->index->name, s->index->place, { &s->index->accepts, &c->d->accepts } };
}

static struct about about_processor(const struct checker *c, const struct processor *p)
{
	return (struct about){ "processor", p->name, p->place, { &p->accepts, &c->d->accepts } };
}

/* ---- reporting ---- */

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

void check_say(struct checker *c, struct place place, const char *fmt, ...)
{
	const struct about *about = &c->about;
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
	c->last->subject =
		arena_printf(c->arena, "%s%s%.*s", about->kind, about->name.n ? " " : "", SLICE_ARG(about->name));
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

static const struct slice *rule_names(struct arena *a, size_t *n)
{
	for (*n = 0; design_check_name(*n);)
		++*n;
	struct slice *all = arena_array(a, struct slice, *n);
	for (size_t i = 0; i < *n; i++)
		all[i] = slice_str(design_check_name(i));
	return all;
}

/* An acceptance that silences nothing is out of date or misspelt. It cannot be accepted itself. */
static void judge_acceptances(struct checker *c, struct about about)
{
	const struct accepted *list = about.accepts[0];
	size_t n;
	const struct slice *names = rule_names(c->arena, &n);
	c->about = about;
	c->about.accepts[0] = NULL;
	EACH (struct acceptance, a, list->list, list->count) {
		if (!slice_among(names, n, a->rule)) {
			check_say(c, a->place, "no rule is called %.*s", SLICE_ARG(a->rule));
			struct slice near = suggest_slice(a->rule, names, n);
			if (near.n)
				check_repair(c, "Did you mean %.*s?", SLICE_ARG(near));
		} else if (!map_get(c->used, address(c->arena, a))) {
			check_say(c, a->place, "accepts %.*s, which finds nothing here", SLICE_ARG(a->rule));
		}
	}
}

static void judge_all_acceptances(struct checker *c)
{
	EACH (struct space, s, c->spaces, c->space_count)
		judge_acceptances(c, about_space(c, s));
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		judge_acceptances(c, about_entity(c, e));
	EACH (struct access, a, c->d->accesses, c->d->access_count)
		judge_acceptances(c, about_access(c, a));
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		judge_acceptances(c, about_processor(c, p));
}

/* ---- running a rule ---- */

/* Whether an earlier entry has this very template already, in this space or an earlier one. */
static bool is_seen(const struct checker *c, const struct space *s, const struct entry *entry, const struct template *t)
{
	for (const struct space *x = c->spaces; x <= s; x++)
		EACH (struct entry, e, x->entries, x == s ? (size_t)(entry - s->entries) : x->entry_count)
			for (size_t k = 0; k < key_attr_count(x->key); k++)
				if (entry_key(x, e, k) == t)
					return true;
	return false;
}

static void each_hole(struct checker *c, const struct space *s, const struct entry *e)
{
	for (size_t k = 0; k < key_attr_count(s->key); k++) {
		struct hole_visit v = { .space = s,
					.entry = e,
					.template = entry_key(s, e, k),
					.sort = k >= s->key->hash_count,
					.type = key_attr_at(s->key, k)->type };
		if (is_seen(c, s, e, v.template))
			continue;
		EACH (struct template_part, p, v.template->parts, v.template->part_count) {
			if (!p->names)
				continue;
			v.hole = p;
			v.attribute = hole_attribute(c, e->shape->entity, p);
			c->rule->hole(c, &v);
		}
	}
}

static void each_entry(struct checker *c)
{
	EACH (struct space, s, c->spaces, c->space_count)
		EACH (struct entry, x, s->entries, s->entry_count) {
			c->about = about_entity(c, x->shape->entity);
			if (c->rule->entry)
				c->rule->entry(c, s, x);
			if (c->rule->hole)
				each_hole(c, s, x);
		}
}

static void each_entity(struct checker *c)
{
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		c->about = about_entity(c, e);
		if (c->rule->entity)
			c->rule->entity(c, e);
		EACH (struct attribute, a, e->attributes, c->rule->attribute ? e->attribute_count : 0) {
			c->about = about_entity(c, e);
			c->rule->attribute(c, e, a);
		}
	}
}

static void run_rule(struct checker *c)
{
	const struct rule *rule = c->rule;
	c->about = about_space(c, &c->spaces[0]);
	if (rule->design)
		rule->design(c);
	if (rule->entry || rule->hole)
		each_entry(c);
	if (rule->entity || rule->attribute)
		each_entity(c);
	EACH (struct space, s, c->spaces + 1, rule->index ? c->space_count - 1 : 0) {
		c->about = about_space(c, s);
		rule->index(c, s);
	}
	EACH (struct reach, r, c->reaches, rule->access ? c->d->access_count : 0) {
		if (r->access->bound)
			continue;
		c->about = about_access(c, r->access);
		rule->access(c, r);
	}
	EACH (struct processor, p, c->d->processors, rule->processor ? c->d->processor_count : 0) {
		c->about = about_processor(c, p);
		rule->processor(c, p);
	}
}

static void run_rules(const struct design *d, struct findings *f, bool tells_accepted)
{
	struct map used;
	struct checker c = { .d = d, .f = f, .arena = f->arena, .used = &used, .tells_accepted = tells_accepted };
	map_init(&used, f->arena);
	check_model(&c);
	for (size_t k = 0; k < FAMILIES; k++)
		for (c.rule = families[k]; c.rule->name; c.rule++)
			run_rule(&c);
	findings_sort(f);
}

void design_check(const struct design *d, struct findings *f)
{
	run_rules(d, f, false);
}

void design_check_all(const struct design *d, struct findings *f)
{
	run_rules(d, f, true);
}
