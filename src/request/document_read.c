/* Reads DynamoDB's replies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "request/document.h"

#include "base/map.h"
#include "value/codec.h"

static void unreadable(struct arena *a, const struct request *q, const struct backend_reply *in, struct reply *out)
{
	*out = (struct reply){
		.status = in->status == 200 ? 500 : in->status,
		.error = SLICE("UnreadableReply"),
		.message = arena_printf(a, "the reply to %s cannot be read", request_operation(q)),
	};
}

/* NULL: absent. */
static bool read_item(struct arena *a, const struct json *j, struct value *item)
{
	struct error e = { 0 };

	*item = VALUE_ABSENT;
	return !j || item_from_json(a, j, item, &e);
}

static double units_in(const struct json *capacity)
{
	const struct json *units = json_get(capacity, "CapacityUnits");
	double sum = 0;

	if (json_is(capacity, JSON_ARRAY))
		for (size_t i = 0; i < capacity->count; i++)
			sum += units_in(&capacity->items[i]);
	if (json_is(units, JSON_INT))
		return (double)units->integer;
	return json_is(units, JSON_DOUBLE) ? units->number : sum;
}

/* One capacity, or one for each table. */
double reply_units(const struct json *body)
{
	return units_in(json_get(body, "ConsumedCapacity"));
}

/* ---- BatchGetItem ---- */

/* The attributes of the item that a key has. */
static struct value key_of(struct arena *a, struct value like, struct value item)
{
	struct value_member *m = arena_array(a, struct value_member, value_count(like));
	struct value_iter it = value_iter(like);
	size_t n = 0;

	while (value_next(&it)) {
		struct value v = value_get(item, it.name);

		if (value_present(v))
			m[n++] = (struct value_member){ it.name, v };
	}
	return value_make_map(a, m, n);
}

struct batch {
	struct arena *arena;
	const struct request_batch *q;
	struct map first; /* the bytes of a key -> where it stands first */
	struct value like;
	struct reply *out;
};

static void batch_init(struct batch *b, struct arena *a, const struct request_batch *q, struct reply *out)
{
	*b = (struct batch){ .arena = a, .q = q, .out = out };
	map_init(&b->first, a);
	out->items = arena_array(a, struct value, q->count);
	for (size_t i = 0; i < q->count; i++) {
		struct slice bytes = value_slice(q->keys[i]);

		if (map_get(&b->first, bytes))
			continue;
		b->like = q->keys[i];
		map_set(&b->first, bytes, &out->items[i]);
	}
}

/* Where the item with this key goes; NULL: it was not requested. */
static struct value *place_of(struct batch *b, struct value key)
{
	return map_get(&b->first, value_slice(key));
}

static bool read_found(struct batch *b, const struct json *items)
{
	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
		struct value item, *place;

		if (!read_item(b->arena, &items->items[i], &item))
			return false;
		place = place_of(b, key_of(b->arena, b->like, item));
		if (!place)
			return false;
		*place = item;
		b->out->count++;
	}
	return true;
}

static bool read_left(struct batch *b, const struct json *keys)
{
	if (!json_is(keys, JSON_ARRAY) || !keys->count)
		return true;
	b->out->left = arena_array(b->arena, bool, b->q->count);
	for (size_t i = 0; i < keys->count; i++) {
		struct value key, *place;

		if (!read_item(b->arena, &keys->items[i], &key))
			return false;
		place = place_of(b, key);
		if (!place)
			return false;
		b->out->left[place - b->out->items] = true;
	}
	return true;
}

/* Equal keys have the same item. */
static void repeat(struct batch *b)
{
	for (size_t i = 0; i < b->q->count; i++) {
		const struct value *place = place_of(b, b->q->keys[i]);

		b->out->items[i] = *place;
		if (b->out->left)
			b->out->left[i] = b->out->left[place - b->out->items];
	}
}

static bool read_batch(struct arena *a, const struct request_batch *q, const struct json *body, struct reply *out)
{
	const struct json *left = json_get_slice(json_get(body, "UnprocessedKeys"), q->table);
	struct batch b;

	batch_init(&b, a, q, out);
	if (!read_found(&b, json_get_slice(json_get(body, "Responses"), q->table)) ||
	    !read_left(&b, json_get(left, "Keys")))
		return false;
	repeat(&b);
	return true;
}

/* ---- Query ---- */

static bool read_page(struct arena *a, const struct request_query *q, const struct json *body, struct reply *out)
{
	const struct json *items = json_get(body, "Items"), *count = json_get(body, "Count");

	if (!read_item(a, json_get(body, "LastEvaluatedKey"), &out->last))
		return false;
	if (q->count_only) {
		out->count = json_is(count, JSON_INT) && count->integer >= 0 ? (size_t)count->integer : 0;
		return json_is(count, JSON_INT) && count->integer >= 0;
	}
	if (!json_is(items, JSON_ARRAY))
		return false;
	out->items = arena_array(a, struct value, items->count);
	for (out->count = 0; out->count < items->count; out->count++)
		if (!read_item(a, &items->items[out->count], &out->items[out->count]))
			return false;
	return true;
}

/* ---- GetRecords ---- */

/* What DynamoDB Local (3.3) calls the removal of an expired item; it names no one who removed it. */
#define LOCAL_EXPIRED "UNKNOWN_TO_SDK_VERSION"

static enum stream_event event_of(struct slice name)
{
	if (slice_is(name, "INSERT"))
		return EVENT_INSERT;
	return slice_is(name, "REMOVE") || slice_is(name, LOCAL_EXPIRED) ? EVENT_REMOVE : EVENT_MODIFY;
}

static int64_t time_of(const struct json *seconds)
{
	if (json_is(seconds, JSON_INT))
		return seconds->integer * 1000;
	return json_is(seconds, JSON_DOUBLE) ? (int64_t)(seconds->number * 1000) : 0;
}

static struct json mended_item(struct arena *a, const struct json *in);

static struct json mended_value(struct arena *a, const struct json *in)
{
	static const struct json nothing = { .type = JSON_OBJECT };
	struct json_member *typed;
	struct json *list;

	if (!json_is(in, JSON_OBJECT) || in->count > 1)
		return *in;
	typed = arena_new(a, struct json_member);
	*typed = in->count ? in->members[0] : (struct json_member){ SLICE("M"), nothing };
	if (slice_is(typed->name, "M"))
		typed->value = mended_item(a, &typed->value);
	if (slice_is(typed->name, "L") && json_is(&typed->value, JSON_ARRAY)) {
		list = arena_array(a, struct json, typed->value.count);
		for (size_t i = 0; i < typed->value.count; i++)
			list[i] = mended_value(a, &typed->value.items[i]);
		typed->value.items = list;
	}
	return (struct json){ .type = JSON_OBJECT, .count = 1, .members = typed };
}

/* With {"M":{}} where an attribute is {}. */
static struct json mended_item(struct arena *a, const struct json *in)
{
	struct json_member *list;
	struct json out = *in;

	if (!json_is(in, JSON_OBJECT))
		return out;
	list = arena_array(a, struct json_member, in->count);
	for (size_t i = 0; i < in->count; i++)
		list[i] = (struct json_member){ in->members[i].name, mended_value(a, &in->members[i].value) };
	out.members = list;
	return out;
}

/* DynamoDB Local's streams (3.3) write an empty map without its type. Unread, it would hold up its shard for ever. */
static bool read_image(struct arena *a, const struct json *j, struct value *item)
{
	struct json mended;

	if (read_item(a, j, item))
		return true;
	mended = mended_item(a, j);
	return read_item(a, &mended, item);
}

static bool read_record(struct arena *a, const struct json *in, struct reply_record *out)
{
	const struct json *d = json_get(in, "dynamodb");

	*out = (struct reply_record){
		.sequence = json_get_text(d, "SequenceNumber"),
		.event = event_of(json_get_text(in, "eventName")),
		.by_ttl = slice_is(json_get_text(json_get(in, "userIdentity"), "PrincipalId"), "dynamodb.amazonaws.com") ||
			  slice_is(json_get_text(in, "eventName"), LOCAL_EXPIRED),
		.created_ms = time_of(json_get(d, "ApproximateCreationDateTime")),
	};
	return out->sequence.n && read_item(a, json_get(d, "Keys"), &out->keys) &&
	       read_image(a, json_get(d, "OldImage"), &out->old_image) &&
	       read_image(a, json_get(d, "NewImage"), &out->new_image);
}

static bool read_records(struct arena *a, const struct json *body, struct reply *out)
{
	const struct json *records = json_get(body, "Records");

	if (!json_is(records, JSON_ARRAY))
		return false;
	out->iterator = json_get_text(body, "NextShardIterator");
	out->records = arena_array(a, struct reply_record, records->count);
	for (out->count = 0; out->count < records->count; out->count++)
		if (!read_record(a, &records->items[out->count], &out->records[out->count]))
			return false;
	return true;
}

/* ---- errors ---- */

static bool read_reason(struct arena *a, const struct json *in, enum err code, struct slice message,
			struct reply_reason *out)
{
	*out = (struct reply_reason){ .error = { .code = code, .message = message } };
	return code != ERR_CONDITION_FAILED || read_item(a, json_get(in, "Item"), &out->item);
}

/* Of a condition that failed, alone or in a transaction. */
static bool read_reasons(struct arena *a, const struct request_write *w, const struct backend_reply *in,
			 struct reply *out)
{
	const struct json *list = json_get(in->body, "CancellationReasons");

	if (slice_is(in->error, "ConditionalCheckFailedException") && w->count == 1) {
		out->reasons = arena_new(a, struct reply_reason);
		return read_reason(a, in->body, ERR_CONDITION_FAILED, in->message, out->reasons);
	}
	if (!slice_is(in->error, "TransactionCanceledException"))
		return true;
	if (!json_is(list, JSON_ARRAY) || list->count != w->count)
		return false;
	out->reasons = arena_array(a, struct reply_reason, w->count);
	for (size_t i = 0; i < w->count; i++) {
		const struct json *one = &list->items[i];

		if (!read_reason(a, one, reason_of(json_get_text(one, "Code")), json_get_text(one, "Message"),
				 &out->reasons[i]))
			return false;
	}
	return true;
}

static bool read_body(struct arena *a, const struct request *q, const struct backend_reply *in, struct reply *out)
{
	if (in->status != 200)
		return q->kind != REQUEST_WRITE || read_reasons(a, &q->write, in, out);
	switch (q->kind) {
	case REQUEST_GET: return read_item(a, json_get(in->body, "Item"), &out->item);
	case REQUEST_BATCH_GET: return read_batch(a, &q->batch, in->body, out);
	case REQUEST_QUERY: return read_page(a, &q->query, in->body, out);
	case REQUEST_RECORDS: return read_records(a, in->body, out);
	case REQUEST_WRITE: break;
	}
	return true;
}

/* A reply that cannot be read is an error, UnreadableReply. */
static void reply_read(struct arena *a, const struct request *q, const struct backend_reply *in, struct reply *out)
{
	*out = (struct reply){
		.status = in->status, .error = in->error, .message = in->message, .units = reply_units(in->body)
	};
	if (!read_body(a, q, in, out))
		unreadable(a, q, in, out);
}

void request_by_document(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct backend_reply answer;

	backend_call(b, a, request_operation(q), request_document(a, q), &answer);
	reply_read(a, q, &answer, reply);
}
