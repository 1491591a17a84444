/* Checks each term of a design against its place: a condition, a number, a value of some attribute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/term/fits.h"
#include "design/load/after/load_type.h"

struct typed {
	struct load *l;
	struct map done; /* terms, by their address */
};

/* Rules of one `keys when` share their condition. */
static bool is_done(const struct typed *d, const struct term *t)
{
	return map_get(&d->done, slice_make(&t, sizeof(t))) != NULL;
}

/* Notes that the term is done, and makes what its typing needs. `subject`: what it is for. */
static struct typing begin_typing(struct typed *d, const struct term *t, struct slice subject)
{
	map_set(&d->done, arena_copy(d->l->a, slice_make(&t, sizeof(t))), d);
	return (struct typing){ .l = d->l, .scope = load_term_scope(d->l, t), .subject_of = subject };
}

static void expect(struct typed *d, const struct term *t, unsigned wanted, const char *what, struct slice subject)
{
	struct typing y;
	struct term_type type;

	if (!t || is_done(d, t))
		return;
	y = begin_typing(d, t, subject);
	type = type_of_term(&y, t);
	if (type.is && !(type.is & wanted))
		type_error(&y, t->place, "%s is expected, and this is %s", what, type_name(d->l->a, type.is));
}

static void expect_condition(struct typed *d, const struct term *t, struct slice subject)
{
	expect(d, t, TYPE_BOOLEAN, "a condition", subject);
}

static void expect_number(struct typed *d, const struct term *t, struct slice subject)
{
	expect(d, t, TYPE_NUMBER, "a number", subject);
}

/* ---- values of attributes ---- */
static bool shares_choice(const struct attribute *x, const struct attribute *y)
{
	for (size_t i = 0; i < x->choice_count; i++)
		if (slice_among(y->choices, y->choice_count, x->choices[i]))
			return true;
	return false;
}

/* Whether a value of the type may be one of the attribute: some can be seen only when there is one. */
static bool can_be_value_of(const struct attribute *a, struct term_type wanted, struct term_type is)
{
	if (is.is & (TYPE_NULL | wanted.is)) {
		if (a->type == ATTR_ENUM && is.of && is.of->type == ATTR_ENUM)
			return shares_choice(a, is.of);
		return !((is.is & wanted.is) == TYPE_LIST || (is.is & wanted.is) == TYPE_SET) ||
		       type_comparable(wanted.element, is.element);
	}
	if (a->type == ATTR_TIMESTAMP)
		return is.is & (TYPE_TEXT | TYPE_MOMENT); /* stored in the attribute's unit */
	if (a->type == ATTR_EPOCH)
		return is.is & TYPE_MOMENT; /* a time is turned into seconds */
	return (wanted.is & TYPE_TEXT) && (is.is & TYPE_STRING);
}

/* A literal that is normalised when it is stored is not checked in its original form. */
static void literal_fits(struct typing *y, const struct term *t, const struct attribute *a)
{
	char room[FITS_TEXT_MAX];
	const char *why;

	if (t->kind == TERM_LITERAL && !a->lower && a->type != ATTR_ENUM && !attribute_fits(a, t->value, room, &why))
		type_error(y, t->place, "%s is expected", why);
}

/* Reports a value that can never be one of the attribute. */
static void type_fits(struct typing *y, const struct term *t, const struct attribute *a)
{
	struct term_type is = type_of_term(y, t), wanted = type_of_attribute(a);

	if (is.is && !can_be_value_of(a, wanted, is))
		type_error(y, t->place, "%s is expected, and this is %s%s",
			   a->type == ATTR_EPOCH ? "a number of seconds" : type_name(y->l->a, wanted.is),
			   (is.is & wanted.is) ? "one of other values: " : "", type_name(y->l->a, is.is));
	else
		literal_fits(y, t, a);
	if (a->fine && a->type == ATTR_TIMESTAMP)
		type_refine(y, t);
}

static void type_value(struct typed *d, const struct term *t, const struct attribute *a, struct slice name)
{
	struct typing y;

	if (!t)
		return;
	y = begin_typing(d, t, name);
	if (a)
		type_fits(&y, t, a);
	else
		(void)type_of_term(&y, t);
}

static void type_assignments(struct typed *d, const struct assignment *list, size_t count, const struct entity *e)
{
	EACH (struct assignment, s, list, count)
		type_value(d, s->term, e ? entity_attribute(e, s->attribute) : NULL, s->attribute);
}

/* ---- other items ---- */
static void type_reference(struct typed *d, const struct reference *r)
{
	const struct entity *e = r->to;

	for (size_t i = 0; i < r->arg_count; i++) {
		const struct attribute *a = e && i < e->param_count ? entity_attribute(e, e->params[i]) : NULL;
		struct typing y = begin_typing(d, r->args[i], SLICE(""));

		type_check_argument(&y, e, a, r->args[i]);
	}
}

static void type_each(struct typed *d, const struct each_rule *each)
{
	expect(d, each->list, TYPE_LIST | TYPE_SET, "a list", SLICE(""));
}

static void type_requirements(struct typed *d, const struct requirement *list, size_t count)
{
	EACH (struct requirement, r, list, count) {
		type_each(d, &r->each);
		type_reference(d, &r->target);
		expect_condition(d, r->when, SLICE(""));
		expect_condition(d, r->if_, SLICE(""));
	}
}

/* ---- entities ---- */
static void type_attribute(struct typed *d, const struct attribute *a)
{
	struct reference copied = attribute_source(a);

	if (a->derived) {
		struct typing y = begin_typing(d, a->derived, a->name);

		(void)type_of_term(&y, a->derived);
	}
	type_value(d, a->default_, a, a->name);
	type_reference(d, &copied);
	if (a->next)
		type_reference(d, a->next);
	expect_condition(d, a->when, a->name);
}

static void type_also(struct typed *d, const struct also_rule *list, size_t count)
{
	EACH (struct also_rule, x, list, count) {
		type_each(d, &x->each);
		expect_condition(d, x->when, SLICE(""));
		if (x->kind != ALSO_PUT)
			type_reference(d, &x->to_ref);
		type_assignments(d, x->with, x->with_count, x->to);
		EACH (struct assignment, add, x->add, x->add_count)
			expect_number(d, add->term, add->attribute);
	}
}

static void type_actions(struct typed *d, const struct entity *e)
{
	EACH (struct action, x, e->actions, e->action_count) {
		expect_condition(d, x->when, SLICE(""));
		expect_condition(d, x->allow, SLICE(""));
		type_assignments(d, x->set, x->set_count, e);
		EACH (struct assignment, add, x->add, x->add_count)
			expect_number(d, add->term, add->attribute);
		type_requirements(d, x->requires, x->require_count);
		type_also(d, x->also, x->also_count);
	}
	type_also(d, e->also, e->also_count);
	type_assignments(d, e->delete_.set, e->delete_.set_count, e);
}

/* 30 days after created_at */
static void check_after(struct typed *d, const struct entity *e, const struct attribute *a)
{
	const struct attribute *of = a->after.n ? entity_attribute(e, a->after) : NULL;

	if (of && type_of_attribute(of).is && !(type_of_attribute(of).is & TYPE_MOMENT))
		load_error(d->l, a->place, "wrong-type", "'%.*s' is %s, and only a time has a time after it",
			   SLICE_ARG(of->name), type_name(d->l->a, type_of_attribute(of).is))
			->repair = SLICE("name a timestamp, as in 30 days after created_at");
}

struct counter_search {
	const struct entity *e;
	bool found;
};

static void look_for_counter(void *ctx, const struct term *t)
{
	struct counter_search *x = ctx;

	if (t->kind != TERM_PATH || t->of != TERM_OF_ITEM)
		return;
	EACH (struct attribute, a, x->e->attributes, x->e->attribute_count)
		x->found |= a->counter && (slice_equal(a->name, t->names[0]) || slice_equal(a->group, t->names[0]));
}

static void type_check_rule(struct typed *d, const struct entity *e, struct check_rule *c)
{
	struct counter_search x = { e, false };

	expect_condition(d, c->term, SLICE(""));
	term_walk(c->term, look_for_counter, &x);
	c->of_counter = x.found;
}

static void type_entity(struct typed *d, const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		type_attribute(d, a);
		check_after(d, e, a);
	}
	EACH (struct key_rule, k, e->keys, e->key_count)
		expect_condition(d, k->when, SLICE(""));
	EACH (struct companion, c, e->companions, e->companion_count) {
		expect(d, c->each_list, TYPE_LIST | TYPE_SET, "a list", SLICE(""));
		expect_condition(d, c->when, SLICE(""));
	}
	EACH (struct count_rule, c, e->counts, e->count_count) {
		type_each(d, &c->each);
		type_reference(d, &c->target);
		expect_number(d, c->by, c->attribute);
		expect_condition(d, c->when, SLICE(""));
		expect_condition(d, c->if_, SLICE(""));
	}
	type_requirements(d, e->requires, e->require_count);
	for (size_t i = 0; i < e->check_count; i++)
		type_check_rule(d, e, OURS(struct check_rule, &e->checks[i]));
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		expect_condition(d, e->allow[i], SLICE(""));
	type_actions(d, e);
	expect_condition(d, e->login.when, SLICE(""));
}

/* ---- access patterns and processors ---- */
/* Parameters whose type the pattern says. */
static void type_parameters(struct typed *d, const struct assignment *list, size_t count, const struct access *a)
{
	EACH (struct assignment, with, list, count) {
		const struct attribute *found = NULL;

		EACH (struct attribute, p, a->query_params, a->query_param_count)
			if (slice_equal(p->name, with->attribute))
				found = p;
		type_value(d, with->term, found, with->attribute);
	}
}

static void type_access(struct typed *d, const struct access *a)
{
	EACH (struct attribute, p, a->query_params, a->query_param_count)
		type_value(d, p->default_, p, p->name);
	if (a->kind == ACCESS_GET && a->get.entity.n)
		type_reference(d, &a->get);
	expect_condition(d, a->filter, SLICE(""));
	expect_condition(d, a->allow, SLICE(""));
	expect_condition(d, a->then.keep, SLICE(""));
	expect(d, a->range_list, TYPE_LIST | TYPE_SET, "a list", SLICE(""));
	type_parameters(d, a->merge_with, a->merge_with_count, a->merge_run);
	expect_number(d, a->rank, SLICE(""));
}

/* The first attribute is compared; all of them are set. */
static void type_extreme(struct typed *d, const struct processor *p, const struct extreme *x)
{
	const struct entity *e = p->target_entity ? p->target_entity : p->target_ref.to;
	const struct attribute *a = e ? entity_attribute(e, x->list[0].attribute) : NULL;

	type_assignments(d, x->list, x->count, e);
	if (a && !(type_of_attribute(a).is & TYPE_ORDERED))
		load_error(d->l, x->list[0].place, "wrong-type",
			   "'%.*s' has no order, so nothing is the highest or lowest", SLICE_ARG(a->name));
}

static void type_processor(struct typed *d, const struct processor *p)
{
	type_assignments(d, p->let, p->let_count, NULL);
	expect_condition(d, p->when, SLICE(""));
	expect_condition(d, p->only_when, SLICE(""));
	expect(d, p->each_list, TYPE_LIST | TYPE_SET, "a list", SLICE(""));
	EACH (struct assignment, add, p->add, p->add_count)
		expect_number(d, add->term, add->attribute);
	EACH (struct extreme, x, p->extremes, p->extreme_count)
		type_extreme(d, p, x);
	type_parameters(d, p->each_with, p->each_with_count, p->rows_access);
	if (p->target_ref.entity.n)
		type_reference(d, &p->target_ref);
	expect_number(d, p->by, p->target_attribute);
	if (p->effect == EFFECT_REMOVE_ALL)
		type_parameters(d, p->with, p->with_count, p->target_access);
	else
		type_assignments(d, p->with, p->with_count, p->target_entity ? p->target_entity : p->target_ref.to);
}

/* ---- all of them ---- */
/* Checks terms in places that take any type. */
static void the_rest(struct typed *d)
{
	for (size_t i = 0; d->l->scopes && i < d->l->scopes->n; i++) {
		const struct map_entry *e = &d->l->scopes->entries[i];
		struct typing y = { .l = d->l, .scope = e->value };
		const struct term *t;

		if (map_get(&d->done, e->key))
			continue;
		memcpy(&t, e->key.p, sizeof(t));
		(void)type_of_term(&y, t);
	}
}

void load_types(struct load *l)
{
	struct typed d = { .l = l };

	map_init(&d.done, l->a);
	EACH (struct entity, e, l->d->entities, l->d->entity_count) {
		load_subject(l, "entity", e->name);
		type_entity(&d, e);
	}
	EACH (struct access, a, l->d->accesses, l->d->access_count) {
		load_subject(l, "access", a->name);
		type_access(&d, a);
	}
	EACH (struct processor, p, l->d->processors, l->d->processor_count) {
		load_subject(l, "processor", p->name);
		type_processor(&d, p);
	}
	l->subject = SLICE("");
	the_rest(&d);
	for (const struct load_template *t = l->templates; t; t = t->next)
		type_check_template(l, t);
}
