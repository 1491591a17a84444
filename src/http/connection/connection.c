/* A connection's life: reading, states, time limits. Sending is in connection_write.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/budget.h"
#include "http/connection/admit.h"
#include "http/connection/connection.h"
#include "http/loop.h"
#include "http/server_internal.h"

#define KEEPALIVE_PROBE_S   60
#define RESERVE_MS          2000        /* for a request on the reserve to arrive */
#define STREAM_KERNEL_BYTES (64 * 1024) /* a stream's bytes in the system's send buffer, besides limits.watch_bytes */

static void settle(struct conn *c);

static void conn_move(struct conn *c, enum conn_state to)
{
	assert(c->state != CONN_CLOSING);
	assert(c->state != CONN_LINGERING || to == CONN_CLOSING);
	if (c->state == to)
		return;
	c->state = to;
	c->since = uv_now(&c->loop->uv);
}

/* ---- the list of exchanges ---- */

static bool begin_exchange(struct conn *c)
{
	struct exchange *volatile ex = loop_take_exchange(c->loop);
	volatile bool begun = false;

	if (!ex)
		return false;
	ARENA_TRY(&ex->arena, {
		request_begin(&c->parser, &ex->req, &ex->arena);
		begun = true;
	}, {});
	if (!begun) {
		loop_give_exchange(c->loop, ex);
		return false;
	}
	ex->conn = c;
	ex->state = EXCHANGE_READING;
	if (c->last)
		c->last->next = ex;
	else
		c->first = ex;
	c->last = c->reading = ex;
	c->reading_since = uv_now(&c->loop->uv);
	pace_begin(&c->pace, c->reading_since);
	return true;
}

static void release_exchange(struct conn *c, struct exchange *ex)
{
	if (ex == c->reading) {
		c->reading = NULL;
	} else {
		c->in_flight--;
		c->in_flight_bytes -= ex->weight;
	}
	ex->conn = NULL;
	ex->next = NULL;
	if (ex->state != EXCHANGE_RUNNING) /* E1: a running one goes to the loop when the api is done */
		loop_give_exchange(c->loop, ex);
}

void conn_add_weight(struct conn *c, struct exchange *ex, size_t n)
{
	ex->weight += n;
	c->in_flight_bytes += n;
}

void conn_drop_first(struct conn *c)
{
	struct exchange *ex = c->first;

	c->first = ex->next;
	if (!c->first)
		c->last = NULL;
	release_exchange(c, ex);
}

/* The client disconnected in the middle of a request. */
static void drop_reading(struct conn *c)
{
	struct exchange *before = c->first;

	if (!c->reading)
		return;
	if (before == c->reading) {
		conn_drop_first(c);
		return;
	}
	while (before->next != c->reading)
		before = before->next;
	before->next = NULL;
	c->last = before;
	release_exchange(c, c->reading);
}

static void stop_reading_exchange(struct conn *c)
{
	c->reading->weight = 0;
	conn_add_weight(c, c->reading, c->reading->req.body.n);
	c->in_flight++;
	c->reading = NULL;
}

/* Replies with an error to the request being read, and ignores further input. */
static void refuse_reading(struct conn *c, int status, const char *why)
{
	struct exchange *ex = c->reading;

	ex->req.body = (struct slice){ 0 };
	stop_reading_exchange(c);
	c->deaf = true;
	exchange_refuse(ex, status, why);
}

/* ---- held input ---- */

static void drop_held(struct conn *c)
{
	if (!c->held)
		return;
	budget_give(c->loop->budget, c->held_n);
	mem_free(c->held);
	c->held = NULL;
	c->held_n = 0;
}

/* False: out of memory. */
static bool hold(struct conn *c, const char *p, size_t n)
{
	if (budget_try_take(c->loop->budget, 0, n) != BUDGET_GIVEN)
		return false;
	c->held = mem_strndup(p, n);
	if (!c->held) {
		budget_give(c->loop->budget, n);
		return false;
	}
	c->held_n = n;
	return true;
}

/* ---- streams ---- */

void conn_take_stream(struct conn *c)
{
	int most = STREAM_KERNEL_BYTES;

	c->stream = c->first->stream;
	c->first->stream = NULL;
	c->stream->conn = c;
	drop_held(c);
	/* Otherwise thousands of slow watchers would fill the kernel's memory instead of ours. */
	uv_send_buffer_size((uv_handle_t *)&c->tcp, &most);
}

static void drop_stream(struct conn *c)
{
	struct sse *s = c->stream;

	c->stream = NULL;
	if (s)
		s->ops->drop(s);
}

/* Input on a stream is ignored, except for its end. */
static void throw_away(struct conn *c, const char *p, size_t n)
{
	long got;

	if (!c->tls)
		return;
	if (!tls_feed(c->tls, p, n)) {
		conn_close(c);
		return;
	}
	do {
		got = tls_read(c->tls, c->loop->plain_buffer, LOOP_READ_BYTES);
	} while (got > 0);
	if (conn_send_cipher(c) && got < 0)
		conn_close(c);
}

/* ---- input ---- */

/* Whether further bytes may be parsed. */
static bool may_take(const struct conn *c)
{
	const struct http_limits *l = c->loop->limits;

	if (c->state >= CONN_LINGERING || c->ending || c->deaf || c->stream)
		return false;
	if (c->reading)
		return true;
	if (c->last && (c->last->last || c->last->state == EXCHANGE_RUNNING)) /* C3, C5 */
		return false;
	return c->in_flight < l->pipelined && (!c->in_flight || c->in_flight_bytes < l->pipelined_bytes);
}

/* Whether libuv should deliver input. True also while a request is being answered: stopping and restarting would cost
 * two system calls for every write. Early input is held, and then reading stops; under TLS it would pile up unseen.
 * */
static bool may_read(const struct conn *c)
{
	if (c->held_n || c->eof)
		return false;
	if (may_take(c) || c->stream)
		return true;
	return !c->tls && !c->deaf && !c->ending && c->last && !c->last->last && c->last->state == EXCHANGE_RUNNING;
}

static enum request_status feed(struct conn *c, const char *p, size_t n, size_t *used)
{
	struct exchange *ex = c->reading;
	volatile enum request_status status = REQUEST_REFUSED;

	ex->arena.strict = ex->arena.budget != NULL;
	ARENA_TRY(&ex->arena, { status = request_feed(&c->parser, p, n, used); }, { *used = n; });
	ex->arena.strict = false;
	/* More input is needed; until it arrives, the bytes held draw on the budget. */
	if (status == REQUEST_MORE && !admit_memory(ex))
		status = REQUEST_REFUSED;
	if (status != REQUEST_REFUSED || ex->req.refused)
		return status;
	ex->req.refused = admit_refusal(ex, &ex->req.why);
	if (!ex->req.refused) {
		ex->req.refused = 500;
		ex->req.why = "The server is out of memory.";
	}
	return status;
}

static void request_complete(struct conn *c)
{
	struct exchange *ex = c->reading;

	if (c->on_reserve) {
		if (!route_is_reserved(c->loop, ex->req.path)) {
			refuse_reading(c, 503, ADMIT_FULL);
			return;
		}
		ex->req.keep_alive = false; /* C7 */
	}
	stop_reading_exchange(c);
	c->since = uv_now(&c->loop->uv); /* answered at once, it never left IDLE: restart the idle time */
	ex->continue_due = false;
	ex->last = !ex->req.keep_alive;
	loop_asked_by(c->loop, c);
	exchange_start(ex);
}

/* Returns how many bytes were used: fewer than n if the rest has to wait. */
static size_t parse(struct conn *c, const char *p, size_t n)
{
	size_t used = 0, k;

	while (used < n && may_take(c)) {
		if (!c->reading) {
			/* Some clients send a line end after the body, outside Content-Length. */
			if (p[used] == '\r' || p[used] == '\n') {
				used++;
				continue;
			}
			if (!begin_exchange(c)) {
				conn_close(c);
				return n;
			}
		}
		switch (feed(c, p + used, n - used, &k)) {
		case REQUEST_MORE:
			if (c->reading->req.expects_continue) {
				c->reading->req.expects_continue = false;
				c->reading->continue_due = true;
			}
			break;
		case REQUEST_DONE: request_complete(c); break;
		case REQUEST_REFUSED: refuse_reading(c, c->reading->req.refused, c->reading->req.why); break;
		}
		used += k;
	}
	return c->deaf || c->ending ? n : used;
}

/* Parses, and holds the rest if it has to wait. `p` may lie in c->held. */
static void input(struct conn *c, const char *p, size_t n)
{
	size_t used = parse(c, p, n);
	char *was = c->held;
	size_t was_n = c->held_n;

	if (c->state == CONN_CLOSING)
		return;
	c->held = NULL;
	c->held_n = 0;
	if (used < n && !hold(c, p + used, n - used))
		conn_close(c);
	if (was)
		budget_give(c->loop->budget, was_n);
	mem_free(was);
}

/* Parses input received earlier. False: there is none, or it has to wait. */
static bool pull(struct conn *c)
{
	long n;

	if (!may_take(c))
		return false;
	if (c->held_n) {
		input(c, c->held, c->held_n);
		return c->state != CONN_CLOSING;
	}
	if (!c->tls)
		return false;
	n = tls_read(c->tls, c->loop->plain_buffer, LOOP_READ_BYTES);
	if (!conn_send_cipher(c))
		return false;
	if (n < 0) {
		c->eof = true;
		drop_reading(c);
	}
	if (n <= 0)
		return false;
	input(c, c->loop->plain_buffer, (size_t)n);
	return c->state != CONN_CLOSING;
}

void conn_turn(struct conn *c)
{
	do {
		conn_flush(c);
		if (c->state == CONN_CLOSING)
			return;
	} while (pull(c));
	if (c->state == CONN_CLOSING)
		return;
	conn_flush(c);
	settle(c);
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
	struct conn *c = h->data;

	(void)suggested;
	*buf = uv_buf_init(c->loop->read_buffer, LOOP_READ_BYTES);
}

static void on_end(struct conn *c, ssize_t why)
{
	if (why != UV_EOF || c->state == CONN_LINGERING || c->stream) {
		conn_close(c);
		return;
	}
	c->eof = true;
	drop_reading(c);
	conn_turn(c);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct conn *c = s->data;

	if (c->state == CONN_CLOSING || !n)
		return;
	if (n < 0) {
		on_end(c, n);
		return;
	}
	loop_count(&c->loop->counters.bytes_in, (uint64_t)n);
	if (c->state == CONN_LINGERING)
		return; /* input is ignored */
	if (c->stream) {
		throw_away(c, buf->base, (size_t)n);
		return;
	}
	if (!c->tls)
		input(c, buf->base, (size_t)n);
	else if (!tls_feed(c->tls, buf->base, (size_t)n))
		conn_close(c);
	if (c->state != CONN_CLOSING)
		conn_turn(c);
}

/* ---- states ---- */

static void on_shutdown(uv_shutdown_t *req, int status)
{
	struct conn *c = req->data;

	if (status < 0 && c->state != CONN_CLOSING)
		conn_close(c);
}

static void set_reading(struct conn *c, bool wanted)
{
	if (wanted == c->is_reading)
		return;
	c->is_reading = wanted;
	if (wanted)
		uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read);
	else
		uv_read_stop((uv_stream_t *)&c->tcp);
}

/* Closing with unread input would reset the connection and could destroy the reply on its way. */
static void linger(struct conn *c)
{
	if (c->eof) {
		conn_close(c);
		return;
	}
	if (c->tls) {
		tls_end(c->tls);
		if (!conn_send_cipher(c))
			return;
	}
	c->shutdown.data = c;
	if (uv_shutdown(&c->shutdown, (uv_stream_t *)&c->tcp, on_shutdown) < 0) {
		conn_close(c);
		return;
	}
	conn_move(c, CONN_LINGERING);
	set_reading(c, true);
}

static enum conn_state resting_state(const struct conn *c)
{
	if (c->tls && !tls_is_established(c->tls))
		return CONN_HANDSHAKE;
	if (c->reading)
		return c->reading->req.has_head ? CONN_BODY : CONN_HEAD;
	if (c->stream)
		return CONN_STREAMING;
	return c->first ? CONN_WAITING : CONN_IDLE;
}

static void settle(struct conn *c)
{
	if (c->state >= CONN_LINGERING)
		return;
	if (c->stream && c->stream->cut) {
		conn_close(c);
		return;
	}
	if (!c->first && !c->writing) {
		if (c->stream && sse_is_done(c->stream)) {
			drop_stream(c);
			c->ending = true;
		}
		if (c->ending) {
			linger(c);
			return;
		}
		if (c->eof || c->loop->draining) {
			conn_close(c);
			return;
		}
	}
	conn_move(c, resting_state(c));
	set_reading(c, may_read(c));
}

/* ---- the reserve (C7) ---- */

static void enter_reserve(struct conn *c)
{
	struct loop *l = c->loop;

	c->reserve_prev = l->reserve_last;
	*(l->reserve_last ? &l->reserve_last->reserve_next : &l->reserve_first) = c;
	l->reserve_last = c;
	l->reserve_count++;
}

static void leave_reserve(struct conn *c)
{
	struct loop *l = c->loop;

	if (!c->on_reserve)
		return;
	*(c->reserve_prev ? &c->reserve_prev->reserve_next : &l->reserve_first) = c->reserve_next;
	*(c->reserve_next ? &c->reserve_next->reserve_prev : &l->reserve_last) = c->reserve_prev;
	l->reserve_count--;
}

/* Tells an idle client that there is no connection left for it. */
static void turn_away(struct conn *c)
{
	uv_buf_t text = uv_buf_init((char *)SERVER_FULL_TEXT, sizeof(SERVER_FULL_TEXT) - 1);

	if (!c->tls && !c->writing)
		uv_try_write((uv_stream_t *)&c->tcp, &text, 1);
	server_count_refused(c->loop->server);
	conn_close(c);
}

static void on_closed(uv_handle_t *h)
{
	struct conn *c = h->data;
	struct loop *l = c->loop;

	if (c->prev)
		c->prev->next = c->next;
	else
		l->conns = c->next;
	if (c->next)
		c->next->prev = c->prev;
	loop_asked_by(l, NULL); /* a new connection may get the same address in memory */
	l->conn_count--;
	loop_forget(l, &(struct loop_socket){ .from = c->from, .on_reserve = c->on_reserve });
	tls_free(c->tls);
	drop_held(c);
	mem_free(c->cipher);
	mem_free(c);
	loop_check_end(l);
}

void conn_close(struct conn *c)
{
	if (c->state == CONN_CLOSING)
		return;
	conn_move(c, CONN_CLOSING);
	leave_reserve(c);
	drop_stream(c);
	while (c->first)
		conn_drop_first(c);
	uv_close((uv_handle_t *)&c->tcp, on_closed);
}

void conn_drain(struct conn *c)
{
	if (c->state == CONN_IDLE || c->state == CONN_HANDSHAKE || c->state == CONN_STREAMING)
		conn_close(c);
}

/* ---- time ---- */

static bool write_stalls(struct conn *c, uint64_t now)
{
	size_t left = uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp);

	if (!left || left != c->write_left) {
		c->write_left = left;
		c->write_since = now;
		return false;
	}
	return now - c->write_since > c->loop->limits->write_ms;
}

static bool is_late(struct conn *c, uint64_t now)
{
	const struct http_limits *l = c->loop->limits;

	switch (c->state) {
	case CONN_HANDSHAKE: return now - c->since > l->header_ms;
	case CONN_IDLE: return now - c->since > l->idle_ms;
	case CONN_HEAD: return now - c->reading_since > l->header_ms;
	case CONN_BODY: return pace_is_slow(&c->pace, now, c->parser.body_got, l->body_ms, l->body_rate);
	case CONN_LINGERING: return now - c->since > l->linger_ms;
	case CONN_WAITING:
	case CONN_STREAMING:
	case CONN_CLOSING: return false;
	}
	return false;
}

void conn_tick(struct conn *c, uint64_t now)
{
	if (c->state == CONN_CLOSING)
		return;
	if (write_stalls(c, now)) {
		loop_count(c->stream ? &c->loop->counters.watchers_cut : &c->loop->counters.timeouts, 1);
		conn_close(c);
		return;
	}
	if (c->stream) {
		c->stream->ops->tick(c->stream);
		return;
	}
	if (c->on_reserve && c->state <= CONN_HEAD && now - c->opened > RESERVE_MS) {
		turn_away(c);
		return;
	}
	if (!is_late(c, now))
		return;
	if (c->state != CONN_LINGERING)
		loop_count(&c->loop->counters.timeouts, 1);
	if (c->reading && !c->writing) {
		refuse_reading(c, 408, "The request did not arrive in time.");
		conn_turn(c);
	} else {
		conn_close(c);
	}
}

/* ---- the beginning ---- */

void conn_open(struct loop *l, const struct loop_socket *s)
{
	struct conn *c = mem_zalloc(sizeof(*c));

	if (!c || uv_tcp_init(&l->uv, &c->tcp) < 0) {
		mem_free(c);
		close(s->fd);
		loop_forget(l, s);
		return;
	}
	c->loop = l;
	c->from = s->from;
	c->on_reserve = s->on_reserve;
	c->opened = uv_now(&l->uv);
	if (c->on_reserve) {
		while (l->reserve_count >= l->limits->reserved_connections)
			turn_away(l->reserve_first);
		enter_reserve(c);
	}
	c->tcp.data = c;
	c->state = CONN_HANDSHAKE;
	c->since = uv_now(&l->uv);
	c->next = l->conns;
	if (l->conns)
		l->conns->prev = c;
	l->conns = c;
	l->conn_count++;
	request_parser_init(&c->parser, l->limits);
	c->parser.gate = admit_gate(c);
	loop_count(&l->counters.accepted, 1);
	if (l->tls)
		c->tls = tls_new(l->tls);
	if (uv_tcp_open(&c->tcp, s->fd) < 0) {
		close(s->fd);
		conn_close(c);
		return;
	}
	if ((l->tls && !c->tls) || l->draining) {
		conn_close(c);
		return;
	}
	uv_tcp_nodelay(&c->tcp, 1);
	uv_tcp_keepalive(&c->tcp, 1, KEEPALIVE_PROBE_S);
	settle(c);
}
