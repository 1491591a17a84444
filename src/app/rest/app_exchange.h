/* One request on its way through an app: the request, the caller, the route, and the answer so far.
 *
 * Handlers return false when run.problem is set; otherwise they have filled `answer`. Everything lives in run.arena.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_REST_APP_EXCHANGE_H
#define THORPE_APP_REST_APP_EXCHANGE_H

#include "app/rest/routes.h"
#include "app/run/state.h"
#include "app/write/receipt.h"

enum answer_type { ANSWER_EMPTY, ANSWER_JSON, ANSWER_PROBLEM };

struct answer {
	int status;
	enum answer_type type;
	struct slice body;
	struct slice location, etag; /* header values; empty: none */
	struct slice cache;          /* Cache-Control */
	bool vary;                   /* the answer depends on Authorization */
	bool challenge;              /* WWW-Authenticate */
	bool replayed;
	unsigned allow; /* 405: bits 1 << enum app_method */
	int retry_after;
	struct app_reply *ready; /* a complete reply, made elsewhere; NULL: the members above */
};

struct app_exchange {
	struct app *app;
	const struct app_request *q;
	struct run run;
	bool caller_known; /* run.caller is set (batch) */
	bool in_batch;
	const struct json *body; /* an object: given in a batch, else parsed from q->body if the route takes a body */
	struct route_match match;
	struct slice token;            /* ClientRequestToken, derived from the Idempotency-Key; empty: none */
	const struct receipt *receipt; /* of the Idempotency-Key where servers share it; NULL: none */
	struct answer answer;
};

/* From the path to the answer, problems included (app_dispatch.c). */
void app_exchange_handle(struct app_exchange *x);

/* ---- handlers, one for each route_kind ---- */
bool handle_item(struct app_exchange *x) MUST_CHECK;
bool handle_create(struct app_exchange *x) MUST_CHECK;
bool handle_put(struct app_exchange *x) MUST_CHECK;
bool handle_patch(struct app_exchange *x) MUST_CHECK;
bool handle_put_entry(struct app_exchange *x) MUST_CHECK;
bool handle_delete_entry(struct app_exchange *x) MUST_CHECK;
bool handle_file(struct app_exchange *x) MUST_CHECK; /* app_file.c */
bool handle_delete(struct app_exchange *x) MUST_CHECK;
bool handle_action(struct app_exchange *x) MUST_CHECK;
bool handle_access(struct app_exchange *x) MUST_CHECK;
bool handle_each(struct app_exchange *x) MUST_CHECK;
bool handle_login(struct app_exchange *x) MUST_CHECK;
bool handle_renew(struct app_exchange *x) MUST_CHECK;
bool handle_logout(struct app_exchange *x) MUST_CHECK;
bool handle_role(struct app_exchange *x) MUST_CHECK;       /* app_role.c */
bool handle_reset_send(struct app_exchange *x) MUST_CHECK; /* app_mail.c, as the next three */
bool handle_reset(struct app_exchange *x) MUST_CHECK;
bool handle_proof_send(struct app_exchange *x) MUST_CHECK;
bool handle_proof(struct app_exchange *x) MUST_CHECK;
bool handle_me(struct app_exchange *x) MUST_CHECK;
bool handle_batch(struct app_exchange *x) MUST_CHECK;
bool handle_call(struct app_exchange *x) MUST_CHECK;
bool handle_openapi(struct app_exchange *x) MUST_CHECK; /* openapi/openapi.c */
bool handle_index(struct app_exchange *x) MUST_CHECK;

/* Runs a handler once for an Idempotency-Key; repetitions get its answer (app_once.c). `has_receipt`: the handler
 * makes a single write, which can leave a receipt. */
bool handle_once(struct app_exchange *x, bool has_receipt, bool (*handle)(struct app_exchange *x)) MUST_CHECK;
/* The answer to a write whose receipt says that it succeeded, from the item as it is now at `key` (app_item.c). */
bool answer_receipt(struct app_exchange *x, struct value key) MUST_CHECK;
bool answer_role_receipt(struct app_exchange *x, struct value key) MUST_CHECK; /* app_role.c: of POST /role */

/* The value of the i-th placeholder of the address, as its attribute's type (app_item.c). NOT_FOUND: no item has such an
 * address, because the text is not valid there. */
bool path_value_of_item(struct app_exchange *x, size_t i, struct value *out) MUST_CHECK;

/* ---- made once for an app ---- */
struct slice app_index_make(const struct design *d, struct arena *a); /* app_index.c: the reply of GET /api/<design> */
size_t app_body_needs(const struct design *d);                        /* app_body.c: for app_body_bytes() */

/* ---- answers (app_answer.c) ---- */
void answer_json(struct app_exchange *x, int status, struct slice body); /* the body ends in a line feed, for terminals */
void answer_buf(struct app_exchange *x, int status, struct buf *b);      /* the same; adds the line feed */
/* The body without its line feed, as a part of a larger one. */
struct slice answer_bare(const struct answer *w);
/* From run.problem. */
void answer_problem(struct app_exchange *x);
/* Turns a 200 into a 304 if the client has that ETag already. */
void answer_if_changed(struct app_exchange *x);
/* For documents that change only with the design: an ETag, and a minute in caches. */
void answer_cacheable(struct app_exchange *x);
/* An ETag for a body: a hash of the body; after `validator` (output_etag()), if there is one, for the parts that the
 * validator does not cover: counters, attributes that only some callers see. */
struct slice answer_etag(struct arena *a, struct slice validator, struct slice body);
/* If-Match with the validators of such ETags, as output_etag() has them. */
struct slice answer_if_match(struct arena *a, struct slice header);
void answer_reply(struct app_exchange *x, struct app_reply *reply);

#endif
