/* Seats: which shards a consumer reads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/tail/shards.h"

struct ordering {
	const struct shard_list *from;
	struct shard *to;
	size_t count;
	bool *is_placed;
};

static void place(struct ordering *o, const struct shard *s)
{
	const struct shard *parent = s->parent.n ? shard_list_find(o->from, s->parent) : NULL;

	if (o->is_placed[s - o->from->list])
		return;
	o->is_placed[s - o->from->list] = true;
	if (parent)
		place(o, parent);
	o->to[o->count++] = *s;
}

void shards_order(struct shard_list *list, struct arena *a)
{
	struct ordering o = { .from = list, .to = arena_array(a, struct shard, list->count) };

	o.is_placed = arena_zalloc(a, list->count + 1);
	for (size_t i = 0; i < list->count; i++)
		place(&o, &list->list[i]);
	list->list = o.to;
}

struct seat *seats_find(const struct seats *s, struct slice shard)
{
	struct seat *x = s->first;

	while (x && !slice_is(shard, x->shard))
		x = x->next;
	return x;
}

bool seats_want_list(const struct seats *s)
{
	for (const struct seat *x = s->first; x; x = x->next)
		if (atomic_load(&x->finished))
			return true;
	return !s->first;
}

static bool is_ours(const struct seats *s, struct slice shard)
{
	return !s->is_ours || s->is_ours(s->ctx, shard);
}

/* H1 */
static bool may_begin(const struct seats *s, struct run *r, const struct shard_list *list, const struct shard *x)
{
	const struct seat *parent;

	if (s->unordered || !x->parent.n || !shard_list_find(list, x->parent))
		return true;
	parent = seats_find(s, x->parent);
	if (parent)
		return atomic_load(&parent->ended);
	return s->has_ended_elsewhere && s->has_ended_elsewhere(s->ctx, r, x->parent);
}

/* H2 */
static bool is_to_go(const struct seat *x, const struct shard_list *list)
{
	return atomic_load(&x->finished) && !(atomic_load(&x->ended) && shard_list_find(list, slice_str(x->shard)));
}

static void set(struct seats *s, struct seat **at, struct seat *to)
{
	if (s->lock)
		pthread_mutex_lock(s->lock);
	*at = to;
	if (s->lock)
		pthread_mutex_unlock(s->lock);
}

/* `list` NULL: all. */
static void drop_seats(struct seats *s, const struct shard_list *list)
{
	struct seat **at = &s->first;

	while (*at) {
		struct seat *x = *at;

		if (list && !is_to_go(x, list)) {
			at = &x->next;
			continue;
		}
		set(s, at, x->next);
		s->free(x);
	}
}

static bool take_shard(struct seats *s, struct run *r, const struct shard_list *list, const struct shard *x)
{
	struct seat *made = s->begin(s->ctx, r, list, x);

	if (!made)
		return false;
	made->next = s->first;
	set(s, &s->first, made);
	return true;
}

bool seats_follow(struct seats *s, struct run *r, const struct shard_list *list)
{
	bool all, more;

	drop_seats(s, list);
	/* Again, since the list need not have parents before their children, and some seats have ended when they are
	 * taken. */
	do {
		all = true;
		more = false;
		for (size_t i = 0; i < list->count; i++) {
			const struct shard *x = &list->list[i];

			if (seats_find(s, x->id) || !is_ours(s, x->id))
				continue;
			if (may_begin(s, r, list, x) && take_shard(s, r, list, x))
				more = true;
			else
				all = false;
		}
	} while (more && !all);
	return all;
}

void seats_clear(struct seats *s)
{
	drop_seats(s, NULL);
}
