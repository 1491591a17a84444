/* Items as plain JSON, and their ETag.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/output.h"
#include <xxhash.h>
#include "app/run/state.h"
#include "app/entity/entity.h"
#include "app/entity/output_writer.h"
#include "app/entity/packed.h"
#include "app/file/file.h"

/* ---- items ---- */
struct writing {
	struct run *run;
	struct buf *b;
	const struct name *const *without;
	size_t without_count;
};

/* Every member begins with a comma; output_row() makes the first one a brace. */
static void put_name(struct writing *w, struct slice name)
{
	buf_byte(w->b, ',');
	json_string(w->b, name);
	buf_byte(w->b, ':');
}

/* A value that does not inflate was written by mistake; the rest of the item is shown all the same. */
static void put_compressed(struct buf *b, struct value v)
{
	if (value_type(v) != VALUE_B)
		output_value(b, v);
	else if (!packed_write(b, v))
		buf_lit(b, "null");
}

/* ---- items of an entity ---- */
static bool is_shown(const struct writing *w, const struct slot *n, bool show_private)
{
	return !n->hidden && (!n->private_ || show_private) && !names_among(w->without, w->without_count, n->name);
}

/* Whether the row has a private value that would be written. */
static bool has_secret(const struct writing *w, const struct slots *o, const struct value *values)
{
	for (size_t i = 0; o->has_private && i < o->written; i++)
		if (o->list[i]->private_ && value_present(values[i]) &&
		    !names_among(w->without, w->without_count, o->list[i]->name))
			return true;
	return false;
}

/* Copies SLOT_BEYOND bytes at once, enough for nearly all labels; there is room for them. */
static inline char *put_label(char *to, struct slice label)
{
	memcpy(to, label.p, SLOT_BEYOND);
	if (label.n > SLOT_BEYOND)
		memcpy(to + SLOT_BEYOND, label.p + SLOT_BEYOND, label.n - SLOT_BEYOND);
	return to + label.n;
}

/* Where a map of counters ends, or another begins. */
static inline char *put_other(char *to, const struct slot *n, const char *group)
{
	if (group)
		*to++ = '}';
	return put_label(to, n->group ? n->opening : n->label);
}

/* What is stored of a file, and the address of its bytes. */
static void put_file(struct run *r, struct buf *b, struct value v)
{
	struct slice url = file_url(r, v);

	output_value(b, v);
	if (!url.n || b->p[b->n - 1] != '}')
		return;
	b->n--;
	buf_byte(b, ',');
	json_string(b, SLICE("url"));
	buf_byte(b, ':');
	json_string(b, url);
	buf_byte(b, '}');
}

static void put_files(struct run *r, struct buf *b, struct value v)
{
	bool first = true;

	if (value_type(v) != VALUE_L) {
		put_file(r, b, v);
		return;
	}
	buf_byte(b, '[');
	for (struct value_iter it = value_iter(v); value_next(&it); first = false) {
		if (!first)
			buf_byte(b, ',');
		put_file(r, b, it.value);
	}
	buf_byte(b, ']');
}

static char *put_apart(const struct writing *w, struct json_fast *j, char *to, const struct slot *n, struct value v)
{
	json_fast_close(j, to);
	if (n->compressed)
		put_compressed(j->b, v);
	else
		put_files(w->run, j->b, v);
	return json_fast_more(j, j->b->p + j->b->n, JSON_AROUND);
}

/* A value that is neither text nor compressed. `to` has room for a number. */
static inline __attribute__((always_inline)) char *put_short(struct json_fast *j, char *to, struct value v)
{
	const uint8_t *p = v.p + 1;
	struct slice s;

	if (v.p[0] == VALUE_N) {
		s = layout_bytes(&p);
		return to + number_format_encoded((const uint8_t *)s.p, s.n, to);
	}
	if (v.p[0] == VALUE_BOOL) {
		memcpy(to, *p ? "true " : "false", 5);
		return to + 5 - (*p != 0);
	}
	return writer_value(j, to, v);
}

/* Invariant: the buffer has room for a number, all labels and all texts unescaped, which are part of the item. A
 * value that becomes longer in JSON (escapes, numbers, binaries) makes room for itself and for all of that again. */
static inline __attribute__((always_inline)) void put_values_of(const struct writing *w, const struct row *item,
								bool show_private, bool has_groups)
{
	const struct slots *o = item->slots;
	const struct value *values = item->values, full = item->full;
	const char *limit = (const char *)full.p + full.n;
	size_t budget = o->label_size + full.n + JSON_COPY_BEYOND + SLOT_BEYOND + NUMBER_TEXT_MAX + JSON_AROUND;
	const char *group = NULL;
	struct json_fast j;
	char *to =
		json_fast_room(&j, json_fast_open(&j, w->b, slice_make((const char *)full.p, full.n), full.n), budget);

	for (size_t i = 0; i < o->written; i++) {
		const struct slot *n = o->list[i];
		struct value v = values[i];
		const uint8_t *p;
		struct slice s;

		if (!value_present(v) || (!(n->plain && !w->without_count) && !is_shown(w, n, show_private)))
			continue;
		if (!has_groups || n->group == group) {
			to = put_label(to, n->label);
		} else {
			to = put_other(to, n, group);
			group = n->group;
		}
		if (v.p[0] == VALUE_S && !n->compressed) {
			p = v.p + 1;
			s = layout_bytes(&p);
			if (json_copy_within(to + 1, s, limit)) {
				to[0] = '"';
				to[s.n + 1] = '"';
				to += s.n + 2;
				continue;
			}
		}
		to = n->apart ? put_apart(w, &j, to, n, v) : put_short(&j, to, v);
		to = json_fast_room(&j, to, budget);
	}
	if (has_groups && group)
		*to++ = '}';
	json_fast_close(&j, to);
}

/* Few entities have maps of counters; the others do not ask for each value. */
static void put_values(const struct writing *w, const struct row *item, bool show_private)
{
	if (item->slots->has_groups)
		put_values_of(w, item, show_private, true);
	else
		put_values_of(w, item, show_private, false);
}

/* Asks the rule only when there is something to hide. */
static bool put_entity(struct run *r, const struct writing *w, const struct row *item)
{
	bool show_private = false;

	if (has_secret(w, item->slots, item->values) &&
	    !entity_allows_row(r, item->entity, ALLOW_UPDATE, item, item, &show_private))
		return false;
	put_values(w, item, show_private);
	return true;
}

/* ---- companions and strangers ---- */
/* Companions and strangers have no rule, so an attribute that is private in any entity is shown only to operators. */
static bool is_secret_anywhere(const struct run *r, const struct name *n)
{
	for (size_t i = 0; i < r->design->entity_count; i++) {
		const struct attribute *a = slots_attribute(r->design->entities[i].slots, n);

		if (a && (a->hidden || (a->private_ && !r->caller.operator_)))
			return true;
	}
	return false;
}

/* Whether some companion stores the attribute as `name: <name>`: it is then a value of the design that happens to be
 * an index key, not one made for the index. */
static bool is_told_by_companion(const struct design *d, const struct name *name)
{
	if (name->of_table)
		return false;
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].companion_count; k++) {
			const struct companion *c = &d->entities[i].companions[k];

			for (size_t n = 0; n < c->rule_count; n++)
				if (c->rules[n].at == name && template_is_bare(c->rules[n].template) &&
				    c->rules[n].template->parts[0].at == name)
					return true;
		}
	return false;
}

static void put_stranger(struct run *r, struct writing *w, struct value item)
{
	struct value_iter it = value_iter(item);

	while (value_next(&it)) {
		const struct name *n = design_named(r->design, it.name);

		if (n && (names_among(w->without, w->without_count, n) || is_secret_anywhere(r, n) ||
			  (n->key && !is_told_by_companion(r->design, n))))
			continue;
		put_name(w, it.name);
		output_value(w->b, it.value);
	}
}

bool output_row(struct run *r, const struct row *item, bool tag, const struct name *const *without,
		size_t without_count, struct buf *b)
{
	struct writing w = { .run = r, .b = b, .without = without, .without_count = without_count };
	size_t start = b->n;

	if (tag && item->entity) {
		put_name(&w, SLICE("@type"));
		json_string(b, item->entity->name);
	}
	if (!item->entity)
		put_stranger(r, &w, item->full);
	else if (!put_entity(r, &w, item))
		return false;
	if (b->n == start)
		buf_byte(b, ',');
	b->p[start] = '{';
	buf_byte(b, '}');
	return true;
}

bool output_item(struct run *r, const struct entity *e, struct value full, struct buf *b)
{
	struct row item = e ? row_lay(r->arena, e, full) : row_of(full);

	return output_row(r, &item, false, NULL, 0, b);
}

/* ---- ETag ---- */
/* Seeded, so that a client cannot find a private value by trying which one gives the tag. */
static uint64_t seed_of(const struct run *r)
{
	return r->app ? XXH3_64bits(r->app->secret, sizeof(r->app->secret)) : 0;
}

struct slice output_etag(struct run *r, const struct row *item)
{
	const struct slots *o = item->slots;
	XXH128_canonical_t hash;
	struct buf b, text;

	buf_init(&b, r->arena);
	buf_room(&b, item->full.n);
	for (size_t i = 0; i < o->count; i++) {
		const struct slot *n = &o->sorted[i];
		struct value v = item->values[n->at];

		if (!n->tagged || !value_present(v))
			continue;
		buf_put(&b, n->encoded);
		buf_add(&b, v.p, v.n);
	}
	XXH128_canonicalFromHash(&hash, XXH3_128bits_withSeed(b.p, b.n, seed_of(r)));
	buf_init(&text, r->arena);
	buf_byte(&text, '"');
	buf_hex(&text, slice_make(hash.digest, sizeof(hash.digest)));
	buf_byte(&text, '"');
	return buf_slice(&text);
}
