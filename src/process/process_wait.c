/* Whether the servers that share the shards have processed everything that was written before the question.
 *
 * A server knows its own shards. For shards of other servers it reads the positions, which lag by a second at most: a
 * shard is done when nothing follows any of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <time.h>
#include "app/app.h"
#include "app/write/write_plan.h"
#include "base/clock.h"
#include "process/process_internal.h"

#define LOOK_US        5000   /* between looks at this server's shards */
#define LOOK_OTHERS_US 200000 /* and at those of other servers, which cost requests */

static void wait_us(int64_t us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

static bool has_reader(struct process *p, struct slice shard)
{
	bool found = false;

	pthread_mutex_lock(&p->lock);
	for (struct seat *s = p->readers.first; s && !found; s = s->next)
		found = slice_is(shard, s->shard) && !atomic_load(&reader_of(s)->leave);
	pthread_mutex_unlock(&p->lock);
	return found;
}

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

/* Whether all processors have reached the end of a shard that this server does not read. Equal positions are asked for
 * once. */
static bool is_through(struct process *p, struct run *r, struct slice stream, struct slice shard, bool *out)
{
	struct slice asked = SLICE("-");

	if (!checkpoint_has_ended(r, SLICE(""), shard, out) || *out)
		return *out;
	*out = true;
	for (size_t i = 0; i < p->station_count && *out; i++) {
		const struct station *s = &p->stations[i];
		struct position at;

		if (s->sender || atomic_load(&s->paused))
			continue;
		if (!checkpoint_load(r, s->name, shard, &at))
			return false;
		if (slice_equal(at.sequence, asked) && !at.progress.n)
			continue;
		asked = at.sequence;
		*out = false;
		if (!at.progress.n && !is_at_end(r, stream, &at, out))
			return false;
	}
	return true;
}

/* False: they are not, or it is unknown. */
static bool others_are_through(struct process *p, struct run *r)
{
	struct shard_list list;

	if (!p->leases || !p->has_tracks)
		return true;
	if (!dyn_list_shards(r, &list))
		return false;
	for (size_t i = 0; i < list.count; i++) {
		bool through;

		if (!has_reader(p, list.list[i].id) &&
		    !(is_through(p, r, list.stream_arn, list.list[i].id, &through) && through))
			return false;
	}
	return true;
}

bool process_wait_idle(struct process *p, struct run *r, int64_t wait_ms)
{
	int64_t until = clock_monotonic_us() + wait_ms * 1000;
	struct run *b = branch_new(r);
	bool idle = false;

	/* Writes of other servers are unknown until readers look. */
	atomic_fetch_add(&p->looks, 1);
	while (!atomic_load(&p->stopping)) {
		idle = process_is_idle(p) && others_are_through(p, b);
		/* Other servers may have written again, or handed a shard on, meanwhile. */
		idle = idle && process_is_idle(p) && (!p->database->is_remote || app_deletions_settled(p->app));
		branch_clear(b, r);
		if (idle || clock_monotonic_us() >= until)
			break;
		wait_us(process_is_idle(p) ? LOOK_OTHERS_US : LOOK_US);
	}
	return idle;
}
