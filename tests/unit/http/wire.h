/* A server in a thread, and a client of bare sockets for it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_WIRE_H
#define THORPE_TESTS_WIRE_H

#include <pthread.h>

#include "http/server.h"

#include "fake_api.h"

struct wire {
	struct server *server;
	struct api *api;
	pthread_t thread;
	bool running;
};

/* Listens on a free port; everything else as in `o`. */
void wire_start(struct wire *w, const struct server_options *o);
/* Stops, waits until all is drained, and frees. */
void wire_stop(struct wire *w);
/* Waits until the server has stopped by itself or by server_stop(). */
void wire_join(struct wire *w);

/* Reading fails the test after 20 seconds. */
int wire_connect(const struct wire *w);
void wire_send(int fd, const void *p, size_t n);
void wire_send_text(int fd, const char *text);
/* As recv(), but goes on when it is interrupted, which a socket with a timeout tells its reader: libuv (since 1.45)
 * has an io_uring for each loop, and the end of one interrupts the thread that made it, a moment later. So a test is
 * interrupted by the server of the test before. */
ssize_t wire_recv(int fd, void *p, size_t n);

struct wire_reply {
	int status;
	char head[4096]; /* with the status line, lower-cased, NUL-terminated */
	char *body;      /* mem_free() */
	size_t body_n;
	size_t decoded_chunks; /* 0 when the body had a Content-Length */
};

/* The next reply of the connection; false when it is closed instead. */
bool wire_read(int fd, struct wire_reply *r);
bool wire_header(const struct wire_reply *r, const char *name, char *value, size_t room);
/* Waits until the server has closed the connection; false if it sends something instead. */
bool wire_is_closed(int fd);

/* A POST of a DynamoDB operation. */
void wire_post(int fd, const char *operation, const char *more_headers, struct slice body);
/* wire_post(), then the reply, which must have this status; true if the body is `expected`. */
bool wire_call(int fd, const char *operation, const char *body, int status, const char *expected);

#endif
