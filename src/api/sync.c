/* A call from start to finish on a thread that may wait.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <semaphore.h>
#include "api/api.h"

/* A semaphore, because a thread woken by one has no lock to wait for: the writer wakes dozens after each batch. */
static void on_done(struct api_call *c)
{
	sem_post(c->ctx);
}

void api_call_wait(struct api *api, struct api_thread *t, struct api_call *c)
{
	sem_t done;

	sem_init(&done, 0, 0);
	c->done = on_done;
	c->ctx = &done;
	c->may_wait = true;
	api_start(api, t, c);
	while (sem_wait(&done) && errno == EINTR)
		;
	sem_destroy(&done);
	api_finish(c);
}

struct slice api_target(struct arena *a, const char *operation)
{
	struct slice plain = arena_printf(a, "DynamoDB_20120810.%s", operation);

	return api_operation(plain) ? plain : arena_printf(a, "DynamoDBStreams_20120810.%s", operation);
}
