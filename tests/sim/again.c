/* See sim.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "sim.h"
#include "value/codec.h"

#define KEYS_MOST 4000
#define SOON_S    7200

struct keys {
	struct slice *list; /* as JSON */
	size_t count;
};

/* Whether it expires meanwhile. */
static bool goes_by_itself(const struct sim *s, const struct json *item)
{
	const struct json *number = s->design->ttl.n ? json_get(json_get_slice(item, s->design->ttl), "N") : NULL;

	return json_is(number, JSON_STRING) && strtoll(number->string.p, NULL, 10) < fiber_date_us() / 1000000 + SOON_S;
}

static struct keys read_keys(struct sim *s)
{
	struct keys k = { .list = arena_array(&s->arena, struct slice, KEYS_MOST) };
	const struct key_schema *key = &s->design->key;
	struct slice start = SLICE("");

	do {
		struct slice body = arena_printf(&s->arena, "{\"TableName\":\"%.*s\",\"ConsistentRead\":true%.*s}",
						 SLICE_ARG(s->design->table), SLICE_ARG(start));
		struct backend_reply reply;
		const struct json *items, *last;
		struct buf b;

		backend_call(s->backend, &s->arena, "Scan", body, &reply);
		items = json_get(reply.body, "Items");
		last = json_get(reply.body, "LastEvaluatedKey");
		for (size_t i = 0; items && i < items->count && k.count < KEYS_MOST; i++) {
			if (goes_by_itself(s, &items->items[i]))
				continue;
			buf_init(&b, &s->arena);
			buf_lit(&b, "{");
			json_string(&b, key->hash[0].name);
			buf_lit(&b, ":");
			json_write(&b, json_get_slice(&items->items[i], key->hash[0].name));
			if (key->range_count) {
				buf_lit(&b, ",");
				json_string(&b, key->range[0].name);
				buf_lit(&b, ":");
				json_write(&b, json_get_slice(&items->items[i], key->range[0].name));
			}
			buf_lit(&b, "}");
			k.list[k.count++] = buf_slice(&b);
		}
		buf_init(&b, &s->arena);
		if (last) {
			buf_lit(&b, ",\"ExclusiveStartKey\":");
			json_write(&b, last);
		}
		start = buf_slice(&b);
	} while (start.n);
	return k;
}

static bool has(const struct keys *k, struct slice key)
{
	for (size_t i = 0; i < k->count; i++)
		if (slice_equal(k->list[i], key))
			return true;
	return false;
}

void again_check(struct sim *s)
{
	struct keys before, after;
	bool any = false;

	if (s->design->stream == STREAM_NONE || !sim_may(s, SIM_AGAIN))
		return;
	before = read_keys(s);
	for (size_t i = 0; i < process_reading_count(s->process); i++) {
		struct process_reading r = process_reading(s->process, i);

		if (r.scheduled || operator_recounts(s->design, r.name))
			continue;
		operator_control(s, s->backend, &s->arena, r.name, "replay", "{\"from\": \"2026-01-01T00:00:00Z\"}");
		any = true;
	}
	if (!any || !world_settle(s))
		return;
	after = read_keys(s);
	for (size_t i = 0; i < before.count; i++)
		if (!has(&after, before.list[i]))
			sim_problem(s, "%.*s goes when processors do everything again: it should not have been there",
				    SLICE_ARG(before.list[i]));
}
