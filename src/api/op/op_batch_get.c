/* BatchGetItem: up to 100 keys of several tables, 16 MB of items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/execute.h"
#include "api/internal.h"
#include "api/op/params.h"
#include "api/op/tally.h"
#include "base/map.h"
#include "value/codec.h"

#define READ_AHEAD 32 /* keys read at once; those past the reply's limit were read in vain */

static const char *const expressions[] = { "ProjectionExpression", NULL };
static const char *const legacy[] = { "AttributesToGet", NULL };

struct table_get {
	const struct json *in; /* {"Keys": […], …} */
	struct batch_read read;
	struct request_batch q;
};

static bool parse_keys(struct op_state *s, struct table_get *g, struct error *e)
{
	const struct json *keys = json_get(g->in, "Keys");
	struct value *list = arena_array(s->arena, struct value, keys->count);
	struct map seen;

	g->q.keys = list;
	g->q.count = keys->count;
	map_init(&seen, s->arena);
	for (size_t i = 0; i < keys->count; i++) {
		if (!item_from_json(s->arena, &keys->items[i], &list[i], e))
			return false;
		/* Encoded values are canonical: equal keys have equal bytes. */
		struct slice bytes = { (const char *)list[i].p, list[i].n };

		if (map_set(&seen, bytes, g))
			return error_set(e, s->arena, ERR_VALIDATION, "Provided list of item keys contains duplicates");
	}
	return true;
}

static bool parse_table(struct op_state *s, struct table_get *g, struct error *e)
{
	struct expr_bindings *b;

	return params_check_mix(s, g->in, expressions, legacy, e) && params_bindings(s, g->in, &b, e) &&
	       params_projection(s, g->in, b, &g->q.projection, e) && expr_bindings_check_used(b, e) &&
	       parse_keys(s, g, e);
}

bool batch_resolve(struct op_state *s, const struct request_batch *q, struct batch_read *r, struct error *e)
{
	*r = (struct batch_read){ .q = q, .end = q->count, .table = op_table(s, q->table, e) };
	if (!r->table)
		return false;
	r->keys = arena_array(s->arena, struct item_key, q->count);
	for (size_t i = 0; i < q->count; i++)
		if (!table_key_of_key(r->table, q->keys[i], s->arena, &r->keys[i], e))
			return false;
	return params_check_projection_keys(s, r->table, q->projection, e);
}

static bool read_ahead(struct op_state *s, const struct batch_read *r, const struct store_view *view, size_t from,
		       struct value *items, struct error *e)
{
	size_t left = r->q->count - from;

	return db_get_many(&(struct db_at){ s->db, view, r->table }, r->keys + from,
			   left < READ_AHEAD ? left : READ_AHEAD, s->arena, items, e);
}

bool batch_read(struct op_state *s, struct batch_read *r, const struct store_view *view, size_t *bytes, struct error *e)
{
	const struct store_view *lagging = s->fault ? fault_view(s, r->table, NULL, r->q->consistent) : NULL;
	struct value items[READ_AHEAD];

	for (size_t i = 0; i < r->q->count; i++) {
		struct value item;
		size_t size;

		if (i % READ_AHEAD == 0 && !read_ahead(s, r, lagging ? lagging : view, i, items, e))
			return false;
		if (r->throttled && r->throttled[i])
			continue;
		item = items[i % READ_AHEAD];
		size = value_present(item) ? item_size(item) : 0;
		if (*bytes + size > BATCH_GET_BYTES_MAX) {
			r->end = i;
			break;
		}
		*bytes += size;
		r->units += capacity_read_units(size, r->q->consistent);
		r->emit(r->ctx, i, item);
	}
	stats_add(&r->table->stats->reads, (int64_t)r->end);
	return true;
}

struct emission {
	struct op_state *s;
	const struct projection *projection;
};

static void emit(void *ctx, size_t i, struct value item)
{
	struct emission *m = ctx;

	if (!value_present(item))
		return;
	item_to_json(&m->s->out, m->projection ? projection_apply(m->projection, item, m->s->arena) : item);
}

/* Appends the table's items. */
static bool read_table(struct op_state *s, struct table_get *g, const struct store_view *view, size_t *bytes,
		       struct tally *tally, struct error *e)
{
	struct emission m = { s, g->q.projection };
	struct capacity c = { .read = true };

	json_name_string(&s->out, g->q.table);
	json_open(&s->out, '[');
	g->read.emit = emit;
	g->read.ctx = &m;
	if (!batch_read(s, &g->read, view, bytes, e))
		return false;
	json_close(&s->out, ']');
	c.table_units = g->read.units;
	tally_add(tally, g->read.table, &c);
	return true;
}

static bool is_unprocessed(const struct table_get *g, size_t i)
{
	return i >= g->read.end || (g->read.throttled && g->read.throttled[i]);
}

static bool has_unprocessed(const struct table_get *g)
{
	for (size_t i = 0; g->read.throttled && i < g->q.count; i++)
		if (g->read.throttled[i])
			return true;
	return g->read.end < g->q.count;
}

/* The same request again, with the keys that are left. */
static void add_unprocessed(struct op_state *s, const struct table_get *g)
{
	json_name_string(&s->out, g->q.table);
	json_open(&s->out, '{');
	json_member_open(&s->out, "Keys", '[');
	for (size_t i = 0; i < g->q.count; i++)
		if (is_unprocessed(g, i))
			item_to_json(&s->out, g->q.keys[i]);
	json_close(&s->out, ']');
	for (size_t i = 0; i < g->in->count; i++) {
		const struct json_member *m = &g->in->members[i];

		if (slice_is(m->name, "Keys") || m->value.type == JSON_NULL)
			continue;
		json_name_string(&s->out, m->name);
		json_write(&s->out, &m->value);
	}
	json_close(&s->out, '}');
}

static void reply_unprocessed(struct op_state *s, const struct table_get *gets, size_t n)
{
	json_member_open(&s->out, "UnprocessedKeys", '{');
	for (size_t i = 0; i < n; i++)
		if (has_unprocessed(&gets[i]))
			add_unprocessed(s, &gets[i]);
	json_close(&s->out, '}');
}

static bool parse_request(struct op_state *s, const struct json *tables, struct table_get *gets, struct error *e)
{
	size_t total = 0;

	for (size_t i = 0; i < tables->count; i++) {
		gets[i].in = &tables->members[i].value;
		gets[i].q.table = tables->members[i].name;
		gets[i].q.consistent = op_bool(gets[i].in, "ConsistentRead", false);
		if (!parse_table(s, &gets[i], e))
			return false;
		total += gets[i].q.count;
		if (total > BATCH_GETS_MAX)
			return error_set(e, s->arena, ERR_VALIDATION,
					 "Too many items requested for the BatchGetItem call");
	}
	for (size_t i = 0; i < tables->count; i++)
		if (!batch_resolve(s, &gets[i].q, &gets[i].read, e))
			return false;
	return true;
}

/* Throttles keys by chance. False when none is left: DynamoDB refuses the request then. */
static bool throttle(struct op_state *s, struct table_get *gets, size_t n, struct error *e)
{
	size_t left = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		bool *throttled = arena_array(s->arena, bool, gets[i].q.count);

		for (size_t j = 0; j < gets[i].q.count; j++) {
			throttled[j] = fault_strikes(s->fault, FAULT_THROTTLE, gets[i].read.table->name, at++);
			left += !throttled[j];
		}
		gets[i].read.throttled = throttled;
	}
	if (!left)
		fault_set_throttled(s, gets[0].read.table, NULL, false, e);
	return left;
}

bool op_batch_get_item(struct op_state *s, struct error *e)
{
	const struct json *tables = json_get(s->in, "RequestItems");
	struct table_get *gets;
	struct tally tally;
	size_t bytes = 0;

	if (!json_is(tables, JSON_OBJECT) || tables->count == 0)
		return error_set(e, s->arena, ERR_VALIDATION, "The requestItems parameter is required for BatchGetItem");
	gets = arena_array(s->arena, struct table_get, tables->count);
	if (!parse_request(s, tables, gets, e) || (s->fault && !throttle(s, gets, tables->count, e)))
		return false;

	struct store_view *view = store_view(db_store(s->db), s->arena);

	tally_init(&tally, s->arena);
	json_open(&s->out, '{');
	json_member_open(&s->out, "Responses", '{');
	for (size_t i = 0; i < tables->count; i++)
		if (!read_table(s, &gets[i], view, &bytes, &tally, e))
			return false;
	json_close(&s->out, '}');
	reply_unprocessed(s, gets, tables->count);
	tally_reply(&s->out, &tally, reply_capacity_wanted(s->in), false);
	json_close(&s->out, '}');
	return true;
}
