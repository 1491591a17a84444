/* A request to a design's REST API, and the reply. No socket here; everything lives as long as the arena given to
 * app_handle().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_APP_REQUEST_H
#define THORPE_APP_REST_APP_REQUEST_H

#include "app/run/run.h"

struct app_reply;

/* Takes over a list that a client watches (process/live/live.h). */
struct app_watcher {
	/* Called within app_handle(), on its thread. False: run->problem; otherwise *reply is the whole answer. */
	bool (*watch)(struct app_watcher *w, struct run *r, const struct access *access, const struct row *params,
		      struct app_reply *reply);
};

enum app_method { APP_GET, APP_HEAD, APP_POST, APP_PUT, APP_PATCH, APP_DELETE, APP_OTHER };

#define APP_QUICK_LIMIT 200 /* the largest page that app_is_quick() answers true for */

const char *app_method_name(enum app_method m);      /* APP_OTHER: "?" */
enum app_method app_method_parse(struct slice name); /* APP_OTHER: none of them */

struct app_request {
	enum app_method method;
	struct slice path;  /* below /api/<design>, percent-encoded as sent: "/users/alice", or empty */
	struct slice query; /* after the '?', as sent */
	/* headers; empty: none */
	struct slice authorization, if_match, if_none_match, idempotency_key, content_type, accept;
	struct slice body;
	struct slice client; /* address, for slowing failed logins */
	/* This thread must not hash passwords, which takes some 50 ms. A request that has to hash ends before anything
	 * is written, and the reply says so (wants_hashing). */
	bool no_hashing;
	struct slice base; /* "/api/social", for Location and links */
	/* Not NULL: the list is watched instead of read; other requests are INVALID. `last_event_id` in the query is
	 * the watcher's. */
	struct app_watcher *watcher;
	/* For callers inside the process (demo data); NULL and 0 for requests from the network: */
	const struct caller *trusted; /* the caller, in place of `authorization`; not verified */
	int64_t now_ms;               /* the time of the request; 0: now */
};

/* Splits the query off a path that still has it. */
void app_request_target(struct app_request *q, struct slice target);

/* The reply to a HEAD has the body of the GET; the sender leaves it out. */
struct app_reply {
	int status;
	struct slice type; /* application/json, application/problem+json; empty: no body */
	struct slice body;
	struct slice headers; /* further lines, each ending in CRLF */
	bool wants_hashing;   /* repeat the request without no_hashing. If that is impossible, the rest says BUSY */
};

#endif
