/* The reader's start and end; calls of targets and watchers.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "process/live/live_internal.h"
#include "base/clock.h"
#include "base/cond.h"

#define START_WAIT_S 5

struct live *live_new(struct app *app, struct relay *relay)
{
	struct live *l = mem_zalloc(sizeof(*l));

	if (!l)
		return NULL;
	l->app = app;
	l->relay = relay;
	l->database = app_database(app);
	l->backend = database_open(l->database);
	pthread_mutex_init(&l->lock, NULL);
	cond_init(&l->changed);
	if (live_table_init(&l->topics) && live_table_init(&l->partitions) && l->backend)
		return l;
	live_free(l);
	return NULL;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->stopping = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	if (l->started)
		pthread_join(l->thread, NULL);
	live_table_release(&l->topics);
	live_table_release(&l->partitions);
	backend_free(l->backend);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	mem_free(l);
}

/* ---- targets ---- */

void live_posted(const struct live_event *e)
{
	struct live_topic *t = e->place->topic;
	struct live *l = t->live;
	bool full;

	pthread_mutex_lock(&l->lock);
	full = live_is_full(l);
	l->posts--;
	l->posted_bytes -= e->bytes ? e->bytes->n : 0;
	if (full && !live_is_full(l))
		pthread_cond_broadcast(&l->changed);
	live_topic_unref(t);
	pthread_mutex_unlock(&l->lock);
	live_bytes_unref(e->bytes);
}

/* ---- positions ---- */

bool live_is_ordered(const struct database *d)
{
	return !d->is_remote;
}

uint64_t live_last_sequence(const struct live *l)
{
	return database_latest(l->database) - 1;
}

size_t live_id(const struct live *l, const struct live_at *at, char text[LIVE_ID_ROOM])
{
	size_t n = live_is_ordered(l->database) ? 0 : mark_text(&at->mark, text);

	_Static_assert(LIVE_ID_ROOM >= MARK_TEXT_ROOM, "room for a mark");
	return n ? n : (size_t)snprintf(text, LIVE_ID_ROOM, "%llu", (unsigned long long)at->position);
}

size_t live_position(const struct live_watcher *w, char text[LIVE_ID_ROOM])
{
	struct live *l = w->topic->live;
	struct live_at at;
	uint64_t delivered;

	pthread_mutex_lock(&l->lock);
	at = l->at;
	delivered = l->delivered;
	pthread_mutex_unlock(&l->lock);
	/* During the delivery of a change the number before it is known, but no mark. */
	if (delivered < at.position && !live_is_ordered(l->database))
		return 0;
	at.position = delivered > w->from ? delivered : w->from;
	return live_id(l, &at, text);
}

bool live_is_idle(struct live *l)
{
	uint64_t latest = database_latest(l->database);
	bool idle;

	pthread_mutex_lock(&l->lock);
	idle = !l->watchers ||
	       (l->running && (live_is_ordered(l->database) ? l->delivered >= latest - 1 : l->seen >= latest));
	pthread_mutex_unlock(&l->lock);
	return idle;
}

/* ---- watchers ---- */

/* With the lock held. */
static bool is_started(struct live *l)
{
	int64_t until_us = clock_monotonic_us() + START_WAIT_S * INT64_C(1000000);
	uint64_t failures = l->failures;

	if (!l->started)
		l->started = pthread_create(&l->thread, NULL, live_read_on, l) == 0;
	if (!l->started)
		return false;
	pthread_cond_broadcast(&l->changed);
	while (!l->running && !l->stopping && l->failures == failures && cond_wait_until(&l->changed, &l->lock, until_us))
		;
	return l->running;
}

static void wait_for_events(struct live_topic *t, struct live_watcher *w)
{
	w->topic = t;
	w->from = t->live->at.position;
	w->first = NULL;
	w->last = &w->first;
	w->next = t->pending;
	if (w->next)
		w->next->at = &w->next;
	w->at = &t->pending;
	t->pending = w;
}

/* Registers the watcher: it gets everything after *at. */
static bool register_watcher(struct live *l, struct run *r, const struct live_absence *a, struct live_watcher *w,
			     struct live_at *at)
{
	struct caller caller;
	struct slice key = live_topic_key(r, a->list, &caller);
	struct live_topic *t = NULL;

	pthread_mutex_lock(&l->lock);
	l->watchers++;
	if (is_started(l))
		t = live_topic_get(l, key, a->list, &caller, a->partitions, a->partition_count);
	if (t)
		wait_for_events(t, w);
	else
		l->watchers--;
	*at = l->at;
	pthread_mutex_unlock(&l->lock);
	return t || run_busy(r);
}

bool live_watch(struct live *l, struct run *r, const struct live_ask *ask, struct live_watcher *w, struct buf *out)
{
	struct live_at upto;
	struct live_absence a = { .live = l, .id = ask->last_event_id, .upto = &upto };
	char id[LIVE_ID_ROOM];
	struct slice *partitions;
	struct read_live list;

	if (!read_live_open(r, ask->access, ask->params, &list, &partitions, &a.partition_count))
		return false;
	a.list = &list;
	a.partitions = partitions;
	w->target = ask->target;
	if (!register_watcher(l, r, &a, w, &upto))
		return false;
	if (a.id.n)
		live_catch_up(r, &a, out);
	else
		live_text_plain(out, "ready", slice_make(id, live_id(l, &upto, id)));
	return true;
}

/* With the lock held. */
static void stop_waiting(struct live_watcher *w)
{
	if (!w->at)
		return;
	*w->at = w->next;
	if (w->next)
		w->next->at = w->at;
	w->at = NULL;
}

/* With the lock held. */
static struct live_place *place_of(struct live_topic *t, struct live_target *target)
{
	struct live_place *p = t->places;

	while (p && p->target != target)
		p = p->next;
	if (p || !(p = mem_zalloc(sizeof(*p))))
		return p;
	*p = (struct live_place){ .next = t->places, .topic = t, .target = target };
	t->places = p;
	return p;
}

bool live_adopt(struct live_watcher *w, void (*take)(void *ctx, uint64_t sequence, struct live_bytes *b), void *ctx)
{
	struct live *l = w->topic->live;
	struct live_pending *p, *next;
	bool ok;

	pthread_mutex_lock(&l->lock);
	stop_waiting(w);
	ok = !w->cut;
	w->place = ok ? place_of(w->topic, w->target) : NULL;
	if (w->place)
		w->place->watchers++;
	p = w->first;
	w->first = NULL;
	pthread_mutex_unlock(&l->lock);
	for (; p; p = next) {
		next = p->next;
		if (w->place)
			take(ctx, p->sequence, p->bytes);
		live_bytes_unref(p->bytes);
		mem_free(p);
	}
	return w->place != NULL;
}

void live_leave(struct live_watcher *w)
{
	struct live *l = w->topic ? w->topic->live : NULL;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	stop_waiting(w);
	if (w->place)
		w->place->watchers--;
	l->watchers--;
	live_topic_unref(w->topic);
	pthread_mutex_unlock(&l->lock);
	for (struct live_pending *p = w->first, *next; p; p = next) {
		next = p->next;
		live_bytes_unref(p->bytes);
		mem_free(p);
	}
	*w = (struct live_watcher){ 0 };
}
