/* Requests to the table of the checkpoints, and the parts of its items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/checkpoint_table.h"

#include <time.h>

#include "app/beside.h"
#include "app/dyn_request.h"
#include "app/provision.h"
#include "base/timestamp.h"
#include "value/codec.h"

#define CONFLICT_TRIES 4
#define CONFLICT_MS 20

struct slice checkpoint_table(struct run *r)
{
	return beside_table(r);
}

struct value checkpoint_key(struct run *r, const char *kind, struct slice name, struct slice sk)
{
	struct slice pk = arena_printf(r->arena, name.n ? "%s#%.*s" : "%s%.*s", kind, SLICE_ARG(name));
	struct value_member members[] = {
		{ SLICE("PK"), value_make_s(r->arena, pk) },
		{ SLICE("SK"), value_make_s(r->arena, sk) },
	};

	return value_make_map(r->arena, members, 2);
}

/* ---- requests ---- */

static void begin(struct dyn_request *q, struct run *r)
{
	dyn_request_init(q, r);
	dyn_put_other_table(q, checkpoint_table(r));
}

bool checkpoint_provision(struct run *r)
{
	struct error e = { 0 };

	return provision_beside(r->backend, r->design, r->arena, &e) ||
	       run_fail(r, PROBLEM_INTERNAL, "%.*s", SLICE_ARG(e.message));
}

bool checkpoint_get(struct run *r, struct value key, struct value *item)
{
	struct backend_reply reply;
	struct dyn_request q;

	begin(&q, r);
	buf_lit(&q.body, ",\"Key\":");
	item_to_json(&q.body, key);
	buf_lit(&q.body, ",\"ConsistentRead\":true");
	if (!dyn_send(&q, "GetItem", &reply))
		return run_backend_error(r, &reply);
	return dyn_read_item(r, json_get(reply.body, "Item"), item);
}

static bool query(struct run *r, struct value key, struct value start, int limit, bool count_only, struct backend_reply *reply)
{
	struct dyn_request q;

	begin(&q, r);
	buf_lit(&q.body, ",\"ConsistentRead\":true,\"KeyConditionExpression\":\"");
	dyn_put_name(&q, SLICE("PK"));
	buf_lit(&q.body, " = ");
	dyn_put_value(&q, value_get(key, SLICE("PK")));
	buf_byte(&q.body, '"');
	dyn_put_placeholders(&q);
	if (limit)
		buf_printf(&q.body, ",\"Limit\":%d", limit);
	if (count_only)
		buf_lit(&q.body, ",\"Select\":\"COUNT\"");
	if (value_present(start)) {
		buf_lit(&q.body, ",\"ExclusiveStartKey\":");
		item_to_json(&q.body, start);
	}
	return dyn_send(&q, "Query", reply) || run_backend_error(r, reply);
}

bool checkpoint_query(struct run *r, struct value key, bool behind, int limit, struct value **items, size_t *n, bool *more)
{
	struct backend_reply reply;
	const struct json *list;

	if (!query(r, key, behind ? key : VALUE_ABSENT, limit, false, &reply))
		return false;
	list = json_get(reply.body, "Items");
	if (!json_is(list, JSON_ARRAY))
		return dyn_bad_reply(r, "Query");
	*items = arena_array(r->arena, struct value, list->count);
	for (*n = 0; *n < list->count; ++*n)
		if (!dyn_read_item(r, &list->items[*n], &(*items)[*n]))
			return false;
	*more = json_get(reply.body, "LastEvaluatedKey") != NULL;
	return true;
}

bool checkpoint_count(struct run *r, struct value key, int64_t *out)
{
	struct value start = VALUE_ABSENT;
	struct backend_reply reply;
	const struct json *count;

	*out = 0;
	do {
		if (!query(r, key, start, 0, true, &reply))
			return false;
		count = json_get(reply.body, "Count");
		*out += json_is(count, JSON_INT) ? count->integer : 0;
		if (!dyn_read_item(r, json_get(reply.body, "LastEvaluatedKey"), &start))
			return false;
	} while (value_present(start));
	return true;
}

bool checkpoint_write(struct run *r, const struct dyn_write *w, size_t n)
{
	struct dyn_refusal *refusals = arena_array(r->arena, struct dyn_refusal, n);
	struct timespec pause = { .tv_nsec = CONFLICT_MS * 1000000L };

	for (int tries = 1;; tries++) {
		switch (dyn_write(r, w, n, SLICE(""), refusals)) {
		case DYN_DONE: return true;
		case DYN_REFUSED: return run_fail(r, PROBLEM_CONFLICT, "someone else has gone on from here");
		case DYN_MISMATCH: return run_busy(r);
		case DYN_FAILED: return false;
		case DYN_CONFLICT: break; /* others are at it: what was asked for is still to be asked */
		}
		if (tries == CONFLICT_TRIES)
			return run_busy(r);
		nanosleep(&pause, NULL);
	}
}

/* ---- parts of items ---- */

struct slice checkpoint_text(struct value item, const char *name)
{
	struct value v = value_get(item, slice_str(name));

	return value_type(v) == VALUE_S ? value_bytes(v) : SLICE("");
}

int64_t checkpoint_number(struct value item, const char *name)
{
	struct value v = value_get(item, slice_str(name));
	struct number n;
	int64_t i = 0;

	if (value_type(v) != VALUE_N)
		return 0;
	n = value_number(v);
	return number_to_i64(&n, &i) ? i : 0;
}

bool checkpoint_bool(struct value item, const char *name)
{
	struct value v = value_get(item, slice_str(name));

	return value_type(v) == VALUE_BOOL && value_bool(v);
}

int64_t checkpoint_time(struct value item, const char *name)
{
	int64_t ms;

	return time_parse(checkpoint_text(item, name), &ms) ? ms : 0;
}

void checkpoint_item_init(struct checkpoint_item *i, struct run *r, struct value key)
{
	i->run = r;
	i->count = 0;
	checkpoint_add(i, "PK", value_get(key, SLICE("PK")));
	checkpoint_add(i, "SK", value_get(key, SLICE("SK")));
}

void checkpoint_add(struct checkpoint_item *i, const char *name, struct value v)
{
	if (value_present(v) && i->count < CHECKPOINT_MEMBERS)
		i->list[i->count++] = (struct value_member){ slice_str(name), v };
}

void checkpoint_add_text(struct checkpoint_item *i, const char *name, struct slice s)
{
	if (s.n)
		checkpoint_add(i, name, value_make_s(i->run->arena, s));
}

void checkpoint_add_time(struct checkpoint_item *i, const char *name, int64_t ms)
{
	char out[TIME_TEXT_MAX];

	checkpoint_add_text(i, name, time_format(ms, out));
}

struct value checkpoint_item_made(struct checkpoint_item *i)
{
	return value_make_map(i->run->arena, i->list, i->count);
}
