/* Sends replies in order: all ready ones with one writev(), bypassing libuv's queue while the kernel accepts them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/alloc.h"
#include "http/connection/connection.h"
#include "http/loop.h"

#define GATHER_MOST 32           /* exchanges sent at once */
#define PIECE_BYTES (256 * 1024) /* of a long body that TLS encrypts at once: it copies */

static const char continue_text[] = "HTTP/1.1 100 Continue\r\n\r\n";

static void add_buffer(uv_buf_t *bufs, unsigned *n, struct slice s)
{
	if (s.n)
		bufs[(*n)++] = uv_buf_init((char *)s.p, (unsigned)s.n);
}

/* A part of a long reply, which stays READY until its end. */
static unsigned gather_piece(struct exchange *ex, uv_buf_t *bufs, unsigned n)
{
	add_buffer(bufs, &n, ex->head);
	add_buffer(bufs, &n, slice_make(ex->body.p, PIECE_BYTES));
	ex->head = (struct slice){ 0 };
	ex->body = slice_make(ex->body.p + PIECE_BYTES, ex->body.n - PIECE_BYTES);
	return n;
}

/* Collects the ready replies at the head of the list (C1) and makes them SENDING. */
static unsigned gather(struct conn *c, uv_buf_t *bufs)
{
	unsigned n = 0, taken = 0;

	if (c->stream)
		return sse_gather(c->stream, bufs, 2 * GATHER_MOST);
	for (struct exchange *ex = c->first; ex && taken < GATHER_MOST; ex = ex->next, taken++) {
		if (ex->state == EXCHANGE_READING && ex->continue_due) {
			ex->continue_due = false;
			add_buffer(bufs, &n, slice_make(continue_text, sizeof(continue_text) - 1));
		}
		if (ex->state != EXCHANGE_READY)
			break;
		if (ex->hangs_up) {
			if (!n) /* those before it are sent first */
				conn_close(c);
			break;
		}
		if (c->tls && ex->body.n > 2 * PIECE_BYTES) {
			n = gather_piece(ex, bufs, n);
			break;
		}
		ex->state = EXCHANGE_SENDING;
		add_buffer(bufs, &n, ex->head);
		add_buffer(bufs, &n, ex->body);
		if (ex->last) /* C3 */
			break;
	}
	return n;
}

static void sent(struct conn *c)
{
	if (c->stream)
		sse_sent(c->stream);
	while (c->first && c->first->state == EXCHANGE_SENDING) {
		if (c->first->stream)
			conn_take_stream(c);
		else
			c->ending |= c->first->last;
		conn_drop_first(c);
	}
	while (c->ending && c->first)
		conn_drop_first(c);
}

static void on_written(uv_write_t *req, int status)
{
	struct conn *c = req->data;

	c->writing = false;
	if (c->state == CONN_CLOSING)
		return;
	if (status < 0) {
		conn_close(c);
		return;
	}
	if (c->tls) {
		mem_free(c->cipher);
		c->cipher = NULL;
		if (!conn_send_cipher(c))
			return;
	} else {
		sent(c);
	}
	if (c->state < CONN_LINGERING)
		conn_turn(c);
}

/* Hands the rest to libuv's queue. False: closed. */
static bool queue(struct conn *c, const uv_buf_t *bufs, unsigned n)
{
	c->write.data = c;
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, bufs, n, on_written) < 0) {
		conn_close(c);
		return false;
	}
	c->writing = true;
	c->write_since = uv_now(&c->loop->uv);
	c->write_left = uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp);
	return true;
}

/* The number of bytes the kernel takes at once; -1: closed. */
static long try_now(struct conn *c, const uv_buf_t *bufs, unsigned n)
{
	int took = uv_try_write((uv_stream_t *)&c->tcp, bufs, n);

	if (took >= 0)
		return took;
	if (took == UV_EAGAIN)
		return 0;
	conn_close(c);
	return -1;
}

static bool send_plain(struct conn *c, uv_buf_t *bufs, unsigned n)
{
	long took = try_now(c, bufs, n);
	unsigned i = 0;

	if (took < 0)
		return false;
	while (i < n && (size_t)took >= bufs[i].len)
		took -= (long)bufs[i++].len;
	if (i == n) {
		sent(c);
		return true;
	}
	bufs[i].base += took;
	bufs[i].len -= (size_t)took;
	return queue(c, bufs + i, n - i);
}

bool conn_send_cipher(struct conn *c)
{
	struct slice s;
	uv_buf_t buf;
	long took;

	if (c->writing)
		return true; /* on_written() comes back here */
	s = tls_pending(c->tls);
	if (!s.n)
		return true;
	buf = uv_buf_init((char *)s.p, (unsigned)s.n);
	took = try_now(c, &buf, 1);
	if (took < 0)
		return false;
	if ((size_t)took < s.n) {
		c->cipher = mem_strndup(s.p + took, s.n - (size_t)took);
		if (!c->cipher) {
			conn_close(c);
			return false;
		}
		buf = uv_buf_init(c->cipher, (unsigned)(s.n - (size_t)took));
	}
	tls_sent(c->tls);
	return (size_t)took == s.n || queue(c, &buf, 1);
}

static bool send_tls(struct conn *c, const uv_buf_t *bufs, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (!tls_write(c->tls, bufs[i].base, bufs[i].len)) {
			conn_close(c);
			return false;
		}
	}
	sent(c); /* encrypting has copied them */
	return conn_send_cipher(c);
}

void conn_flush(struct conn *c)
{
	uv_buf_t bufs[2 * GATHER_MOST + 1];

	while (c->state < CONN_LINGERING && !c->writing && !c->ending) {
		unsigned n = gather(c, bufs);

		if (!n || !(c->tls ? send_tls(c, bufs, n) : send_plain(c, bufs, n)))
			return;
	}
}
