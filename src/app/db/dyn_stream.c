/* Requests to a stream, and their replies.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn_stream.h"

#include "app/db/dyn.h"
#include "base/grow.h"

#define SHARDS_A_PAGE 100

/* Begins the document with the first member. */
static void put_text(struct buf *body, const char *name, struct slice value)
{
	buf_printf(body, "%s\"%s\":", body->n ? "," : "{", name);
	json_string(body, value);
}

/* A missing stream or shard is not a database error. */
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
	struct buf body;

	buf_init(&body, r->arena);
	put_text(&body, "TableName", r->design->table);
	buf_byte(&body, '}');
	if (!dyn_call(r, "DescribeTable", buf_slice(&body), &reply))
		return slice_is(reply.error, "ResourceNotFoundException")
			       ? run_fail(r, PROBLEM_NOT_FOUND, "there is no table %.*s any more",
					  SLICE_ARG(r->design->table))
			       : run_backend_error(r, &reply);
	*arn = json_get_text(json_get(reply.body, "Table"), "LatestStreamArn");
	return arn->n || run_fail(r, PROBLEM_NOT_FOUND, "table %.*s has no stream", SLICE_ARG(r->design->table));
}

static void add_shard(struct run *r, struct shard_list *l, const struct json *j)
{
	struct shard *s;

	GROW_IN(r->arena, l->list, l->count, l->room, 8);
	s = &l->list[l->count++];
	s->id = json_get_text(j, "ShardId");
	s->parent = json_get_text(j, "ParentShardId");
	s->closed = json_get_text(json_get(j, "SequenceNumberRange"), "EndingSequenceNumber").n > 0;
}

static bool add_page(struct run *r, struct shard_list *l, struct slice after, struct slice *last)
{
	const struct json *description, *shards;
	struct backend_reply reply;
	struct buf body;

	buf_init(&body, r->arena);
	put_text(&body, "StreamArn", l->stream_arn);
	if (after.n)
		put_text(&body, "ExclusiveStartShardId", after);
	buf_printf(&body, ",\"Limit\":%d}", SHARDS_A_PAGE);
	if (!dyn_call(r, "DescribeStream", buf_slice(&body), &reply))
		return failed(r, &reply, "stream");
	description = json_get(reply.body, "StreamDescription");
	shards = json_get(description, "Shards");
	for (uint32_t i = 0; json_is(shards, JSON_ARRAY) && i < shards->count; i++)
		add_shard(r, l, &shards->items[i]);
	*last = json_get_text(description, "LastEvaluatedShardId");
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
	static const char *const types[] = {
		[AT_OLDEST] = "TRIM_HORIZON", [AT_LATEST] = "LATEST", [AFTER_SEQUENCE] = "AFTER_SEQUENCE_NUMBER", [AT_TIME] = "TRIM_HORIZON"
	};
	struct backend_reply reply;
	struct buf body;

	*iterator = SLICE("");
	buf_init(&body, r->arena);
	put_text(&body, "StreamArn", stream_arn);
	put_text(&body, "ShardId", shard);
	put_text(&body, "ShardIteratorType", slice_str(types[at->where]));
	if (at->where == AFTER_SEQUENCE)
		put_text(&body, "SequenceNumber", at->sequence);
	buf_byte(&body, '}');
	if (!dyn_call(r, "GetShardIterator", buf_slice(&body), &reply))
		return slice_is(reply.error, "TrimmedDataAccessException") || failed(r, &reply, "shard");
	*iterator = json_get_text(reply.body, "ShardIterator");
	return iterator->n || run_fail(r, PROBLEM_INTERNAL, "%s", "the database could not answer");
}

/* ---- records ---- */

static bool refused(struct run *r, const struct reply *reply)
{
	if (slice_is(reply->error, "ExpiredIteratorException"))
		return run_fail(r, PROBLEM_BUSY, "the iterator has expired");
	return failed(r,
		      &(struct backend_reply){
			      .status = reply->status, .error = reply->error, .message = reply->message },
		      "stream");
}

bool dyn_read_records(struct run *r, struct slice iterator, int limit, struct dyn_records *out)
{
	struct request q = { .kind = REQUEST_RECORDS, .records = { .iterator = iterator, .limit = limit } };
	struct reply reply;

	*out = (struct dyn_records){ 0 };
	if (!dyn_execute(r, &q, &reply)) {
		out->trimmed = slice_is(reply.error, "TrimmedDataAccessException");
		return out->trimmed || refused(r, &reply);
	}
	*out = (struct dyn_records){ .list = reply.records, .count = reply.count, .iterator = reply.iterator };
	return true;
}
