/* Both tables, item by item.
 *
 * Each item of the source is looked up at the target. Then the target is counted; only if it has more than were
 * found are its keys looked up at the source. If the tables may be written to, differences are checked again on
 * both sides before they are reported.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "base/clock.h"
#include "base/map.h"
#include "copy/copy_internal.h"
#include "value/codec.h"

#define LOOKS   4
#define LOOK_MS 700

/* An item whose time is up may be on one side only: each database removes it when it likes. */
static bool has_expired(const struct job *j, const struct json *item)
{
	struct slice at = j->ttl[0] ? json_get_text(json_get(item, j->ttl), "N") : SLICE("");
	char text[48] = "";

	if (!at.n || at.n >= sizeof(text))
		return false;
	memcpy(text, at.p, at.n);
	return strtod(text, NULL) <= (double)clock_now_ms(&clock_system) / 1000;
}

static bool same(struct copier *c, const struct json *a, const struct json *b, bool *out)
{
	struct error e = { 0 };
	struct value v, w;

	*out = false;
	if (!a || !b) {
		*out = !a && !b;
		return true;
	}
	if (!item_from_json(&c->arena, a, &v, &e) || !item_from_json(&c->arena, b, &w, &e))
		return copy_job_fail(c->job, "an item of %.*s cannot be read: %.*s", SLICE_ARG(c->job->table),
				     SLICE_ARG(e.message));
	*out = value_equal(v, w);
	return true;
}

static bool get_one(struct copier *c, const struct keyed *k, enum copy_at at, const struct json *key,
		    const struct json **item)
{
	struct buf b = copy_body(c, k->table);
	struct backend_reply r;

	buf_lit(&b, ",\"ConsistentRead\":true,\"Key\":");
	json_write(&b, key);
	buf_byte(&b, '}');
	if (!copier_must(c, at, "GetItem", buf_slice(&b), &r))
		return false;
	*item = json_get(r.body, "Item");
	return true;
}

/* Items of a page that differ at first sight. */
struct doubt {
	const struct json *key, *from, *to; /* as last read; NULL: not there */
};
struct doubts {
	struct doubt *list;
	size_t count;
};

static struct doubts doubts_for(struct copier *c, const struct json *items)
{
	return (struct doubts){ .list = arena_array(&c->arena, struct doubt,
						    json_is(items, JSON_ARRAY) ? items->count : 0) };
}

static void doubt_add(struct copier *c, const struct keyed *k, struct doubts *d, const struct json *item)
{
	d->list[d->count++] = (struct doubt){ .key = copy_keyed_key(c, k, item) };
}

/* Reads all of them once more, and keeps those that still differ. */
static bool look_once(struct copier *c, const struct keyed *k, struct doubts *d)
{
	size_t left = 0;

	for (size_t i = 0; i < d->count; i++) {
		struct doubt *x = &d->list[i];
		bool equal;

		if (!get_one(c, k, COPY_FROM, x->key, &x->from) || !get_one(c, k, COPY_TO, x->key, &x->to) ||
		    !same(c, x->from, x->to, &equal))
			return false;
		if (!equal)
			d->list[left++] = *x;
	}
	d->count = left;
	return true;
}

static void report(struct copier *c, const struct doubt *x)
{
	struct buf text;

	if (has_expired(c->job, x->from ? x->from : x->to))
		return;
	atomic_fetch_add(&c->job->differences, 1);
	if (!c->job->tell)
		return;
	buf_init(&text, &c->arena);
	json_write(&text, x->key);
	pthread_mutex_lock(&c->job->lock);
	c->job->tell(c->job->o->ctx, x->from && x->to ? "differs" : x->from ? "missing" : "extra", buf_slice(&text));
	pthread_mutex_unlock(&c->job->lock);
}

/* A change may be on its way: they are looked at a few times, all of a page together, as the waits are long. */
static bool judge(struct copier *c, const struct keyed *k, struct doubts *d)
{
	unsigned looks = c->job->o->from.is_directory ? 1 : LOOKS;

	for (unsigned i = 0; i < looks && d->count; i++)
		if ((i && !copy_job_pause(c->job, LOOK_MS)) || !look_once(c, k, d))
			return false;
	for (size_t i = 0; i < d->count; i++)
		report(c, &d->list[i]);
	return true;
}

static bool compare_page(struct copier *c, const struct json *reply)
{
	const struct json *items = json_get(reply, "Items");
	struct keyed k = copy_keyed_main(c->job);
	struct doubts doubts = doubts_for(c, items);
	struct map found;

	if (!copy_keyed_get(c, &k, COPY_TO, items, &found))
		return false;
	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
		struct slice key = copy_keyed_bytes(c, &k, &items->items[i]);
		bool equal;

		if (!key.n || !same(c, &items->items[i], map_get(&found, key), &equal))
			return false;
		if (!equal)
			doubt_add(c, &k, &doubts, &items->items[i]);
	}
	if (!judge(c, &k, &doubts))
		return false;
	atomic_fetch_add(&c->job->items, json_is(items, JSON_ARRAY) ? items->count : 0);
	return true;
}

static bool count_page(struct copier *c, const struct json *reply)
{
	const struct json *count = json_get(reply, "Count");

	atomic_fetch_add(&c->job->walked, json_is(count, JSON_INT) ? (uint64_t)count->integer : 0);
	return true;
}

static bool extra_page(struct copier *c, const struct json *reply)
{
	const struct json *items = json_get(reply, "Items");
	struct keyed k = copy_keyed_main(c->job);
	struct doubts doubts = doubts_for(c, items);
	struct map found;

	if (!copy_keyed_get(c, &k, COPY_FROM, items, &found))
		return false;
	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
		struct slice key = copy_keyed_bytes(c, &k, &items->items[i]);

		if (!key.n)
			return false;
		if (!map_get(&found, key))
			doubt_add(c, &k, &doubts, &items->items[i]);
	}
	return judge(c, &k, &doubts);
}

bool copy_compare_all(struct copier *c, copy_compare_tell *tell)
{
	struct job *j = c->job;
	struct keyed k = copy_keyed_main(j);
	struct walk items = { .at = COPY_FROM, .table = j->table, .page = compare_page };
	struct walk count = { .at = COPY_TO, .table = j->table, .page = count_page, .more = ",\"Select\":\"COUNT\"" };
	struct walk extra = { .at = COPY_TO, .table = j->table, .page = extra_page, .more = copy_keyed_projection(c, &k) };

	j->tell = tell;
	atomic_store(&j->items, 0);
	atomic_store(&j->differences, 0);
	if (!copy_walk_all(c, &items) || !copy_walk_all(c, &count))
		return false;
	return atomic_load(&j->walked) == atomic_load(&j->items) || copy_walk_all(c, &extra);
}
