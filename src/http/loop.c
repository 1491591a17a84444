/* Runs one event loop: new sockets in, completed exchanges back, time limits, the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/grow.h"
#include "http/connection/connection.h"
#include "http/loop.h"
#include "http/server_internal.h"
#include "http/connection/sse.h"

#define FREE_MOST     64 /* exchanges kept for reuse, each with 16 KB of arena */
#define TICK_LEAST_MS 10
#define TICK_MOST_MS  1000
#define DELAY_TICK_MS 10 /* at most, while something is delayed */
#define INBOX_MOST    64 /* sockets taken from the inbox per turn */

/* ---- exchanges ---- */

struct exchange *loop_take_exchange(struct loop *l)
{
	struct exchange *ex = l->free_exchanges;

	if (ex) {
		l->free_exchanges = ex->next;
		l->free_count--;
		ex->next = NULL;
		ex->continue_due = ex->last = false;
		ex->id[0] = '\0';
		ex->stream = NULL;
		ex->denial = NULL;
		return ex;
	}
	ex = mem_zalloc(sizeof(*ex));
	if (ex) {
		ex->loop = l;
		arena_init(&ex->arena);
	}
	return ex;
}

void loop_give_exchange(struct loop *l, struct exchange *ex)
{
	exchange_drop_stream(ex);
	if (l->free_count == FREE_MOST) {
		arena_release(&ex->arena);
		mem_free(ex);
		return;
	}
	arena_clear(&ex->arena);
	ex->conn = NULL;
	ex->next = l->free_exchanges;
	l->free_exchanges = ex;
	l->free_count++;
}

bool loop_is_current(const struct loop *l)
{
	return pthread_equal(pthread_self(), l->self);
}

void loop_complete(struct loop *l, struct exchange *ex)
{
	struct exchange *head;

	atomic_fetch_add(&l->completing, 1);
	head = atomic_load_explicit(&l->completed, memory_order_relaxed);
	do {
		ex->completed = head;
	} while (!atomic_compare_exchange_weak_explicit(&l->completed, &head, ex, memory_order_release,
							memory_order_relaxed));
	/* From here on the exchange may be gone. The thread that finds the list empty wakes the loop. */
	if (!head)
		uv_async_send(&l->wake);
	atomic_fetch_sub(&l->completing, 1);
}

/* First all replies, then the connections: one writev() for everything that a batch completed. */
static void take_completed(struct loop *l)
{
	struct exchange *ex = atomic_exchange_explicit(&l->completed, NULL, memory_order_acquire);
	struct conn *turns = NULL;

	while (ex) {
		struct exchange *next = ex->completed;

		exchange_finish(ex);
		if (ex->state == EXCHANGE_RUNNING) {
			/* held back: loop_delay() has it */
		} else if (!ex->conn) {
			loop_give_exchange(l, ex);
		} else if (!ex->conn->turn_due) {
			ex->conn->turn_due = true;
			ex->conn->turn_next = turns;
			turns = ex->conn;
		}
		ex = next;
	}
	while (turns) {
		struct conn *c = turns;

		turns = c->turn_next;
		c->turn_due = false;
		if (c->state < CONN_LINGERING)
			conn_turn(c);
	}
}

/* ---- delayed ones ---- */

int64_t loop_write_delay(const struct loop *l, const struct app *app)
{
	const struct write_delay *d = &l->server->options.write_delay;

	return d->ms ? d->ms(d->ctx, app) : 0;
}

static void begin_delayed(struct loop *l, struct exchange *ex)
{
	struct conn *c;

	exchange_begin(ex);
	if (ex->state != EXCHANGE_READY)
		return;
	c = ex->conn;
	if (!c)
		loop_give_exchange(l, ex);
	else if (c->state < CONN_LINGERING)
		conn_turn(c);
}

static void on_delay(uv_timer_t *h)
{
	struct loop *l = h->data;
	uint64_t now = uv_now(&l->uv), next = UINT64_MAX;
	struct exchange **at = &l->delayed, *due = NULL;

	while (*at) {
		struct exchange *ex = *at;

		if (ex->due_ms > now) {
			next = ex->due_ms < next ? ex->due_ms : next;
			at = &ex->completed;
			continue;
		}
		*at = ex->completed;
		ex->completed = due;
		due = ex;
	}
	if (!l->delayed)
		uv_timer_stop(h);
	else if (next < now + DELAY_TICK_MS)
		uv_timer_start(h, on_delay, next - now, DELAY_TICK_MS);
	while (due) {
		struct exchange *ex = due;

		due = ex->completed;
		begin_delayed(l, ex);
	}
	loop_check_end(l);
}

void loop_delay(struct loop *l, struct exchange *ex)
{
	uint64_t soon = ex->delay_ms < DELAY_TICK_MS ? ex->delay_ms : DELAY_TICK_MS;

	ex->due_ms = uv_now(&l->uv) + ex->delay_ms;
	ex->completed = l->delayed;
	l->delayed = ex;
	if (!uv_is_active((uv_handle_t *)&l->delay) || uv_timer_get_due_in(&l->delay) > soon)
		uv_timer_start(&l->delay, on_delay, soon, DELAY_TICK_MS);
}

/* ---- posts ---- */

void loop_post(struct loop *l, struct loop_post *p)
{
	bool first;

	p->next = NULL;
	pthread_mutex_lock(&l->inbox_lock);
	first = !l->posts;
	*l->posts_end = p;
	l->posts_end = &p->next;
	pthread_mutex_unlock(&l->inbox_lock);
	if (first)
		uv_async_send(&l->wake);
}

void loop_lose_streams(struct loop *l)
{
	atomic_store(&l->streams_lost, true);
	uv_async_send(&l->wake);
}

void loop_turn_stream(struct loop *l, struct sse *s)
{
	struct conn *c = s->conn;

	if (!c || c->turn_due)
		return;
	c->turn_due = true;
	c->turn_next = l->stream_turns;
	l->stream_turns = c;
}

static void cut_streams(struct loop *l)
{
	for (struct conn *c = l->conns, *next; c; c = next) {
		next = c->next;
		if (c->stream) {
			loop_count(&l->counters.watchers_cut, 1);
			conn_close(c);
		}
	}
}

/* First all posts, then the connections: one writev() for all their events. */
void loop_take_posts(struct loop *l)
{
	struct loop_post *p;

	pthread_mutex_lock(&l->inbox_lock);
	p = l->posts;
	l->posts = NULL;
	l->posts_end = &l->posts;
	pthread_mutex_unlock(&l->inbox_lock);
	while (p) {
		struct loop_post *next = p->next;

		p->run(l, p);
		p = next;
	}
	while (l->stream_turns) {
		struct conn *c = l->stream_turns;

		l->stream_turns = c->turn_next;
		c->turn_due = false;
		if (c->stream)
			sse_flush(c->stream);
	}
	if (atomic_exchange(&l->streams_lost, false))
		cut_streams(l);
}

/* ---- sockets ---- */

bool loop_adopt(struct loop *l, int fd)
{
	return loop_adopt_socket(l, (struct loop_socket){ .fd = fd });
}

bool loop_adopt_socket(struct loop *l, struct loop_socket s)
{
	bool room;

	pthread_mutex_lock(&l->inbox_lock);
	room = GROW(l->inbox, l->inbox_n + 1, l->inbox_cap, INBOX_MOST);
	if (room) {
		l->inbox[l->inbox_n++] = s;
		if (!s.on_reserve)
			atomic_fetch_add_explicit(&l->counters.open, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&l->inbox_lock);
	if (room)
		uv_async_send(&l->wake);
	return room;
}

void loop_forget(struct loop *l, const struct loop_socket *s)
{
	if (!s->on_reserve)
		atomic_fetch_sub_explicit(&l->counters.open, 1, memory_order_relaxed);
	server_forget(l->server, s);
}

static void take_inbox(struct loop *l)
{
	struct loop_socket some[INBOX_MOST];
	size_t n;

	/* In order of arrival, so that the reserve is sorted by age. */
	do {
		pthread_mutex_lock(&l->inbox_lock);
		n = l->inbox_n < INBOX_MOST ? l->inbox_n : INBOX_MOST;
		if (n) {
			memcpy(some, l->inbox, n * sizeof(*some));
			l->inbox_n -= n;
			memmove(l->inbox, l->inbox + n, l->inbox_n * sizeof(*some));
		}
		pthread_mutex_unlock(&l->inbox_lock);
		for (size_t i = 0; i < n; i++)
			conn_open(l, &some[i]);
	} while (n);
}

/* ---- the end ---- */

void loop_drain(struct loop *l)
{
	atomic_store(&l->drain_wanted, true);
	uv_async_send(&l->wake);
}

void loop_cut(struct loop *l)
{
	atomic_store(&l->cut_wanted, true);
	loop_drain(l);
}

static void close_all(struct loop *l)
{
	for (struct conn *c = l->conns, *next; c; c = next) {
		next = c->next;
		conn_close(c);
	}
}

static void begin_draining(struct loop *l)
{
	if (l->draining)
		return;
	l->draining = true;
	l->draining_since = uv_now(&l->uv);
	for (struct conn *c = l->conns, *next; c; c = next) {
		next = c->next;
		conn_drain(c);
	}
}

void loop_check_end(struct loop *l)
{
	/* Not before all calls have come back, whatever the clients do: the api and the workers use our memory. */
	if (l->draining && !l->conn_count && !l->running)
		uv_stop(&l->uv);
}

static void on_wake(uv_async_t *h)
{
	struct loop *l = h->data;

	take_completed(l);
	loop_take_posts(l);
	take_inbox(l);
	if (atomic_load(&l->drain_wanted))
		begin_draining(l);
	if (atomic_load(&l->cut_wanted))
		close_all(l);
	loop_check_end(l);
}

static void on_tick(uv_timer_t *h)
{
	struct loop *l = h->data;
	uint64_t now = uv_now(&l->uv);

	for (struct conn *c = l->conns, *next; c; c = next) {
		next = c->next;
		conn_tick(c, now);
	}
	if (l->draining && now - l->draining_since > l->limits->drain_ms)
		close_all(l);
	loop_check_end(l);
}

/* ---- life ---- */

struct slice loop_http_date(struct loop *l)
{
	time_t now = time(NULL);
	struct tm tm;

	if ((uint64_t)now != l->date_made) {
		gmtime_r(&now, &tm);
		l->date_len = strftime(l->date, sizeof(l->date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
		l->date_made = (uint64_t)now;
	}
	return slice_make(l->date, l->date_len);
}

/* Short enough to keep the shortest limit to within a quarter. */
static uint64_t tick_ms(const struct http_limits *l)
{
	const uint64_t all[] = { l->idle_ms,   l->header_ms, l->body_ms,      l->write_ms,
				 l->linger_ms, l->drain_ms,  l->keep_alive_ms };
	uint64_t least = TICK_MOST_MS * 4;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i] < least)
			least = all[i];
	return least / 4 > TICK_LEAST_MS ? least / 4 : TICK_LEAST_MS;
}

/* ---- waiting for the only client ---- */

#define LONE_MS        20   /* a connection has the loop to itself if no other has sent a request for this long */
#define WAITED_LONG_US 5000 /* waking a thread takes much less than such a disk */
#define WAIT_AGAIN_MS  1000

void loop_asked_by(struct loop *l, const struct conn *c)
{
	if (l->lone.conn == c)
		return;
	l->lone.conn = c;
	l->lone.since = uv_now(&l->uv);
}

bool loop_may_wait_for(const struct loop *l, const struct conn *c)
{
	uint64_t now = uv_now(&l->uv);

	return c && l->lone.conn == c && !l->lone.has_waited && l->running <= 1 && now - l->lone.since >= LONE_MS &&
	       now >= l->lone.not_before;
}

void loop_has_waited(struct loop *l, uint64_t us)
{
	l->lone.has_waited = true;
	l->lone.waited_us = (7 * l->lone.waited_us + us) / 8;
	if (l->lone.waited_us < WAITED_LONG_US)
		return;
	l->lone.waited_us = 0;
	l->lone.not_before =
		uv_now(&l->uv) + us / 1000 + WAIT_AGAIN_MS; /* the loop's clock does not advance meanwhile */
}

static void on_turn(uv_prepare_t *h)
{
	struct loop *l = h->data;

	l->lone.has_waited = false;
}

bool loop_init(struct loop *l)
{
	if (uv_loop_init(&l->uv) < 0)
		return false;
	pthread_mutex_init(&l->inbox_lock, NULL);
	request_ids_init(&l->ids);
	l->wake.data = l->tick.data = l->delay.data = l->turn.data = l;
	l->posts_end = &l->posts;
	l->budget = &l->server->budget;
	l->read_buffer = mem_alloc(LOOP_READ_BYTES);
	l->plain_buffer = l->tls ? mem_alloc(LOOP_READ_BYTES) : NULL;
	if (uv_prepare_init(&l->uv, &l->turn) < 0 || uv_timer_init(&l->uv, &l->tick) < 0 ||
	    uv_timer_init(&l->uv, &l->delay) < 0 || uv_async_init(&l->uv, &l->wake, on_wake) < 0 || !l->read_buffer ||
	    (l->tls && !l->plain_buffer)) {
		loop_release(l);
		return false;
	}
	return true;
}

void loop_run(struct loop *l)
{
	uint64_t every = tick_ms(l->limits);

	l->self = pthread_self();
	uv_timer_start(&l->tick, on_tick, every, every);
	uv_prepare_start(&l->turn, on_turn);
	uv_run(&l->uv, UV_RUN_DEFAULT);
}

void loop_close_handle(uv_handle_t *h, void *unused)
{
	(void)unused;
	if (!uv_is_closing(h))
		uv_close(h, NULL);
}

void loop_release(struct loop *l)
{
	loop_take_posts(l); /* no connection is left, but posts must be freed */
	while (atomic_load(&l->completing))
		sched_yield();
	uv_walk(&l->uv, loop_close_handle, NULL);
	uv_run(&l->uv, UV_RUN_DEFAULT);
	uv_loop_close(&l->uv);
	while (l->free_exchanges) {
		struct exchange *ex = l->free_exchanges;

		l->free_exchanges = ex->next;
		arena_release(&ex->arena);
		mem_free(ex);
	}
	for (size_t i = 0; i < l->inbox_n; i++) {
		close(l->inbox[i].fd);
		loop_forget(l, &l->inbox[i]);
	}
	mem_free(l->inbox);
	mem_free(l->read_buffer);
	mem_free(l->plain_buffer);
	gzip_release(&l->gzip);
	pthread_mutex_destroy(&l->inbox_lock);
}
