/* Positions in shards that are gone: reports changes that were missed, and removes the positions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/checkpoint_table.h"
#include "app/db/beside.h"
#include "process/tail/tail.h"

#define SEEN  "seen#"
#define RETRY "retry#"

struct sweep {
	struct run *run;
	const struct shard_list *shards;
	struct slice processor;
	struct checkpoint_swept *out;
};

/* Whether the stream lists the shard, or names it as a parent. */
static bool is_known(const struct sweep *s, struct slice shard)
{
	for (size_t i = 0; i < s->shards->count; i++)
		if (slice_equal(s->shards->list[i].id, shard) || slice_equal(s->shards->list[i].parent, shard))
			return true;
	return false;
}

/* The count rises unless the item has changed since: then it is in use. */
static bool write_item(const struct sweep *s, const struct dyn_write *w, size_t *count)
{
	if (checkpoint_write(s->run, w, 1)) {
		++*count;
		return true;
	}
	if (s->run->problem.type != PROBLEM_CONFLICT)
		return false;
	s->run->problem = (struct problem){ 0 };
	return true;
}

static bool remove_item(const struct sweep *s, struct value item)
{
	struct value_member same = { SLICE("time"), value_get(item, SLICE("time")) };
	struct dyn_write w = { .kind = DYN_DELETE,
			       .table = checkpoint_table(s->run),
			       .key = dyn_key_of(s->run, item),
			       .equal = &same,
			       .equal_count = 1 };

	return write_item(s, &w, &s->out->removed);
}

static bool note_lost(const struct sweep *s, struct value item, struct slice shard)
{
	struct position was = { .processor = s->processor,
				.shard = shard,
				.sequence = beside_text(item, "sequence"),
				.progress = beside_text(item, "progress"),
				.stored = true },
			now = was;

	now.progress = SLICE("");
	now.ended = true;
	return write_item(s, checkpoint_move(s->run, &was, &now), &s->out->lost);
}

static bool look_at(void *ctx, struct value item)
{
	const struct sweep *s = ctx;
	struct slice shard = beside_text(item, "SK");
	int64_t time = checkpoint_time(item, "time"), now = s->run->now_ms;
	bool is_mark = slice_starts(shard, SLICE(SEEN));

	if (slice_starts(shard, SLICE(RETRY)))
		return true;
	if (is_mark)
		shard = slice_make(shard.p + sizeof(SEEN) - 1, shard.n - (sizeof(SEEN) - 1));
	if (is_known(s, shard))
		return true;
	if (!is_mark && !checkpoint_bool(item, "ended"))
		return !tail_has_missed(time, now) || note_lost(s, item, shard);
	return !time || now - time <= CHECKPOINT_SWEEP_MS || remove_item(s, item);
}

bool checkpoint_sweep(struct run *r, const struct shard_list *shards, struct slice processor,
		      struct checkpoint_swept *out)
{
	struct sweep s = { r, shards, processor, out };

	*out = (struct checkpoint_swept){ 0 };
	/* An empty list is more likely a mistake than a stream without shards. */
	return !shards->count || checkpoint_walk(r, "POSITION", processor, look_at, &s);
}
