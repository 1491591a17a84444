/* The reader: from the stream to the topics, change by change.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "base/clock.h"
#include "base/cond.h"
#include "base/grow.h"
#include "base/log.h"
#include "process/live/live_internal.h"
#include "process/relay/relay.h"

#define LOOK_MS   10 /* how often it checks for new writes */
#define FAILED_MS 500
#define MINUTE_MS 60000

struct reader {
	struct live *live;
	struct arena round_arenas[2]; /* this one's and the one before */
	struct arena arena;           /* of one change, and then of one topic */
	struct live_stream stream;
	struct live_round rounds[2];
	unsigned turn;
	uint64_t stamp;
	int64_t minute;            /* when the moving topics were looked at */
	struct live_topic **found; /* for the change at hand; each with a reference */
	size_t found_count, found_capacity;
};

static struct run run_in(struct reader *x, struct arena *a)
{
	return (struct run){ .app = x->live->app,
			     .design = app_design(x->live->app),
			     .backend = x->live->backend,
			     .arena = a,
			     .now_ms = app_now_ms(x->live->app) };
}

/* With the lock held: until l->changed is signalled or the time is over. */
static void wait_ms(struct live *l, int64_t ms)
{
	(void)cond_wait_until(&l->changed, &l->lock, clock_monotonic_us() + ms * 1000);
}

/* ---- which topics ---- */

/* With the lock held. */
static bool take_topic(struct reader *x, struct live_topic *t)
{
	if (!GROW(x->found, x->found_count + 1, x->found_capacity, 64))
		return false;
	t->refs++;
	x->found[x->found_count++] = t;
	return true;
}

/* With the lock held. */
static bool find_at(struct reader *x, const struct slice *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (struct live_node *p = live_table_find(&x->live->partitions, places[i]); p; p = live_table_next(p)) {
			if (p->topic->stamp == x->stamp)
				continue;
			p->topic->stamp = x->stamp;
			if (!take_topic(x, p->topic))
				return false;
		}
	return true;
}

/* With the lock held: events were lost, so every watcher reads its list again. */
static void reset_all(struct reader *x, uint64_t sequence, struct live_bytes *bytes)
{
	struct live_table *all = &x->live->topics;

	for (size_t i = 0; i <= all->mask; i++)
		for (struct live_node *n = all->slots[i]; n; n = n->next)
			live_topic_tell(n->topic, sequence, live_bytes_ref(bytes), false);
}

/* The reader's position. Only for its own thread. */
static struct live_at at_of(const struct reader *x, uint64_t sequence)
{
	return (struct live_at){ sequence, x->stream.mark };
}

static struct live_bytes *reset_text(const struct reader *x, uint64_t sequence)
{
	struct live_at at = at_of(x, sequence);
	char id[LIVE_ID_ROOM], text[LIVE_ID_ROOM + 40];
	int n;

	live_id(x->live, &at, id);
	n = snprintf(text, sizeof(text), "event: reset\nid: %s\ndata: {}\n\n", id);
	return live_bytes_new(slice_make(text, (size_t)n));
}

static void tell_reset(struct reader *x, uint64_t sequence)
{
	struct live *l = x->live;
	struct live_bytes *bytes = reset_text(x, sequence);

	pthread_mutex_lock(&l->lock);
	l->at = at_of(x, sequence);
	reset_all(x, sequence, bytes);
	l->delivered = sequence;
	pthread_mutex_unlock(&l->lock);
	live_bytes_unref(bytes);
}

/* ---- one topic ---- */

/* L3. *may: whether the session that the list is watched with goes on, with the same roles and claims. */
static bool ask_session(struct run *r, struct live_topic *t, bool *may)
{
	r->caller = t->caller;
	*may = caller_stands(r);
	if (!*may)
		return r->problem.type == PROBLEM_UNAUTHENTICATED;
	*may = caller_equals(&r->caller, &t->caller);
	for (size_t i = 0; i < CALLER_KEYS; i++)
		t->caller.session.versions[i] = r->caller.session.versions[i];
	return true;
}

static bool render(struct reader *x, struct live_topic *t, const struct live_change *c, struct buf *out, bool *may)
{
	const struct live_round *rounds[] = { &x->rounds[x->turn], &x->rounds[!x->turn], NULL };
	struct read_live_change change = { c->change->old_image, c->change->new_image, live_round_before, rounds };
	struct read_live_event events[READ_LIVE_MOST];
	struct live_at at = at_of(x, c->sequence);
	struct run r = run_in(x, &x->arena);
	char id[LIVE_ID_ROOM];
	size_t n;

	if (ask_session(&r, t, may) && !*may)
		return true;
	if (!*may || !read_live_follow(&r, &t->list, &change, events, &n, may)) {
		*may = true; /* reading the list again will tell the watchers */
		log_warn("watchers of '%.*s' have to read it again: %.*s", SLICE_ARG(t->list.access->name),
			 SLICE_ARG(r.problem.detail));
		return false;
	}
	live_text_events(out, events, n, slice_make(id, live_id(x->live, &at, id)));
	return true;
}

/* L4 */
static void wait_for_room(struct live *l)
{
	pthread_mutex_lock(&l->lock);
	while (live_is_full(l) && !l->stopping)
		pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

static void tell_topic(struct reader *x, struct live_topic *t, const struct live_change *c)
{
	struct live *l = x->live;
	struct live_bytes *bytes = NULL;
	volatile bool ok = false;
	bool may = true;
	struct buf out;

	wait_for_room(l);
	buf_init(&out, &x->arena);
	ARENA_TRY(&x->arena, { ok = render(x, t, c, &out, &may); }, { ok = false; });
	if (!ok)
		bytes = reset_text(x, c->sequence);
	else if (out.n)
		bytes = live_bytes_new(buf_slice(&out));
	pthread_mutex_lock(&l->lock);
	if (!may)
		live_topic_hide(t);
	if (!ok || !may || out.n)
		live_topic_tell(t, c->sequence, bytes, !may);
	live_topic_unref(t);
	pthread_mutex_unlock(&l->lock);
	arena_clear(&x->arena);
}

/* ---- one change ---- */

struct places {
	struct slice *old, *new_;
	size_t old_count, new_count;
};

static bool places_of(struct reader *x, const struct change *c, struct places *p)
{
	struct run r = run_in(x, &x->arena);
	volatile bool ok = false;

	ARENA_TRY(&x->arena, {
		read_live_places(&r, c->old_image, &p->old, &p->old_count);
		read_live_places(&r, c->new_image, &p->new_, &p->new_count);
		ok = true;
	}, {});
	return ok;
}

/* With the lock held: moves the position to a change whose delivery begins. */
static void move_to(struct reader *x, const struct live_change *c)
{
	struct live_at *at = &x->live->at;

	at->position = c->sequence;
	if (c->part)
		at->mark.list[c->part - x->stream.mark.list] = *c->part;
}

/* False: memory. */
static bool follow(struct reader *x, const struct live_change *c)
{
	struct live *l = x->live;
	struct places p;
	bool ok;

	if (!places_of(x, c->change, &p))
		return false;
	live_stream_told(c);
	pthread_mutex_lock(&l->lock);
	x->stamp++;
	x->found_count = 0;
	ok = find_at(x, p.old, p.old_count) && find_at(x, p.new_, p.new_count);
	move_to(x, c);
	pthread_mutex_unlock(&l->lock);
	arena_clear(&x->arena);
	for (size_t i = 0; i < x->found_count; i++)
		tell_topic(x, x->found[i], c);
	pthread_mutex_lock(&l->lock);
	l->delivered = c->sequence;
	pthread_mutex_unlock(&l->lock);
	return ok;
}

/* ---- windows that follow the clock ---- */

static void move(struct reader *x, struct live_topic *t)
{
	struct live *l = x->live;
	struct slice *partitions = NULL;
	volatile bool ok = false;
	size_t n = 0;

	ARENA_TRY(&x->arena, {
		struct run r = run_in(x, &x->arena);

		r.caller = t->caller;
		ok = read_live_partitions(&r, &t->list, &partitions, &n);
	}, {});
	pthread_mutex_lock(&l->lock);
	if (t->node.at && (!ok || !live_topic_move(t, partitions, n))) {
		live_topic_hide(t);
		live_topic_tell(t, l->at.position, NULL, true);
	}
	live_topic_unref(t);
	pthread_mutex_unlock(&l->lock);
	arena_clear(&x->arena);
}

static void move_all(struct reader *x)
{
	struct live *l = x->live;
	int64_t minute = app_now_ms(l->app) / MINUTE_MS;

	if (minute == x->minute)
		return;
	x->minute = minute;
	x->found_count = 0;
	pthread_mutex_lock(&l->lock);
	for (struct live_topic *t = l->moving; t && x->minute; t = t->moving)
		if (!take_topic(x, t))
			x->minute = 0; /* the others another time */
	pthread_mutex_unlock(&l->lock);
	for (size_t i = 0; i < x->found_count; i++)
		move(x, x->found[i]);
}

/* ---- rounds ---- */

static void warn(const struct run *r)
{
	log_warn("the stream of %.*s cannot be read: %.*s", SLICE_ARG(r->design->table), SLICE_ARG(r->problem.detail));
}

static bool start_stream(struct reader *x, uint64_t from)
{
	volatile bool ok = false;

	ARENA_TRY(&x->arena, {
		struct run r = run_in(x, &x->arena);

		ok = live_stream_start(&x->stream, &r, from);
		if (!ok)
			warn(&r);
	}, {});
	arena_clear(&x->arena);
	return ok;
}

static bool read_round(struct reader *x, uint64_t from, uint64_t upto)
{
	volatile bool ok = false;
	struct live_round *round;

	x->turn = !x->turn;
	round = &x->rounds[x->turn];
	*round = (struct live_round){ 0 };
	arena_clear(&x->round_arenas[x->turn]);
	ARENA_TRY(&x->round_arenas[x->turn], {
		struct run r = run_in(x, &x->round_arenas[x->turn]);

		ok = live_stream_read(&x->stream, &r, from, upto, round);
		if (!ok)
			warn(&r);
	}, {});
	if (!ok)
		round->count = 0;
	return ok;
}

/* False: the stream cannot be read, or is another one. */
static bool go_on(struct reader *x, uint64_t from, uint64_t upto)
{
	struct live_round *round;
	bool told = true;

	if (!read_round(x, from, upto))
		return false;
	round = &x->rounds[x->turn];
	pthread_mutex_lock(&x->live->lock);
	x->live->at.mark = x->stream.mark; /* its shards may have changed */
	pthread_mutex_unlock(&x->live->lock);
	move_all(x);
	for (size_t i = 0; i < round->count && told; i++)
		told = follow(x, &round->list[i]);
	/* round->trimmed of an ordered stream: our position was the newest a moment ago, so nothing was written for
	 * long and nothing is lost. */
	if (!told || (round->trimmed && !x->stream.is_ordered)) {
		round->upto += !x->stream.is_ordered; /* a number of its own */
		tell_reset(x, round->upto);
	}
	pthread_mutex_lock(&x->live->lock);
	x->live->at.position = x->live->delivered = round->upto;
	pthread_mutex_unlock(&x->live->lock);
	return true;
}

/* With the lock held, as all below. The first number: for an unordered stream, larger than those of earlier servers. */
static uint64_t first_number(struct live *l)
{
	uint64_t first = live_is_ordered(l->database) ? live_last_sequence(l) : (uint64_t)app_now_ms(l->app) << 20;

	return first > l->at.position ? first : l->at.position; /* the clock may have been set back */
}

static void start(struct reader *x)
{
	struct live *l = x->live;
	uint64_t first = first_number(l);
	bool ok;

	pthread_mutex_unlock(&l->lock);
	ok = start_stream(x, first);
	pthread_mutex_lock(&l->lock);
	if (ok) {
		l->at = at_of(x, first);
		l->delivered = first;
		l->running = true;
	} else {
		l->failures++;
	}
	pthread_cond_broadcast(&l->changed);
	if (!ok)
		wait_ms(l, FAILED_MS);
}

/* Whether there may be something to read; *upto: up to where, of an ordered stream. */
static bool has_news(const struct reader *x, uint64_t latest, uint64_t *upto)
{
	struct live *l = x->live;

	if (x->stream.is_ordered) {
		*upto = latest - 1;
		return *upto > l->at.position;
	}
	*upto = l->at.position + 1;
	return live_stream_is_due(&x->stream);
}

static void read_some(struct reader *x)
{
	struct live *l = x->live;
	uint64_t latest = database_latest(l->database), from = l->at.position, upto;
	bool ok;

	if (!has_news(x, latest, &upto)) {
		wait_ms(l, LOOK_MS);
		return;
	}
	pthread_mutex_unlock(&l->lock);
	ok = go_on(x, from, upto);
	if (!ok && start_stream(x, upto))
		tell_reset(x, upto);
	pthread_mutex_lock(&l->lock);
	if (ok)
		l->seen = latest;
	else
		wait_ms(l, FAILED_MS);
}

static void init(struct reader *x)
{
	arena_init(&x->round_arenas[0]);
	arena_init(&x->round_arenas[1]);
	arena_init(&x->arena);
}

static void release(struct reader *x)
{
	arena_release(&x->round_arenas[0]);
	arena_release(&x->round_arenas[1]);
	arena_release(&x->arena);
	live_stream_stop(&x->stream);
	mem_free(x->found);
}

void *live_read_on(void *live)
{
	struct live *l = live;
	struct reader x = { .live = l,
			    .stream = { .database = l->database,
					.source = l->relay ? relay_source(l->relay) : NULL,
					.is_ordered = live_is_ordered(l->database) } };

	init(&x);
	pthread_mutex_lock(&l->lock);
	while (!l->stopping) {
		if (!l->watchers) {
			l->running = false;
			pthread_cond_wait(&l->changed, &l->lock);
		} else if (!l->running) {
			start(&x);
		} else {
			read_some(&x);
		}
	}
	pthread_mutex_unlock(&l->lock);
	release(&x);
	return NULL;
}
