/* The Streams API: ListStreams, DescribeStream, GetShardIterator. (GetRecords: op_records.c)
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op/op_control.h"
#include "api/op/op_streams.h"
#include "api/reply.h"
#include "api/op/stream_token.h"

#define STREAMS_PER_PAGE 100
#define SHARDS_PER_PAGE  100

/* The label in a stream's ARN; empty if it is not one. */
static struct slice label_of_arn(struct slice arn)
{
	static const struct slice mark = SLICE("/stream/");
	const char *at = slice_starts(arn, SLICE("arn:")) ? memmem(arn.p, arn.n, mark.p, mark.n) : NULL;

	if (!at)
		return SLICE("");
	at += mark.n;
	return slice_make(at, (size_t)(arn.p + arn.n - at));
}

const struct stream *op_stream(struct op_state *s, struct slice arn, const struct table **t, struct error *e)
{
	const struct stream *stream;

	if (!label_of_arn(arn).n) {
		(void)!error_set(e, s->arena, ERR_VALIDATION, "Invalid StreamArn");
		return NULL;
	}
	stream = catalog_stream(s->catalog, arn, t);
	if (!stream)
		(void)!error_set(e, s->arena, ERR_NOT_FOUND, "Requested resource not found: Stream: %.*s not found",
				 SLICE_ARG(arn));
	return stream;
}

static int64_t page_size(const struct json *in, int64_t most)
{
	int64_t limit = op_int(in, "Limit", most);

	return limit < most ? limit : most;
}

/* ---- ListStreams ---- */

struct listing {
	struct op_state *s;
	struct slice after_table, after_label; /* empty: from the beginning */
	int64_t left;
	struct slice last; /* the ARN listed last */
	bool more;
};

static bool comes_after(const struct listing *l, const struct table *t, const struct stream *stream)
{
	int c = slice_cmp(t->name, l->after_table);

	return c > 0 || (c == 0 && slice_cmp(stream->label, l->after_label) > 0);
}

static void list_stream(struct listing *l, const struct table *t, const struct stream *stream)
{
	struct buf *b = &l->s->out;

	if (l->more || (l->after_label.n && !comes_after(l, t, stream)))
		return;
	if (!l->left) {
		l->more = true;
		return;
	}
	l->left--;
	l->last = stream_arn(t, stream, l->s->arena);
	json_open(b, '{');
	json_member_string(b, "StreamArn", l->last);
	json_member_string(b, "StreamLabel", stream->label);
	json_member_string(b, "TableName", t->name);
	json_close(b, '}');
}

/* Streams are listed by table, then by age: labels are dates. */
static void list_table(struct listing *l, const struct table *t)
{
	for (size_t i = 0; i < t->closed_stream_count; i++)
		list_stream(l, t, &t->closed_streams[i]);
	if (t->stream)
		list_stream(l, t, t->stream);
}

bool op_list_streams(struct op_state *s, struct error *e)
{
	struct slice start = json_get_text(s->in, "ExclusiveStartStreamArn");
	struct slice name = json_get_text(s->in, "TableName");
	struct listing l = { .s = s,
			     .after_table = table_name_of_arn(start),
			     .after_label = label_of_arn(start),
			     .left = page_size(s->in, STREAMS_PER_PAGE) };
	const struct table *only = NULL;

	if (start.n && !l.after_label.n)
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid StreamArn");
	if (name.n) {
		only = op_control_table(s, name, e);
		if (!only)
			return false;
	}
	json_open(&s->out, '{');
	json_member_open(&s->out, "Streams", '[');
	for (size_t i = 0; i < catalog_count(s->catalog); i++)
		if (!only || catalog_at(s->catalog, i) == only)
			list_table(&l, catalog_at(s->catalog, i));
	json_close(&s->out, ']');
	if (l.more)
		json_member_string(&s->out, "LastEvaluatedStreamArn", l.last);
	json_close(&s->out, '}');
	return true;
}

/* ---- DescribeStream ---- */

static void describe_shard(struct op_state *s, const struct stream *stream, struct shard shard,
			   const struct shard_facts *f)
{
	struct buf *b = &s->out;

	json_open(b, '{');
	if (f->has_parent)
		json_member_string(b, "ParentShardId", shard_id_text(stream, f->parent, s->arena));
	json_member_string(b, "ShardId", shard_id_text(stream, shard, s->arena));
	json_member_open(b, "SequenceNumberRange", '{');
	json_member_string(b, "StartingSequenceNumber", sequence_text(f->first, s->arena));
	if (f->end != UINT64_MAX)
		json_member_string(b, "EndingSequenceNumber", sequence_text(f->end - 1, s->arena));
	else if (stream->closed_ms)
		json_member_string(b, "EndingSequenceNumber", sequence_text(stream->closed_sequence, s->arena));
	buf_lit(b, "}}");
}

/* Whether it is listed: not if all of it has been trimmed; with a ShardFilter, only the children of that shard. */
static bool is_listed(struct op_state *s, const struct stream *stream, struct shard shard, struct shard_facts *f)
{
	const struct json *filter = json_get(s->in, "ShardFilter");

	if (!shard_find(stream, s->outside, shard, f) || f->end <= db_stream_horizon(s->db, stream))
		return false;
	return !op_has(filter, "Type") || (f->has_parent && slice_equal(json_get_text(filter, "ShardId"),
									shard_id_text(stream, f->parent, s->arena)));
}

/* Starts at the first shard after `after`. */
static void describe_shards(struct op_state *s, const struct stream *stream, struct slice after)
{
	size_t count = shards_count(stream, s->outside), most = (size_t)page_size(s->in, SHARDS_PER_PAGE), listed = 0;
	struct slice last = { "", 0 };

	json_member_open(&s->out, "Shards", '[');
	for (size_t i = 0; i < count; i++) {
		struct shard shard = shards_at(stream, s->outside, i);
		struct slice id = shard_id_text(stream, shard, s->arena);
		struct shard_facts f;

		/* A start shard that does not exist is not an error here, only a position in the order. */
		if ((after.n && slice_cmp(id, after) <= 0) || !is_listed(s, stream, shard, &f))
			continue;
		if (listed++ == most)
			break;
		describe_shard(s, stream, shard, &f);
		last = id;
	}
	json_close(&s->out, ']');
	if (listed > most)
		json_member_string(&s->out, "LastEvaluatedShardId", last);
}

static bool shard_not_found(struct op_state *s, struct slice id, struct slice arn, struct error *e)
{
	return error_set(e, s->arena, ERR_NOT_FOUND,
			 "Requested resource not found: Shard: %.*s in Stream: %.*s not found", SLICE_ARG(id),
			 SLICE_ARG(arn));
}

bool op_describe_stream(struct op_state *s, struct error *e)
{
	struct slice arn = json_get_text(s->in, "StreamArn");
	struct slice after = json_get_text(s->in, "ExclusiveStartShardId");
	const struct table *t;
	const struct stream *stream = op_stream(s, arn, &t, e);

	if (!stream)
		return false;
	json_open(&s->out, '{');
	json_member_open(&s->out, "StreamDescription", '{');
	json_member_string(&s->out, "StreamArn", stream_arn(t, stream, s->arena));
	json_member_string(&s->out, "StreamLabel", stream->label);
	json_member_string(&s->out, "StreamStatus", stream->closed_ms ? SLICE("DISABLED") : SLICE("ENABLED"));
	json_member_word(&s->out, "StreamViewType", stream_view_name(stream->view));
	json_name(&s->out, "CreationRequestDateTime");
	reply_time(&s->out, stream->created_ms);
	json_member_string(&s->out, "TableName", t->name);
	reply_key_schema(&s->out, &t->key);
	describe_shards(s, stream, after);
	buf_lit(&s->out, "}}");
	return true;
}

/* ---- GetShardIterator ---- */

/* Where AT_ and AFTER_SEQUENCE_NUMBER begin. */
static bool position_of(struct op_state *s, const struct stream *stream, const struct shard_facts *f, bool after,
			uint64_t *out, struct error *e)
{
	uint64_t latest = stream->closed_ms ? stream->closed_sequence + 1 : db_stream_latest(s->db);

	if (!op_has(s->in, "SequenceNumber"))
		return error_set(e, s->arena, ERR_VALIDATION, "SequenceNumber cannot be null");
	if (!sequence_parse(json_get_text(s->in, "SequenceNumber"), out) || *out > latest || *out >= f->end)
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid SequenceNumber");
	if (f->has_parent && *out < f->first)
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid SequenceNumber");
	/* The shard's own beginning stays valid while its first records are trimmed. */
	if (*out == f->first && !after) {
		*out = 0;
		return true;
	}
	*out += after;
	if (*out < db_stream_horizon(s->db, stream))
		return error_set(e, s->arena, ERR_TRIMMED_DATA, "The data you are trying to access has been trimmed");
	return true;
}

bool op_get_shard_iterator(struct op_state *s, struct error *e)
{
	struct slice type = json_get_text(s->in, "ShardIteratorType");
	struct slice id = json_get_text(s->in, "ShardId");
	struct shard_iterator it = { .arn = json_get_text(s->in, "StreamArn"), .issued_ms = db_time_ms(s->db) };
	bool at = slice_is(type, "AT_SEQUENCE_NUMBER"), after = slice_is(type, "AFTER_SEQUENCE_NUMBER");
	const struct table *t;
	const struct stream *stream = op_stream(s, it.arn, &t, e);
	struct shard_facts f;

	if (!stream)
		return false;
	if (!shard_id_parse(stream, s->outside, id, &it.shard) || !shard_find(stream, s->outside, it.shard, &f))
		return shard_not_found(s, id, it.arn, e);
	if (at || after) {
		if (!position_of(s, stream, &f, after, &it.sequence, e))
			return false;
	} else if (op_has(s->in, "SequenceNumber")) {
		return error_set(e, s->arena, ERR_VALIDATION,
				 "SequenceNumber should not be passed for this iterator type");
	} else if (slice_is(type, "LATEST")) {
		it.sequence = db_stream_latest(s->db);
		it.at_end = true;
	}
	json_open(&s->out, '{');
	json_member_string(&s->out, "ShardIterator", shard_iterator_text(&it, s->arena));
	json_close(&s->out, '}');
	return true;
}
