/* Facts about attributes and terms that hold for all data: can it be absent, negative, changed; is it public; can it
 * hold for such an item.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

/* ---- names ---- */

struct slice plain_name(struct arena *a, struct slice name)
{
	char *p = arena_alloc(a, name.n);
	size_t n = 0;
	for (size_t i = 0; i < name.n; i++) {
		char ch = name.p[i];
		if (ch != '_' && ch != '-')
			p[n++] = ch >= 'A' && ch <= 'Z' ? (char)(ch + 32) : ch;
	}
	return slice_make(p, n);
}

enum name_place { NAME_IS, NAME_ENDS, NAME_CONTAINS };

static bool name_fits(struct slice name, struct slice word, enum name_place place)
{
	if (word.n > name.n)
		return false;
	if (place == NAME_IS)
		return slice_equal(name, word);
	if (place == NAME_ENDS)
		return memcmp(name.p + name.n - word.n, word.p, word.n) == 0;
	return memmem(name.p, name.n, word.p, word.n) != NULL;
}

static bool any_word(struct arena *a, struct slice name, const char *words, enum name_place place)
{
	struct slice plain = plain_name(a, name);
	while (*words) {
		size_t n = strcspn(words, " ");
		if (n && name_fits(plain, slice_make(words, n), place))
			return true;
		words += n + (words[n] == ' ');
	}
	return false;
}

bool name_is(struct arena *a, struct slice name, const char *words)
{
	return any_word(a, name, words, NAME_IS);
}

bool name_ends(struct arena *a, struct slice name, const char *words)
{
	return any_word(a, name, words, NAME_ENDS);
}

/* created_at, createdAt, at; not seat or format. */
static bool ends_in_at(struct arena *a, struct slice name)
{
	const char *end = name.p + name.n;

	if (name.n <= 2)
		return slice_is(name, "at");
	return slice_is(slice_make(end - 3, 3), "_at") || slice_is(slice_make(end - 3, 3), "-at") ||
	       slice_is(slice_make(end - 2, 2), "At") || name_ends(a, name, "edat");
}

bool name_says_time(struct arena *a, struct slice name)
{
	return ends_in_at(a, name) || name_ends(a, name, "time date timestamp createdon updatedon");
}

bool name_contains(struct arena *a, struct slice name, const char *words)
{
	return any_word(a, name, words, NAME_CONTAINS);
}

/* ---- attributes ---- */

static const struct attribute *source_of(const struct attribute *a, int depth)
{
	if (!a || !a->copy_entity.n || depth > 8)
		return a;
	const struct attribute *from = entity_attribute(a->copy_of, a->copy_attribute);
	return from ? source_of(from, depth + 1) : a;
}

const struct attribute *hole_attribute(const struct checker *c, const struct entity *e, const struct template_part *hole)
{
	if (!hole || hole->name_count != 1)
		return NULL;
	return source_of(entity_attribute(e, hole->names[0]), 0);
}

bool attribute_is_time(const struct attribute *a)
{
	return a->type == ATTR_TIMESTAMP || a->now || a->touched;
}

bool is_parameter(const struct entity *e, struct slice name)
{
	return slice_among(e->params, e->param_count, name);
}

/* Whether the value is certainly above 0: an attribute whose range begins above it, or a sum of a positive number and
 * nothing negative. */
static bool is_above_zero(const struct entity *e, const struct term *t)
{
	const struct attribute *a = term_name(t) ? entity_attribute(e, *term_name(t)) : NULL;
	if (t->kind == TERM_LITERAL)
		return value_type(t->value) == VALUE_N && value_number(t->value).digits &&
		       !value_number(t->value).negative;
	if (t->kind == TERM_ADD)
		return is_above_zero(e, t->args[0]) || is_above_zero(e, t->args[1]);
	return a && a->has_min && a->min > 0;
}

/* A division by 0 is absent, too. */
static bool can_make_absent(const void *ctx, const struct term *t)
{
	const struct entity *e = ctx;
	const struct attribute *a = term_name(t) ? entity_attribute(e, *term_name(t)) : NULL;
	return (a && !a->derived && attribute_can_be_absent(e, a)) ||
	       (t->kind == TERM_DIV && t->args[1]->kind != TERM_LITERAL && !is_above_zero(e, t->args[1]));
}

bool attribute_can_be_absent(const struct entity *e, const struct attribute *a)
{
	if (a->when || a->derived)
		return a->when || term_any(a->derived, can_make_absent, e);
	return !(a->required || a->default_ || a->id || a->now || a->touched || a->counter || a->the_caller ||
		 a->copy_entity.n || a->after.n || a->next || is_parameter(e, a->name));
}

bool attribute_can_change(const struct attribute *a)
{
	return !(a->fixed || a->id || a->now || a->the_caller || a->counter || a->derived || a->copy_entity.n);
}

/* ---- can a number be negative ---- */

static bool term_can_be_negative(const struct checker *c, const struct entity *e, const struct term *t, int depth);

static bool counted_down(const struct checker *c, const struct entity *e, const struct attribute *a)
{
	EACH (struct entity, from, c->d->entities, c->d->entity_count)
		EACH (struct count_rule, r, from->counts, from->count_count)
			if (r->target.to == e && slice_equal(r->attribute, a->name) && r->by &&
			    term_can_be_negative(c, from, r->by, 0))
				return true;
	return false;
}

/* stock >= 0, perhaps with more after `and` */
static bool keeps_from_negative(const struct entity *e, const struct term *t, const struct attribute *a)
{
	if (t->kind == TERM_AND)
		return keeps_from_negative(e, t->args[0], a) || keeps_from_negative(e, t->args[1], a);
	if (t->kind != TERM_GE && t->kind != TERM_GT && t->kind != TERM_BETWEEN)
		return false;
	return term_name(t->args[0]) && entity_attribute(e, *term_name(t->args[0])) == a &&
	       t->args[1]->kind == TERM_LITERAL && value_type(t->args[1]->value) == VALUE_N &&
	       !value_number(t->args[1]->value).negative;
}

static bool checked_from_zero(const struct entity *e, const struct attribute *a)
{
	EACH (struct check_rule, r, e->checks, e->check_count)
		if (keeps_from_negative(e, r->term, a))
			return true;
	return false;
}

static bool can_be_negative(const struct checker *c, const struct entity *e, const struct attribute *a, int depth)
{
	if (a->derived)
		return term_can_be_negative(c, e, a->derived, depth);
	if (a->counter)
		return counted_down(c, e, a) && !checked_from_zero(e, a);
	if (a->type == ATTR_EPOCH || a->type == ATTR_TIMESTAMP)
		return false;
	return !a->has_min || a->min < 0;
}

bool attribute_can_be_negative(const struct checker *c, const struct entity *e, const struct attribute *a)
{
	return can_be_negative(c, e, a, 0);
}

static size_t count_negative(const struct checker *c, const struct entity *e, const struct term *t, int depth)
{
	size_t n = 0;
	for (size_t i = 0; i < t->arg_count; i++)
		n += term_can_be_negative(c, e, t->args[i], depth + 1);
	return n;
}

static bool term_can_be_negative(const struct checker *c, const struct entity *e, const struct term *t, int depth)
{
	if (depth > 12)
		return true;
	switch (t->kind) {
	case TERM_LITERAL: return value_type(t->value) == VALUE_N && value_number(t->value).negative;
	case TERM_PATH: {
		const struct attribute *a = t->member ? t->member : entity_attribute(e, t->names[t->name_count - 1]);
		return !a || can_be_negative(c, e, a, depth + 1);
	}
	case TERM_ADD:
	case TERM_MUL:
	case TERM_DIV: return count_negative(c, e, t, depth);
	case TERM_NEGATE:
	case TERM_SUB: return true;
	case TERM_CALL:
		return t->function == CALL_MAX   ? count_negative(c, e, t, depth) == t->arg_count
		       : t->function == CALL_SUM ? t->arg_count < 2 || term_can_be_negative(c, e, t->args[1], depth + 1)
						 : t->function == CALL_MIN && count_negative(c, e, t, depth);
	default: return false;
	}
}

/* ---- terms ---- */

static bool is_path_to(const void *attribute, const struct term *t)
{
	return t->kind == TERM_PATH && !t->member &&
	       slice_equal(t->names[t->name_count - 1], *(const struct slice *)attribute);
}

bool term_mentions(const struct term *t, struct slice attribute)
{
	return term_any(t, is_path_to, &attribute);
}

static bool is_old(const void *ctx, const struct term *t)
{
	(void)ctx;
	return t->kind == TERM_PATH && slice_is(t->names[0], "old");
}

bool term_mentions_old(const struct term *t)
{
	return term_any(t, is_old, NULL);
}

bool term_is_public(const struct design *d, const struct term *t)
{
	if (!t)
		return false;
	switch (t->kind) {
	case TERM_ALWAYS: return true;
	case TERM_IS_ROLE:
		return slice_is(t->name, "user") || (d->callers.role_count && slice_equal(t->name, d->callers.roles[0]));
	case TERM_OR: return term_is_public(d, t->args[0]) || term_is_public(d, t->args[1]);
	case TERM_AND: return term_is_public(d, t->args[0]) && term_is_public(d, t->args[1]);
	default: return false;
	}
}

static bool is_caller_is(const void *attribute, const struct term *t)
{
	for (size_t i = 0; t->kind == TERM_EQ && i < 2; i++)
		if (t->args[i]->kind == TERM_CALLER && term_any(t->args[1 - i], is_path_to, attribute))
			return true;
	return false;
}

bool term_binds_caller(const struct term *t, struct slice attribute)
{
	return term_any(t, is_caller_is, &attribute);
}

/* ---- can it hold for such an item ---- */

enum truth { TRUTH_NO, TRUTH_MAYBE, TRUTH_YES };

static enum truth truth_of(const struct checker *c, const struct term *t, const struct shape *s);

/* The literal that an attribute computed from a template without placeholders always is. */
static bool constant_of(const struct shape *s, struct slice attribute, struct slice *out)
{
	size_t n;
	const struct key_rule *rules = shape_rules(s, &n);
	EACH (struct key_rule, r, rules, n)
		if (slice_equal(r->attribute, attribute) && template_holes(r->template) == 0 && !r->when) {
			*out = template_prefix(r->template);
			return true;
		}
	return false;
}

static bool always_present(const struct shape *s, struct slice name)
{
	const struct attribute *a = s->companion ? NULL : entity_attribute(s->entity, name);
	struct slice unused;
	return constant_of(s, name, &unused) || (a && !attribute_can_be_absent(s->entity, a));
}

/* Whether the item certainly lacks the attribute, because its entity does not declare it. Parameters of the pattern
 * belong to no item, so only names that some item has are judged. */
static bool surely_absent(const struct checker *c, const struct shape *s, struct slice name)
{
	if (shape_has(s, name))
		return false;
	for (size_t i = 0; i < c->shape_count; i++)
		if (shape_has(&c->shapes[i], name))
			return true;
	return false;
}

static enum truth compare_truth(const struct checker *c, const struct term *t, const struct shape *s)
{
	const struct slice *name = term_name(t->args[0]);
	if (!name)
		return TRUTH_MAYBE;
	if (surely_absent(c, s, *name))
		return t->kind == TERM_NE ? TRUTH_YES : TRUTH_NO;
	struct slice is;
	if (!constant_of(s, *name, &is) || (t->kind != TERM_EQ && t->kind != TERM_NE && t->kind != TERM_IN))
		return TRUTH_MAYBE;
	for (size_t i = 1; i < t->arg_count; i++) {
		const struct term *x = t->args[i];
		if (x->kind != TERM_LITERAL || value_type(x->value) != VALUE_S)
			return TRUTH_MAYBE;
		if (slice_equal(value_bytes(x->value), is))
			return t->kind == TERM_NE ? TRUTH_NO : TRUTH_YES;
	}
	return t->kind == TERM_NE ? TRUTH_YES : TRUTH_NO;
}

static enum truth presence_truth(const struct checker *c, const struct term *t, const struct shape *s)
{
	const struct slice *name = term_name(t->args[0]);
	enum truth present = TRUTH_MAYBE;
	if (name && surely_absent(c, s, *name))
		present = TRUTH_NO;
	else if (name && always_present(s, *name))
		present = TRUTH_YES;
	return t->kind == TERM_PRESENT ? present : (enum truth)(TRUTH_YES - present);
}

static enum truth truth_of(const struct checker *c, const struct term *t, const struct shape *s)
{
	enum truth x, y;
	switch (t->kind) {
	case TERM_ALWAYS: return TRUTH_YES;
	case TERM_NEVER: return TRUTH_NO;
	case TERM_AND:
	case TERM_OR:
		x = truth_of(c, t->args[0], s);
		y = truth_of(c, t->args[1], s);
		return (x < y) == (t->kind == TERM_AND) ? x : y;
	case TERM_NOT: return (enum truth)(TRUTH_YES - truth_of(c, t->args[0], s));
	case TERM_PRESENT:
	case TERM_ABSENT: return presence_truth(c, t, s);
	case TERM_EQ:
	case TERM_NE:
	case TERM_LT:
	case TERM_LE:
	case TERM_GT:
	case TERM_GE:
	case TERM_IN:
	case TERM_BETWEEN:
	case TERM_BEGINS:
	case TERM_CONTAINS: return compare_truth(c, t, s);
	default: return TRUTH_MAYBE;
	}
}

bool term_can_hold(const struct checker *c, const struct term *t, const struct shape *s)
{
	return truth_of(c, t, s) != TRUTH_NO;
}
