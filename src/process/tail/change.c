/* The stream of a design's table, through the operations that DynamoDB has for it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/tail/change.h"

#include "app/dyn.h"
#include "app/hold.h"
#include "app/passed_over.h"

#define SHARDS_A_PAGE 100

static struct slice text(const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	return json_is(j, JSON_STRING) ? j->string : SLICE("");
}

/* Begins the document with the first member. */
static void put_text(struct buf *body, const char *name, struct slice value)
{
	buf_printf(body, "%s\"%s\":", body->n ? "," : "{", name);
	json_string(body, value);
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
	struct buf body;

	buf_init(&body, r->arena);
	put_text(&body, "TableName", r->design->table);
	buf_byte(&body, '}');
	if (!dyn_call(r, "DescribeTable", buf_slice(&body), &reply))
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
	*last = text(description, "LastEvaluatedShardId");
	return true;
}

bool change_shards(struct run *r, struct shard_list *out)
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

bool change_iterator(struct run *r, struct slice stream_arn, struct slice shard, const struct shard_position *at,
		     struct slice *iterator)
{
	static const char *const types[] = { [AT_OLDEST] = "TRIM_HORIZON", [AT_LATEST] = "LATEST",
					     [AFTER_SEQUENCE] = "AFTER_SEQUENCE_NUMBER", [AT_TIME] = "TRIM_HORIZON" };
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
	*iterator = text(reply.body, "ShardIterator");
	return iterator->n || run_fail(r, PROBLEM_INTERNAL, "%s", "the database could not answer");
}

/* ---- records ---- */

/* An item that was held, or let go (app/hold.h): nothing has happened to it. Then it is nobody's. */
static bool is_only_held(struct run *r, struct change *c)
{
	struct value old = hold_hidden(r->arena, c->old_image), now = hold_hidden(r->arena, c->new_image);
	bool only = (old.p != c->old_image.p || now.p != c->new_image.p) && value_present(old) && value_equal(old, now);

	c->old_image = old;
	c->new_image = now;
	return only;
}

static void find_entity(struct run *r, struct change *c)
{
	struct value image;

	if (is_only_held(r, c))
		return;
	image = value_present(c->new_image) ? c->new_image : c->old_image;
	if (!value_present(image))
		return;
	c->entity = entity_of(r, image);
	if (c->entity && entity_fits(r, c->entity, image, &c->unfit))
		c->unfit = SLICE("");
}

bool change_is_passed_over(struct run *r, const struct change *c)
{
	if (!c->unfit.n)
		return false;
	run_pass_over(r, PASSED_OVER_UNFIT, "%.*s does not fit %.*s: %.*s", SLICE_ARG(entity_key_text(r, c->key)),
		      SLICE_ARG(c->entity->name), SLICE_ARG(c->unfit));
	return true;
}

static bool refused(struct run *r, const struct reply *reply, struct change_page *out)
{
	if (slice_is(reply->error, "TrimmedDataAccessException")) {
		out->trimmed = true;
		return true;
	}
	if (slice_is(reply->error, "ExpiredIteratorException"))
		return run_fail(r, PROBLEM_BUSY, "the iterator has expired");
	return failed(r, &(struct backend_reply){ .status = reply->status, .error = reply->error, .message = reply->message }, "stream");
}

static int event_made(enum stream_event event)
{
	switch (event) {
	case EVENT_INSERT: return ON_CREATED;
	case EVENT_REMOVE: return ON_DELETED;
	case EVENT_MODIFY: break;
	}
	return ON_UPDATED;
}

/* A position has to keep the number. */
static bool bad_sequence(struct run *r)
{
	log_error("%.*s: a record of the stream has no sequence number, or one that is too long", SLICE_ARG(r->design->name));
	return run_fail(r, PROBLEM_INTERNAL, "the database could not answer");
}

bool change_read(struct run *r, struct slice iterator, int limit, struct change_page *out)
{
	struct request q = { .kind = REQUEST_RECORDS, .records = { .iterator = iterator, .limit = limit } };
	struct reply reply;

	*out = (struct change_page){ 0 };
	if (!dyn_execute(r, &q, &reply))
		return refused(r, &reply, out);
	out->iterator = reply.iterator;
	out->count = reply.count;
	out->list = arena_array(r->arena, struct change, reply.count);
	for (size_t i = 0; i < reply.count; i++) {
		const struct reply_record *in = &reply.records[i];

		if (!in->sequence.n || in->sequence.n >= SPOT_ROOM)
			return bad_sequence(r);
		out->list[i] = (struct change){
			.sequence = in->sequence, .events = event_made(in->event), .by_ttl = in->by_ttl,
			.created_ms = in->created_ms, .key = in->keys, .old_image = in->old_image, .new_image = in->new_image,
		};
		find_entity(r, &out->list[i]);
	}
	return true;
}
