/* The queue of a stream.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http/connection/connection.h"
#include "http/loop.h"
#include "http/connection/sse.h"

#define QUEUE_LEAST 4

void sse_init(struct sse *s, const struct sse_ops *ops, struct loop *l)
{
	*s = (struct sse){ .ops = ops, .loop = l, .sent_at = uv_now(&l->uv) };
	loop_count(&l->counters.watchers, 1);
}

static struct live_bytes *pop(struct sse *s)
{
	struct live_bytes *b = s->queue[s->first];

	s->first = (s->first + 1) & (s->capacity - 1);
	s->count--;
	s->queued -= b->n;
	return b;
}

static void empty(struct sse *s)
{
	while (s->count)
		live_bytes_unref(pop(s));
	mem_free(s->queue);
	s->queue = NULL;
	s->first = s->capacity = 0;
}

void sse_release(struct sse *s)
{
	empty(s);
	loop_count(&s->loop->counters.watchers, (uint64_t)-1);
}

static bool grow(struct sse *s)
{
	size_t capacity = s->capacity ? 2 * s->capacity : QUEUE_LEAST;
	struct live_bytes **bigger = mem_alloc(capacity * sizeof(*bigger));

	if (!bigger)
		return false;
	for (size_t i = 0; i < s->count; i++)
		bigger[i] = s->queue[(s->first + i) & (s->capacity - 1)];
	mem_free(s->queue);
	s->queue = bigger;
	s->first = 0;
	s->capacity = capacity;
	return true;
}

/* A single event may exceed the limit. */
static bool is_full(const struct sse *s, const struct live_bytes *b)
{
	return s->count && s->queued + b->n > s->loop->limits->watch_bytes;
}

bool sse_push(struct sse *s, struct live_bytes *b)
{
	if (s->cut || s->ending)
		return true;
	if (is_full(s, b) && s->conn) {
		struct conn *c = s->conn;

		conn_flush(c);
		if (!c->stream)
			return false;
	}
	if (is_full(s, b) || (s->count == s->capacity && !grow(s))) {
		s->cut = true;
		loop_count(&s->loop->counters.watchers_cut, 1);
		return true;
	}
	s->queue[(s->first + s->count++) & (s->capacity - 1)] = live_bytes_ref(b);
	s->queued += b->n;
	s->sent_at = uv_now(&s->loop->uv);
	return true;
}

void sse_end(struct sse *s)
{
	s->ending = true;
}

void sse_flush(struct sse *s)
{
	if (!s->conn)
		return;
	if (s->cut)
		conn_close(s->conn);
	else
		conn_turn(s->conn);
}

unsigned sse_gather(struct sse *s, uv_buf_t *bufs, unsigned most)
{
	unsigned n = 0;

	while (n < most && n < s->count) {
		struct live_bytes *b = s->queue[(s->first + n) & (s->capacity - 1)];

		bufs[n++] = uv_buf_init(b->p, b->n);
	}
	s->sending = n;
	return n;
}

void sse_sent(struct sse *s)
{
	uint64_t bytes = s->queued;

	for (; s->sending; s->sending--)
		live_bytes_unref(pop(s));
	loop_count(&s->loop->counters.bytes_out, bytes - s->queued);
	if (!s->count)
		empty(s); /* most of the time the queue is empty */
}
