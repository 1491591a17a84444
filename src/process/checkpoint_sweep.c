/* Removes positions and ends of shards that will not be read again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/checkpoint_table.h"

#define SEEN  "seen#"
#define RETRY "retry#"
#define PAGE  500

struct sweep {
	struct run *run;
	const struct shard_list *shards;
	size_t *removed;
};

/* As a shard of the stream, or as the parent of one. */
static bool is_known(const struct sweep *s, struct slice shard)
{
	for (size_t i = 0; i < s->shards->count; i++)
		if (slice_equal(s->shards->list[i].id, shard) || slice_equal(s->shards->list[i].parent, shard))
			return true;
	return false;
}

static bool is_old(const struct sweep *s, struct value item)
{
	int64_t time = checkpoint_time(item, "time");

	return time && s->run->now_ms - time > CHECKPOINT_SWEEP_MS;
}

/* Only if it is unchanged: an item that has moved since is in use. */
static bool remove_item(const struct sweep *s, struct value item)
{
	struct value_member same = { SLICE("time"), value_get(item, SLICE("time")) };
	struct dyn_write w = { .kind = DYN_DELETE,
			       .table = checkpoint_table(s->run),
			       .key = dyn_key_of(s->run, item),
			       .equal = &same,
			       .equal_count = 1 };

	if (checkpoint_write(s->run, &w, 1)) {
		++*s->removed;
		return true;
	}
	if (s->run->problem.type != PROBLEM_CONFLICT)
		return false;
	s->run->problem = (struct problem){ 0 };
	return true;
}

static bool look_at(const struct sweep *s, struct value item)
{
	struct slice shard = checkpoint_text(item, "SK");

	if (slice_starts(shard, SLICE(RETRY)))
		return true;
	if (slice_starts(shard, SLICE(SEEN)))
		shard = slice_make(shard.p + sizeof(SEEN) - 1, shard.n - (sizeof(SEEN) - 1));
	return is_known(s, shard) || !is_old(s, item) || remove_item(s, item);
}

static bool sweep_kind(const struct sweep *s, const char *kind, struct slice name)
{
	struct value key = checkpoint_key(s->run, kind, name, SLICE(""));
	struct dyn_page page;
	bool more = true, first = true;

	while (more) {
		if (!checkpoint_query(s->run, key, !first, PAGE, &page))
			return false;
		for (size_t i = 0; i < page.count; i++)
			if (!look_at(s, page.items[i]))
				return false;
		if (page.count)
			key = checkpoint_key(s->run, kind, name, checkpoint_text(page.items[page.count - 1], "SK"));
		more = value_present(page.last) && page.count;
		first = false;
	}
	return true;
}

bool checkpoint_sweep(struct run *r, const struct shard_list *shards, const struct slice *processors, size_t n,
		      size_t *removed)
{
	struct sweep s = { r, shards, removed };

	*removed = 0;
	/* An empty list is more likely a mistake than a stream without shards. */
	if (!shards->count)
		return true;
	if (!sweep_kind(&s, "ENDED", SLICE("")))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!sweep_kind(&s, "ENDED", processors[i]) || !sweep_kind(&s, "POSITION", processors[i]))
			return false;
	return true;
}
