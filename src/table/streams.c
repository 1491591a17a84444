/* Reads change streams: a shard is a key range, and so is the part of it that is still retained.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/streams.h"

#include "table/internal.h"
#include "table/layout.h"
#include "value/key.h"

static struct slice label_of_arn(struct slice arn)
{
	static const char mark[] = "/stream/";
	const char *at = arn.n ? memmem(arn.p, arn.n, mark, sizeof(mark) - 1) : NULL;

	if (!at)
		return SLICE("");
	at += sizeof(mark) - 1;
	return slice_make(at, (size_t)(arn.p + arn.n - at));
}

const struct stream *catalog_stream(const struct catalog *c, struct slice arn, const struct table **table)
{
	struct slice label = label_of_arn(arn);
	const struct table *t = label.n ? catalog_table(c, table_name_of_arn(arn)) : NULL;

	if (!t)
		return NULL;
	*table = t;
	if (t->stream && slice_equal(t->stream->label, label))
		return t->stream;
	for (size_t i = 0; i < t->closed_stream_count; i++)
		if (slice_equal(t->closed_streams[i].label, label))
			return &t->closed_streams[i];
	return NULL;
}

uint32_t stream_shard_of(const struct stream *s, struct slice pk)
{
	return stream_part_of(s, 0, pk);
}

uint32_t stream_part_of(const struct stream *s, uint32_t depth, struct slice pk)
{
	return (uint32_t)(((unsigned __int128)key_hash(pk) * ((uint64_t)s->shards << depth)) >> 64);
}

uint64_t db_stream_latest(struct db *db)
{
	return atomic_load(&db->last_sequence) + 1;
}

uint64_t db_stream_aging(struct db *db)
{
	return atomic_load(&db->stream_aging);
}

uint64_t db_stream_horizon(struct db *db, const struct stream *s)
{
	uint64_t horizon = atomic_load(&db->stream_horizon);

	return horizon > s->first_sequence ? horizon : s->first_sequence;
}

/* Emits records up to the limit or 1 MB; *next moves past each. True at the end. */
static bool read_records(struct store_iter *it, int64_t limit, void (*emit)(void *ctx, const struct stream_record *r),
			 void *ctx, uint64_t *next, bool *malformed)
{
	size_t bytes = 0;

	for (int64_t n = 0; n < limit && bytes < STREAM_BYTES_MAX; n++) {
		struct stream_record r = { 0 };
		uint32_t stream, shard;

		if (!store_iter_next(it))
			return true;
		if (!layout_read_stream_key(store_iter_key(it), &stream, &shard, &r.sequence) ||
		    !layout_read_stream_record(store_iter_value(it), &r)) {
			*malformed = true;
			return false;
		}
		*next = r.sequence + 1;
		bytes += store_iter_value(it).n;
		emit(ctx, &r);
	}
	return false;
}

bool db_stream_read(struct db *db, const struct stream_read *q, struct arena *a, uint64_t *next, struct error *e)
{
	const struct stream *s = q->stream;
	uint64_t horizon = db_stream_horizon(db, s), from = q->from;
	int64_t limit = q->limit;
	bool malformed = false, at_end;
	struct store_iter *it;

	if (from < horizon)
		from = horizon;
	if (limit <= 0 || limit > STREAM_RECORDS_MAX)
		limit = STREAM_RECORDS_MAX;
	*next = from;
	it = store_iter(&(struct store_at){ db_store(db), NULL, STORE_STREAM },
			&(struct store_walk){ layout_stream_key(a, s->id, q->shard, from),
					      layout_stream_key(a, s->id, q->shard, UINT64_MAX) },
			a);
	at_end = read_records(it, limit, q->emit, q->ctx, next, &malformed);
	if (malformed)
		return error_set(e, a, ERR_INTERNAL, "A stream record is malformed");
	if (at_end && !store_iter_ok(it, a, e))
		return false;
	store_iter_close(it);
	if (at_end && s->closed_ms && *next <= s->closed_sequence)
		*next = s->closed_sequence + 1;
	return true;
}
