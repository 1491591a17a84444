/* Additional listeners: one for monitoring (/metrics and health), one for other servers of a table.
 *
 * Each has its own event loop: it answers when the others are busy or all connections are in use, and does not slow
 * them down.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "http/serve/own.h"
#include "http/server_internal.h"

#define CONNECTIONS_MOST 256
#define ACCEPT_MOST      16
#define RETRY_MS         100

static bool open_side(struct server *s, struct server_side *m, char *why, size_t n)
{
	if (!m->listen)
		return true;
	m->server = s;
	if (!address_parse(&m->address, m->listen, why, n))
		return false;
	m->listen_fd = address_listen(&m->address, why, n);
	/* Monitoring needs no key, so pages must not reach it; other servers prove that they have the secret. */
	m->origin = server_origin_rules(&s->options, m->listen, &m->address, m->only == ROUTE_MONITOR);
	return m->listen_fd >= 0;
}

bool sides_open(struct server *s, char *why, size_t n)
{
	s->sides[SIDE_MONITOR].only = ROUTE_MONITOR;
	s->sides[SIDE_MONITOR].listen = s->options.metrics_listen;
	s->sides[SIDE_PEERS].only = ROUTE_PEER;
	s->sides[SIDE_PEERS].listen = s->options.peer_listen;
	return open_side(s, &s->sides[SIDE_MONITOR], why, n) && open_side(s, &s->sides[SIDE_PEERS], why, n);
}

static const struct address *address_of(const struct server_side *m)
{
	return m->listen ? &m->address : NULL;
}

const struct address *server_monitor_address(const struct server *s)
{
	return address_of(&s->sides[SIDE_MONITOR]);
}

const struct address *server_peer_address(const struct server *s)
{
	return address_of(&s->sides[SIDE_PEERS]);
}

unsigned sides_loops(const struct server *s)
{
	unsigned n = 0;

	for (size_t i = 0; i < SIDES; i++)
		n += s->sides[i].listen != NULL;
	return n;
}

bool sides_init(struct server *s)
{
	for (size_t i = 0; i < SIDES; i++) {
		struct server_side *m = &s->sides[i];

		if (!m->listen)
			continue;
		m->acceptor.data = m->retry.data = m;
		if (uv_timer_init(&s->uv, &m->retry) != 0 || uv_poll_init(&s->uv, &m->acceptor, m->listen_fd) != 0)
			return false;
	}
	return true;
}

/* ---- accepting ---- */

static void on_acceptable(uv_poll_t *h, int status, int events);

static void on_retry(uv_timer_t *h)
{
	struct server_side *m = h->data;

	if (!m->server->stopping)
		uv_poll_start(&m->acceptor, UV_READABLE, on_acceptable);
}

static void pause_accepting(struct server_side *m)
{
	uv_poll_stop(&m->acceptor);
	uv_timer_start(&m->retry, on_retry, RETRY_MS, 0);
}

static void take_connection(struct server_side *m, int fd)
{
	struct loop *l = &m->thread.loop;

	if (atomic_load_explicit(&l->counters.open, memory_order_relaxed) >= CONNECTIONS_MOST || !loop_adopt(l, fd))
		close(fd);
}

static void on_acceptable(uv_poll_t *h, int status, int events)
{
	struct server_side *m = h->data;

	(void)events;
	if (status < 0)
		return;
	for (int i = 0; i < ACCEPT_MOST; i++) {
		int fd = accept4(m->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			take_connection(m, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			pause_accepting(m);
		if (errno != ECONNABORTED && errno != EINTR)
			return;
	}
}

/* ---- life ---- */

static bool start_side(struct server *s, struct server_side *m)
{
	struct loop *l = &m->thread.loop;

	if (!m->listen)
		return true;
	l->server = s;
	l->limits = &s->options.limits;
	l->origin = &m->origin;
	l->only = m->only;
	l->routes = s->options.routes;
	l->route_count = s->options.route_count;
	l->clock = s->options.clock;
	l->region = s->options.region;
	l->own_routes = own_rows(&l->own_route_count);
	l->api = s->api;
	l->forward = &s->options.forward;
	l->ready = &s->options.ready;
	l->workers = s->workers;
	m->thread.ready = loop_init(l);
	m->thread.started = m->thread.ready && pthread_create(&m->thread.thread, NULL, server_loop_thread, l) == 0;
	if (m->thread.started)
		uv_poll_start(&m->acceptor, UV_READABLE, on_acceptable);
	return m->thread.started;
}

bool sides_start(struct server *s)
{
	return start_side(s, &s->sides[SIDE_MONITOR]) && start_side(s, &s->sides[SIDE_PEERS]);
}

static void close_listener(uv_handle_t *h)
{
	struct server_side *m = h->data;

	close(m->listen_fd);
	m->listen_fd = -1;
}

void sides_stop(struct server *s)
{
	for (size_t i = 0; i < SIDES; i++) {
		struct server_side *m = &s->sides[i];

		if (!m->listen)
			continue;
		uv_close((uv_handle_t *)&m->acceptor, close_listener);
		loop_drain(&m->thread.loop);
	}
}

void sides_cut(struct server *s)
{
	for (size_t i = 0; i < SIDES; i++)
		if (s->sides[i].listen)
			loop_cut(&s->sides[i].thread.loop);
}

void sides_end(struct server *s)
{
	for (size_t i = 0; i < SIDES; i++) {
		struct loop_thread *t = &s->sides[i].thread;

		if (t->started) {
			loop_drain(&t->loop);
			pthread_join(t->thread, NULL);
		}
		if (t->ready)
			loop_release(&t->loop);
		*t = (struct loop_thread){ 0 };
	}
}

void sides_close(struct server *s)
{
	for (size_t i = 0; i < SIDES; i++)
		if (s->sides[i].listen_fd >= 0)
			close(s->sides[i].listen_fd);
}
