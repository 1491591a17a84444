/* Several requests at the same time: each on a backend and in an arena of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/remote_internal.h"
#include "request/document.h"

#define TOGETHER_MOST 32 /* of one caller: others need connections, too */

struct errand {
	struct crew_job job; /* first */
	struct remote_backend *for_;
	struct remote_backend *own;
	struct arena arena;
	const struct request *request;
	struct reply *reply;
	bool failed; /* memory */
};

/* ---- backends that are lent ---- */

static struct remote_backend *lend(struct remote *r)
{
	struct remote_backend *b;

	pthread_mutex_lock(&r->lent_lock);
	b = r->spare;
	if (b)
		r->spare = b->next;
	pthread_mutex_unlock(&r->lent_lock);
	return b ? b : (struct remote_backend *)remote_backend_new(r);
}

static void give_back(struct errand *e)
{
	struct remote *r = e->for_->remote;

	if (!e->own)
		return;
	pthread_mutex_lock(&r->lent_lock);
	e->own->next = r->spare;
	r->spare = e->own;
	pthread_mutex_unlock(&r->lent_lock);
	e->own = NULL;
}

static void end_errand(void *errand)
{
	struct errand *e = errand;

	give_back(e);
	arena_release(&e->arena);
}

/* ---- */

static void run_errand(struct crew_job *j)
{
	struct errand *e = (struct errand *)j;

	ARENA_TRY(&e->arena,
		  { request_by_document(&e->own->backend, &e->arena, e->request, e->reply); }, { e->failed = true; });
}

static struct errand *prepare(struct remote_backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	struct errand *e = arena_new(a, struct errand);

	e->job.work = run_errand;
	e->for_ = b;
	e->request = q;
	e->reply = reply;
	arena_init(&e->arena);
	arena_defer(a, end_errand, e);
	e->own = lend(b->remote);
	if (!e->own)
		arena_out_of_memory(a);
	memcpy(e->own->label, b->label, sizeof(b->label));
	return e;
}

static void run_some(struct remote_backend *b, struct arena *a, const struct request *q, struct reply *replies, size_t n)
{
	struct crew_job *jobs[TOGETHER_MOST];
	bool failed = false;

	for (size_t i = 0; i < n; i++) {
		struct errand *e = prepare(b, a, &q[i], &replies[i]);

		e->own->is_beside = i > 0;
		jobs[i] = &e->job;
	}
	crew_do(b->remote->crew, jobs, n);
	for (size_t i = 0; i < n; i++) {
		struct errand *e = (struct errand *)jobs[i];

		failed = failed || e->failed;
		give_back(e);
	}
	if (failed)
		arena_out_of_memory(a);
}

/* The replies' contents live as long as `a`, in arenas of the errands. */
void remote_execute_all(struct backend *b, struct arena *a, const struct request *q, struct reply *replies, size_t n)
{
	for (size_t i = 0; i < n; i += TOGETHER_MOST)
		run_some((struct remote_backend *)b, a, q + i, replies + i,
			 n - i < TOGETHER_MOST ? n - i : TOGETHER_MOST);
}
