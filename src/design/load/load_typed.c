/* What each term of a design has to be: a condition, a number, a value of some attribute.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "design/term/fits.h"
#include "design/load/load_type.h"

struct typed {
	struct load *l;
	struct map done; /* terms, by their address */
};

/* Rules of one `keys when` share their condition. */
static bool is_done(const struct typed *d, const struct term *t)
{
	return map_get(&d->done, slice_make(&t, sizeof(t))) != NULL;
}

/* Each term once, with what it is for. */
static struct typing typing_of(struct typed *d, const struct term *t, struct slice subject)
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
	y = typing_of(d, t, subject);
	type = type_of_term(&y, t);
	if (type.is && !(type.is & wanted))
		type_error(&y, t->place, "%s is expected, and this is %s", what, type_name(d->l->a, type.is));
}

static void condition(struct typed *d, const struct term *t, struct slice subject)
{
	expect(d, t, TYPE_BOOLEAN, "a condition", subject);
}

static void number(struct typed *d, const struct term *t, struct slice subject)
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
static bool can_be(const struct attribute *a, struct term_type wanted, struct term_type is)
{
	if (is.is & (TYPE_NULL | wanted.is)) {
		if (a->type == ATTR_ENUM && is.of && is.of->type == ATTR_ENUM)
			return shares_choice(a, is.of);
		return !((is.is & wanted.is) == TYPE_LIST || (is.is & wanted.is) == TYPE_SET) ||
		       type_comparable(wanted.element, is.element);
	}
	if (a->type == ATTR_TIMESTAMP)
		return is.is & TYPE_TEXT;
	if (a->type == ATTR_EPOCH)
		return is.is & TYPE_TIME; /* a time is turned into seconds */
	return (wanted.is & TYPE_TEXT) && (is.is & TYPE_STRING);
}

/* A literal that is normalised on its way in is not judged by what it is before. */
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

	if (is.is && !can_be(a, wanted, is))
		type_error(y, t->place, "%s is expected, and this is %s%s",
			   a->type == ATTR_EPOCH ? "a number of seconds" : type_name(y->l->a, wanted.is),
			   (is.is & wanted.is) ? "one of other values: " : "", type_name(y->l->a, is.is));
	else
		literal_fits(y, t, a);
}

static void value_of(struct typed *d, const struct term *t, const struct attribute *a, struct slice name)
{
	struct typing y;

	if (!t)
		return;
	y = typing_of(d, t, name);
	if (a)
		type_fits(&y, t, a);
	else
		(void)type_of_term(&y, t);
}

static void assignments(struct typed *d, const struct assignment *list, size_t count, const struct entity *e)
{
	for (size_t i = 0; i < count; i++)
		value_of(d, list[i].term, e ? entity_attribute(e, list[i].attribute) : NULL, list[i].attribute);
}

/* ---- other items ---- */
static void reference(struct typed *d, const struct reference *r)
{
	const struct entity *e = design_entity(d->l->d, r->entity);

	for (size_t i = 0; i < r->arg_count; i++) {
		const struct attribute *a = e && i < e->param_count ? entity_attribute(e, e->params[i]) : NULL;
		struct typing y = typing_of(d, r->args[i], SLICE(""));

		type_check_argument(&y, e, a, r->args[i]);
	}
}

static void requirements(struct typed *d, const struct requirement *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		reference(d, &list[i].target);
		condition(d, list[i].when, SLICE(""));
		condition(d, list[i].if_, SLICE(""));
	}
}

/* ---- entities ---- */
static void attribute(struct typed *d, const struct attribute *a)
{
	struct reference copied = attribute_source(a);

	if (a->derived) {
		struct typing y = typing_of(d, a->derived, a->name);

		(void)type_of_term(&y, a->derived);
	}
	if (a->default_)
		value_of(d, a->default_, a, a->name);
	if (a->copy_entity.n)
		reference(d, &copied);
	if (a->next)
		reference(d, a->next);
	condition(d, a->when, a->name);
}

static void companions(struct typed *d, const struct entity *e)
{
	for (size_t i = 0; i < e->companion_count; i++) {
		expect(d, e->companions[i].each_list, TYPE_LIST | TYPE_SET, "a list", SLICE(""));
		condition(d, e->companions[i].when, SLICE(""));
	}
}

static void actions(struct typed *d, const struct entity *e)
{
	for (size_t i = 0; i < e->action_count; i++) {
		const struct action *x = &e->actions[i];

		condition(d, x->when, SLICE(""));
		condition(d, x->allow, SLICE(""));
		assignments(d, x->set, x->set_count, e);
		for (size_t k = 0; k < x->add_count; k++)
			number(d, x->add[k].term, x->add[k].attribute);
		requirements(d, x->requires, x->require_count);
	}
	assignments(d, e->delete_.set, e->delete_.set_count, e);
}

static void entity(struct typed *d, const struct entity *e)
{
	for (size_t i = 0; i < e->attribute_count; i++)
		attribute(d, &e->attributes[i]);
	for (size_t i = 0; i < e->key_count; i++)
		condition(d, e->keys[i].when, SLICE(""));
	companions(d, e);
	for (size_t i = 0; i < e->count_count; i++) {
		reference(d, &e->counts[i].target);
		number(d, e->counts[i].by, e->counts[i].attribute);
		condition(d, e->counts[i].when, SLICE(""));
		condition(d, e->counts[i].if_, SLICE(""));
	}
	requirements(d, e->requires, e->require_count);
	for (size_t i = 0; i < e->check_count; i++)
		condition(d, e->checks[i].term, SLICE(""));
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		condition(d, e->allow[i], SLICE(""));
	actions(d, e);
	condition(d, e->login.when, SLICE(""));
}

/* ---- access patterns and processors ---- */
/* Parameters whose type the pattern says. */
static void parameters(struct typed *d, const struct assignment *with, size_t count, struct slice pattern)
{
	const struct access *a = design_access(d->l->d, pattern);

	for (size_t i = 0; i < count; i++) {
		const struct attribute *p = NULL;

		for (size_t k = 0; a && k < a->query_param_count; k++)
			if (slice_equal(a->query_params[k].name, with[i].attribute))
				p = &a->query_params[k];
		value_of(d, with[i].term, p, with[i].attribute);
	}
}

static void access(struct typed *d, const struct access *a)
{
	for (size_t i = 0; i < a->query_param_count; i++)
		if (a->query_params[i].default_)
			value_of(d, a->query_params[i].default_, &a->query_params[i], a->query_params[i].name);
	if (a->kind == ACCESS_GET && a->get.entity.n)
		reference(d, &a->get);
	condition(d, a->filter, SLICE(""));
	condition(d, a->allow, SLICE(""));
	condition(d, a->then.keep, SLICE(""));
	expect(d, a->range_list, TYPE_LIST | TYPE_SET, "a list", SLICE(""));
	parameters(d, a->merge_with, a->merge_with_count, a->merge_pattern);
	number(d, a->rank, SLICE(""));
}

static void processor(struct typed *d, const struct processor *p)
{
	for (size_t i = 0; i < p->let_count; i++)
		value_of(d, p->let[i].term, NULL, p->let[i].attribute);
	condition(d, p->when, SLICE(""));
	parameters(d, p->each_with, p->each_with_count, p->each_pattern);
	if (p->target_ref.entity.n)
		reference(d, &p->target_ref);
	number(d, p->by, p->target_attribute);
	if (p->effect == EFFECT_REMOVE_ALL)
		parameters(d, p->with, p->with_count, p->target);
	else
		assignments(d, p->with, p->with_count, design_entity(d->l->d, p->target));
}

/* ---- all of them ---- */
/* Terms of places that expect nothing in particular. */
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
	for (size_t i = 0; i < l->d->entity_count; i++) {
		load_subject(l, "entity", l->d->entities[i].name);
		entity(&d, &l->d->entities[i]);
	}
	for (size_t i = 0; i < l->d->access_count; i++) {
		load_subject(l, "access", l->d->accesses[i].name);
		access(&d, &l->d->accesses[i]);
	}
	for (size_t i = 0; i < l->d->processor_count; i++) {
		load_subject(l, "processor", l->d->processors[i].name);
		processor(&d, &l->d->processors[i]);
	}
	l->subject = SLICE("");
	the_rest(&d);
}
