/* The routing table: which handler answers which method and path.
 *
 * A handler runs on the event loop's thread, inside an ARENA_TRY of the exchange's arena, and
 * answers at once (exchange_reply() and its kin), has the api answer (exchange_call_api()), or has a
 * worker answer (exchange_work()). It never blocks. The dispatcher does what the row's flags say before
 * the handler is called.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_ROUTE_H
#define THORPE_HTTP_CONNECTION_ROUTE_H

#include "base/error.h"
#include "base/slice.h"
#include "http/parse/parser.h"

struct exchange;
struct loop;

enum route_flags {
	ROUTE_PREFIX = 1,   /* also everything below the path */
	ROUTE_SIGNED = 2,   /* must pass SigV4, as far as the server asks for it */
	ROUTE_PROBLEMS = 4, /* errors follow RFC 9457, not DynamoDB's format */
	/* Not for pages of other origins: no CORS headers, preflights are refused; unsigned requests get 403, so
	 * that a page knows what to ask for. */
	ROUTE_PRIVATE = 8,
	ROUTE_PAGE = 16,      /* only for requests for a page, as browsers send them: Accept has text/html */
	ROUTE_VISITABLE = 32, /* links on pages of other origins may lead here (origin.h, O3) */
	ROUTE_MONITOR = 64,   /* for monitoring: also on its own listener; an access key may come as HTTP Basic */
	ROUTE_PEER = 256,     /* for other servers of a table: on their listener, and nowhere else */
	ROUTE_RESERVED = 128, /* also on the reserve of connections (connection.h, C7) */
};

struct http_route {
	enum http_method method; /* HEAD is served by the row of GET */
	const char *path;
	int flags;
	void (*handle)(struct exchange *ex, void *ctx);
	void *ctx;
	uint64_t (*body_limit)(const struct exchange *ex, void *ctx); /* NULL: nothing here needs a body */
};

/* Answers the exchange's request, or prepares the api call or the work that will. */
void route_dispatch(struct exchange *ex);
/* How many bytes the request's body may have, zipped and unzipped. */
uint64_t route_body_limit(const struct exchange *ex);
/* Judges what can be judged before the body is there, as route_dispatch() will. 0: nothing is wrong; otherwise the
 * status, and *e. */
int route_judge_head(struct exchange *ex, struct error *e);
/* Whether a request that is refused before it is dispatched belongs to a row with ROUTE_PROBLEMS. */
bool route_tells_problems(const struct exchange *ex);
/* Whether its path belongs to a row with ROUTE_PRIVATE. */
bool route_is_private(const struct exchange *ex);
/* Whether the path belongs to a row with ROUTE_RESERVED. */
bool route_is_reserved(const struct loop *l, struct slice path);
/* DynamoDB's reply to a request that it does not take for one of its own. */
void route_reply_not_dynamodb(struct exchange *ex);

#endif
