/* BatchGetItem: up to 100 keys of several tables, 16 MB of items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/internal.h"
#include "api/params.h"
#include "api/tally.h"
#include "base/map.h"
#include "value/codec.h"

#define READ_AHEAD 32 /* keys are read so many at a time: what of it is beyond was read in vain */

static const char *const expressions[] = { "ProjectionExpression", NULL };
static const char *const legacy[] = { "AttributesToGet", NULL };

struct table_get {
	const struct json *in; /* {"Keys": […], …} */
	struct slice name;
	const struct table *table;
	const struct projection *projection;
	struct value *keys;
	struct item_key *item_keys;
	size_t key_count;
	size_t first_unprocessed; /* key_count: all were read */
	const bool *throttled;    /* by key: it is not read; NULL: none of them is */
};

static bool parse_keys(struct op_state *s, struct table_get *g, struct error *e)
{
	const struct json *keys = json_get(g->in, "Keys");
	struct map seen;

	g->key_count = g->first_unprocessed = keys->count;
	g->keys = arena_array(s->arena, struct value, keys->count);
	g->item_keys = arena_array(s->arena, struct item_key, keys->count);
	map_init(&seen, s->arena);
	for (size_t i = 0; i < keys->count; i++) {
		if (!item_from_json(s->arena, &keys->items[i], &g->keys[i], e))
			return false;
		/* Encoded values are canonical: equal keys have equal bytes. */
		struct slice bytes = { (const char *)g->keys[i].p, g->keys[i].n };

		if (map_set(&seen, bytes, g))
			return error_set(e, s->arena, ERR_VALIDATION,
					 "Provided list of item keys contains duplicates");
	}
	return true;
}

static bool parse_table(struct op_state *s, struct table_get *g, struct error *e)
{
	struct expr_bindings *b;

	return params_check_mix(s, g->in, expressions, legacy, e) && params_bindings(s, g->in, &b, e) &&
	       params_projection(s, g->in, b, &g->projection, e) && expr_bindings_check_used(b, e) &&
	       parse_keys(s, g, e);
}

static bool resolve_table(struct op_state *s, struct table_get *g, struct error *e)
{
	g->table = op_table(s, g->name, e);
	if (!g->table)
		return false;
	for (size_t i = 0; i < g->key_count; i++)
		if (!table_key_of_key(g->table, g->keys[i], s->arena, &g->item_keys[i], e))
			return false;
	return params_check_projection_keys(s, g->table, g->projection, e);
}

static bool read_ahead(struct op_state *s, const struct table_get *g, const struct store_view *view, size_t from, struct value *items,
		       struct error *e)
{
	size_t left = g->key_count - from;

	return db_get_many(s->db, view, g->table, g->item_keys + from, left < READ_AHEAD ? left : READ_AHEAD, s->arena, items, e);
}

/* Appends the table's items; stops before the total passes 16 MB. */
static bool read_table(struct op_state *s, struct table_get *g, const struct store_view *view, size_t *bytes,
		       struct tally *tally, struct error *e)
{
	bool consistent = op_bool(g->in, "ConsistentRead", false);
	const struct store_view *lagging = s->fault ? fault_view(s, g->table, NULL, consistent) : NULL;
	struct value items[READ_AHEAD];

	json_name_string(&s->out, g->name);
	json_open(&s->out, '[');
	for (size_t i = 0; i < g->key_count; i++) {
		struct capacity c = { .read = true };
		struct value item;
		size_t size;

		if (i % READ_AHEAD == 0 && !read_ahead(s, g, lagging ? lagging : view, i, items, e))
			return false;
		if (g->throttled && g->throttled[i])
			continue;
		item = items[i % READ_AHEAD];
		size = value_present(item) ? item_size(item) : 0;
		if (*bytes + size > BATCH_GET_BYTES_MAX) {
			g->first_unprocessed = i;
			break;
		}
		*bytes += size;
		c.table_units = capacity_read_units(size, consistent);
		tally_add(tally, g->table, &c);
		if (!value_present(item))
			continue;
		item_to_json(&s->out, g->projection ? projection_apply(g->projection, item, s->arena) : item);
	}
	json_close(&s->out, ']');
	stats_add(&g->table->stats->reads, (int64_t)g->first_unprocessed);
	return true;
}

static bool is_unprocessed(const struct table_get *g, size_t i)
{
	return i >= g->first_unprocessed || (g->throttled && g->throttled[i]);
}

static bool has_unprocessed(const struct table_get *g)
{
	for (size_t i = 0; g->throttled && i < g->key_count; i++)
		if (g->throttled[i])
			return true;
	return g->first_unprocessed < g->key_count;
}

/* The same request again, with the keys that are left. */
static void add_unprocessed(struct op_state *s, const struct table_get *g)
{
	json_name_string(&s->out, g->name);
	json_open(&s->out, '{');
	json_member_open(&s->out, "Keys", '[');
	for (size_t i = 0; i < g->key_count; i++)
		if (is_unprocessed(g, i))
			item_to_json(&s->out, g->keys[i]);
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

static bool parse_request(struct op_state *s, const struct json *tables, struct table_get *gets,
			  struct error *e)
{
	size_t total = 0;

	for (size_t i = 0; i < tables->count; i++) {
		gets[i].in = &tables->members[i].value;
		gets[i].name = tables->members[i].name;
		if (!parse_table(s, &gets[i], e))
			return false;
		total += gets[i].key_count;
		if (total > BATCH_GETS_MAX)
			return error_set(e, s->arena, ERR_VALIDATION,
					 "Too many items requested for the BatchGetItem call");
	}
	for (size_t i = 0; i < tables->count; i++)
		if (!resolve_table(s, &gets[i], e))
			return false;
	return true;
}

/* Throttles keys by chance. False when none is left: DynamoDB refuses the request then. */
static bool throttle(struct op_state *s, struct table_get *gets, size_t n, struct error *e)
{
	size_t left = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		bool *throttled = arena_array(s->arena, bool, gets[i].key_count);

		for (size_t j = 0; j < gets[i].key_count; j++) {
			throttled[j] = fault_strikes(s->fault, FAULT_THROTTLE, gets[i].table->name, at++);
			left += !throttled[j];
		}
		gets[i].throttled = throttled;
	}
	if (!left)
		fault_set_throttled(s, gets[0].table, NULL, false, e);
	return left;
}

bool op_batch_get_item(struct op_state *s, struct error *e)
{
	const struct json *tables = json_get(s->in, "RequestItems");
	struct table_get *gets;
	struct tally tally;
	size_t bytes = 0;

	if (!json_is(tables, JSON_OBJECT) || tables->count == 0)
		return error_set(e, s->arena, ERR_VALIDATION,
				 "The requestItems parameter is required for BatchGetItem");
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
