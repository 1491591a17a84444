/* Streams of a table: opening, closing, trimming, deleting.
 * SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

#include "table/control/control_internal.h"
#include "table/layout.h"

static struct slice label_of(int64_t ms, struct arena *a)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	return arena_printf(a, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
			    tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(ms % 1000));
}

static bool label_is_taken(const struct table *t, struct slice label)
{
	size_t i;

	for (i = 0; i < t->closed_stream_count; i++)
		if (slice_equal(t->closed_streams[i].label, label))
			return true;
	return false;
}

void control_open_stream(struct stage *s, struct table *t, enum stream_view view)
{
	struct stream *st = arena_new(s->arena, struct stream);
	int64_t ms = s->batch->now_ms;

	/* Labels rise even if the clock was set back: ListStreams sorts by them, and shards are named by this time. */
	if (t->closed_stream_count && t->closed_streams[t->closed_stream_count - 1].created_ms >= ms)
		ms = t->closed_streams[t->closed_stream_count - 1].created_ms + 1;
	while (label_is_taken(t, label_of(ms, s->arena)))
		ms++;
	*st = (struct stream){
		.id = stage_new_id(s),
		.label = label_of(ms, s->arena),
		.view = view,
		.shards = s->batch->db->options.stream_shards,
		.created_ms = ms,
		.first_sequence = stage_next_sequence(s),
	};
	t->stream = st;
}

void control_close_stream(struct stage *s, struct table *t)
{
	size_t n = t->closed_stream_count;
	struct stream *closed = arena_array(s->arena, struct stream, n + 1);

	if (n)
		memcpy(closed, t->closed_streams, n * sizeof(*closed));
	closed[n] = *t->stream;
	closed[n].closed_ms = s->batch->now_ms;
	closed[n].closed_sequence = stage_next_sequence(s);
	t->closed_streams = closed;
	t->closed_stream_count = n + 1;
	t->stream = NULL;
}

void control_drop_stream_records(struct stage *s, uint32_t stream)
{
	stage_drop_id(s, STORE_STREAM, stream, 0);
}

bool control_trim_stream(struct stage *s, struct control *c)
{
	uint32_t shard;

	for (shard = 0; shard < c->stream_shards; shard++)
		stage_delete_range(s, STORE_STREAM, layout_stream_key(s->arena, c->stream_id, shard, 0),
				   layout_stream_key(s->arena, c->stream_id, shard, c->before_sequence));
	return true;
}

bool control_drop_stream(struct stage *s, struct control *c)
{
	const struct table *was = catalog_table_by_id(stage_catalog(s), c->table_id);
	struct stream *left;
	struct table t;
	size_t i;

	if (!was)
		return true;
	t = *was;
	left = arena_array(s->arena, struct stream, t.closed_stream_count);
	for (i = 0, t.closed_stream_count = 0; i < was->closed_stream_count; i++)
		if (was->closed_streams[i].id != c->stream_id)
			left[t.closed_stream_count++] = was->closed_streams[i];
	if (t.closed_stream_count == was->closed_stream_count)
		return true;
	t.closed_streams = left;
	control_drop_stream_records(s, c->stream_id);
	stage_put_table(s, &t);
	return true;
}

/* ---- splits ---- */

/* Every other split makes two shards of each, up to a limit; the others close shards and give each one child, as
 * DynamoDB does every few hours. */
static uint32_t next_depth(const struct stream *st)
{
	size_t n = st->split_count;
	uint32_t depth = n ? st->splits[n - 1].depth : 0, before = n > 1 ? st->splits[n - 2].depth : 0;

	return depth < STREAM_DEPTH_MAX && (!n || depth == before) ? depth + 1 : depth;
}

bool control_split_stream(struct stage *s, struct control *c)
{
	const struct table *was = catalog_table_by_id(stage_catalog(s), c->table_id);
	size_t skip, kept;
	struct stream_split *splits;
	struct stream *st;
	struct table t;

	if (!was || !was->stream || was->stream->id != c->stream_id)
		return true;
	t = *was;
	st = arena_new(s->arena, struct stream);
	*st = *was->stream;
	skip = st->split_count >= STREAM_SPLITS_MAX ? st->split_count - STREAM_SPLITS_MAX + 1 : 0;
	kept = st->split_count - skip;
	splits = arena_array(s->arena, struct stream_split, kept + 1);
	if (kept)
		memcpy(splits, st->splits + skip, kept * sizeof(*splits));
	splits[kept] = (struct stream_split){
		.sequence = stage_next_sequence(s),
		.ms = s->batch->now_ms,
		.depth = next_depth(st),
	};
	if (splits[kept].ms <= (kept ? splits[kept - 1].ms : st->created_ms))
		splits[kept].ms = (kept ? splits[kept - 1].ms : st->created_ms) + 1;
	st->splits = splits;
	st->split_count = kept + 1;
	t.stream = st;
	c->worked = 1;
	c->result = stage_put_table(s, &t);
	return true;
}
