/* A small HTTP server in the test's own process that stands in for a service: plain sockets, a thread for each
 * connection.
 *
 * The test gives one function that is called for each request and says what becomes of it: an answer, a late one, half
 * of one, or a connection that is dropped before or after the request was carried out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_REMOTE_STANDIN_H
#define THORPE_TESTS_REMOTE_STANDIN_H

#include <stdbool.h>
#include <stddef.h>

struct standin_request {
	unsigned number;        /* 1, 2, … of this server */
	unsigned on_connection; /* 1, 2, … of this connection */
	char method[8];
	char path[1024];  /* with its query */
	char head[16384]; /* all headers, NUL-terminated */
	char body[65536]; /* NUL-terminated */
	size_t body_n;
};

struct standin_reply {
	int status;          /* 0: the connection is closed without an answer */
	const char *headers; /* further lines, each with \r\n; NULL: none */
	char body[131072];   /* NUL-terminated, unless body_n is set */
	size_t body_n;
	int delay_ms;    /* before the answer */
	bool half;       /* the connection is closed in the middle of the body */
	bool then_close; /* after the answer, without having said so */
};

/* The value of a header (its name in lower case), or "". In static memory of the calling thread. */
const char *standin_header(const struct standin_request *q, const char *name);

struct standin;
typedef void standin_fn(void *ctx, const struct standin_request *q, struct standin_reply *r);
/* `fn` is called under a lock: one request at a time, but for its delay. */
struct standin *standin_start(standin_fn *fn, void *ctx);
void standin_stop(struct standin *s);
int standin_port(const struct standin *s);
/* "http://127.0.0.1:PORT" */
const char *standin_url(const struct standin *s);
unsigned standin_requests(struct standin *s);
unsigned standin_connections(struct standin *s);

#endif
