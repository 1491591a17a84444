/* GetRecords.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/internal.h"
#include "api/op_streams.h"
#include "api/reply.h"
#include "api/stream_token.h"
#include "value/codec.h"

struct output {
	struct op_state *s;
	const struct stream *stream;
	uint32_t shard;
	size_t count;
};

static void image(struct buf *b, const char *name, struct value v)
{
	if (!value_present(v))
		return;
	reply_member(b, name);
	item_to_json(b, v);
}

static void change(struct buf *b, const struct output *o, const struct stream_record *r)
{
	reply_member(b, "dynamodb");
	buf_lit(b, "{");
	reply_member(b, "ApproximateCreationDateTime");
	buf_i64(b, r->created_ms / 1000);
	image(b, "Keys", r->keys);
	image(b, "NewImage", r->new_image);
	image(b, "OldImage", r->old_image);
	reply_member(b, "SequenceNumber");
	json_string(b, sequence_text(r->sequence, o->s->arena));
	reply_member(b, "SizeBytes");
	buf_u64(b, r->size_bytes);
	reply_member(b, "StreamViewType");
	json_string(b, slice_str(stream_view_name(o->stream->view)));
	buf_lit(b, "}");
}

static const char *event_name(enum stream_event event)
{
	switch (event) {
	case EVENT_INSERT:
		return "INSERT";
	case EVENT_MODIFY:
		return "MODIFY";
	default:
		return "REMOVE";
	}
}

static void put_record(void *ctx, const struct stream_record *r)
{
	struct output *o = ctx;
	struct buf *b = &o->s->out;

	buf_str(b, o->count++ ? ",{" : "{");
	reply_member(b, "awsRegion");
	json_string(b, slice_str(o->s->api->region));
	change(b, o, r);
	/* Stream, shard and sequence: as unique as DynamoDB's random ones, and the same when read
	 * again. */
	reply_member(b, "eventID");
	buf_printf(b, "\"%08x%08x%016llx\"", o->stream->id, o->shard,
		   (unsigned long long)r->sequence);
	reply_member(b, "eventName");
	json_string(b, slice_str(event_name(r->event)));
	buf_lit(b, ",\"eventSource\":\"aws:dynamodb\",\"eventVersion\":\"1.1\"");
	if (r->by_ttl)
		buf_lit(b, ",\"userIdentity\":{\"PrincipalId\":\"dynamodb.amazonaws.com\","
			   "\"Type\":\"Service\"}");
	buf_lit(b, "}");
}

bool records_at(struct op_state *s, struct slice iterator, struct shard_iterator *it, const struct stream **stream,
		struct error *e)
{
	const struct table *t;

	if (!shard_iterator_parse(iterator, s->arena, it))
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid ShardIterator");
	if (db_time_ms(s->db) - it->issued_ms > ITERATOR_LIFETIME_MS)
		return error_set(
			e, s->arena, ERR_EXPIRED_ITERATOR,
			"The shard iterator has expired. Shard iterators are valid for 15 minutes");
	*stream = op_stream(s, it->arn, &t, e);
	if (!*stream)
		return false;
	if (it->shard >= (*stream)->shards)
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid ShardIterator");
	if (it->sequence && !it->at_end && it->sequence < db_stream_horizon(s->db, *stream))
		return error_set(e, s->arena, ERR_TRIMMED_DATA,
				 "The data you are trying to access has been trimmed");
	return true;
}

struct reading {
	void (*emit)(void *ctx, const struct stream_record *r);
	void *ctx;
	bool any;
};

static void pass_on(void *ctx, const struct stream_record *r)
{
	struct reading *g = ctx;

	g->any = true;
	g->emit(g->ctx, r);
}

bool records_read(struct op_state *s, struct shard_iterator *it, const struct stream *stream, int64_t limit,
		  void (*emit)(void *ctx, const struct stream_record *r), void *ctx, struct slice *next, struct error *e)
{
	struct reading g = { emit, ctx, false };
	uint64_t latest = db_stream_latest(s->db), sequence;

	*next = SLICE("");
	if (!db_stream_read(s->db, stream, it->shard, it->sequence, limit, pass_on, &g, s->arena, &sequence, e))
		return false;
	/* An idle shard's iterator moves on, or it would fall behind what is trimmed. All records
	 * before `latest`, taken before reading, have been seen. */
	it->at_end = !g.any;
	if (it->at_end && sequence < latest)
		sequence = latest;
	if (stream->closed_ms && sequence > stream->closed_sequence)
		return true;
	it->sequence = sequence;
	it->issued_ms = db_time_ms(s->db);
	*next = shard_iterator_text(it, s->arena);
	return true;
}

bool op_get_records(struct op_state *s, struct error *e)
{
	struct output o = { .s = s };
	struct shard_iterator it;
	struct slice next;

	if (!records_at(s, op_string(s->in, "ShardIterator"), &it, &o.stream, e))
		return false;
	o.shard = it.shard;
	buf_lit(&s->out, "{\"Records\":[");
	if (!records_read(s, &it, o.stream, op_int(s->in, "Limit", 0), put_record, &o, &next, e))
		return false;
	buf_lit(&s->out, "]");
	if (next.n) {
		reply_member(&s->out, "NextShardIterator");
		json_string(&s->out, next);
	}
	buf_lit(&s->out, "}");
	return true;
}
