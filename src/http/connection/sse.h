/* A reply that goes on: server-sent events on a connection.
 *
 * Made by a handler, which has a worker begin it (exchange_stream()). Once the head of the reply has been sent the
 * connection has the stream, and the exchange is given up: a stream is the last thing on its connection, and what
 * the client sends from then on is thrown away. Output waits in a queue of shared bytes. If it grows beyond
 * limits.watch_bytes, the client is disconnected; it can resume from the last event it received. Only the loop's
 * thread uses it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_SSE_H
#define THORPE_HTTP_CONNECTION_SSE_H

#include <uv.h>

#include "process/live/live_bytes.h"

struct conn;
struct loop;
struct sse;

struct sse_ops {
	/* The reply is a stream: from now on there may be something to send. False: it ends after its beginning. */
	bool (*begin)(struct sse *s);
	void (*tick)(struct sse *s); /* now and then, while a connection has it */
	void (*drop)(struct sse *s); /* its end: frees it, having called sse_release() */
};

struct sse {
	const struct sse_ops *ops;
	struct loop *loop;
	struct conn *conn;         /* NULL: the head of the reply is still on its way */
	struct live_bytes **queue; /* a ring of `capacity`, a power of two */
	size_t first, count, capacity;
	size_t queued;    /* bytes */
	size_t sending;   /* of the queue, handed to the kernel */
	uint64_t sent_at; /* uv_now() when something was last queued */
	bool ending;      /* when all is sent */
	bool cut;         /* was too slow, or memory ran out */
};

void sse_init(struct sse *s, const struct sse_ops *ops, struct loop *l);
void sse_release(struct sse *s);
/* Queues it, with its own reference. The caller then calls sse_flush(). False: pending output had to be sent to
 * make room, and now the connection is closed and the stream gone. */
bool sse_push(struct sse *s, struct live_bytes *b);
void sse_end(struct sse *s);
/* Sends what can be sent; the connection may be closed then, and the stream gone. */
void sse_flush(struct sse *s);

/* ---- for the connection ---- */
unsigned sse_gather(struct sse *s, uv_buf_t *bufs, unsigned most);
void sse_sent(struct sse *s); /* what was gathered */
static inline bool sse_is_done(const struct sse *s)
{
	return s->ending && !s->count;
}

#endif
