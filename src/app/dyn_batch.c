/* BatchGetItem of any number of keys, in the order they were asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn_request.h"

#include <time.h>

#include "base/map.h"
#include "value/codec.h"

#define KEYS_MOST 100   /* of one request: DynamoDB's limit */
#define IN_VAIN_MOST 5  /* replies in a row without anything new, before the database is called busy */
#define PAUSE_FIRST_MS INT64_C(25)

struct wanted { /* one distinct key */
	struct value key, item;
	struct wanted *next; /* of those still to be asked for */
};

struct batch {
	struct run *run;
	bool consistent;
	struct map wanted;              /* by the key's bytes, which are canonical */
	struct wanted *first, **last;   /* still to be asked for */
};

static struct slice bytes_of(struct value v)
{
	return slice_make(v.p, v.n);
}

static void ask_for(struct batch *b, struct wanted *w)
{
	w->next = NULL;
	*b->last = w;
	b->last = &w->next;
}

static struct wanted *next_wanted(struct batch *b)
{
	struct wanted *w = b->first;

	b->first = w->next;
	if (!b->first)
		b->last = &b->first;
	return w;
}

static void gather(struct batch *b, const struct value *keys, size_t n)
{
	struct wanted *w = arena_array(b->run->arena, struct wanted, n);

	for (size_t i = 0; i < n; i++) {
		if (!value_present(keys[i]) || map_find(&b->wanted, bytes_of(keys[i])))
			continue;
		w[i].key = keys[i];
		map_set(&b->wanted, bytes_of(keys[i]), &w[i]);
		ask_for(b, &w[i]);
	}
}

/* How many keys it asks for. */
static size_t put_request(struct batch *b, struct dyn_request *q)
{
	size_t n = 0;

	dyn_request_init(q, b->run);
	buf_lit(&q->body, "\"RequestItems\":{");
	json_string(&q->body, b->run->design->table);
	buf_lit(&q->body, ":{\"Keys\":[");
	for (; n < KEYS_MOST && b->first; n++) {
		if (n)
			buf_byte(&q->body, ',');
		item_to_json(&q->body, next_wanted(b)->key);
	}
	buf_byte(&q->body, ']');
	if (b->consistent)
		buf_lit(&q->body, ",\"ConsistentRead\":true");
	buf_lit(&q->body, "}}");
	return n;
}

static bool read_items(struct batch *b, const struct json *items)
{
	struct run *r = b->run;

	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
		struct wanted *w;
		struct value item;

		if (!dyn_read_item(r, &items->items[i], &item))
			return false;
		w = map_get(&b->wanted, bytes_of(dyn_key_of(r, item)));
		if (!w)
			return dyn_bad_reply(r, "BatchGetItem");
		w->item = item;
	}
	return true;
}

static bool read_unprocessed(struct batch *b, const struct json *keys, size_t *count)
{
	*count = json_is(keys, JSON_ARRAY) ? keys->count : 0;
	for (size_t i = 0; i < *count; i++) {
		struct wanted *w;
		struct value key;

		if (!dyn_read_item(b->run, &keys->items[i], &key))
			return false;
		w = map_get(&b->wanted, bytes_of(key));
		if (!w)
			return dyn_bad_reply(b->run, "BatchGetItem");
		ask_for(b, w);
	}
	return true;
}

/* One request; *progress: whether the database did any of it. */
static bool fetch_some(struct batch *b, bool *progress)
{
	struct slice table = b->run->design->table;
	const struct json *unprocessed;
	struct backend_reply reply;
	struct dyn_request q;
	size_t asked = put_request(b, &q), left;

	if (!dyn_send(&q, "BatchGetItem", &reply))
		return run_backend_error(b->run, &reply);
	unprocessed = json_get_slice(json_get(reply.body, "UnprocessedKeys"), table);
	if (!read_items(b, json_get_slice(json_get(reply.body, "Responses"), table)) ||
	    !read_unprocessed(b, json_get(unprocessed, "Keys"), &left))
		return false;
	*progress = left < asked;
	return true;
}

/* Keys are left when the database is throttled: it needs a moment, longer from time to time. */
static void pause_before(int again)
{
	int64_t ms = PAUSE_FIRST_MS << (again - 1);
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static bool fetch_all(struct batch *b)
{
	for (int in_vain = 0; b->first;) {
		bool progress = false;

		if (!fetch_some(b, &progress))
			return false;
		in_vain = progress ? 0 : in_vain + 1;
		if (in_vain == IN_VAIN_MOST)
			return run_busy(b->run);
		if (in_vain)
			pause_before(in_vain);
	}
	return true;
}

/* Without documents, where the backend can. */
static bool get_directly(struct run *r, const struct value *keys, size_t n, struct value *items)
{
	struct backend *b = r->backend;

	if (r->trace || !b->batch_get)
		return false;
	for (size_t i = 0; i < n; i += KEYS_MOST)
		if (!b->batch_get(b, r->arena, r->design->table, keys + i, n - i < KEYS_MOST ? n - i : KEYS_MOST, items + i))
			return false;
	return true;
}

bool dyn_batch_get(struct run *r, const struct value *keys, size_t n, bool consistent, struct value *items)
{
	struct batch b = { .run = r, .consistent = consistent };

	if (get_directly(r, keys, n, items))
		return true;
	b.last = &b.first;
	map_init(&b.wanted, r->arena);
	gather(&b, keys, n);
	if (!fetch_all(&b))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct wanted *w = value_present(keys[i]) ? map_get(&b.wanted, bytes_of(keys[i])) : NULL;

		items[i] = w ? w->item : VALUE_ABSENT;
	}
	return true;
}
