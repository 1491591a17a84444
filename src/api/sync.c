/* A call from start to finish on a thread that may wait.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include "api/api.h"

struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t finished;
	bool done;
};

static void on_done(struct api_call *c)
{
	struct waiter *w = c->ctx;

	pthread_mutex_lock(&w->lock);
	w->done = true;
	pthread_cond_signal(&w->finished);
	pthread_mutex_unlock(&w->lock);
}

void api_call_wait(struct api *api, struct api_thread *t, struct api_call *c)
{
	struct waiter w = { .lock = PTHREAD_MUTEX_INITIALIZER, .finished = PTHREAD_COND_INITIALIZER };

	c->done = on_done;
	c->ctx = &w;
	api_start(api, t, c);
	pthread_mutex_lock(&w.lock);
	while (!w.done)
		pthread_cond_wait(&w.finished, &w.lock);
	pthread_mutex_unlock(&w.lock);
	pthread_mutex_destroy(&w.lock);
	pthread_cond_destroy(&w.finished);
	api_finish(c);
}

struct slice api_target(struct arena *a, const char *operation)
{
	struct slice plain = arena_printf(a, "DynamoDB_20120810.%s", operation);

	return api_op_name(plain) ? plain : arena_printf(a, "DynamoDBStreams_20120810.%s", operation);
}
