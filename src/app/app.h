/* A running design: requests to its REST API in, replies out. Knows no socket. docs/rest-api.md is its manual.
 *
 * Threads: all threads share an app. app_handle() may run on any number of them at once, each with its own backend.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_APP_H
#define THORPE_APP_APP_H

#include "app/auth/caller.h"
#include "app/rest/app_request.h"
#include "request/database.h"

struct app_options {
	const struct design *design;         /* outlives the app */
	uint8_t secret[CALLER_SECRET_BYTES]; /* of this server: keys of tokens and cursors are derived from it */
	const struct clock *clock;           /* NULL: the system's */
	struct database *database;           /* outlives the app */
	struct media *media;                 /* where files are; outlives the app. NULL: nowhere */
	int64_t media_hold_s;                /* a file is uploaded and taken within this time; 0: an hour */
	int64_t media_caller_most;           /* bytes of one caller's files; 0: 1 GB */
};
struct app *app_new(const struct app_options *o); /* NULL: out of memory */
void app_free(struct app *app);
const struct design *app_design(const struct app *app);
struct database *app_database(const struct app *app);
int64_t app_now_ms(const struct app *app);
/* A token for an operator of this app, valid for so many seconds from now. */
struct slice app_operator_token(const struct app *app, struct arena *a, int64_t seconds);

/* Whether the request needs nothing but memory and local reads: then app_handle() may run on an event loop. All other
 * requests belong on a worker. Cheap to ask. */
bool app_is_quick(struct app *app, const struct app_request *q);
void app_handle(struct app *app, struct backend *b, struct arena *a, const struct app_request *q,
		struct app_reply *reply);

/* Besides the routes of the design: POST /call runs an access pattern by its name, for operators (`thorpe call`, the
 * console). Parameters are texts, `as` is the caller:
 * {"pattern": "user posts", "with": {"user_id": "alice"}, "as": {"subject": "alice", "roles": []}, "explain": true} →
 * {"result": …, "requests": [{"operation","request","read_units","write_units","items","us"}]}. */

/* A handler for further addresses for operators, below /processors unless the design has that path itself. Other
 * callers get 404, as for any unknown address. NULL: none. Set both only while no request is running. */
typedef void app_operators(void *ctx, struct backend *b, struct arena *a, const struct app_request *q,
			   struct app_reply *reply);
void app_set_operators_handler(struct app *app, app_operators *fn, void *ctx);
/* Whether a keeper follows the table's stream. Writes then leave their consequences to it: attributes derived from
 * counters, copies, cascades. */
void app_set_keeper_runs(struct app *app, bool runs);
/* Whether all deletions that this server knows of are complete (write/deleting.h). */
bool app_deletions_settled(const struct app *app);

/* CALLER_SECRET_BYTES of the server's secret; lives as long as the app. Never send it: derive something from it. */
const uint8_t *app_secret(const struct app *app);

/* Before the first request: finds out whether writes are refused here because the table has moved (db/moved.h). */
void app_look(struct app *app, struct backend *b);
/* From a background thread, once a second or after as many milliseconds as the last call returned (at most a second):
 * gathered actions, unfinished deletions, how late indexes are, and the same look again. `last`: at the end, writes
 * everything. */
int64_t app_tick(struct app *app, struct backend *b, bool last);

/* The size that a request body must be allowed for the attributes that the design declares; 0: no long ones. */
size_t app_body_bytes(const struct app *app);

/* The design's entry in GET /api: {"design","title","table","entities":13,"access":31}, without its address. */
void app_summary(const struct app *app, struct buf *out);
/* The OpenAPI 3.1 document of a design at that address; its routes at '/' if `base` is empty. */
void design_openapi(const struct design *d, struct arena *a, struct slice base, struct buf *out);

#endif
