/* A design that runs: requests to its REST API in, replies out. Knows no socket. docs/rest-api.md is its manual.
 *
 * Threads: an app is shared by all; app_handle() may run on any number of threads at once, each with a backend of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_APP_H
#define THORPE_APP_APP_H

#include "app/auth/caller.h"
#include "request/database.h"

struct app_options {
	const struct design *design;         /* outlives the app */
	uint8_t secret[CALLER_SECRET_BYTES]; /* of this server: keys of tokens and cursors are derived from it */
	const struct clock *clock;           /* NULL: the system's */
	struct database *database;           /* outlives the app */
};
struct app *app_new(const struct app_options *o); /* NULL when memory is out */
void app_free(struct app *app);
const struct design *app_design(const struct app *app);
struct database *app_database(const struct app *app);
int64_t app_now_ms(const struct app *app);
/* An operator's token for this app, from now on for so many seconds. */
struct slice app_operator_token(const struct app *app, struct arena *a, int64_t seconds);

struct app_reply;
/* who takes on a list that is to be watched (process/live/live.h) */
struct app_watcher {
	/* Within app_handle(), on its thread. False: run->problem; otherwise *reply is the whole answer. */
	bool (*watch)(struct app_watcher *w, struct run *r, const struct access *access, const struct row *params,
		      struct app_reply *reply);
};

enum app_method { APP_GET, APP_HEAD, APP_POST, APP_PUT, APP_PATCH, APP_DELETE, APP_OTHER };

/* everything lives as long as the arena given to app_handle() */
struct app_request {
	enum app_method method;
	struct slice path;  /* below /api/<design>, percent-encoded as sent: "/users/alice", or empty */
	struct slice query; /* after the '?', as sent */
	struct slice authorization, if_match, if_none_match, idempotency_key, content_type,
		accept; /* headers; empty: none */
	struct slice body;
	struct slice client; /* address, for slowing failed logins */
	/* This thread does not hash passwords, which takes some 50 ms: a request that has to is given up before anything
	 * is written, and the reply says so (wants_hashing). */
	bool no_hashing;
	struct slice base; /* "/api/social", for Location and links */
	/* A list is not read but watched, anything else is INVALID; `last_event_id` in the query is the watcher's. NULL: no. */
	struct app_watcher *watcher;
	/* For callers inside the process (demo data); NULL and 0 for everything that came over the wire: */
	const struct caller *trusted; /* who is asking, instead of `authorization`; nothing is verified */
	int64_t now_ms;               /* the time the request is run at; 0: the clock's */
};

struct app_reply {
	int status;
	struct slice type; /* application/json, application/problem+json; empty: no body */
	struct slice body;
	struct slice headers; /* further lines, each ended by CRLF */
	bool wants_hashing;   /* ask again without no_hashing. The rest is what to say when that cannot be: BUSY */
};                            /* of a HEAD what a GET would have: whoever sends it leaves the body out */

#define APP_QUICK_LIMIT 200 /* the largest page that is */
/* Whether the request can be answered without waiting for anything but memory and local reads: then app_handle() may be
 * called on an event loop. Everything else belongs on a worker. Quick to ask. */
bool app_is_quick(struct app *app, const struct app_request *q);
void app_handle(struct app *app, struct backend *b, struct arena *a, const struct app_request *q,
		struct app_reply *reply);

/* A pattern by its name, for `thorpe call` and the console: POST /call (operators), parameters as text, `as`: the caller.
 * {"pattern": "user posts", "with": {"user_id": "alice"}, "as": {"subject": "alice", "roles": []}, "explain": true} →
 * {"result": …, "requests": [{"operation","request","read_units","write_units","items","us"}]}. */

/* Further addresses for operators, below /processors unless the design has that path itself: whoever is none gets 404, as for
 * any address that is not there. NULL: none. Both may be set only while no request is running. */
typedef void app_operators(void *ctx, struct backend *b, struct arena *a, const struct app_request *q,
			   struct app_reply *reply);
void app_set_operators_handler(struct app *app, app_operators *fn, void *ctx);
/* Whether a keeper follows the table's stream: then writes leave to it what follows from them (derived attributes after
 * counters, copies, cascades). */
void app_set_keeper_runs(struct app *app, bool runs);
/* Whether no deletion that this server knows of is still under way (deleting.h). */
bool app_deletions_settled(const struct app *app);

/* CALLER_SECRET_BYTES of the server's secret; as long as the app. Not for what leaves the server: derive something from it. */
const uint8_t *app_secret(const struct app *app);

/* Before the first request: finds out whether writes are refused here because the table has moved (db/moved.h). */
void app_look(struct app *app, struct backend *b);
/* From a background thread, once a second or after as many milliseconds as the last call returned (at most a second): gathered
 * actions, unfinished deletions, how late indexes are, and the same look again. `last`: at the end, writes everything. */
int64_t app_tick(struct app *app, struct backend *b, bool last);

/* How long the body of a request must be allowed to be for the attributes that the design declares; 0: nothing long is
 * declared. */
size_t app_body_bytes(const struct app *app);

/* What GET /api says of it: {"design","title","table","entities":13,"access":31}, without its address. */
void app_summary(const struct app *app, struct buf *out);
/* The OpenAPI 3.1 document. */
void app_openapi(struct app *app, struct arena *a, struct slice base, struct buf *out);

#endif
