/* A queue, a lock, and threads that take from the queue.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/log.h"
#include "http/connection/exchange.h"
#include "http/workers.h"

#define STACK_BYTES (1024 * 1024) /* deep documents recurse; unused pages take no memory */

struct worker {
	struct workers *all;
	pthread_t thread;
	void *local;
};

struct workers {
	struct workers_options options;
	struct worker *list;  /* room for options.threads */
	pthread_mutex_t lock; /* of everything below */
	pthread_cond_t changed;
	unsigned count, idle, busy;
	struct exchange *first, *last; /* linked by `completed`, which is unused until then */
	size_t queued, reserved;
	uint64_t turn; /* fair pools: that of the last exchange taken */
	uint64_t refused;
	bool stopping;
};

/* Lock held, before and after. NULL: the thread must end. */
static struct exchange *next(struct workers *w)
{
	struct exchange *ex;

	w->idle++;
	while (!w->first && !w->stopping)
		pthread_cond_wait(&w->changed, &w->lock);
	w->idle--;
	ex = w->first;
	if (ex) {
		w->first = ex->completed;
		if (!w->first)
			w->last = NULL;
		w->queued--;
		w->turn = ex->turn;
	}
	return ex;
}

static void *work(void *arg)
{
	struct worker *me = arg;
	struct workers *w = me->all;
	struct exchange *ex;

	pthread_mutex_lock(&w->lock);
	while ((ex = next(w))) {
		w->busy++;
		pthread_mutex_unlock(&w->lock);
		exchange_run_work(ex, me->local);
		pthread_mutex_lock(&w->lock);
		w->busy--;
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

static bool start_thread(struct worker *me)
{
	pthread_attr_t attr;
	bool started;

	if (pthread_attr_init(&attr))
		return false;
	started = !pthread_attr_setstacksize(&attr, STACK_BYTES) && !pthread_create(&me->thread, &attr, work, me);
	pthread_attr_destroy(&attr);
	return started;
}

/* Starts one more thread, if allowed and possible. Lock held. */
static void grow(struct workers *w)
{
	struct worker *me = &w->list[w->count];

	if (w->count == w->options.threads)
		return;
	me->all = w;
	if (w->options.local.make && !(me->local = w->options.local.make(w->options.local.ctx)))
		return;
	if (start_thread(me)) {
		w->count++;
		return;
	}
	if (me->local)
		w->options.local.drop(me->local);
	me->local = NULL;
	if (!w->count)
		log_error("no thread could be started");
}

/* W2. Lock held. */
static bool has_room(struct workers *w)
{
	if (!w->count)
		grow(w);
	return w->count && w->reserved + w->queued + w->busy < w->options.waiting + w->options.threads;
}

bool workers_reserve(struct workers *w)
{
	bool room;

	pthread_mutex_lock(&w->lock);
	room = has_room(w);
	if (room)
		w->reserved++;
	else
		w->refused++;
	pthread_mutex_unlock(&w->lock);
	return room;
}

void workers_unreserve(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	assert(w->reserved);
	w->reserved--;
	pthread_mutex_unlock(&w->lock);
}

/* With the lock held. */
static void append(struct workers *w, struct exchange *ex)
{
	ex->completed = NULL;
	ex->turn = 0;
	if (w->last)
		w->last->completed = ex;
	else
		w->first = ex;
	w->last = ex;
}

/* Inserts it after the requests of its turn. The queue is sorted by turn; walking it is cheap compared to a hash.
 * Lock held. */
static void take_turn(struct workers *w, struct exchange *ex)
{
	struct exchange **at = &w->first;

	ex->turn = w->turn + 1;
	for (const struct exchange *e = w->first; e; e = e->completed)
		if (e->client == ex->client)
			ex->turn = e->turn + 1;
	while (*at && (*at)->turn <= ex->turn)
		at = &(*at)->completed;
	ex->completed = *at;
	*at = ex;
	if (!ex->completed)
		w->last = ex;
}

/* With the lock held. */
static void enqueue(struct workers *w, struct exchange *ex)
{
	if (w->options.fair)
		take_turn(w, ex);
	else
		append(w, ex);
	if (++w->queued > w->idle)
		grow(w);
	pthread_cond_signal(&w->changed);
}

void workers_submit(struct workers *w, struct exchange *ex)
{
	pthread_mutex_lock(&w->lock);
	assert(w->reserved && w->count); /* W1 */
	w->reserved--;
	enqueue(w, ex);
	pthread_mutex_unlock(&w->lock);
}

/* W4. Lock held. */
static bool has_its_share(const struct workers *w, const struct exchange *ex)
{
	size_t own = 0;

	for (const struct exchange *e = w->first; w->options.fair && e; e = e->completed)
		own += e->client == ex->client;
	return own * 2 >= w->options.waiting && own;
}

bool workers_hand_over(struct workers *w, struct exchange *ex)
{
	bool room;

	pthread_mutex_lock(&w->lock);
	room = has_room(w) && !has_its_share(w, ex);
	if (room)
		enqueue(w, ex);
	else
		w->refused++;
	pthread_mutex_unlock(&w->lock);
	return room;
}

struct workers_metrics workers_metrics(struct workers *w)
{
	struct workers_metrics m;

	pthread_mutex_lock(&w->lock);
	m = (struct workers_metrics){ .threads = w->count, .idle = w->idle, .waiting = w->queued, .refused = w->refused };
	pthread_mutex_unlock(&w->lock);
	return m;
}

struct workers *workers_new(const struct workers_options *o)
{
	struct workers *w = mem_zalloc(sizeof(*w));

	if (!w)
		return NULL;
	w->options = *o;
	w->list = mem_zalloc(o->threads * sizeof(*w->list));
	if (!w->list) {
		mem_free(w);
		return NULL;
	}
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	return w;
}

void workers_free(struct workers *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	assert(!w->first && !w->reserved);
	w->stopping = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	for (unsigned i = 0; i < w->count; i++) {
		pthread_join(w->list[i].thread, NULL);
		if (w->list[i].local)
			w->options.local.drop(w->list[i].local);
	}
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	mem_free(w->list);
	mem_free(w);
}
