/* A table's definition as JSON, the form in which the catalog is stored.
 *
 * Members may be added; an absent one reads as zero, false or empty, so older data stays readable.
 * Sequence numbers are strings: JSON integers end at 2^63.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "json/json.h"
#include "table/internal.h"

/* ---- writing ---- */
static void put_sequence(struct buf *b, const char *name, uint64_t v)
{
	json_name(b, name);
	buf_printf(b, "\"%" PRIu64 "\"", v);
}

static void put_attrs(struct buf *b, const char *name, const struct key_attr *k, size_t n)
{
	size_t i;

	json_member_open(b, name, '[');
	for (i = 0; i < n; i++) {
		json_open(b, '{');
		json_member_string(b, "name", k[i].name);
		json_member_word(b, "type", value_type_name(k[i].type));
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void put_key(struct buf *b, const struct key_schema *k)
{
	json_member_open(b, "key", '{');
	put_attrs(b, "hash", k->hash, k->hash_count);
	put_attrs(b, "range", k->range, k->range_count);
	json_close(b, '}');
}

static void put_throughput(struct buf *b, const struct throughput *t)
{
	json_member_open(b, "throughput", '{');
	json_member_int(b, "read", t->read);
	json_member_int(b, "write", t->write);
	json_member_int(b, "increased", t->last_increase);
	json_member_int(b, "decreased", t->last_decrease);
	json_member_int(b, "decreasesToday", t->decreases_today);
	json_close(b, '}');
}

static void put_index(struct buf *b, const struct index *i)
{
	json_open(b, '{');
	json_member_int(b, "id", i->id);
	json_member_string(b, "name", i->name);
	json_member_bool(b, "global", i->global);
	put_key(b, &i->key);
	json_member_int(b, "projection", i->projection);
	json_member_strings(b, "include", i->include, i->include_count);
	put_throughput(b, &i->throughput);
	json_member_int(b, "maxRead", i->max_read_units);
	json_member_int(b, "maxWrite", i->max_write_units);
	json_member_int(b, "status", i->status);
	json_member_bool(b, "backfilling", i->backfilling);
	json_close(b, '}');
}

static void put_splits(struct buf *b, const struct stream *s)
{
	if (!s->split_count)
		return;
	json_member_open(b, "splits", '[');
	for (size_t i = 0; i < s->split_count; i++) {
		json_open(b, '{');
		put_sequence(b, "at", s->splits[i].sequence);
		json_member_int(b, "ms", s->splits[i].ms);
		json_member_int(b, "depth", s->splits[i].depth);
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void put_stream(struct buf *b, const struct stream *s)
{
	json_open(b, '{');
	json_member_int(b, "id", s->id);
	json_member_string(b, "label", s->label);
	json_member_word(b, "view", stream_view_name(s->view));
	json_member_int(b, "shards", s->shards);
	json_member_int(b, "created", s->created_ms);
	json_member_int(b, "closed", s->closed_ms);
	put_sequence(b, "first", s->first_sequence);
	put_sequence(b, "last", s->closed_sequence);
	put_splits(b, s);
	json_close(b, '}');
}

static void put_tags(struct buf *b, const struct table *t)
{
	size_t i;

	json_member_open(b, "tags", '[');
	for (i = 0; i < t->tag_count; i++) {
		json_open(b, '{');
		json_member_string(b, "key", t->tags[i].key);
		json_member_string(b, "value", t->tags[i].value);
		json_close(b, '}');
	}
	json_close(b, ']');
}

static void put_parts(struct buf *b, const struct table *t)
{
	size_t i;

	json_member_open(b, "indexes", '[');
	for (i = 0; i < t->index_count; i++)
		put_index(b, &t->indexes[i]);
	json_close(b, ']');
	if (t->stream) {
		json_name(b, "stream");
		put_stream(b, t->stream);
	}
	json_member_open(b, "closedStreams", '[');
	for (i = 0; i < t->closed_stream_count; i++)
		put_stream(b, &t->closed_streams[i]);
	json_close(b, ']');
	put_tags(b, t);
}

struct slice table_to_text(const struct table *t, struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	json_member_int(&b, "id", t->id);
	json_member_string(&b, "name", t->name);
	json_member_string(&b, "uuid", t->uuid);
	json_member_int(&b, "created", t->created_ms);
	json_member_int(&b, "status", t->status);
	put_key(&b, &t->key);
	put_attrs(&b, "attributes", t->attributes, t->attribute_count);
	json_member_bool(&b, "onDemand", t->on_demand);
	json_member_int(&b, "onDemandSince", t->on_demand_since_ms);
	put_throughput(&b, &t->throughput);
	json_member_int(&b, "maxRead", t->max_read_units);
	json_member_int(&b, "maxWrite", t->max_write_units);
	json_member_bool(&b, "ttl", t->ttl == TTL_ENABLED);
	json_member_string(&b, "ttlAttribute", t->ttl_attribute);
	json_member_bool(&b, "ttlBackfilling", t->ttl_backfilling);
	json_member_bool(&b, "deletionProtection", t->deletion_protection);
	json_member_string(&b, "tableClass", t->table_class);
	json_member_bool(&b, "sse", t->sse);
	json_member_string(&b, "sseKey", t->sse_key);
	put_parts(&b, t);
	json_close(&b, '}');
	return buf_slice(&b);
}

/* ---- reading ---- */
static int64_t get_int(const struct json *j, const char *name, int64_t otherwise)
{
	const struct json *v = json_get(j, name);

	return json_is(v, JSON_INT) ? v->integer : otherwise;
}

static bool get_bool(const struct json *j, const char *name)
{
	const struct json *v = json_get(j, name);

	return json_is(v, JSON_BOOL) && v->boolean;
}

static uint64_t get_sequence(const struct json *j, const char *name, struct arena *a)
{
	return strtoull(arena_cstr(a, json_get_text(j, name)), NULL, 10);
}

/* The elements of an array; *n is 0 if it is absent. */
static const struct json *get_array(const struct json *j, const char *name, size_t *n)
{
	const struct json *v = json_get(j, name);

	*n = json_is(v, JSON_ARRAY) ? v->count : 0;
	return *n ? v->items : NULL;
}

static struct key_attr get_attr(const struct json *j)
{
	return (struct key_attr){ json_get_text(j, "name"), value_type_parse(json_get_text(j, "type")) };
}

static uint8_t get_key_part(const struct json *key, const char *name, struct key_attr *out, size_t most)
{
	size_t n, i;
	const struct json *items = get_array(key, name, &n);

	for (i = 0; i < n && i < most; i++)
		out[i] = get_attr(&items[i]);
	return (uint8_t)i;
}

static void get_key(const struct json *j, struct key_schema *k)
{
	const struct json *key = json_get(j, "key");

	k->hash_count = get_key_part(key, "hash", k->hash, KEY_HASH_MAX);
	k->range_count = get_key_part(key, "range", k->range, KEY_RANGE_MAX);
}

static struct throughput get_throughput(const struct json *j)
{
	const struct json *t = json_get(j, "throughput");

	return (struct throughput){
		.read = get_int(t, "read", 0),
		.write = get_int(t, "write", 0),
		.last_increase = get_int(t, "increased", 0),
		.last_decrease = get_int(t, "decreased", 0),
		.decreases_today = get_int(t, "decreasesToday", 0),
	};
}

static struct index get_index(const struct json *j, struct arena *a)
{
	size_t n, i;
	const struct json *include = get_array(j, "include", &n);
	struct slice *names = arena_array(a, struct slice, n);
	struct index x = {
		.id = (uint32_t)get_int(j, "id", 0),
		.name = json_get_text(j, "name"),
		.global = get_bool(j, "global"),
		.projection = (enum projection_kind)get_int(j, "projection", 0),
		.include = names,
		.include_count = n,
		.throughput = get_throughput(j),
		.max_read_units = get_int(j, "maxRead", -1),
		.max_write_units = get_int(j, "maxWrite", -1),
		.status = (enum resource_status)get_int(j, "status", STATUS_ACTIVE),
		.backfilling = get_bool(j, "backfilling"),
	};

	get_key(j, &x.key);
	for (i = 0; i < n; i++)
		if (json_is(&include[i], JSON_STRING))
			names[i] = include[i].string;
	return x;
}

static const struct stream_split *get_splits(const struct json *j, struct arena *a, size_t *n)
{
	const struct json *items = get_array(j, "splits", n);
	struct stream_split *splits = arena_array(a, struct stream_split, *n);

	for (size_t i = 0; i < *n; i++)
		splits[i] = (struct stream_split){
			.sequence = get_sequence(&items[i], "at", a),
			.ms = get_int(&items[i], "ms", 0),
			.depth = (uint32_t)get_int(&items[i], "depth", 0),
		};
	return splits;
}

static struct stream get_stream(const struct json *j, struct arena *a)
{
	size_t splits;
	const struct stream_split *list = get_splits(j, a, &splits);

	return (struct stream){
		.id = (uint32_t)get_int(j, "id", 0),
		.label = json_get_text(j, "label"),
		.view = stream_view_parse(json_get_text(j, "view")),
		.shards = (uint32_t)get_int(j, "shards", 1),
		.created_ms = get_int(j, "created", 0),
		.closed_ms = get_int(j, "closed", 0),
		.first_sequence = get_sequence(j, "first", a),
		.closed_sequence = get_sequence(j, "last", a),
		.splits = list,
		.split_count = splits,
	};
}

static void get_indexes(const struct json *j, struct arena *a, struct table *t)
{
	size_t n, i;
	const struct json *items = get_array(j, "indexes", &n);
	struct index *x = arena_array(a, struct index, n);

	for (i = 0; i < n; i++) {
		x[i] = get_index(&items[i], a);
		t->has_local_indexes |= !x[i].global;
	}
	t->indexes = x;
	t->index_count = n;
}

static void get_streams(const struct json *j, struct arena *a, struct table *t)
{
	const struct json *enabled = json_get(j, "stream");
	size_t n, i;
	const struct json *items = get_array(j, "closedStreams", &n);
	struct stream *closed = arena_array(a, struct stream, n);

	if (enabled) {
		struct stream *s = arena_new(a, struct stream);

		*s = get_stream(enabled, a);
		t->stream = s;
	}
	for (i = 0; i < n; i++)
		closed[i] = get_stream(&items[i], a);
	t->closed_streams = closed;
	t->closed_stream_count = n;
}

static void get_lists(const struct json *j, struct arena *a, struct table *t)
{
	size_t n, i;
	const struct json *items = get_array(j, "attributes", &n);
	struct key_attr *attributes = arena_array(a, struct key_attr, n);
	struct tag *tags;

	for (i = 0; i < n; i++)
		attributes[i] = get_attr(&items[i]);
	t->attributes = attributes;
	t->attribute_count = n;
	items = get_array(j, "tags", &n);
	tags = arena_array(a, struct tag, n);
	for (i = 0; i < n; i++)
		tags[i] = (struct tag){ json_get_text(&items[i], "key"), json_get_text(&items[i], "value") };
	t->tags = tags;
	t->tag_count = n;
}

bool table_from_text(struct slice text, struct arena *a, struct table *t)
{
	const struct json *j = json_parse(a, text);

	if (!json_is(j, JSON_OBJECT))
		return false;
	*t = (struct table){
		.id = (uint32_t)get_int(j, "id", 0),
		.name = json_get_text(j, "name"),
		.uuid = json_get_text(j, "uuid"),
		.created_ms = get_int(j, "created", 0),
		.status = (enum resource_status)get_int(j, "status", STATUS_ACTIVE),
		.on_demand = get_bool(j, "onDemand"),
		.on_demand_since_ms = get_int(j, "onDemandSince", 0),
		.throughput = get_throughput(j),
		.max_read_units = get_int(j, "maxRead", -1),
		.max_write_units = get_int(j, "maxWrite", -1),
		.ttl = get_bool(j, "ttl") ? TTL_ENABLED : TTL_DISABLED,
		.ttl_attribute = json_get_text(j, "ttlAttribute"),
		.ttl_backfilling = get_bool(j, "ttlBackfilling"),
		.deletion_protection = get_bool(j, "deletionProtection"),
		.table_class = json_get_text(j, "tableClass"),
		.sse = get_bool(j, "sse"),
		.sse_key = json_get_text(j, "sseKey"),
	};
	get_key(j, &t->key);
	get_indexes(j, a, t);
	get_streams(j, a, t);
	get_lists(j, a, t);
	return t->id && t->name.n && t->key.hash_count == 1 && t->index_count <= INDEXES_MAX;
}
