/* An open-ended reply: server-sent events on a connection.
 *
 * A handler creates it and has a worker begin it (exchange_stream()). After the head of the reply has been sent, the
 * connection owns the stream, and the exchange is freed: a stream is the last reply of its connection, and later
 * input is ignored. Output waits in a queue of shared bytes. If it grows beyond limits.watch_bytes, the client is
 * disconnected; it can resume from the last event it received. Only the loop's thread uses it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_CONNECTION_SSE_H
#define THORPE_HTTP_CONNECTION_SSE_H

#include <uv.h>

#include "process/live/live_bytes.h"

struct conn;
struct loop;
struct sse;

struct sse_ops {
	/* The head has been sent: events may follow. False: the stream ends after its beginning. */
	bool (*begin)(struct sse *s);
	void (*tick)(struct sse *s); /* called at intervals while a connection has it */
	void (*drop)(struct sse *s); /* its end: calls sse_release() and frees it */
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
	bool ending;      /* close when everything is sent */
	bool cut;         /* the client was too slow, or memory ran out */
};

void sse_init(struct sse *s, const struct sse_ops *ops, struct loop *l);
void sse_release(struct sse *s);
/* Queues it, with its own reference. The caller then calls sse_flush(). False: it had to send pending output to make
 * room; now the connection is closed and the stream gone. */
bool sse_push(struct sse *s, struct live_bytes *b);
void sse_end(struct sse *s);
/* Sends as much as possible. Afterwards the connection may be closed and the stream gone. */
void sse_flush(struct sse *s);

/* ---- for the connection ---- */
unsigned sse_gather(struct sse *s, uv_buf_t *bufs, unsigned most);
void sse_sent(struct sse *s); /* the gathered bytes were sent */
static inline bool sse_is_done(const struct sse *s)
{
	return s->ending && !s->count;
}

#endif
