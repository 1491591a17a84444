/* What a watcher has missed: read from the stream again, for him alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "process/live/live_internal.h"

struct catching_up {
	struct run run;      /* the caller's, with an arena of its own that is cleared between rounds */
	const struct read_live *list;
	const struct slice *partitions;
	size_t partition_count;
	uint64_t at, upto;
	size_t looked_at;
	struct buf *out;
	size_t begun;        /* out->n before */
	bool lost;           /* he has to read the list again */
};

static bool is_near(struct catching_up *c, struct value image)
{
	struct slice *places;
	size_t n;

	read_live_places(&c->run, image, &places, &n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c->partition_count; k++)
			if (slice_equal(places[i], c->partitions[k]))
				return true;
	return false;
}

static bool tell(struct catching_up *c, const struct live_round *round, const struct live_change *x)
{
	const struct live_round *rounds[] = { round, NULL };
	struct read_live_change change = { x->change->old_image, x->change->new_image, live_round_before, rounds };
	struct read_live_event events[READ_LIVE_MOST];
	bool may;
	size_t n;

	if (!is_near(c, change.old) && !is_near(c, change.new_))
		return true;
	if (!read_live_follow(&c->run, c->list, &change, events, &n, &may))
		return false;
	for (size_t i = 0; i < n; i++)
		c->lost |= events[i].kind == LIVE_RESET;
	live_text_events(c->out, events, n, x->sequence);
	return true;
}

static bool go_on(struct catching_up *c, const struct shard_list *shards)
{
	struct live_round round;

	if (!live_round_read(&c->run, shards, c->at, c->upto, &round))
		return false;
	c->lost |= round.trimmed;
	for (size_t i = 0; i < round.count && !c->lost; i++) {
		if (!tell(c, &round, &round.list[i]))
			return false;
		c->lost |= c->out->n - c->begun > LIVE_CATCH_UP_BYTES;
	}
	c->looked_at += round.count;
	c->lost |= c->looked_at > LIVE_CATCH_UP_CHANGES;
	c->at = round.upto;
	return true;
}

static bool go_through(struct catching_up *c, struct arena *shards_arena)
{
	struct run first = c->run;
	struct shard_list shards;

	first.arena = shards_arena;
	if (!change_shards(&first, &shards))
		return false;
	while (c->at < c->upto && !c->lost) {
		if (!go_on(c, &shards))
			return false;
		arena_clear(c->run.arena);
		c->run.memo = NULL;
		c->run.caller.permissions_known = false;
	}
	return true;
}

static void release(void *arena)
{
	arena_release(arena);
}

void live_catch_up(struct run *r, const struct read_live *list, const struct slice *partitions, size_t n, struct slice id,
		   uint64_t upto, struct buf *out)
{
	struct catching_up c = { .run = *r, .list = list, .partitions = partitions, .partition_count = n, .upto = upto,
				 .out = out, .begun = out->n };
	struct arena *scratch = arena_new(r->arena, struct arena);
	volatile bool ok = false;

	arena_init(scratch);
	arena_defer(r->arena, release, scratch);
	c.run.arena = scratch;
	c.run.memo = NULL;
	/* Numbers of a stream elsewhere lead nowhere (live_tail.h). */
	c.lost = !live_sequence_parse(id, &c.at) || c.at > upto || (c.at < upto && app_database(r->app)->is_remote);
	ARENA_TRY(scratch, { ok = c.lost || go_through(&c, r->arena); }, { ok = false; });
	if (!ok)
		log_debug("a watcher cannot catch up: %.*s", SLICE_ARG(c.run.problem.detail));
	if (ok && !c.lost) {
		live_text_plain(out, "ready", upto);
		return;
	}
	out->n = c.begun;
	live_text_plain(out, "reset", upto);
}
