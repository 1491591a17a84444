/* Making outlines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/outline.h"
#include <stdlib.h>
#include "app/app_internal.h"
#include "app/entity_internal.h"
#include "app/output.h"

#define DERIVED_MOST 8 /* attributes derived from derived ones and copied from copies; a circle ends here */

/* ---- what moves by itself ---- */

struct reading { /* whether a term reads what does */
	const struct design *design;
	const struct entity *entity;
	int depth;
	bool moves;
};

static bool moves(const struct design *d, const struct entity *e, struct slice name, int depth);

static void visit_term(void *ctx, const struct term *t)
{
	struct reading *x = ctx;

	if (t->kind == TERM_PATH && t->name_count && !x->moves)
		x->moves = moves(x->design, x->entity, t->names[0], x->depth + 1);
}

/* Whether the attribute changes without anybody changing the item: counters, and what hangs on them, here or where it is
 * copied from. */
static bool moves(const struct design *d, const struct entity *e, struct slice name, int depth)
{
	const struct attribute *a = e ? entity_attribute(e, name) : NULL;
	struct reading x = { .design = d, .entity = e, .depth = depth };

	if (!a || depth > DERIVED_MOST)
		return false;
	if (a->counter)
		return true;
	if (a->copy_entity.n)
		return moves(d, design_entity(d, a->copy_entity), a->copy_attribute, depth + 1);
	if (a->derived)
		term_walk(a->derived, visit_term, &x);
	return x.moves;
}

/* ---- names ---- */

static struct slice label_of(struct arena *a, struct slice name)
{
	struct buf b;

	buf_init(&b, a);
	buf_byte(&b, ',');
	json_string(&b, name);
	buf_byte(&b, ':');
	memset(buf_room(&b, OUTLINE_BEYOND), 0, OUTLINE_BEYOND);
	return buf_slice(&b);
}

static void encode(struct arena *a, struct outline_name *n)
{
	uint8_t mask[sizeof(n->head_mask)] = { 0 };
	struct buf b;
	size_t head;

	buf_init(&b, a);
	buf_varint(&b, n->name.n);
	buf_put(&b, n->name);
	n->encoded = buf_slice(&b);
	head = b.n < sizeof(n->head) ? b.n : sizeof(n->head);
	memset(mask, 0xff, head);
	memcpy(n->head, b.p, head);
	memcpy(n->head_mask, mask, sizeof(mask));
}

static int by_name(const void *x, const void *y)
{
	return slice_cmp(((const struct outline_name *)x)->name, ((const struct outline_name *)y)->name);
}

static size_t list_written(const struct design *d, const struct entity *e, struct outline_name *list)
{
	size_t n = 0;

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		list[n++] = (struct outline_name){
			.name = a->name, .hidden = a->hidden, .private_ = a->private_, .compressed = a->compressed,
			.plain = !a->hidden && !a->private_ && !a->compressed,
			.tagged = !a->hidden && !moves(d, e, a->name, 0),
		};
	}
	for (size_t i = 0; i < e->key_count; i++)
		if (output_shows_key(d, e, i))
			list[n++] = (struct outline_name){ .name = e->keys[i].attribute, .plain = true };
	return n;
}

static bool is_elsewhere(const struct slice *names, size_t n)
{
	return n > 1 && (slice_is(names[0], "old") || slice_is(names[0], "input"));
}

struct adding {
	struct arena *arena;
	struct name_list *list;
};

static void add_path(void *ctx, const struct term *t)
{
	struct adding *x = ctx;

	if (t->kind == TERM_PATH && !is_elsewhere(t->names, t->name_count))
		names_add(x->arena, x->list, t->names[0]);
}

/* What has a place though it is not written. */
static void list_others(struct arena *a, const struct design *d, const struct entity *e, struct name_list *out)
{
	struct adding x = { a, out };

	for (size_t i = 0; i < d->key.hash_count; i++)
		names_add(a, out, d->key.hash[i].name);
	for (size_t i = 0; i < d->key.range_count; i++)
		names_add(a, out, d->key.range[i].name);
	for (size_t i = 0; i < e->key_count; i++)
		names_add(a, out, e->keys[i].attribute);
	for (size_t i = 0; i < e->param_count; i++)
		names_add(a, out, e->params[i]);
	if (d->ttl.n)
		names_add(a, out, d->ttl);
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		if (e->allow[i])
			term_walk(e->allow[i], add_path, &x);
}

static bool is_listed(const struct outline_name *list, size_t n, struct slice name)
{
	for (size_t i = 0; i < n; i++)
		if (slice_equal(list[i].name, name))
			return true;
	return false;
}

static void make_names(struct arena *a, const struct design *d, const struct entity *e, struct outline *o)
{
	const struct outline_name **placed;
	struct name_list others = { 0 };
	struct outline_name *list;

	list_others(a, d, e, &others);
	list = arena_array(a, struct outline_name, e->attribute_count + e->key_count + others.count);
	o->written = o->count = list_written(d, e, list);
	for (size_t i = 0; i < others.count; i++)
		if (!is_listed(list, o->written, others.list[i]))
			list[o->count++] = (struct outline_name){ .name = others.list[i] };
	for (size_t i = 0; i < o->count; i++) {
		list[i].place = (uint32_t)i;
		list[i].label = label_of(a, list[i].name);
		o->label_size += list[i].label.n;
		encode(a, &list[i]);
		o->has_private = o->has_private || list[i].private_;
	}
	qsort(list, o->count, sizeof(*list), by_name);
	placed = arena_array(a, const struct outline_name *, o->count);
	for (size_t i = 0; i < o->count; i++)
		placed[list[i].place] = &list[i];
	o->sorted = list;
	o->placed = placed;
}

uint32_t outline_place(const struct outline *o, struct slice name)
{
	for (size_t i = 0; i < o->count; i++)
		if (slice_equal(o->sorted[i].name, name))
			return o->sorted[i].place;
	return OUTLINE_NO_PLACE;
}

/* ---- keys ---- */

static bool is_one_text(const struct template *t)
{
	return t->part_count == 1 && !t->parts[0].names;
}

/* Whether no text can come from both. */
static bool differ(const struct template *x, const struct template *y)
{
	struct slice p = template_prefix(x), q = template_prefix(y);
	size_t n = p.n < q.n ? p.n : q.n;

	if (!slice_equal(slice_make(p.p, n), slice_make(q.p, n)))
		return true;
	return (is_one_text(x) && p.n < q.n) || (is_one_text(y) && q.n < p.n);
}

/* Whether the attribute's templates of the one and of the other always differ. */
static bool rules_differ(struct slice attribute, const struct entity *e, const struct key_rule *rules, size_t n)
{
	bool any = false, other = false;

	for (size_t i = 0; i < e->key_count; i++)
		for (size_t k = 0; k < n && slice_equal(e->keys[i].attribute, attribute); k++) {
			if (!slice_equal(rules[k].attribute, attribute))
				continue;
			other = true;
			if (!differ(e->keys[i].template, rules[k].template))
				return false;
		}
	for (size_t i = 0; i < e->key_count; i++)
		any = any || slice_equal(e->keys[i].attribute, attribute);
	return any && other; /* a key without a rule is an attribute as it is: anything */
}

static bool keys_differ(const struct design *d, const struct entity *e, const struct key_rule *rules, size_t n)
{
	const struct key_attr *keys[TABLE_KEY_MOST];
	size_t count = key_of_table(d, keys);

	for (size_t i = 0; i < count; i++)
		if (rules_differ(keys[i]->name, e, rules, n))
			return true;
	return false;
}

static bool is_alone(const struct design *d, const struct entity *e)
{
	for (size_t i = 0; i < d->entity_count; i++) {
		const struct entity *x = &d->entities[i];

		if (x != e && !keys_differ(d, e, x->keys, x->key_count))
			return false;
		for (size_t k = 0; k < x->companion_count; k++)
			if (!keys_differ(d, e, x->companions[k].rules, x->companions[k].rule_count))
				return false;
		if (x->login.secret_count && !keys_differ(d, e, x->login.secret, x->login.secret_count))
			return false;
	}
	return true;
}

static void make_keys(struct arena *a, const struct design *d, const struct entity *e, struct outline *o)
{
	struct outline_key *keys = arena_array(a, struct outline_key, e->key_count);

	for (size_t i = 0; i < e->key_count; i++) {
		struct outline_key *k = &keys[o->key_count];

		if (e->keys[i].when || !is_key_attribute(&d->key, e->keys[i].attribute))
			continue;
		*k = (struct outline_key){ .place = outline_place(o, e->keys[i].attribute), .template = e->keys[i].template };
		k->simple = template_is_simple(k->template, &k->text, &k->rest, &k->sign);
		o->key_count++;
	}
	o->keys = keys;
	o->keyed = o->key_count == (size_t)d->key.hash_count + d->key.range_count;
}

static size_t forms_of(const struct entity *e, struct slice attribute)
{
	size_t n = 0;

	for (size_t i = 0; i < e->key_count; i++)
		n += slice_equal(e->keys[i].attribute, attribute);
	return n;
}

static void make_constants(struct arena *a, const struct entity *e, struct outline *o)
{
	struct outline_key *constants = arena_array(a, struct outline_key, e->key_count);

	for (size_t i = 0; i < e->key_count; i++) {
		const struct key_rule *k = &e->keys[i];

		if (!k->when && key_is_constant(k->template) && forms_of(e, k->attribute) == 1)
			constants[o->constant_count++] = (struct outline_key){
				.place = outline_place(o, k->attribute), .template = k->template,
			};
	}
	o->constants = constants;
}

static void make_identity(struct arena *a, const struct entity *e, struct outline *o)
{
	uint32_t *places = arena_array(a, uint32_t, e->param_count + e->attribute_count);

	for (size_t i = 0; i < e->param_count; i++)
		places[o->identity_count++] = outline_place(o, e->params[i]);
	for (size_t i = 0; i < e->attribute_count; i++)
		if (e->attributes[i].from_key)
			places[o->identity_count++] = outline_place(o, e->attributes[i].name);
	o->identity = places;
}

/* ---- rules ---- */

static size_t place_of_path(void *ctx, const struct slice *names, size_t n)
{
	uint32_t place = is_elsewhere(names, n) ? OUTLINE_NO_PLACE : outline_place(ctx, names[0]);

	return place == OUTLINE_NO_PLACE ? TERM_NO_PLACE : place;
}

/* ---- all of it ---- */

static void make(struct arena *a, const struct design *d, const struct entity *e, struct outline *o)
{
	make_names(a, d, e, o);
	make_keys(a, d, e, o);
	make_constants(a, e, o);
	make_identity(a, e, o);
	o->ttl = d->ttl.n ? outline_place(o, d->ttl) : OUTLINE_NO_PLACE;
	for (size_t i = 0; i < ALLOW_VERBS; i++)
		if (e->allow[i])
			o->allow[i] = term_plan_new(a, e->allow[i], place_of_path, o);
	o->alone = is_alone(d, e);
}

const struct outline *outlines_new(struct arena *a, const struct design *d)
{
	struct outline *list = arena_array(a, struct outline, d->entity_count);

	for (size_t i = 0; i < d->entity_count; i++)
		make(a, d, &d->entities[i], &list[i]);
	return list;
}

const struct outline *outline_of(struct run *r, const struct entity *e)
{
	struct outline *made;

	if (r->app && r->app->outlines)
		return &r->app->outlines[e - r->app->design->entities];
	made = arena_new(r->arena, struct outline);
	make(r->arena, r->design, e, made);
	return made;
}
