/* The routing table: which handler answers which method and path.
 *
 * A handler runs on the event loop's thread, inside an ARENA_TRY of the exchange's arena. It replies at once
 * (exchange_reply() and its kin), calls the api (exchange_call_api()), or gives the request to a worker
 * (exchange_work()). It never blocks. The dispatcher enforces the row's flags before it calls the handler.
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
	ROUTE_SIGNED = 2,   /* must pass SigV4, if the server has keys */
	ROUTE_PROBLEMS = 4, /* errors follow RFC 9457, not DynamoDB's format */
	/* Not for pages of other origins: no CORS headers, preflights are refused. Unsigned requests get 403, so that
	 * the console knows to ask for a key. */
	ROUTE_PRIVATE = 8,
	ROUTE_PAGE = 16,      /* only for a browser's page requests: Accept has text/html */
	ROUTE_VISITABLE = 32, /* links on pages of other origins may lead here (origin.h, O3) */
	ROUTE_MONITOR = 64,   /* for monitoring: also on its own listener; an access key may come as HTTP Basic */
	ROUTE_PEER = 256,     /* for other servers of a table: only on their listener */
	ROUTE_RESERVED = 128, /* also on the reserve of connections (connection.h, C7) */
};

struct http_route {
	enum http_method method; /* a GET row also serves HEAD */
	const char *path;
	int flags;
	void (*handle)(struct exchange *ex, void *ctx);
	void *ctx;
	uint64_t (*body_limit)(const struct exchange *ex, void *ctx); /* NULL: the row needs no body */
	/* The head has arrived: sets ex->req.sink, so that the body is not kept in memory and may have any length up to
	 * body_limit(). False: ex->req.refused and why are set. NULL: bodies are kept in memory. A small request that
	 * arrives in one piece has none of this. */
	bool (*open_body)(struct exchange *ex, void *ctx);
};

/* Answers the exchange's request, or prepares the api call or work that answers it. */
void route_dispatch(struct exchange *ex);
/* The most bytes the request's body may have, both compressed and decompressed. */
uint64_t route_body_limit(const struct exchange *ex);
/* Lets the row take the body as it arrives. False: refused. */
bool route_open_body(struct exchange *ex);
/* Makes those checks of route_dispatch() that do not need the body. 0: passed; otherwise the status, and *e. */
int route_judge_head(struct exchange *ex, struct error *e);
/* Whether a request that is refused before it is dispatched belongs to a row with ROUTE_PROBLEMS. */
bool route_tells_problems(const struct exchange *ex);
/* Whether its path belongs to a row with ROUTE_PRIVATE. */
bool route_is_private(const struct exchange *ex);
/* Whether the path belongs to a row with ROUTE_RESERVED. */
bool route_is_reserved(const struct loop *l, struct slice path);
/* DynamoDB's reply to a request that it does not recognize. */
void route_reply_not_dynamodb(struct exchange *ex);

#endif
