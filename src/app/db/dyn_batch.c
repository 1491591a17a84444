/* BatchGetItem of any number of keys, in the order of the request.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"

#include "base/clock.h"
#include "base/map.h"

#define IN_VAIN_MOST   5 /* consecutive replies without a new item, before reporting BUSY */
#define PAUSE_FIRST_MS INT64_C(25)

struct batch {
	struct run *run;
	struct slice table;
	bool consistent;
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Keys stay unprocessed if the database throttles: waits, longer each time. */
static void pause_before(int again)
{
	clock_pause_us(((int64_t)PAUSE_FIRST_MS << (again - 1)) * 1000);
}

static struct request part_request(const struct batch *b, const struct value *keys, size_t n)
{
	return (struct request){ .kind = REQUEST_BATCH_GET,
				 .batch = { .table = b->table, .keys = keys, .count = n, .consistent = b->consistent } };
}

static bool batch_get(const struct batch *b, const struct value *keys, size_t n, struct reply *reply)
{
	struct request q = part_request(b, keys, n);

	return dyn_execute(b->run, &q, reply) || run_reply_error(b->run, reply);
}

/* Retries unprocessed keys; where[i] is the position of the item of keys[i]. */
static bool fetch_left(const struct batch *b, struct value *keys, size_t *where, size_t n, struct value *items)
{
	struct reply reply;

	for (int in_vain = 0; n;) {
		size_t left = 0, asked = n;

		if (!batch_get(b, keys, n, &reply))
			return false;
		for (size_t i = 0; i < n; i++) {
			items[where[i]] = reply.items[i];
			if (!reply.left || !reply.left[i])
				continue;
			keys[left] = keys[i];
			where[left++] = where[i];
		}
		n = left;
		in_vain = n < asked ? 0 : in_vain + 1;
		if (in_vain == IN_VAIN_MOST) {
			if (b->run->unserved)
				atomic_store(b->run->unserved, true);
			return run_busy(b->run);
		}
		if (in_vain)
			pause_before(in_vain);
	}
	return true;
}

/* The same for any number of keys: a hundred at a time. */
static bool fetch_each(const struct batch *b, struct value *keys, size_t *where, size_t n, struct value *items)
{
	for (size_t i = 0; i < n; i += REQUEST_KEYS_MOST)
		if (!fetch_left(b, keys + i, where + i, least(n - i, REQUEST_KEYS_MOST), items))
			return false;
	return true;
}

/* At most REQUEST_KEYS_MOST keys, some of them possibly absent. */
static bool fetch(const struct batch *b, const struct value *keys, size_t n, struct value *items)
{
	struct value *copy = arena_array(b->run->arena, struct value, n);
	size_t *where = arena_array(b->run->arena, size_t, n);
	size_t wanted = 0;

	for (size_t i = 0; i < n; i++) {
		items[i] = VALUE_ABSENT;
		if (!value_present(keys[i]))
			continue;
		copy[wanted] = keys[i];
		where[wanted++] = i;
	}
	return fetch_left(b, copy, where, wanted, items);
}

/* Any number of keys, all present: each hundred is a request, and all go out at the same time. Traced requests go out
 * one by one, so that each has its own time. */
static bool fetch_parts(const struct batch *b, struct value *keys, size_t n, struct value *items)
{
	struct run *r = b->run;
	size_t parts = (n + REQUEST_KEYS_MOST - 1) / REQUEST_KEYS_MOST;
	struct request *q = arena_array(r->arena, struct request, parts);
	struct reply *replies = arena_array(r->arena, struct reply, parts);
	struct value *left = arena_array(r->arena, struct value, n);
	size_t *where = arena_array(r->arena, size_t, n), count = 0;

	for (size_t i = 0; i < n; i++) {
		left[i] = keys[i];
		where[i] = i;
	}
	if (r->trace || parts < 2)
		return fetch_each(b, left, where, n, items);
	for (size_t i = 0; i < parts; i++)
		q[i] = part_request(b, keys + i * REQUEST_KEYS_MOST,
				    least(n - i * REQUEST_KEYS_MOST, REQUEST_KEYS_MOST));
	backend_execute_all(r->backend, r->arena, q, replies, parts);
	for (size_t i = 0; i < n; i++) {
		const struct reply *reply = &replies[i / REQUEST_KEYS_MOST];
		size_t at = i % REQUEST_KEYS_MOST;

		if (reply->status != 200)
			return run_reply_error(r, reply);
		items[i] = reply->items[at];
		if (!reply->left || !reply->left[at])
			continue;
		left[count] = keys[i];
		where[count++] = i;
	}
	return fetch_each(b, left, where, count, items);
}

/* Fetches each distinct key once. */
static bool fetch_many(const struct batch *b, const struct value *keys, size_t n, struct value *items)
{
	struct value *distinct = arena_array(b->run->arena, struct value, n),
		     *found = arena_array(b->run->arena, struct value, n);
	struct map places;
	size_t count = 0;

	map_init(&places, b->run->arena);
	for (size_t i = 0; i < n; i++) {
		struct slice bytes = value_slice(keys[i]);

		if (!value_present(keys[i]) || map_get(&places, bytes))
			continue;
		map_set(&places, bytes, &found[count]);
		distinct[count++] = keys[i];
	}
	if (!fetch_parts(b, distinct, count, found))
		return false;
	for (size_t i = 0; i < n; i++)
		items[i] = value_present(keys[i]) ? *(const struct value *)map_get(&places, value_slice(keys[i]))
						  : VALUE_ABSENT;
	return true;
}

bool dyn_batch_get_from(struct run *r, struct slice table, const struct value *keys, size_t n, bool consistent,
			struct value *items)
{
	struct batch b = { r, dyn_table(r, table), consistent };

	return n > REQUEST_KEYS_MOST ? fetch_many(&b, keys, n, items) : fetch(&b, keys, n, items);
}

bool dyn_batch_get(struct run *r, const struct value *keys, size_t n, bool consistent, struct value *items)
{
	return dyn_batch_get_from(r, SLICE(""), keys, n, consistent, items);
}
