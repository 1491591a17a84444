/* Items as plain JSON, and their ETag.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/output.h"
#include <xxhash.h>
#include "app/app_internal.h"
#include "app/entity.h"
#include "app/packed.h"

#define DERIVED_MOST 8 /* attributes derived from derived ones and copied from copies; a circle ends here */

/* ---- values ---- */
static void put_number(struct buf *b, struct slice encoded)
{
	char text[NUMBER_TEXT_MAX];

	buf_add(b, text, number_format_encoded((const uint8_t *)encoded.p, encoded.n, text));
}

static void put_binary(struct buf *b, struct slice s)
{
	buf_byte(b, '"');
	buf_base64(b, s);
	buf_byte(b, '"');
}

static void put_elements(struct buf *b, struct value v)
{
	struct value_iter it = value_iter(v);
	bool first = true;

	buf_byte(b, value_type(v) == VALUE_M ? '{' : '[');
	while (value_next(&it)) {
		if (!first)
			buf_byte(b, ',');
		first = false;
		if (it.type == VALUE_M) {
			json_string(b, it.name);
			buf_byte(b, ':');
		}
		if (it.type == VALUE_SS)
			json_string(b, it.element);
		else if (it.type == VALUE_NS)
			put_number(b, it.element);
		else if (it.type == VALUE_BS)
			put_binary(b, it.element);
		else
			output_value(b, it.value);
	}
	buf_byte(b, value_type(v) == VALUE_M ? '}' : ']');
}

void output_value(struct buf *b, struct value v)
{
	switch (value_type(v)) {
	case VALUE_S:
		json_string(b, value_bytes(v));
		break;
	case VALUE_N:
		put_number(b, value_bytes(v));
		break;
	case VALUE_B:
		put_binary(b, value_bytes(v));
		break;
	case VALUE_BOOL:
		buf_str(b, value_bool(v) ? "true" : "false");
		break;
	case VALUE_NONE:
	case VALUE_NULL:
		buf_lit(b, "null");
		break;
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS:
	case VALUE_M:
	case VALUE_L:
		put_elements(b, v);
		break;
	}
}

/* ---- items ---- */
struct writing {
	struct buf *b;
	const struct slice *without;
	size_t without_count;
	bool any; /* a member has been written */
};

static bool is_left_out(const struct writing *w, struct slice name)
{
	for (size_t i = 0; i < w->without_count; i++)
		if (slice_equal(w->without[i], name))
			return true;
	return false;
}

static void put_name(struct writing *w, struct slice name)
{
	buf_byte(w->b, w->any ? ',' : '{');
	w->any = true;
	json_string(w->b, name);
	buf_byte(w->b, ':');
}

/* What does not inflate is somebody's mistake in the table, and no reason to show nothing of the item. */
static void put_compressed(struct buf *b, struct value v)
{
	if (value_type(v) != VALUE_B)
		output_value(b, v);
	else if (!packed_write(b, v))
		buf_lit(b, "null");
}

static bool is_key(const struct design *d, struct slice name)
{
	if (is_key_attribute(&d->key, name))
		return true;
	for (size_t i = 0; i < d->index_count; i++)
		if (is_key_attribute(&d->indexes[i].key, name))
			return true;
	return false;
}

/* Asks the rule only when there is something to hide. */
static bool shows_private(struct run *r, const struct entity *e, const struct writing *w, struct value full, bool *out)
{
	*out = false;
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];

		if (a->private_ && !is_left_out(w, a->name) && value_present(value_get(full, a->name)))
			return entity_allows(r, e, ALLOW_UPDATE, full, full, out);
	}
	return true;
}

static void put_attributes(struct writing *w, const struct entity *e, struct value full, bool show_private)
{
	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];
		struct value v = value_get(full, a->name);

		if (!value_present(v) || a->hidden || (a->private_ && !show_private) || is_left_out(w, a->name))
			continue;
		put_name(w, a->name);
		if (a->compressed)
			put_compressed(w->b, v);
		else
			output_value(w->b, v);
	}
}

bool output_shows_key(const struct design *d, const struct entity *e, size_t i)
{
	struct slice name = e->keys[i].attribute;

	for (size_t k = 0; k < i; k++)
		if (slice_equal(e->keys[k].attribute, name))
			return false;
	return !entity_attribute(e, name) && !is_key(d, name);
}

/* entityType and the like. */
static void put_computed(struct run *r, struct writing *w, const struct entity *e, struct value full)
{
	for (size_t i = 0; i < e->key_count; i++) {
		struct value v = value_get(full, e->keys[i].attribute);

		if (!value_present(v) || !output_shows_key(r->design, e, i) || is_left_out(w, e->keys[i].attribute))
			continue;
		put_name(w, e->keys[i].attribute);
		output_value(w->b, v);
	}
}

/* A companion or a stranger belongs to nobody whom a rule could name, so what is private anywhere is kept from all but
 * operators. */
static bool is_secret_anywhere(const struct run *r, struct slice name)
{
	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct attribute *a = entity_attribute(&r->design->entities[i], name);

		if (a && (a->hidden || (a->private_ && !r->caller.operator_)))
			return true;
	}
	return false;
}

static bool is_bare(const struct template *t, struct slice name)
{
	const struct template_part *p = &t->parts[0];

	return t->part_count == 1 && p->name_count == 1 && p->format == FORMAT_PLAIN && slice_equal(p->names[0], name);
}

/* Some companion has `name: <name>`: a value that happens to be an index's key as it is, and not one made up for it. */
static bool is_told_by_companion(const struct design *d, struct slice name)
{
	if (is_key_attribute(&d->key, name))
		return false;
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].companion_count; k++) {
			const struct companion *c = &d->entities[i].companions[k];

			for (size_t n = 0; n < c->rule_count; n++)
				if (slice_equal(c->rules[n].attribute, name) && is_bare(c->rules[n].template, name))
					return true;
		}
	return false;
}

static void put_stranger(struct run *r, struct writing *w, struct value item)
{
	struct value_iter it = value_iter(item);

	while (value_next(&it)) {
		if (is_left_out(w, it.name) || is_secret_anywhere(r, it.name))
			continue;
		if (is_key(r->design, it.name) && !is_told_by_companion(r->design, it.name))
			continue;
		put_name(w, it.name);
		output_value(w->b, it.value);
	}
}

bool output_item(struct run *r, const struct entity *e, struct value full, bool tag, const struct slice *without,
		 size_t without_count, struct buf *b)
{
	struct writing w = { .b = b, .without = without, .without_count = without_count };
	bool show_private;

	if (e && !shows_private(r, e, &w, full, &show_private))
		return false;
	if (tag && e) {
		put_name(&w, SLICE("@type"));
		json_string(b, e->name);
	}
	if (e) {
		put_attributes(&w, e, full, show_private);
		put_computed(r, &w, e, full);
	} else {
		put_stranger(r, &w, full);
	}
	buf_str(b, w.any ? "}" : "{}");
	return true;
}

/* ---- ETag ---- */
struct reading { /* whether a term reads what moves by itself */
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

/* Seeded, so that nobody can try out which private value gives the tag. */
static uint64_t seed_of(const struct run *r)
{
	return r->app ? XXH3_64bits(r->app->secret, sizeof(r->app->secret)) : 0;
}

struct slice output_etag(struct run *r, const struct entity *e, struct value full)
{
	struct value_iter it = value_iter(full);
	XXH128_canonical_t hash;
	struct buf b, text;

	buf_init(&b, r->arena);
	while (value_next(&it)) {
		const struct attribute *a = entity_attribute(e, it.name);

		if (!a || a->hidden || moves(r->design, e, it.name, 0))
			continue;
		buf_varint(&b, it.name.n);
		buf_put(&b, it.name);
		buf_add(&b, it.value.p, it.value.n);
	}
	XXH128_canonicalFromHash(&hash, XXH3_128bits_withSeed(b.p, b.n, seed_of(r)));
	buf_init(&text, r->arena);
	buf_byte(&text, '"');
	buf_hex(&text, slice_make(hash.digest, sizeof(hash.digest)));
	buf_byte(&text, '"');
	return buf_slice(&text);
}
