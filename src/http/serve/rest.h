/* Applications over HTTP: /api lists them, /api/<design>/… serves one.
 *
 * Callers are the application's (tokens); these requests are not signed, unlike DynamoDB's. The event loop answers
 * requests that never block, workers all others.
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
	struct app *const *apps; /* set before server_run() */
	size_t app_count;
	struct relay *const *relays; /* in the order of `apps`; NULL, or a NULL entry: none */
	struct http_route routes[REST_METHODS];
	pthread_mutex_t lock;
	struct live **live; /* (lock) for each app with watchers so far; NULL: none */
};

/* Fills the routes, which point to `r`. */
void rest_init(struct rest *r);
/* Call after the server has ended, before the apps do. */
void rest_release(struct rest *r);
/* NULL: no design of this name is served. */
struct app *rest_app(const struct rest *r, struct slice name);
/* The thread's backend of this database; `local` is the thread's data. NULL: out of memory. */
struct backend *rest_backend(void *local, struct database *d);
/* For server_options.local: each thread has backends of its own. */
struct thread_local_maker rest_threads(struct rest *r);

#endif
