/* Whether the servers that share the shards have processed everything that was written before the question.
 *
 * A server knows its own shards. For shards of other servers it reads the positions, which lag by a second at most: a
 * shard is done when nothing follows any of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/app.h"
#include "app/write/write_plan.h"
#include "base/clock.h"
#include "base/grow.h"
#include "process/process_internal.h"

#define LOOK_US        5000   /* between two checks of this server's shards */
#define LOOK_OTHERS_US 200000 /* and at those of other servers, which cost requests */

/* Whether nothing follows the position. */
static bool is_at_end(struct run *r, struct slice stream, const struct position *at, bool *out)
{
	struct shard_position where = { .where = at->sequence.n ? AFTER_SEQUENCE : AT_OLDEST, .sequence = at->sequence };
	struct change_page page = { 0 };
	struct slice iterator;

	if (!dyn_take_iterator(r, stream, at->shard, &where, &iterator))
		return false;
	where.where = AT_OLDEST;
	if (!iterator.n &&
	    !dyn_take_iterator(r, stream, at->shard, &where, &iterator)) /* the stream has forgotten the position */
		return false;
	if (!iterator.n || !change_read(r, iterator, 1, &page))
		return false;
	*out = !page.count && !page.trimmed;
	return true;
}

/* The positions of a processor. */
struct known {
	struct run *run;
	struct position *list;
	size_t count, room;
};

static bool add_known(void *ctx, const struct position *at)
{
	struct known *k = ctx;

	GROW_IN(k->run->arena, k->list, k->count, k->room, 8);
	k->list[k->count++] = *at;
	return true;
}

static struct position known_at(const struct known *k, struct slice shard)
{
	for (size_t i = 0; i < k->count; i++)
		if (slice_equal(k->list[i].shard, shard))
			return k->list[i];
	return (struct position){ .shard = shard };
}

/* Whether all processors have reached the end of a shard that this server does not read. Equal positions are asked for
 * once. `all`: of each station; without positions of those that are not waited for. */
static bool is_through(struct process *p, struct run *r, struct slice stream, struct slice shard,
		       const struct known *all, bool *out)
{
	struct slice asked = SLICE("-");

	*out = true;
	for (size_t i = 0; i < p->station_count && *out; i++) {
		struct position at = known_at(&all[i], shard);

		if (!all[i].run || at.ended || (slice_equal(at.sequence, asked) && !at.progress.n))
			continue;
		asked = at.sequence;
		*out = false;
		/* Changes that a replay skips are no work, but those it has not reached yet may be. */
		if ((!at.progress.n || checkpoint_since_ms(at.progress)) && !is_at_end(r, stream, &at, out))
			return false;
	}
	return true;
}

static bool read_known(struct process *p, struct run *r, struct known *all)
{
	for (size_t i = 0; i < p->station_count; i++) {
		const struct station *s = &p->stations[i];

		if (!station_has_tracks(s) || atomic_load(&s->paused))
			continue;
		all[i].run = r;
		if (!checkpoint_positions(r, s->name, add_known, &all[i]))
			return false;
	}
	return true;
}

/* False: they are not, or it is unknown. */
static bool others_are_through(struct process *p, struct run *r)
{
	struct known *all = arena_array(r->arena, struct known, p->station_count);
	struct shard_list list;

	if (!p->leases || !p->has_tracks)
		return true;
	if (!dyn_list_shards(r, &list) || !read_known(p, r, all))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		bool through;

		if (!reader_is_here(p, arena_cstr(r->arena, list.list[i].id)) &&
		    !(is_through(p, r, list.stream_arn, list.list[i].id, all, &through) && through))
			return false;
	}
	return true;
}

bool process_wait_idle(struct process *p, struct run *r, int64_t wait_ms)
{
	int64_t until = clock_monotonic_us() + wait_ms * 1000;
	struct run *b = branch_new(r);
	bool idle = false, is_told = !p->leases;

	/* Writes of other servers are unknown until readers look. */
	atomic_fetch_add(&p->looks, 1);
	while (!atomic_load(&p->stopping)) {
		is_told = is_told || process_follow_switches(p, b);
		idle = is_told && process_is_idle(p) && others_are_through(p, b);
		/* Other servers may have written again, or handed a shard on, meanwhile. */
		idle = idle && process_is_idle(p) && (!p->database->is_remote || app_deletions_settled(p->app));
		branch_clear(b, r);
		if (idle || clock_monotonic_us() >= until)
			break;
		clock_pause_us(process_is_idle(p) ? LOOK_OTHERS_US : LOOK_US);
	}
	return idle;
}
