/* GetRecords.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/internal.h"
#include "api/op/op_streams.h"
#include "api/reply.h"
#include "api/op/stream_token.h"
#include "value/codec.h"

struct output {
	struct op_state *s;
	const struct stream *stream;
	uint32_t shard; /* the fixed one */
};

static void image(struct buf *b, const char *name, struct value v)
{
	if (!value_present(v))
		return;
	json_name(b, name);
	item_to_json(b, v);
}

static void change(struct buf *b, const struct output *o, const struct stream_record *r)
{
	json_member_open(b, "dynamodb", '{');
	json_member_int(b, "ApproximateCreationDateTime", r->created_ms / 1000);
	image(b, "Keys", r->keys);
	image(b, "NewImage", r->new_image);
	image(b, "OldImage", r->old_image);
	json_member_string(b, "SequenceNumber", sequence_text(r->sequence, o->s->arena));
	json_member_int(b, "SizeBytes", r->size_bytes);
	json_member_word(b, "StreamViewType", stream_view_name(o->stream->view));
	json_close(b, '}');
}

static const char *event_name(enum stream_event event)
{
	switch (event) {
	case EVENT_INSERT: return "INSERT";
	case EVENT_MODIFY: return "MODIFY";
	default: return "REMOVE";
	}
}

static void put_record(void *ctx, const struct stream_record *r)
{
	struct output *o = ctx;
	struct buf *b = &o->s->out;

	json_open(b, '{');
	json_member_word(b, "awsRegion", o->s->api->region);
	change(b, o, r);
	/* Stream, shard and sequence: as unique as DynamoDB's random ones, and the same when read
	 * again. */
	json_name(b, "eventID");
	buf_printf(b, "\"%08x%08x%016llx\"", o->stream->id, o->shard, (unsigned long long)r->sequence);
	json_member_word(b, "eventName", event_name(r->event));
	json_member_word(b, "eventSource", "aws:dynamodb");
	json_member_word(b, "eventVersion", "1.1");
	if (r->by_ttl) {
		json_member_open(b, "userIdentity", '{');
		json_member_word(b, "PrincipalId", "dynamodb.amazonaws.com");
		json_member_word(b, "Type", "Service");
		json_close(b, '}');
	}
	json_close(b, '}');
}

/* In milliseconds. */
static int64_t lifetime_of(struct op_state *s, const struct table *t)
{
	int64_t ms = s->fault ? faults_time_ms(s->fault->faults, FAULT_ITERATOR_EXPIRES, t->name) : 0;

	return ms ? ms : ITERATOR_LIFETIME_MS;
}

bool records_at(struct op_state *s, struct slice iterator, struct records_place *p, struct error *e)
{
	struct shard_iterator *it = &p->it;
	int64_t age, most;

	p->visible = db_stream_latest(s->db);
	if (s->outside)
		s->catalog = db_catalog(s->db, s->arena);
	if (!shard_iterator_parse(iterator, s->arena, it))
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid ShardIterator");
	age = db_time_ms(s->db) - it->issued_ms;
	p->stream = age > ITERATOR_LIFETIME_MS ? NULL : op_stream(s, it->arn, &p->table, e);
	most = p->stream ? lifetime_of(s, p->table) : ITERATOR_LIFETIME_MS;
	if (age > most) {
		if (most != ITERATOR_LIFETIME_MS)
			faults_count(s->fault->faults, FAULT_ITERATOR_EXPIRES);
		return error_set(e, s->arena, ERR_EXPIRED_ITERATOR,
				 "The shard iterator has expired. Shard iterators are valid for 15 minutes");
	}
	if (!p->stream)
		return false;
	if (!shard_find(p->stream, s->outside, it->shard, &p->facts))
		return error_set(e, s->arena, ERR_VALIDATION, "Invalid ShardIterator");
	if (it->sequence && !it->at_end && it->sequence < db_stream_horizon(s->db, p->stream))
		return error_set(e, s->arena, ERR_TRIMMED_DATA, "The data you are trying to access has been trimmed");
	return true;
}

struct reading {
	struct op_state *s;
	const struct records_place *p;
	struct records_sink sink;
	uint64_t end; /* records before it */
	bool any;
};

/* Whether the record is in this one of the shards that a fixed shard appears as. */
static bool is_of_part(const struct reading *g, const struct stream_record *r)
{
	const struct shard_facts *f = &g->p->facts;
	struct item_key key;
	struct error ignored;

	return !f->depth || !table_key_of_key(g->p->table, r->keys, g->s->arena, &key, &ignored) ||
	       stream_part_of(g->p->stream, f->depth, key.pk) == g->p->it.shard.number;
}

static void pass_on(void *ctx, const struct stream_record *r)
{
	struct reading *g = ctx;

	g->any = true;
	if (r->sequence < g->end && is_of_part(g, r))
		g->sink.emit(g->sink.ctx, r);
}

bool records_read(struct op_state *s, struct records_place *p, int64_t limit, struct records_sink sink,
		  struct slice *next, struct error *e)
{
	struct shard_iterator *it = &p->it;
	struct reading g = { s, p, sink, p->facts.end, false };
	uint64_t sequence, from = it->sequence;

	*next = SLICE("");
	if (from < p->facts.first)
		from = p->facts.first;
	if (s->outside && p->visible < g.end)
		g.end = p->visible;
	if (!db_stream_read(s->db, &(struct stream_read){ p->stream, p->facts.fixed, from, limit, pass_on, &g },
			    s->arena, &sequence, e))
		return false;
	if (sequence > g.end)
		sequence = g.end;
	/* An idle shard's iterator moves on, or its position would be trimmed. All records before `visible`, taken
	 * before reading, have been seen. */
	it->at_end = !g.any;
	if (it->at_end && sequence < p->visible)
		sequence = p->visible;
	if (sequence >= p->facts.end || (p->stream->closed_ms && sequence > p->stream->closed_sequence))
		return true;
	if (g.any)
		it->before = from;
	it->sequence = sequence;
	it->issued_ms = db_time_ms(s->db);
	*next = shard_iterator_text(it, s->arena);
	return true;
}

/* Returns the previous page again; the iterator stays where it was. */
static bool repeat(struct op_state *s, struct records_place *p, int64_t limit, struct output *o, struct slice *next,
		   struct error *e)
{
	struct reading g = { s, p, { put_record, o }, p->it.sequence, false };
	uint64_t ignored;

	if (!db_stream_read(s->db, &(struct stream_read){ p->stream, p->facts.fixed, p->it.before, limit, pass_on, &g },
			    s->arena, &ignored, e))
		return false;
	p->it.before = 0;
	p->it.issued_ms = db_time_ms(s->db);
	*next = shard_iterator_text(&p->it, s->arena);
	return true;
}

bool op_get_records(struct op_state *s, struct error *e)
{
	int64_t limit = op_int(s->in, "Limit", 0);
	struct output o = { .s = s };
	struct records_place p;
	struct slice next;

	if (!records_at(s, json_get_text(s->in, "ShardIterator"), &p, e))
		return false;
	o.stream = p.stream;
	o.shard = p.facts.fixed;
	json_open(&s->out, '{');
	json_member_open(&s->out, "Records", '[');
	if (s->fault && p.it.before && fault_strikes(s->fault, FAULT_DUPLICATE_RECORDS, p.table->name, 0)
		    ? !repeat(s, &p, limit, &o, &next, e)
		    : !records_read(s, &p, limit, (struct records_sink){ put_record, &o }, &next, e))
		return false;
	json_close(&s->out, ']');
	if (next.n) {
		json_member_string(&s->out, "NextShardIterator", next);
	}
	json_close(&s->out, '}');
	return true;
}
