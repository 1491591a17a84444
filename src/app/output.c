/* Items as plain JSON, and their ETag.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/output.h"
#include <xxhash.h>
#include "app/app_internal.h"
#include "app/entity.h"
#include "app/outline.h"
#include "app/packed.h"

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

bool output_shows_key(const struct design *d, const struct entity *e, size_t i)
{
	struct slice name = e->keys[i].attribute;

	for (size_t k = 0; k < i; k++)
		if (slice_equal(e->keys[k].attribute, name))
			return false;
	return !entity_attribute(e, name) && !is_key(d, name);
}

/* ---- items of an entity ---- */
#define PLACES_AT_HAND 64

static bool is_shown(const struct writing *w, const struct outline_name *n, bool show_private)
{
	return !n->hidden && (!n->private_ || show_private) && !is_left_out(w, n->name);
}

/* Every value at the place where it is written. *secret: a private one is among them. */
static void find_places(const struct writing *w, const struct outline *o, struct value full, struct value *places, bool *secret)
{
	struct outline_walk walk = { .outline = o };
	struct value_iter it = value_iter(full);
	const struct outline_name *n;

	*secret = false;
	while (value_next(&it)) {
		n = outline_find(&walk, it.name);
		if (!n)
			continue;
		places[n->place] = it.value;
		*secret = *secret || (n->private_ && !is_left_out(w, n->name));
	}
}

static void put_places(struct writing *w, const struct outline *o, const struct value *places, bool show_private)
{
	for (size_t i = 0; i < o->count; i++) {
		const struct outline_name *n = o->placed[i];

		if (!value_present(places[i]) || !is_shown(w, n, show_private))
			continue;
		if (w->any) {
			buf_put(w->b, n->label);
		} else {
			buf_byte(w->b, '{');
			buf_add(w->b, n->label.p + 1, n->label.n - 1);
		}
		w->any = true;
		if (n->compressed)
			put_compressed(w->b, places[i]);
		else
			output_value(w->b, places[i]);
	}
}

/* Asks the rule only when there is something to hide. */
static bool put_entity(struct run *r, struct writing *w, const struct entity *e, struct value full)
{
	const struct outline *o = outline_of(r, e);
	struct value at_hand[PLACES_AT_HAND] = { { 0 } }, *places = at_hand;
	bool secret, show_private = false;

	if (o->count > PLACES_AT_HAND)
		places = arena_array(r->arena, struct value, o->count);
	find_places(w, o, full, places, &secret);
	if (secret && !entity_allows(r, e, ALLOW_UPDATE, full, full, &show_private))
		return false;
	put_places(w, o, places, show_private);
	return true;
}

/* ---- companions and strangers ---- */
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

	if (tag && e) {
		put_name(&w, SLICE("@type"));
		json_string(b, e->name);
	}
	if (!e)
		put_stranger(r, &w, full);
	else if (!put_entity(r, &w, e, full))
		return false;
	buf_str(b, w.any ? "}" : "{}");
	return true;
}

/* ---- ETag ---- */
/* Seeded, so that nobody can try out which private value gives the tag. */
static uint64_t seed_of(const struct run *r)
{
	return r->app ? XXH3_64bits(r->app->secret, sizeof(r->app->secret)) : 0;
}

struct slice output_etag(struct run *r, const struct entity *e, struct value full)
{
	struct outline_walk walk = { .outline = outline_of(r, e) };
	struct value_iter it = value_iter(full);
	XXH128_canonical_t hash;
	struct buf b, text;

	buf_init(&b, r->arena);
	buf_room(&b, full.n);
	while (value_next(&it)) {
		const struct outline_name *n = outline_find(&walk, it.name);

		if (!n || !n->tagged)
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
