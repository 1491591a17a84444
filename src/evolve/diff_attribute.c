/* Attributes of an entity in both designs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "evolve/diff_internal.h"

/* NULL: it is new. */
static const struct attribute *attribute_before(const struct entity *before, const struct attribute *a)
{
	const struct attribute *was = a->was.n ? entity_attribute(before, a->was) : NULL;

	return was ? was : entity_attribute(before, a->name); /* a `was` of an earlier change may still be written */
}

/* what is known of one attribute so far: the most that has to be done, and the reasons */
struct verdict {
	struct differ *x;
	const struct diff_pair *p;
	enum diff_need need;
	struct buf means;
};

static void judge(struct verdict *v, enum diff_need need, const char *why)
{
	buf_printf(&v->means, "%s%s", v->means.n ? "; " : "", why);
	if (need > v->need)
		v->need = need;
}

/* Whether the server makes the value from the item, or from others, at each write. */
static bool is_made(const struct attribute *a)
{
	return a->derived || a->copy_of || a->after.n;
}

/* ---- one that is new ---- */
static void judge_added(struct verdict *v, const struct attribute *a)
{
	if (is_made(a))
		judge(v, DIFF_REWRITE, "is computed for the items that are there");
	else if (a->counter && !a->sequence)
		judge(v, DIFF_COUNT, "is counted from the items that are there");
	else if (a->sequence)
		judge(v, DIFF_NOTHING, "starts at 0; numbers that were given otherwise are not known to it");
	else if (a->next)
		judge(v, DIFF_JUDGE, "items that are there have no number");
	else if (a->default_)
		judge(v, DIFF_REWRITE, "items that are there get the default");
	else if (a->required)
		judge(v, DIFF_JUDGE, "items that are there lack it, and it has no default");
	else
		judge(v, DIFF_NOTHING, "items that are there go on without it");
	if (a->unique && a->default_)
		judge(v, DIFF_GUARD, "the default cannot be unique");
}

/* ---- one that was there ---- */
static bool same_source(const struct verdict *v, const struct attribute *was, const struct attribute *is)
{
	if (!was->copy_of || !is->copy_of)
		return was->copy_of == is->copy_of;
	if (diff_entity_before(v->x->before, is->copy_of) != was->copy_of ||
	    attribute_before(was->copy_of, entity_attribute(is->copy_of, is->copy_attribute)) !=
		    entity_attribute(was->copy_of, was->copy_attribute) ||
	    was->copy_arg_count != is->copy_arg_count || was->kept_by.n != is->kept_by.n)
		return false;
	for (size_t i = 0; i < is->copy_arg_count; i++)
		if (!diff_same_term(v->x, v->p, was->copy_args[i], is->copy_args[i]))
			return false;
	return diff_same_term(v->x, v->p, was->copy_if, is->copy_if);
}

static bool same_time(const struct verdict *v, const struct attribute *was, const struct attribute *is)
{
	return slice_equal(diff_renamed(v->x, v->p, was->after), is->after) && was->after_seconds == is->after_seconds;
}

/* How the server makes it. */
static void judge_made(struct verdict *v, const struct attribute *was, const struct attribute *is)
{
	if (is->derived ? !diff_same_term(v->x, v->p, was->derived, is->derived) : was->derived && is_made(is))
		judge(v, DIFF_REWRITE, "is computed again");
	if (is->copy_of && !same_source(v, was, is))
		judge(v, DIFF_REWRITE, "is copied again");
	if (is->after.n && !same_time(v, was, is))
		judge(v, DIFF_REWRITE, "its time is set again");
	if (!diff_same_term(v->x, v->p, was->when, is->when))
		judge(v, DIFF_REWRITE, "is set or removed by its new condition");
	if (is_made(was) && !is_made(is))
		judge(v, DIFF_NOTHING, "keeps its last value, and is no longer computed");
	if (is->counter && !was->counter)
		judge(v, DIFF_COUNT, "is counted from the items that are there");
	if (was->counter && !is->counter)
		judge(v, DIFF_NOTHING, "keeps its last number, and is no longer counted");
}

static void judge_type(struct verdict *v, const struct attribute *was, const struct attribute *is)
{
	const char *why = "";
	struct slice some;

	switch (diff_type(was, is, &why)) {
	case FIT_SAME: break;
	case FIT_OTHER:
		if (!is_made(is) && !is->counter)
			judge(v, DIFF_CONVERT, "stored values are converted, and those that cannot be are reported");
		break;
	case FIT_SOME:
		some = arena_printf(v->x->a, "%s is reported", why);
		if (!is_made(is))
			judge(v, DIFF_JUDGE, arena_cstr(v->x->a, some));
	}
}

/* Whether what the attribute names must exist. */
static bool asks(const struct attribute *a)
{
	return a->refers && !a->may_be_missing;
}

/* Clauses. */
static void judge_clauses(struct verdict *v, const struct attribute *was, const struct attribute *is)
{
	if (is->lower && !was->lower)
		judge(v, DIFF_CONVERT, "values become lower case, with the keys and guards made of them");
	if (is->from_key && !was->from_key)
		judge(v, DIFF_CONVERT, "is read from the key, and the stored value removed");
	if (was->from_key && !is->from_key)
		judge(v, DIFF_CONVERT, "is stored as well as being in the key");
	if (is->required && !was->required && is->default_)
		judge(v, DIFF_REWRITE, "items without it get the default");
	if (is->required && !was->required && !is->default_)
		judge(v, DIFF_JUDGE, "items without it are reported");
	if (asks(is) && !(asks(was) && diff_entity_before(v->x->before, is->refers->to) == was->refers->to))
		judge(v, DIFF_JUDGE, "items that name nothing are reported");
	if (is->unique && !was->unique)
		judge(v, DIFF_GUARD, "items with the same value are reported");
}

static void compare(struct differ *x, const struct diff_pair *p, const struct attribute *was, const struct attribute *is)
{
	struct slice subject = arena_printf(x->a, "%.*s.%.*s", SLICE_ARG(p->to->name), SLICE_ARG(is->name));
	const struct yaml *old =
		diff_word(diff_word(p->was, SLICE("attributes")), was->group.n ? was->group : was->name);
	const struct yaml *new = diff_word(diff_word(p->is, SLICE("attributes")), is->group.n ? is->group : is->name);
	struct verdict v = { .x = x, .p = p };
	bool renamed = !slice_equal(was->name, is->name);
	struct diff_change *c;

	buf_init(&v.means, x->a);
	if (renamed)
		judge(&v, DIFF_CONVERT, "is stored under its new name");
	judge_type(&v, was, is);
	judge_made(&v, was, is);
	judge_clauses(&v, was, is);
	if (!v.means.n && diff_same_now(x, p, old, new))
		return;
	c = diff_add_both(x, v.need, subject, old, new);
	if (renamed) {
		c->act = DIFF_RENAMED;
		c->was = arena_printf(x->a, "%.*s: %.*s", SLICE_ARG(was->name), SLICE_ARG(c->was));
		c->is = arena_printf(x->a, "%.*s: %.*s", SLICE_ARG(is->name), SLICE_ARG(c->is));
	}
	c->from = p->from, c->to = p->to;
	c->means = v.means.n ? buf_slice(&v.means) : SLICE("holds for what is written from now on");
	c->place = is->place;
}

static void added(struct differ *x, const struct diff_pair *p, const struct attribute *is)
{
	struct verdict v = { .x = x, .p = p };
	struct diff_change *c;

	buf_init(&v.means, x->a);
	judge_added(&v, is);
	c = diff_add_both(x, v.need, arena_printf(x->a, "%.*s.%.*s", SLICE_ARG(p->to->name), SLICE_ARG(is->name)), NULL,
			  diff_word(diff_word(p->is, SLICE("attributes")), is->group.n ? is->group : is->name));
	c->from = p->from, c->to = p->to;
	c->means = buf_slice(&v.means);
	c->place = is->place;
}

static void removed(struct differ *x, const struct diff_pair *p, const struct attribute *was)
{
	struct diff_change *c;

	c = diff_add_both(x, was->from_key ? DIFF_NOTHING : DIFF_REWRITE,
			  arena_printf(x->a, "%.*s.%.*s", SLICE_ARG(p->to->name), SLICE_ARG(was->name)),
			  diff_word(diff_word(p->was, SLICE("attributes")), was->group.n ? was->group : was->name),
			  NULL);
	c->from = p->from, c->to = p->to;
	c->means = was->from_key ? SLICE("was only read from the key")
				 : SLICE("stored values are removed, with the keys and guards made of them");
	c->place = was->place;
}

void diff_attributes(struct differ *x, const struct diff_pair *p)
{
	EACH (struct attribute, a, p->to->attributes, p->to->attribute_count) {
		const struct attribute *was = attribute_before(p->from, a);

		if (was)
			compare(x, p, was, a);
		else
			added(x, p, a);
	}
	EACH (struct attribute, a, p->from->attributes, p->from->attribute_count) {
		bool stays = false;

		EACH (struct attribute, b, p->to->attributes, p->to->attribute_count)
			stays = stays || attribute_before(p->from, b) == a;
		if (!stays)
			removed(x, p, a);
	}
}
