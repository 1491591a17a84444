/* Which web pages may reach the server: judged by a request's Host and Origin.
 *
 * A browser sends requests of any page to any address its machine can reach. Without keys, only these rules protect
 * the data from a hostile page, so an open server (rules.open) applies them to every request of every route:
 *   O1  Host is a name that no stranger can point at this machine: localhost, *.localhost, 127.0.0.0/8, [::1], the
 *       name in --listen, and those of --host; any port. A server that others can reach (--no-auth) also answers to
 *       IP addresses: a foreign name can be made to point here (DNS rebinding), an address cannot. Only HTTP/1.0
 *       requests may omit Host; no browser sends those.
 *   O2  Origin, if sent, is the server's own (the same name and port as Host), a loopback one, or one of --cors.
 *       `null` is foreign. Browsers send it with every request that is not a plain GET or HEAD, so a form or a
 *       text/plain POST, which need no preflight, write nothing.
 *   O3  Without Origin, Sec-Fetch-Site does not say that another site asks; but a link may lead to a page
 *       (ROUTE_VISITABLE).
 * A server with keys does not apply them: its requests need a signature or a token, which no browser adds by itself.
 *
 * CORS headers go to loopback origins and those of --cors, with keys and without: origin_allowed().
 * Immutable: any thread may ask.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_DOOR_ORIGIN_H
#define THORPE_HTTP_DOOR_ORIGIN_H

#include "http/parse/request.h"

struct origin_rules {
	bool open;                /* no keys: O1 to O3 hold */
	bool takes_addresses;     /* O1: others can reach it */
	struct slice own;         /* the name in --listen; may be empty */
	const char *const *hosts; /* of --host */
	size_t host_count;
	const char *const *origins; /* of --cors; "*": all of them */
	size_t origin_count;
};

enum origin_verdict { ORIGIN_FINE, ORIGIN_FOREIGN_HOST, ORIGIN_FOREIGN_PAGE };

/* A thread's memory of its last request. Zero at first. */
struct origin_memo {
	char host[48]; /* the last valid Host: most requests repeat it */
	size_t host_n;
	bool has_no_origin; /* the last request had no Origin header; false: unknown */
};

/* `visitable`: the request is for a page that links may lead to. */
enum origin_verdict origin_judge(const struct origin_rules *rules, const struct http_request *r, bool visitable,
				 struct origin_memo *memo);
/* How a refused client can fix it: a sentence. */
const char *origin_advice(enum origin_verdict v);
/* The value of Access-Control-Allow-Origin; empty: the reply has no CORS headers. */
struct slice origin_allowed(const struct origin_rules *rules, const struct http_request *r);

/* The values of --host and --cors. False with a sentence in `why`. */
bool origin_check_host(const char *text, char *why, size_t n) MUST_CHECK;
bool origin_check_origin(const char *text, char *why, size_t n) MUST_CHECK;

#endif
