/* Rules about terms and clauses that contradict themselves: conditions that never hold, comparisons with oneself,
 * values that are always refused or never used.
 *
 * A condition is taken apart into its cases, and each case into facts about single paths (`state = 'OPEN'`,
 * `priority > 7`). It never holds when in each case two facts exclude one another, or one excludes the type's range.
 * What is not understood may hold.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "design/check/check.h"

#define FACTS_MOST 32  /* paths of one case */
#define STEPS_MOST 500 /* of one condition; a longer one may hold */

/* What is known of a path. */
struct fact {
	struct slice path;
	double low, high;
	bool present, absent, is_true, is_false;
	struct slice equal, unequal; /* texts; empty: none */
};

struct holding {
	struct checker *c;
	const struct entity *of; /* whose attributes the paths are; NULL: not known */
	struct fact facts[FACTS_MOST];
	size_t count;
	int steps;
};

static struct slice printed(struct checker *c, const struct term *t)
{
	struct buf b;

	buf_init(&b, c->arena);
	term_print(&b, t);
	return buf_slice(&b);
}

/* The fact about a path; NULL: there are too many. */
static struct fact *fact_of(struct holding *h, const struct term *t)
{
	struct slice path = printed(h->c, t);
	const struct attribute *a = h->of && term_name(t) ? entity_attribute(h->of, *term_name(t)) : NULL;
	bool number = a && (a->type == ATTR_NUMBER || a->type == ATTR_INTEGER) && !a->derived;

	for (size_t i = 0; i < h->count; i++)
		if (slice_equal(h->facts[i].path, path))
			return &h->facts[i];
	if (h->count == FACTS_MOST)
		return NULL;
	h->facts[h->count] = (struct fact){ .path = path, .low = -INFINITY, .high = INFINITY };
	if (number && a->has_min)
		h->facts[h->count].low = a->min;
	if (number && a->has_max)
		h->facts[h->count].high = a->max;
	return &h->facts[h->count++];
}

static bool literal_number(const struct term *t, double *out)
{
	bool negative = t->kind == TERM_NEGATE;
	char text[NUMBER_TEXT_MAX];
	struct number n;

	if (negative)
		t = t->args[0];
	if (t->kind != TERM_LITERAL || value_type(t->value) != VALUE_N)
		return false;
	n = value_number(t->value);
	(void)number_format(&n, text);
	*out = (negative ? -1 : 1) * strtod(text, NULL);
	return true;
}

static bool is_text(const struct term *t)
{
	return t->kind == TERM_LITERAL && value_type(t->value) == VALUE_S;
}

/* Whether the facts of a path can be true together. */
static bool agrees(const struct fact *f)
{
	return !(f->present && f->absent) && !(f->is_true && f->is_false) && f->low <= f->high &&
	       !(f->equal.n && slice_equal(f->equal, f->unequal));
}

static bool add_number(struct fact *f, enum term_kind kind, double v)
{
	f->present = true;
	if (kind == TERM_EQ || kind == TERM_GE)
		f->low = fmax(f->low, v);
	if (kind == TERM_EQ || kind == TERM_LE)
		f->high = fmin(f->high, v);
	if (kind == TERM_GT)
		f->low = fmax(f->low, nextafter(v, INFINITY));
	if (kind == TERM_LT)
		f->high = fmin(f->high, nextafter(v, -INFINITY));
	return agrees(f);
}

static bool add_text(struct fact *f, enum term_kind kind, struct slice text)
{
	if (kind == TERM_NE) {
		f->unequal = text;
		return agrees(f);
	}
	if (kind != TERM_EQ)
		return true;
	f->present = true;
	if (f->equal.n && !slice_equal(f->equal, text))
		return false;
	f->equal = text;
	return agrees(f);
}

/* 3 < x is x > 3 */
static enum term_kind turned(enum term_kind kind)
{
	switch (kind) {
	case TERM_LT: return TERM_GT;
	case TERM_GT: return TERM_LT;
	case TERM_LE: return TERM_GE;
	case TERM_GE: return TERM_LE;
	default: return kind;
	}
}

static bool add_comparison(struct holding *h, const struct term *t)
{
	const struct term *path = t->args[0], *other = t->args[1];
	enum term_kind kind = t->kind;
	struct fact *f;
	double v;

	if (path->kind != TERM_PATH) {
		path = t->args[1];
		other = t->args[0];
		kind = turned(kind);
	}
	if (path->kind != TERM_PATH)
		return true;
	if (!is_text(other) && !literal_number(other, &v))
		return true;
	f = fact_of(h, path);
	if (!f)
		return true;
	return is_text(other) ? add_text(f, kind, value_bytes(other->value)) : kind == TERM_NE || add_number(f, kind, v);
}

static bool add_between(struct holding *h, const struct term *t)
{
	struct fact *f = t->args[0]->kind == TERM_PATH ? fact_of(h, t->args[0]) : NULL;
	double low, high;

	if (!f || !literal_number(t->args[1], &low) || !literal_number(t->args[2], &high))
		return true;
	return add_number(f, TERM_GE, low) && add_number(f, TERM_LE, high);
}

static bool add_presence(struct holding *h, const struct term *t, bool present)
{
	struct fact *f = t->args[0]->kind == TERM_PATH ? fact_of(h, t->args[0]) : NULL;

	if (!f)
		return true;
	f->present |= present;
	f->absent |= !present;
	return agrees(f);
}

/* An attribute alone holds if it is true; `not` of it also if it is absent. */
static bool add_flag(struct holding *h, const struct term *t, bool is_true)
{
	struct fact *f = fact_of(h, t);

	if (!f)
		return true;
	f->present |= is_true;
	f->is_true |= is_true;
	f->is_false |= !is_true;
	return agrees(f);
}

/* Whether the fact may hold beside those that are known, to which it is added. */
static bool add_fact(struct holding *h, const struct term *t)
{
	switch (t->kind) {
	case TERM_EQ:
	case TERM_NE:
	case TERM_LT:
	case TERM_LE:
	case TERM_GT:
	case TERM_GE: return add_comparison(h, t);
	case TERM_BETWEEN: return add_between(h, t);
	case TERM_PRESENT: return add_presence(h, t, true);
	case TERM_ABSENT: return add_presence(h, t, false);
	case TERM_PATH: return add_flag(h, t, true);
	case TERM_NOT: return t->args[0]->kind != TERM_PATH || add_flag(h, t->args[0], false);
	default: return true;
	}
}

/* Terms that must all hold. */
struct pending {
	const struct term *term;
	const struct pending *next;
};

/* x in ('a', 'b'): a case for each. */
static bool is_cases(const struct term *t)
{
	return t->kind == TERM_IN && t->args[0]->kind == TERM_PATH;
}

static bool may_hold(const struct holding *before, const struct pending *p);

static bool may_be_one_of(const struct holding *h, const struct term *t, const struct pending *rest)
{
	for (size_t i = 1; i < t->arg_count; i++) {
		const struct term *sides[] = { t->args[0], t->args[i] };
		struct term equal = { .kind = TERM_EQ, .args = sides, .arg_count = 2 };
		const struct pending p = { &equal, rest };

		if (may_hold(h, &p))
			return true;
	}
	return false;
}

static bool may_hold(const struct holding *before, const struct pending *p)
{
	struct holding h = *before;

	for (; p; p = p->next) {
		const struct term *t = p->term;

		if (--h.steps < 0)
			return true;
		if (t->kind == TERM_AND || t->kind == TERM_OR) {
			const struct pending b = { t->args[1], p->next }, a = { t->args[0], p->next };
			const struct pending both = { t->args[0], &b };

			h.steps /= 2;
			return t->kind == TERM_AND ? may_hold(&h, &both) : may_hold(&h, &a) || may_hold(&h, &b);
		}
		if (is_cases(t))
			return may_be_one_of(&h, t, p->next);
		if (!add_fact(&h, t))
			return false;
	}
	return true;
}

/* ---- conditions ---- */
static bool is_never(const void *ctx, const struct term *t)
{
	(void)ctx;
	return t->kind == TERM_NEVER;
}

/* `nobody` is meant. */
static void judge(struct checker *c, const struct entity *of, const struct term *t)
{
	struct holding h = { .c = c, .of = of, .steps = STEPS_MOST };
	const struct pending p = { t, NULL };

	if (!t || term_any(t, is_never, NULL) || may_hold(&h, &p))
		return;
	check_say(c, t->place, "this can never hold: %.*s", SLICE_ARG(printed(c, t)));
}

static void judge_requirements(struct checker *c, const struct entity *e, const struct requirement *list, size_t n)
{
	EACH (struct requirement, r, list, n) {
		judge(c, e, r->when);
		judge(c, r->target.to, r->if_);
	}
}

static void judge_also(struct checker *c, const struct entity *e, const struct also_rule *list, size_t n)
{
	EACH (struct also_rule, x, list, n)
		judge(c, e, x->when);
}

static void judge_action(struct checker *c, const struct entity *e, const struct action *x)
{
	judge(c, e, x->when);
	judge(c, e, x->allow);
	judge_requirements(c, e, x->requires, x->require_count);
	judge_also(c, e, x->also, x->also_count);
}

static void never_holds(struct checker *c, const struct entity *e)
{
	const struct term *last = NULL;

	for (size_t i = 0; i < ALLOW_VERBS; i++)
		judge(c, e, e->allow[i]);
	EACH (struct check_rule, k, e->checks, e->check_count)
		judge(c, e, k->term);
	EACH (struct key_rule, k, e->keys, e->key_count) {
		judge(c, e, k->when == last ? NULL : k->when);
		last = k->when;
	}
	EACH (struct attribute, a, e->attributes, e->attribute_count)
		judge(c, e, a->when);
	EACH (struct companion, k, e->companions, e->companion_count)
		judge(c, e, k->when);
	EACH (struct count_rule, k, e->counts, e->count_count) {
		judge(c, e, k->when);
		judge(c, k->target.to, k->if_);
	}
	judge_requirements(c, e, e->requires, e->require_count);
	judge_also(c, e, e->also, e->also_count);
	EACH (struct action, x, e->actions, e->action_count)
		judge_action(c, e, x);
}

static void filter_never_holds(struct checker *c, const struct reach *r)
{
	judge(c, r->access->of, r->access->filter);
	judge(c, NULL, r->access->allow);
}

static void processor_never_runs(struct checker *c, const struct processor *p)
{
	judge(c, p->of, p->when);
	judge(c, NULL, p->only_when);
}

/* ---- parts of conditions ---- */
static bool is_comparison(const struct term *t)
{
	return t->kind >= TERM_EQ && t->kind <= TERM_GE;
}

static void compare_one(void *ctx, const struct term *t)
{
	struct checker *c = ctx;

	if (is_comparison(t) && t->args[0]->kind == TERM_PATH &&
	    slice_equal(printed(c, t->args[0]), printed(c, t->args[1])))
		check_say(c, t->place, "%.*s is compared with itself", SLICE_ARG(printed(c, t->args[0])));
}

static void role_one(void *ctx, const struct term *t)
{
	struct checker *c = ctx;

	if (t->kind != TERM_EQ && t->kind != TERM_NE && t->kind != TERM_IN)
		return;
	for (size_t i = 0; i < t->arg_count; i++) {
		const struct term *x = t->args[i];

		if (t->args[i ? 0 : 1]->kind != TERM_CALLER || !is_text(x) ||
		    !slice_among(c->d->callers.roles, c->d->callers.role_count, value_bytes(x->value)))
			continue;
		check_say(c, t->place, "compares the caller's name with '%.*s', which is a role",
			  SLICE_ARG(value_bytes(x->value)));
		check_repair(c, "Write `caller is %.*s`.", SLICE_ARG(value_bytes(x->value)));
	}
}

static void walk_entity(struct checker *c, const struct entity *e, void (*visit)(void *ctx, const struct term *t))
{
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		if (e->allow[i])
			term_walk(e->allow[i], visit, c);
	EACH (struct check_rule, k, e->checks, e->check_count)
		term_walk(k->term, visit, c);
	EACH (struct action, x, e->actions, e->action_count) {
		if (x->when)
			term_walk(x->when, visit, c);
		if (x->allow)
			term_walk(x->allow, visit, c);
	}
}

static void compares_itself(struct checker *c, const struct entity *e)
{
	walk_entity(c, e, compare_one);
}

static void role_as_subject(struct checker *c, const struct entity *e)
{
	walk_entity(c, e, role_one);
}

/* ---- clauses ---- */
static void default_unused(struct checker *c, const struct entity *e, const struct attribute *a)
{
	(void)e;
	/* A managed attribute whose default is a term can be absent all the same. */
	if (a->required && a->default_ && (!a->managed || a->default_->kind == TERM_LITERAL))
		check_say(c, a->place, "%.*s is required, so clients never get its default", SLICE_ARG(a->name));
}

/* Whether `counts` of some entity move it, so that a recount is possible. */
static bool is_counted(const struct design *d, const struct entity *e, struct slice counter)
{
	EACH (struct entity, from, d->entities, d->entity_count)
		EACH (struct count_rule, k, from->counts, from->count_count)
			if (k->target.to == e && slice_equal(k->attribute, counter))
				return true;
	return false;
}

static void say_overwritten(struct checker *c, const struct entity *e, const struct assignment *list, size_t n)
{
	EACH (struct assignment, s, list, n) {
		const struct attribute *a = entity_attribute(e, s->attribute);

		if (a && a->counter && is_counted(c->d, e, a->name))
			check_say(c, s->place, "sets %.*s, which `counts` move", SLICE_ARG(a->name));
	}
}

/* What refers to the item, and its keys, rely on it. */
static void sets_fixed(struct checker *c, const struct entity *e)
{
	EACH (struct action, x, e->actions, e->action_count)
		EACH (struct assignment, s, x->set, x->creates ? 0 : x->set_count) {
			const struct attribute *a = entity_attribute(e, s->attribute);

			if (a && a->fixed)
				check_say(c, s->place, "'%.*s' sets %.*s, which is `fixed`", SLICE_ARG(x->name),
					  SLICE_ARG(a->name));
		}
}

/* Whoever finds the address may spoil it. */
static void anyone_may_change(struct checker *c, const struct entity *e)
{
	static const enum allow_verb verbs[] = { ALLOW_UPDATE, ALLOW_DELETE };

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const struct term *t = e->allow[verbs[i]];

		if (t && t->kind == TERM_ALWAYS && !e->internal) {
			check_say(c, t->place, "anyone may %s a %.*s, without a login", i ? "delete" : "change",
				  SLICE_ARG(e->name));
			return;
		}
	}
}

static void counter_overwritten(struct checker *c, const struct entity *e)
{
	EACH (struct action, x, e->actions, e->action_count)
		say_overwritten(c, e, x->set, x->set_count);
	say_overwritten(c, e, e->delete_.set, e->delete_.set_count);
}

static void input_refused(struct checker *c, const struct entity *e)
{
	EACH (struct action, x, e->actions, e->action_count)
		for (size_t i = 0; i < x->input_count; i++) {
			const struct attribute *a = entity_attribute(e, x->input[i]);

			if (a && (a->counter || (a->fixed && !x->creates)))
				check_say(c, x->place, "'%.*s' takes %.*s from the body, which %s", SLICE_ARG(x->name),
					  SLICE_ARG(a->name),
					  a->counter ? "moves with what it counts" : "is fixed and cannot change");
		}
}

const struct rule check_rules_hold[] = {
	{ "never-holds", SEVERITY_ERROR, "A condition that no item meets refuses everything, or does nothing.",
	  "Two of its parts exclude one another, or one excludes the attribute's range: correct one, or write `or`.",
	  .entity = never_holds, .access = filter_never_holds, .processor = processor_never_runs },
	{ "compares-itself", SEVERITY_WARNING, "It says nothing: the value is always equal to itself.",
	  "Compare with `old.…`, `input.…`, another attribute or a value.", .entity = compares_itself },
	{ "role-as-subject", SEVERITY_WARNING,
	  "`caller` is the caller's subject, such as a user's id. Somebody could register under that name.",
	  "Write `caller is admin`.", .entity = role_as_subject },
	{ "default-unused", SEVERITY_WARNING, "A client that leaves it out gets a 422.",
	  "Leave out `required` or `default`.", .attribute = default_unused },
	{ "counter-overwritten", SEVERITY_ERROR, "From then on it is not the number of what it counts.",
	  "Leave it out of `set`, or count in a counter that only actions and processors move.",
	  .entity = counter_overwritten },
	{ "sets-fixed", SEVERITY_WARNING, "What cannot change is relied on: by keys, copies and what refers to it.",
	  "Leave it out of `set`, or leave `fixed` out.", .entity = sets_fixed },
	{ "anyone-may-change", SEVERITY_WARNING, "Addresses are known or guessed, and what is gone is gone for all.",
	  "Say who: `update, delete: owner = caller`; if it is meant, accept it with the reason.",
	  .entity = anyone_may_change },
	{ "input-refused", SEVERITY_ERROR, "A request that gives another value is a 422.",
	  "Leave it out of `input`; an action that moves a counter says `add`.", .entity = input_refused },
	{ NULL },
};
