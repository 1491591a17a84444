/* Walks over a table in segments, and items looked up by the keys of others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "copy/copy_internal.h"
#include "value/codec.h"

#define SEGMENTS 16
#define MOST     100
#define PAUSE_MS 50

/* ---- walking ---- */

static bool walk_segment(struct copier *c, unsigned segment)
{
	const struct walk *w = c->job->walk;
	struct arena kept; /* the key, from one page to the next */
	struct slice at = SLICE("");
	bool ok = true, more = true;

	arena_init(&kept);
	while (ok && more) {
		const struct json *last;
		struct backend_reply r;
		struct buf b;

		arena_clear(&c->arena);
		b = copy_body(c, w->table);
		buf_printf(&b, ",\"ConsistentRead\":true,\"Segment\":%u,\"TotalSegments\":%d%s", segment, SEGMENTS,
			   w->more ? w->more : "");
		if (at.n)
			buf_printf(&b, ",\"ExclusiveStartKey\":%.*s", SLICE_ARG(at));
		buf_byte(&b, '}');
		ok = copier_must(c, w->at, "Scan", buf_slice(&b), &r) && w->page(c, r.body);
		last = ok ? json_get(r.body, "LastEvaluatedKey") : NULL;
		more = last != NULL;
		if (more) {
			struct buf text;

			buf_init(&text, &c->arena);
			json_write(&text, last);
			arena_clear(&kept);
			at = arena_copy(&kept, buf_slice(&text));
		}
	}
	arena_release(&kept);
	return ok;
}

static void walk_segments(struct copier *c)
{
	unsigned segment;

	while (!copy_job_halted(c->job) && (segment = atomic_fetch_add(&c->job->walk_next, 1)) < SEGMENTS)
		if (!walk_segment(c, segment))
			return;
}

bool copy_walk_all(struct copier *c, const struct walk *w)
{
	struct job *j = c->job;

	j->walk = w;
	atomic_store(&j->walk_next, 0);
	atomic_store(&j->walked, 0);
	copy_job_work(j, copy_job_parallel(j), walk_segments, NULL);
	return !copy_job_halted(j);
}

/* ---- keys ---- */

struct keyed copy_keyed_main(const struct job *j)
{
	struct keyed k = { .table = j->table, .count = j->key_count };

	for (size_t i = 0; i < j->key_count; i++)
		k.keys[i] = j->keys[i];
	return k;
}

struct keyed copy_keyed_beside(struct copier *c)
{
	return (struct keyed){ .table = copy_beside(c), .keys = { "PK", "SK" }, .count = 2 };
}

const struct json *copy_keyed_key(struct copier *c, const struct keyed *k, const struct json *item)
{
	struct json_member *members = arena_array(&c->arena, struct json_member, k->count);
	struct json *key = arena_new(&c->arena, struct json);

	key->type = JSON_OBJECT;
	for (size_t i = 0; i < k->count; i++) {
		const struct json *v = json_get(item, k->keys[i]);

		if (v)
			members[key->count++] = (struct json_member){ .name = slice_str(k->keys[i]), .value = *v };
	}
	key->members = members;
	return key;
}

struct slice copy_keyed_bytes(struct copier *c, const struct keyed *k, const struct json *item)
{
	struct error e = { 0 };
	struct value v;

	if (item_from_json(&c->arena, copy_keyed_key(c, k, item), &v, &e))
		return value_slice(v);
	copy_job_fail(c->job, "an item of %.*s cannot be read: %.*s", SLICE_ARG(k->table), SLICE_ARG(e.message));
	return SLICE("");
}

const char *copy_keyed_projection(struct copier *c, const struct keyed *k)
{
	struct buf b;

	buf_init(&b, &c->arena);
	buf_lit(&b, ",\"ProjectionExpression\":\"");
	for (size_t i = 0; i < k->count; i++)
		buf_printf(&b, "%s#k%zu", i ? "," : "", i);
	buf_lit(&b, "\",\"ExpressionAttributeNames\":{");
	for (size_t i = 0; i < k->count; i++) {
		buf_printf(&b, "%s\"#k%zu\":", i ? "," : "", i);
		json_string(&b, slice_str(k->keys[i]));
	}
	buf_byte(&b, '}');
	buf_byte(&b, 0);
	return b.p;
}

/* ---- looking up ---- */

static struct slice get_body(struct copier *c, const struct keyed *k, struct slice list)
{
	struct buf b;

	buf_init(&b, &c->arena);
	buf_lit(&b, "{\"RequestItems\":{");
	json_string(&b, k->table);
	buf_lit(&b, ":{\"ConsistentRead\":true,\"Keys\":[");
	buf_put(&b, list);
	buf_lit(&b, "]}}}");
	return buf_slice(&b);
}

/* Repeats until no key is left unprocessed. A missing table has no items. */
static bool get_some(struct copier *c, const struct keyed *k, enum copy_at at, struct slice list, struct map *found)
{
	while (list.n) {
		const struct json *items, *left;
		struct backend_reply r;
		struct buf again;

		if (!copier_call(c, at, "BatchGetItem", get_body(c, k, list), &r))
			return slice_is(r.error, "ResourceNotFoundException") ||
			       copier_refused(c, at, "BatchGetItem", &r);
		items = json_get_slice(json_get(r.body, "Responses"), k->table);
		for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
			struct slice key = copy_keyed_bytes(c, k, &items->items[i]);

			if (!key.n)
				return false;
			(void)map_set(found, key, (void *)&items->items[i]);
		}
		left = json_get(json_get_slice(json_get(r.body, "UnprocessedKeys"), k->table), "Keys");
		buf_init(&again, &c->arena);
		for (size_t i = 0; json_is(left, JSON_ARRAY) && i < left->count; i++) {
			buf_str(&again, i ? "," : "");
			json_write(&again, &left->items[i]);
		}
		list = buf_slice(&again);
		if (list.n && !(json_is(items, JSON_ARRAY) && items->count) && !copy_job_pause(c->job, PAUSE_MS))
			return false;
	}
	return true;
}

bool copy_keyed_get(struct copier *c, const struct keyed *k, enum copy_at at, const struct json *items,
		    struct map *found)
{
	size_t n = json_is(items, JSON_ARRAY) ? items->count : 0;

	map_init(found, &c->arena);
	for (size_t i = 0; i < n; i += MOST) {
		struct buf list;

		buf_init(&list, &c->arena);
		for (size_t m = i; m < n && m < i + MOST; m++) {
			buf_str(&list, m > i ? "," : "");
			json_write(&list, copy_keyed_key(c, k, &items->items[m]));
		}
		if (!get_some(c, k, at, buf_slice(&list), found))
			return false;
	}
	return true;
}
