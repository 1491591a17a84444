/* Requests to a stream, and their replies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn_stream.h"

#include "api/direct.h"
#include "app/dyn_request.h"

#define SHARDS_A_PAGE 100

static struct slice text(const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	return json_is(j, JSON_STRING) ? j->string : SLICE("");
}

static void put_text(struct dyn_request *q, const char *name, struct slice value)
{
	if (q->body.p[q->body.n - 1] != '{')
		buf_byte(&q->body, ',');
	buf_printf(&q->body, "\"%s\":", name);
	json_string(&q->body, value);
}

/* What is not there is no fault of the database's. */
static bool failed(struct run *r, const struct backend_reply *reply, const char *what)
{
	if (slice_is(reply->error, "ResourceNotFoundException"))
		return run_fail(r, PROBLEM_NOT_FOUND, "the %s of table %.*s is gone", what, SLICE_ARG(r->design->table));
	return run_backend_error(r, reply);
}

/* ---- shards ---- */

static bool find_stream(struct run *r, struct slice *arn)
{
	struct backend_reply reply;
	struct dyn_request q;

	dyn_request_init(&q, r);
	dyn_put_table(&q);
	if (!dyn_send(&q, "DescribeTable", &reply))
		return failed(r, &reply, "design");
	*arn = text(json_get(reply.body, "Table"), "LatestStreamArn");
	return arn->n || run_fail(r, PROBLEM_NOT_FOUND, "table %.*s has no stream", SLICE_ARG(r->design->table));
}

static void add_shard(struct run *r, struct shard_list *l, const struct json *j)
{
	struct shard *s;

	l->list = arena_grow(r->arena, l->list, l->count * sizeof(*s), (l->count + 1) * sizeof(*s));
	s = &l->list[l->count++];
	s->id = text(j, "ShardId");
	s->parent = text(j, "ParentShardId");
	s->closed = text(json_get(j, "SequenceNumberRange"), "EndingSequenceNumber").n > 0;
}

static bool add_page(struct run *r, struct shard_list *l, struct slice after, struct slice *last)
{
	const struct json *description, *shards;
	struct backend_reply reply;
	struct dyn_request q;

	dyn_request_init(&q, r);
	put_text(&q, "StreamArn", l->stream_arn);
	buf_printf(&q.body, ",\"Limit\":%d", SHARDS_A_PAGE);
	if (after.n)
		put_text(&q, "ExclusiveStartShardId", after);
	if (!dyn_send(&q, "DescribeStream", &reply))
		return failed(r, &reply, "stream");
	description = json_get(reply.body, "StreamDescription");
	shards = json_get(description, "Shards");
	for (uint32_t i = 0; json_is(shards, JSON_ARRAY) && i < shards->count; i++)
		add_shard(r, l, &shards->items[i]);
	*last = text(description, "LastEvaluatedShardId");
	return true;
}

bool dyn_list_shards(struct run *r, struct shard_list *out)
{
	struct slice last = { 0 };

	*out = (struct shard_list){ 0 };
	if (!find_stream(r, &out->stream_arn))
		return false;
	do {
		if (!add_page(r, out, last, &last))
			return false;
	} while (last.n);
	return true;
}

const struct shard *shard_list_find(const struct shard_list *l, struct slice id)
{
	for (size_t i = 0; i < l->count; i++)
		if (slice_equal(l->list[i].id, id))
			return &l->list[i];
	return NULL;
}

/* ---- iterators ---- */

bool dyn_take_iterator(struct run *r, struct slice stream_arn, struct slice shard, const struct shard_position *at,
		     struct slice *iterator)
{
	static const char *const types[] = { [AT_OLDEST] = "TRIM_HORIZON", [AT_LATEST] = "LATEST",
					     [AFTER_SEQUENCE] = "AFTER_SEQUENCE_NUMBER", [AT_TIME] = "TRIM_HORIZON" };
	struct backend_reply reply;
	struct dyn_request q;

	*iterator = SLICE("");
	dyn_request_init(&q, r);
	put_text(&q, "StreamArn", stream_arn);
	put_text(&q, "ShardId", shard);
	put_text(&q, "ShardIteratorType", slice_str(types[at->where]));
	if (at->where == AFTER_SEQUENCE)
		put_text(&q, "SequenceNumber", at->sequence);
	if (!dyn_send(&q, "GetShardIterator", &reply))
		return slice_is(reply.error, "TrimmedDataAccessException") || failed(r, &reply, "shard");
	*iterator = text(reply.body, "ShardIterator");
	return iterator->n || dyn_bad_reply(r, "GetShardIterator");
}

/* ---- records ---- */

static int event_of(struct slice name)
{
	if (slice_is(name, "INSERT"))
		return RECORD_INSERT;
	return slice_is(name, "REMOVE") ? RECORD_REMOVE : RECORD_MODIFY;
}

static int64_t time_of(const struct json *seconds)
{
	if (json_is(seconds, JSON_INT))
		return seconds->integer * 1000;
	return json_is(seconds, JSON_DOUBLE) ? (int64_t)(seconds->number * 1000) : 0;
}

static bool read_record(struct run *r, const struct json *record, struct dyn_record *out)
{
	const struct json *d = json_get(record, "dynamodb");

	*out = (struct dyn_record){
		.sequence = text(d, "SequenceNumber"), .event = event_of(text(record, "eventName")),
		.by_ttl = slice_is(text(json_get(record, "userIdentity"), "PrincipalId"), "dynamodb.amazonaws.com"),
		.created_ms = time_of(json_get(d, "ApproximateCreationDateTime")),
	};
	if (!out->sequence.n)
		return dyn_bad_reply(r, "GetRecords");
	return dyn_read_item(r, json_get(d, "Keys"), &out->key) && dyn_read_item(r, json_get(d, "OldImage"), &out->old_image) &&
	       dyn_read_item(r, json_get(d, "NewImage"), &out->new_image);
}

static bool refused(struct run *r, const struct backend_reply *reply, struct dyn_records *out)
{
	if (slice_is(reply->error, "TrimmedDataAccessException")) {
		out->trimmed = true;
		return true;
	}
	if (slice_is(reply->error, "ExpiredIteratorException"))
		return run_fail(r, PROBLEM_BUSY, "the iterator has expired");
	return failed(r, reply, "stream");
}

static int event_made(enum stream_event event)
{
	switch (event) {
	case EVENT_INSERT: return RECORD_INSERT;
	case EVENT_REMOVE: return RECORD_REMOVE;
	case EVENT_MODIFY: break;
	}
	return RECORD_MODIFY;
}

/* Without a document. False: it has to be asked with one. */
static bool read_directly(struct run *r, struct slice iterator, int limit, struct dyn_records *out)
{
	struct api_records found;

	if (r->trace || !r->backend->records || !r->backend->records(r->backend, r->arena, iterator, limit, &found))
		return false;
	out->iterator = found.iterator;
	out->count = found.count;
	out->list = arena_array(r->arena, struct dyn_record, found.count);
	for (size_t i = 0; i < found.count; i++) {
		const struct api_record *in = &found.list[i];

		out->list[i] = (struct dyn_record){
			.sequence = in->sequence, .event = event_made(in->event), .by_ttl = in->by_ttl, .created_ms = in->created_ms,
			.key = in->keys, .old_image = in->old_image, .new_image = in->new_image,
		};
	}
	return true;
}

bool dyn_read_records(struct run *r, struct slice iterator, int limit, struct dyn_records *out)
{
	struct backend_reply reply;
	const struct json *records;
	struct dyn_request q;

	*out = (struct dyn_records){ 0 };
	if (read_directly(r, iterator, limit, out))
		return true;
	dyn_request_init(&q, r);
	put_text(&q, "ShardIterator", iterator);
	buf_printf(&q.body, ",\"Limit\":%d", limit);
	if (!dyn_send(&q, "GetRecords", &reply))
		return refused(r, &reply, out);
	records = json_get(reply.body, "Records");
	out->iterator = text(reply.body, "NextShardIterator");
	if (!json_is(records, JSON_ARRAY))
		return dyn_bad_reply(r, "GetRecords");
	out->list = arena_array(r->arena, struct dyn_record, records->count);
	for (; out->count < records->count; out->count++)
		if (!read_record(r, &records->items[out->count], &out->list[out->count]))
			return false;
	return true;
}
