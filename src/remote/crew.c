/* A queue of jobs and the threads that take from it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/crew.h"
#include <pthread.h>
#include "base/alloc.h"

struct crew {
	pthread_mutex_t lock;
	pthread_cond_t added; /* a job waits, or all must stop */
	pthread_cond_t done;  /* a job has ended */
	struct crew_job *first, **last;
	unsigned most, count, idle;
	bool stopping;
	pthread_t threads[]; /* room for `most` */
};

struct crew *crew_new(unsigned most)
{
	struct crew *c = mem_zalloc(sizeof(*c) + most * sizeof(c->threads[0]));

	if (!c)
		return NULL;
	c->most = most;
	c->last = &c->first;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->added, NULL);
	pthread_cond_init(&c->done, NULL);
	return c;
}

void crew_free(struct crew *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stopping = true;
	pthread_cond_broadcast(&c->added);
	pthread_mutex_unlock(&c->lock);
	for (unsigned i = 0; i < c->count; i++)
		pthread_join(c->threads[i], NULL);
	pthread_cond_destroy(&c->done);
	pthread_cond_destroy(&c->added);
	pthread_mutex_destroy(&c->lock);
	mem_free(c);
}

/* ---- with the lock ---- */

static void add_job(struct crew *c, struct crew_job *j)
{
	j->next = NULL;
	j->state = CREW_WAITING;
	*c->last = j;
	c->last = &j->next;
}

static void take_out(struct crew *c, const struct crew_job *j)
{
	struct crew_job **at = &c->first;

	while (*at != j)
		at = &(*at)->next;
	*at = j->next;
	if (c->last == &j->next)
		c->last = at;
}

/* Does the job without the lock. */
static void do_job(struct crew *c, struct crew_job *j)
{
	take_out(c, j);
	j->state = CREW_BEGUN;
	pthread_mutex_unlock(&c->lock);
	j->work(j);
	pthread_mutex_lock(&c->lock);
	j->state = CREW_DONE;
}

/* ---- a thread ---- */

static void *serve(void *arg)
{
	struct crew *c = arg;

	pthread_mutex_lock(&c->lock);
	while (!c->stopping) {
		if (c->first) {
			do_job(c, c->first);
			pthread_cond_broadcast(&c->done);
			continue;
		}
		c->idle++;
		pthread_cond_wait(&c->added, &c->lock);
		c->idle--;
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* With the lock held. Starts threads as wanted; does without those that cannot be started. */
static void call_for(struct crew *c, size_t wanted)
{
	while (c->count < c->most && c->idle < wanted) {
		if (pthread_create(&c->threads[c->count], NULL, serve, c) != 0)
			break;
		c->count++;
		wanted--;
	}
	pthread_cond_broadcast(&c->added);
}

void crew_do(struct crew *c, struct crew_job **jobs, size_t n)
{
	pthread_mutex_lock(&c->lock);
	for (size_t i = 0; i < n; i++)
		add_job(c, jobs[i]);
	if (n > 1)
		call_for(c, n - 1);
	for (size_t i = 0; i < n; i++)
		if (jobs[i]->state == CREW_WAITING)
			do_job(c, jobs[i]);
	for (size_t i = 0; i < n; i++)
		while (jobs[i]->state != CREW_DONE)
			pthread_cond_wait(&c->done, &c->lock);
	pthread_mutex_unlock(&c->lock);
}
