/* The items a design can have, where each is in the table and the indexes, and which of them each access pattern
 * reaches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/grow.h"
#include "design/check/check.h"

/* ---- shapes ---- */

const struct key_rule *shape_rules(const struct shape *s, size_t *count)
{
	*count = s->companion ? s->companion->rule_count : s->entity->key_count;
	return s->companion ? s->companion->rules : s->entity->keys;
}

bool shape_has(const struct shape *s, struct slice attribute)
{
	size_t n;
	const struct key_rule *rules = shape_rules(s, &n);
	EACH (struct key_rule, r, rules, n)
		if (slice_equal(r->attribute, attribute))
			return true;
	return !s->companion && entity_attribute(s->entity, attribute);
}

static void make_shapes(struct checker *c)
{
	size_t room = 0;
	EACH (struct entity, e, c->d->entities, c->d->entity_count)
		room += 1 + e->companion_count;
	c->shapes = arena_array(c->arena, struct shape, room);
	EACH (struct entity, e, c->d->entities, c->d->entity_count) {
		c->shapes[c->shape_count++] = (struct shape){ e, NULL, e->name };
		EACH (struct companion, k, e->companions, e->companion_count) {
			struct slice form = k->name.n       ? k->name
					    : k->rule_count ? k->rules[k->rule_count > 1].template->text
							    : SLICE("");
			struct slice name = arena_printf(c->arena, "%.*s's companion%s%.*s", SLICE_ARG(e->name),
							 form.n ? " " : "", SLICE_ARG(form));
			c->shapes[c->shape_count++] = (struct shape){ e, k, name };
		}
	}
}

/* ---- entries ---- */

/* An attribute that is a key as it is, without a template: <name>. */
static const struct template *bare_template(struct arena *a, const struct attribute *attr)
{
	struct template *t = arena_new(a, struct template);
	struct template_part *p = arena_new(a, struct template_part);
	p->names = &attr->name;
	p->name_count = 1;
	t->parts = p;
	t->part_count = 1;
	t->place = attr->place;
	t->text = arena_printf(a, "<%.*s>", SLICE_ARG(attr->name));
	return t;
}

/* one form of one key attribute */
struct choice {
	const struct template *template;
	const struct term *when;
};

#define CHOICES_MAX 8

static size_t choices_of(struct checker *c, const struct shape *s, struct slice attribute, struct choice *out)
{
	size_t count = 0, n;
	const struct key_rule *rules = shape_rules(s, &n);
	EACH (struct key_rule, r, rules, n)
		if (slice_equal(r->attribute, attribute) && count < CHOICES_MAX)
			out[count++] = (struct choice){ r->template, r->when };
	const struct attribute *a = s->companion ? NULL : entity_attribute(s->entity, attribute);
	if (count == 0 && a)
		out[count++] = (struct choice){ bare_template(c->arena, a), a->when };
	return count;
}

static bool same_condition(const struct term *x, const struct term *y)
{
	if (x == y)
		return true;
	return x && y && x->place.line == y->place.line && x->place.column == y->place.column;
}

/* If `keys when A` and `keys when B` both give the whole key, A's hash does not combine with B's range. */
static bool goes_with(const struct entry *e, const struct choice *choice, const struct choice *hashes, size_t n)
{
	if (!choice->when || e->when_count == 0)
		return true;
	for (size_t i = 0; i < e->when_count; i++)
		if (same_condition(e->when[i], choice->when))
			return true;
	for (size_t i = 0; i < n; i++)
		if (same_condition(hashes[i].when, choice->when))
			return false;
	return true;
}

static void add_condition(struct entry *e, const struct term *when)
{
	for (size_t i = 0; i < e->when_count; i++)
		if (same_condition(e->when[i], when))
			return;
	if (when && e->when_count < CONDITIONS_MAX)
		e->when[e->when_count++] = when;
}

struct builder {
	struct checker *c;
	struct space *space;
	size_t room;
	const struct shape *shape;
	struct choice first[CHOICES_MAX]; /* of the first hash attribute */
	size_t first_count;
};

/* Takes each form of the i-th key attribute (hash attributes first) together with each of those after it. */
static void combine(struct builder *b, struct entry e, size_t i)
{
	struct space *s = b->space;
	const struct key_schema *k = s->key;
	if (i == key_attr_count(k)) {
		GROW_IN(b->c->arena, s->entries, s->entry_count, b->room, 8);
		s->entries[s->entry_count++] = e;
		return;
	}
	bool hash = i < k->hash_count;
	size_t at = hash ? i : i - k->hash_count;
	struct choice list[CHOICES_MAX];
	size_t n = choices_of(b->c, b->shape, key_attr_at(k, i)->name, list);
	if (i == 0) {
		memcpy(b->first, list, sizeof(list));
		b->first_count = n;
	}
	for (size_t j = 0; j < n; j++) {
		if (i > 0 && !goes_with(&e, &list[j], b->first, b->first_count))
			continue;
		struct entry next = e;
		*(hash ? &next.hash[at] : &next.range[at]) = list[j].template;
		add_condition(&next, list[j].when);
		combine(b, next, i + 1);
	}
}

static void fill_space(struct checker *c, struct space *s)
{
	struct builder b = { .c = c, .space = s };
	s->entries = arena_alloc(c->arena, 0);
	for (size_t i = 0; i < c->shape_count; i++) {
		struct entry e = { .shape = &c->shapes[i] };
		b.shape = &c->shapes[i];
		if (b.shape->companion)
			add_condition(&e, b.shape->companion->when);
		combine(&b, e, 0);
	}
}

static void make_spaces(struct checker *c)
{
	c->space_count = 1 + c->d->index_count;
	c->spaces = arena_array(c->arena, struct space, c->space_count);
	c->spaces[0] = (struct space){ .key = &c->d->key, .name = SLICE("the table") };
	EACH (struct design_index, x, c->d->indexes, c->d->index_count)
		c->spaces[x - c->d->indexes + 1] = (struct space){ .index = x, .key = &x->key, .name = x->name };
	for (size_t i = 0; i < c->space_count; i++)
		fill_space(c, &c->spaces[i]);
}

const struct space *check_space(const struct checker *c, struct slice index)
{
	EACH_INDEX (s, c)
		if (slice_equal(s->name, index))
			return s;
	return index.n ? NULL : &c->spaces[0];
}

/* ---- what a query reaches ---- */

const struct where_rule *check_where(const struct access *a, struct slice attribute)
{
	EACH (struct where_rule, w, a->where, a->where_count)
		if (slice_equal(w->attribute, attribute))
			return w;
	return NULL;
}

/* Whether keys of the form `t` can be on this side of the bound: decided by the literal beginnings, where they
 * differ. */
static bool on_side(struct slice bound, struct slice key, bool above)
{
	size_t n = bound.n < key.n ? bound.n : key.n;
	int cmp = n ? memcmp(key.p, bound.p, n) : 0;
	return cmp == 0 || (cmp > 0) == above;
}

static bool where_meets(struct checker *c, const struct where_rule *w, const struct template *t, const struct entity *e)
{
	struct slice key = template_prefix(t), from = template_prefix(w->value);
	switch (w->op) {
	case WHERE_EQ: return template_meets(c->arena, w->value, t, e);
	case WHERE_BEGINS: return template_begins(c->arena, w->value, t, e);
	case WHERE_BETWEEN: return on_side(from, key, true) && on_side(template_prefix(w->upper), key, false);
	case WHERE_LT:
	case WHERE_LE: return on_side(from, key, false);
	default: return on_side(from, key, true);
	}
}

static bool entry_matches(struct checker *c, const struct access *a, const struct space *s, const struct entry *e)
{
	for (size_t i = 0; i < key_attr_count(s->key); i++) {
		const struct where_rule *w = check_where(a, key_attr_at(s->key, i)->name);
		bool asked = w && (i < s->key->hash_count || !w->optional);
		if (asked && !where_meets(c, w, entry_key(s, e, i), e->shape->entity))
			return false;
	}
	return true;
}

static bool names_partition(const struct access *a, const struct space *s)
{
	for (size_t i = 0; i < s->key->hash_count; i++) {
		const struct where_rule *w = check_where(a, s->key->hash[i].name);
		if (!w || w->op != WHERE_EQ || w->optional)
			return false;
	}
	return true;
}

static void make_reach(struct checker *c, struct reach *r, const struct access *a)
{
	const struct space *s = a->kind == ACCESS_QUERY ? check_space(c, a->index) : NULL;
	r->access = a;
	if (!s || !names_partition(a, s))
		return;
	r->space = s;
	r->entries = arena_array(c->arena, struct entry, s->entry_count);
	for (size_t i = 0; i < s->entry_count; i++) {
		struct entry *e = &s->entries[i];
		if (!entry_matches(c, a, s, e))
			continue;
		r->by_key_count++;
		if (a->filter && !term_can_hold(c, a->filter, e->shape))
			continue;
		e->read = true;
		r->entries[r->entry_count++] = *e;
	}
}

bool reach_has_entity(const struct reach *r, const struct entity *e)
{
	EACH (struct entry, x, r->entries, r->entry_count)
		if (x->shape->entity == e)
			return true;
	return false;
}

const struct entry *space_entry(const struct space *s, const struct entity *e)
{
	EACH (struct entry, x, s->entries, s->entry_count)
		if (x->shape->entity == e && !x->shape->companion)
			return x;
	return NULL;
}

const struct template *entity_key(const struct checker *c, const struct entity *e, bool hash)
{
	const struct entry *x = space_entry(&c->spaces[0], e);
	return !x ? NULL : hash ? x->hash[0] : x->range[0];
}

void check_model(struct checker *c)
{
	make_shapes(c);
	make_spaces(c);
	c->reaches = arena_array(c->arena, struct reach, c->d->access_count);
	for (size_t i = 0; i < c->d->access_count; i++)
		make_reach(c, &c->reaches[i], &c->d->accesses[i]);
}
