/* Applications over HTTP: /api lists them, /api/<design>/… is theirs.
 *
 * Callers are the application's own (tokens); requests here are not signed as DynamoDB's are. What an application can
 * answer without waiting is answered on the event loop, everything else on a worker.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_SERVE_REST_H
#define THORPE_HTTP_SERVE_REST_H

#include <pthread.h>

#include "app/app.h"
#include "http/connection/route.h"
#include "http/workers.h"
#include "process/live/live.h"

#define REST_BASE    "/api"
#define REST_METHODS 6

struct rest {
	struct app *const *apps; /* may be set after server_new(), before server_run() */
	size_t app_count;
	struct relay *const *relays; /* of each app, as the apps; NULL, or a NULL in it: none */
	struct http_route routes[REST_METHODS];
	pthread_mutex_t lock;
	struct live **live; /* (lock) of each app that has been watched; NULL: none has */
};

/* Fills the routes, which point to the rest. */
void rest_init(struct rest *r);
/* When the server has ended, and before the apps do. */
void rest_release(struct rest *r);
/* Of what a thread has: its backend of this database. NULL: memory is out. */
struct backend *rest_backend(void *local, struct database *d);
/* For server_options.local: each thread has backends of its own. */
struct thread_local_maker rest_threads(struct rest *r);

#endif
