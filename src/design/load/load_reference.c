/* Attributes that are references: each becomes a requirement, and has the type of what it names.
 *
 * `author: reference to User` requires `User(author) when author is present`. So the runtime, the effects and the
 * review know one thing, the requirement; its `of` says that a reference made it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

/* Each element is an action of the transaction, beside the others. */
#define ELEMENTS_MOST 90
/* References to references; a circle that does not come back to where it began is reported where it does. */
#define STEPS_MOST 64

static struct term *new_path(struct load *l, struct slice name, struct place p)
{
	struct term *t = arena_new(l->a, struct term);
	struct slice *names = arena_new(l->a, struct slice);

	*names = name;
	*t = (struct term){ .kind = TERM_PATH, .place = p, .names = names, .name_count = 1 };
	load_names_of_term(l, t);
	return t;
}

/* author is present */
static const struct term *is_present(struct load *l, const struct entity *e, const struct attribute *a)
{
	const struct term **args = arena_array(l->a, const struct term *, 1);
	struct term *t = arena_new(l->a, struct term);

	args[0] = new_path(l, a->name, a->place);
	*t = (struct term){ .kind = TERM_PRESENT, .place = a->place, .args = args, .arg_count = 1 };
	load_keep_scope(l, t, load_scope_of(l, e));
	return t;
}

/* for: tags[] in tags. No name that is written has brackets, so the variable hides nothing. */
static struct each_rule each_of(struct load *l, const struct entity *e, const struct attribute *a)
{
	struct each_rule each = { .variable = arena_printf(l->a, "%.*s[]", SLICE_ARG(a->name)) };

	each.list = new_path(l, a->name, a->place);
	load_keep_scope(l, each.list, load_scope_of(l, e));
	return each;
}

/* Tag(tags) becomes Tag(tags[]). */
static void name_elements(struct load *l, const struct entity *e, const struct attribute *a, struct slice variable)
{
	const struct term **args = arena_array(l->a, const struct term *, a->refers->arg_count);
	struct load_scope *scope = load_scope_of(l, e);

	scope->variable = variable;
	for (size_t i = 0; i < a->refers->arg_count; i++)
		args[i] = a->refers->args[i];
	args[a->refers_part] = new_path(l, variable, a->refers->place);
	load_keep_scope(l, args[a->refers_part], scope);
	OURS(struct reference, a->refers)->args = args;
}

/* An identity that is a reference to itself, perhaps by way of others, has no type. */
static bool is_circle(const struct attribute *a)
{
	const struct attribute *x = attribute_referred(a);

	for (int steps = 0; x && x != a && steps < STEPS_MOST; steps++)
		x = attribute_referred(x);
	return x == a;
}

static void check_reference(struct load *l, const struct entity *e, const struct attribute *a)
{
	const struct entity *to = a->refers->to;
	bool many = attribute_has_references(a);

	if (is_circle(a))
		load_error(l, a->place, "circle", "'%.*s' of %.*s names itself", SLICE_ARG(a->name), SLICE_ARG(e->name));
	if (a->tree && !many && to != e)
		load_error(l, a->refers->place, "wrong-value", "in a tree the parent is %s %.*s, too, not a %.*s",
			   strchr("AEIO", e->name.p[0]) ? "an" : "a", SLICE_ARG(e->name), SLICE_ARG(to->name));
	if (many && !a->may_be_missing && (!a->has_max || a->max > ELEMENTS_MOST))
		load_error(l, a->place, "out-of-range",
			   "each element is checked in the transaction that writes it: at most %d", ELEMENTS_MOST)
			->repair = arena_printf(l->a, "as in list of reference to %.*s 0..20", SLICE_ARG(to->name));
	if (to->found_by.n && !a->may_be_missing)
		load_error(l, a->refers->place, "wrong-value",
			   "a %.*s is found by a pattern, so a write cannot ask whether it exists", SLICE_ARG(to->name))
			->repair = SLICE("add 'may be missing'");
}

static size_t count_references(const struct entity *e)
{
	size_t n = 0;

	EACH (struct attribute, a, e->attributes, e->attribute_count)
		n += a->refers && a->refers->to;
	return n;
}

static void make_requirements(struct load *l, struct entity *e)
{
	size_t n = e->require_count;
	struct requirement *list = arena_array(l->a, struct requirement, n + count_references(e));

	if (n)
		memcpy(list, e->requires, n * sizeof(*list));
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		struct each_rule each = { 0 };

		if (!a->refers || !a->refers->to || a->refers_part >= a->refers->arg_count)
			continue;
		check_reference(l, e, a);
		if (attribute_has_references(a)) {
			each = each_of(l, e, a);
			name_elements(l, e, a, each.variable);
		}
		if (!a->may_be_missing)
			list[n++] = (struct requirement){ .target = *a->refers,
							  .each = each,
							  .when = each.list ? NULL : is_present(l, e, a),
							  .of = a };
	}
	e->requires = list;
	e->require_count = n;
}

void load_make_references(struct load *l)
{
	for (size_t i = 0; i < l->d->entity_count; i++) {
		load_subject(l, "entity", l->entities[i].name);
		make_requirements(l, &l->entities[i]);
	}
	l->subject = SLICE("");
}
