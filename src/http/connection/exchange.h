/* One request and its reply.
 *
 * Made by a loop when the first byte of a request arrives, given back to it when the reply is on
 * its way (or cannot be sent any more). Its arena is kept for the next one.
 *
 * States, in order:
 *     READING   the connection's parser fills `req`
 *     RUNNING   the api or a worker has it, or it is delayed; the exchange and its arena must not be touched, `conn` excepted
 *     READY     head and body of the reply are set
 *     SENDING   handed to the kernel, the connection waits for it to be taken
 *
 * Invariants
 *   E1  A RUNNING exchange survives its connection: `conn` is NULL then, and the reply is dropped.
 *   E2  Only the loop's thread changes an exchange; the writer's thread only puts it on the loop's
 *       list of completed ones (loop_complete()). A worker fills `work` and uses the arena, then does the same.
 *   E3  An exchange with a stream is the last of its connection; until the connection takes the stream over it goes
 *       with the exchange.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_EXCHANGE_H
#define THORPE_HTTP_CONNECTION_EXCHANGE_H

#include "api/api.h"
#include "http/connection/request.h"
#include "http/connection/request_id.h"

struct conn;
struct loop;
struct sse;

enum exchange_state { EXCHANGE_READING, EXCHANGE_RUNNING, EXCHANGE_READY, EXCHANGE_SENDING };

/* What a worker does for an exchange, and the reply it has made; in the exchange's arena. */
struct exchange_work {
	void (*run)(struct exchange_work *w, struct arena *a, void *local);
	void *ctx;
	int status; /* 0: memory ran out */
	struct slice type, body, headers;
	bool streams; /* the body is only the beginning: the exchange's stream goes on with it */
	/* The request hashes a password: it is run again on a thread for that. The reply above is for when too many wait. */
	bool hashes;
	bool may_hash; /* this is such a thread */
};

struct exchange {
	struct exchange *next;      /* of the connection's, oldest first; or of the loop's free ones */
	struct exchange *completed; /* of the loop's completed ones; before that of those that wait for a worker */
	struct loop *loop;
	struct conn *conn; /* E1 */
	enum exchange_state state;
	struct arena arena;
	struct http_request req;
	struct api_call call;
	size_t weight;              /* bytes of bodies, in and out, for limits.pipelined_bytes */
	bool calls_api;             /* the handler wants the api to answer */
	bool works;                 /* or a worker; a place in the queue is reserved then */
	char id[REQUEST_ID_LENGTH]; /* x-amzn-RequestId; without a first character: there is none yet */
	struct exchange_work work;
	uint64_t client;            /* ip_client() of the one that asks, once exchange_client() was called; else 0 */
	uint64_t turn;              /* while it waits in a fair queue (workers.h) */
	uint64_t delay_ms;          /* it is begun so much later */
	uint64_t due_ms;            /* then: when, by the loop's clock */
	bool held;                  /* the api's reply has been held back */
	bool hangs_up;              /* READY: the connection ends instead of a reply */
	bool answered_inline;       /* done() came within api_start() */
	bool continue_due;          /* "100 Continue" is to be sent before the rest */
	bool last;                  /* the connection ends with this reply */
	bool has_no_origin;         /* no Origin header; false: unknown */
	bool packed;                /* the reply's body is in a Content-Encoding already, of which its headers tell */
	const struct error *denial; /* refused by the gate (admit.h), in DynamoDB's words; NULL: not so */
	struct slice content_type;  /* of replies in DynamoDB's form */
	struct slice head, body;    /* the reply, ready to be sent */
	struct sse *stream; /* what goes on when that is sent; NULL: nothing. The connection takes it over then */
};

/* The id of the request, made when it is first asked for. On the loop's thread. */
const char *exchange_id(struct exchange *ex);

/* Starts the request that has been read completely. Afterwards it is READY or RUNNING. */
void exchange_start(struct exchange *ex);
/* Goes on with one that was delayed: gives it to the api or a worker, or finishes it when it was held back. */
void exchange_begin(struct exchange *ex);
/* Takes an exchange the api or a worker has finished with from RUNNING to READY. It stays RUNNING when its reply is held back. */
void exchange_finish(struct exchange *ex);
/* Answers what is no request: READY with the status and a short text, and the last one. */
void exchange_refuse(struct exchange *ex, int status, const char *why);

/* On a worker: does the work and completes the exchange. `local`: what the thread has for itself (workers.h). */
void exchange_run_work(struct exchange *ex, void *local);

/* ---- for handlers (route.h) ---- */

/* The body as it was before the client zipped it. */
enum body_result { BODY_OK, BODY_UNKNOWN_CODING, BODY_BAD, BODY_TOO_LARGE };
enum body_result exchange_body(struct exchange *ex, struct slice *body) MUST_CHECK;
/* The client's address without its port; empty if the connection is gone. For a client of a trusted proxy, the
 * address the proxy reports (proxies.h). In the arena. */
struct slice exchange_client(struct exchange *ex);

/* Exactly one of these: */

/* `body` and `type` must live as long as the arena. */
void exchange_reply(struct exchange *ex, int status, struct slice type, struct slice body);
/* The same with further header lines, each ended by CRLF. */
void exchange_reply_with(struct exchange *ex, int status, struct slice type, struct slice body, struct slice headers);
/* An error in the form of the request's route (reply.h). */
void exchange_deny(struct exchange *ex, int status, const char *why, struct slice headers);
/* DynamoDB's error document. */
void exchange_reply_error(struct exchange *ex, const struct error *e);
/* The api gets the body (unzipped) and the target. */
void exchange_call_api(struct exchange *ex, struct slice target, struct slice body);
/* A worker runs `run` inside an ARENA_TRY of the exchange's arena; it fills w->status and its kin, in that arena, and may wait.
 * It must not touch the exchange. False: too many are waiting already, and nothing has been answered. */
bool exchange_work(struct exchange *ex, void (*run)(struct exchange_work *w, struct arena *a, void *local),
		   void *ctx) MUST_CHECK;
/* The same for a reply that may become a stream (w->streams): the stream is the exchange's now, and dropped with it.
 * False: nothing has been answered, and it is still the caller's. */
bool exchange_stream(struct exchange *ex, struct sse *s,
		     void (*run)(struct exchange_work *w, struct arena *a, void *local), void *ctx) MUST_CHECK;
/* After one of the last three: it is begun later. */
void exchange_delay(struct exchange *ex, int64_t ms);

/* ---- for the loop ---- */
void exchange_drop_stream(struct exchange *ex); /* if it has one */

#endif
