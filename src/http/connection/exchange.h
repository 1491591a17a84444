/* One request and its reply: the only object that the rooms of http/ pass to each other.
 *
 * A loop creates it when the first byte of a request arrives, and takes it back after the reply was sent or can no
 * longer be sent. Its arena is reused.
 *
 * States, in order:
 *     READING   the connection's parser fills `req`
 *     RUNNING   the api or a worker has it, or it is delayed: no other code may touch it or its arena, except `conn`
 *     READY     head and body of the reply are set
 *     SENDING   handed to the kernel; the connection waits until the client has taken it
 *
 * A handler (route.h) replies itself, calls the api, or gives the exchange to a worker: `by` says which.
 *
 * Invariants
 *   E1  A RUNNING exchange survives its connection: `conn` is NULL then, and the reply is dropped.
 *   E2  Only the loop's thread changes an exchange. The writer's thread only puts it on the loop's list of completed
 *       ones (loop_complete()). A worker fills `work` and uses the arena, then does the same.
 *   E3  An exchange with a stream is the last of its connection. It owns the stream until the connection takes it
 *       over.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_EXCHANGE_H
#define THORPE_HTTP_CONNECTION_EXCHANGE_H

#include "api/api.h"
#include "http/parse/request.h"
#include "http/connection/request_id.h"

struct conn;
struct loop;
struct sse;

enum exchange_state { EXCHANGE_READING, EXCHANGE_RUNNING, EXCHANGE_READY, EXCHANGE_SENDING };

/* What makes the reply: the handler itself, the api, or a worker (with a reserved place in its queue). */
enum exchange_by { BY_HANDLER, BY_API, BY_WORKER };

/* A worker's job for an exchange, and the reply it makes; in the exchange's arena. */
struct exchange_work {
	void (*run)(struct exchange_work *w, struct arena *a, void *local);
	void *ctx;
	int status; /* 0: memory ran out */
	struct slice type, body, headers;
	bool streams; /* the body is only the beginning: the exchange's stream continues it */
	/* The request hashes a password: a hashing thread runs it again. The reply above is used if too many wait. */
	bool hashes;
	bool may_hash; /* this is a hashing thread */
};

struct exchange {
	struct exchange *next;      /* in the connection's list, oldest first, or in the loop's free list */
	struct exchange *completed; /* in the loop's list of completed exchanges; earlier in a worker's queue */
	struct loop *loop;
	struct conn *conn; /* E1 */
	enum exchange_state state;
	struct arena arena;
	char id[REQUEST_ID_LENGTH]; /* x-amzn-RequestId; exchange_id() makes it */

	/* the request */
	struct http_request req;
	size_t weight;              /* bytes of both bodies, for limits.pipelined_bytes */
	uint64_t client;            /* ip_client(), once exchange_client() was called; else 0 */
	bool continue_due;          /* "100 Continue" is to be sent first */
	bool has_no_origin;         /* no Origin header; false: unknown */
	const struct error *denial; /* the gate's refusal (admit.h), with DynamoDB's text; NULL: none */

	/* who answers */
	enum exchange_by by;
	struct api_call call;      /* BY_API */
	struct exchange_work work; /* BY_WORKER */
	uint64_t turn;             /* in a fair queue (workers.h) */
	uint64_t delay_ms, due_ms; /* the delay before it starts; then the start time, by the loop's clock */
	bool held;                 /* the api's reply has been held back */
	bool answered_inline;      /* done() came within api_start() */

	/* the reply */
	struct slice content_type; /* of replies in DynamoDB's form */
	struct slice head, body;   /* ready to send */
	bool shared;               /* pages of other origins may show the reply: its address is a secret */
	bool packed;               /* the body is compressed already, and the headers have its Content-Encoding */
	bool hangs_up;             /* READY: the connection ends instead of a reply */
	bool last;                 /* the connection ends after this reply */
	struct sse *stream;        /* follows the body; the connection takes it over then. NULL: none */
};

/* The id of the request, made on the first call. On the loop's thread. */
const char *exchange_id(struct exchange *ex);

/* Starts a request that has been read completely. Afterwards it is READY or RUNNING. */
void exchange_start(struct exchange *ex);
/* Continues a delayed one: gives it to the api or a worker, or finishes it if its reply was held back. */
void exchange_begin(struct exchange *ex);
/* The api or a worker is done: RUNNING becomes READY. It stays RUNNING if its reply is held back. */
void exchange_finish(struct exchange *ex);
/* Answers an invalid request: READY with the status and a short text, and `last`. */
void exchange_refuse(struct exchange *ex, int status, const char *why);

/* On a worker: does the work and completes the exchange. `local`: the thread's own (workers.h). */
void exchange_run_work(struct exchange *ex, void *local);

/* ---- for handlers (route.h) ---- */

/* The body, decompressed. */
enum body_result { BODY_OK, BODY_UNKNOWN_CODING, BODY_BAD, BODY_TOO_LARGE };
enum body_result exchange_body(struct exchange *ex, struct slice *body) MUST_CHECK;
/* The client's address without its port; empty if the connection is gone. Behind a trusted proxy, the address the
 * proxy reports (proxies.h). In the arena. */
struct slice exchange_client(struct exchange *ex);

/* Each handler calls exactly one of these: */

/* `body` and `type` must live as long as the arena. */
void exchange_reply(struct exchange *ex, int status, struct slice type, struct slice body);
/* The same with further header lines, each ended by CRLF. */
void exchange_reply_with(struct exchange *ex, int status, struct slice type, struct slice body, struct slice headers);
/* An error in the form of the request's route (reply.h). */
void exchange_deny(struct exchange *ex, int status, const char *why, struct slice headers);
/* DynamoDB's error document. */
void exchange_reply_error(struct exchange *ex, const struct error *e);
/* Passes the body (decompressed) and the target to the api. */
void exchange_call_api(struct exchange *ex, struct slice target, struct slice body);
/* A worker calls `run` inside an ARENA_TRY of the exchange's arena. It fills w->status and the rest of the reply from
 * that arena, may wait, and must not touch the exchange. False: too many wait already; no reply has been made. */
bool exchange_work(struct exchange *ex, void (*run)(struct exchange_work *w, struct arena *a, void *local),
		   void *ctx) MUST_CHECK;
/* The same for a reply that may become a stream (w->streams): the exchange owns the stream now. False: no reply has
 * been made, and the caller still owns the stream. */
bool exchange_stream(struct exchange *ex, struct sse *s,
		     void (*run)(struct exchange_work *w, struct arena *a, void *local), void *ctx) MUST_CHECK;
/* After one of the last three: delays its start. */
void exchange_delay(struct exchange *ex, int64_t ms);

/* ---- for the loop ---- */
void exchange_drop_stream(struct exchange *ex); /* if it has one */

#endif
