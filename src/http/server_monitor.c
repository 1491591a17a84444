/* The listener for monitoring: /metrics and health, on an address of its own.
 *
 * It has its own event loop: it answers when the others are busy or all connections are taken, and takes nothing from
 * them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <unistd.h>

#include "base/log.h"
#include "http/serve/own.h"
#include "http/server_internal.h"

#define CONNECTIONS_MOST 64
#define ACCEPT_MOST      16
#define RETRY_MS         100

bool monitor_open(struct server *s, char *why, size_t n)
{
	struct server_monitor *m = &s->monitor;

	if (!s->options.metrics_listen)
		return true;
	m->wanted = true;
	if (!address_parse(&m->address, s->options.metrics_listen, why, n))
		return false;
	m->listen_fd = address_listen(&m->address, why, n);
	m->origin = server_origin_rules(&s->options, s->options.metrics_listen, &m->address, true);
	return m->listen_fd >= 0;
}

const struct address *server_monitor_address(const struct server *s)
{
	return s->monitor.wanted ? &s->monitor.address : NULL;
}

unsigned monitor_loops(const struct server *s)
{
	return s->monitor.wanted;
}

bool monitor_init(struct server *s)
{
	struct server_monitor *m = &s->monitor;

	if (!m->wanted)
		return true;
	m->acceptor.data = m->retry.data = s;
	return uv_timer_init(&s->uv, &m->retry) == 0 && uv_poll_init(&s->uv, &m->acceptor, m->listen_fd) == 0;
}

/* ---- accepting ---- */

static void on_acceptable(uv_poll_t *h, int status, int events);

static void on_retry(uv_timer_t *h)
{
	struct server *s = h->data;

	if (!s->stopping)
		uv_poll_start(&s->monitor.acceptor, UV_READABLE, on_acceptable);
}

static void pause_accepting(struct server_monitor *m)
{
	uv_poll_stop(&m->acceptor);
	uv_timer_start(&m->retry, on_retry, RETRY_MS, 0);
}

static void take(struct server_monitor *m, int fd)
{
	struct loop *l = &m->thread.loop;

	if (atomic_load_explicit(&l->counters.open, memory_order_relaxed) >= CONNECTIONS_MOST || !loop_adopt(l, fd))
		close(fd);
}

static void on_acceptable(uv_poll_t *h, int status, int events)
{
	struct server *s = h->data;

	(void)events;
	if (status < 0)
		return;
	for (int i = 0; i < ACCEPT_MOST; i++) {
		int fd = accept4(s->monitor.listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			take(&s->monitor, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			pause_accepting(&s->monitor);
		if (errno != ECONNABORTED && errno != EINTR)
			return;
	}
}

/* ---- life ---- */

bool monitor_start(struct server *s)
{
	struct server_monitor *m = &s->monitor;
	struct loop *l = &m->thread.loop;

	if (!m->wanted)
		return true;
	l->server = s;
	l->limits = &s->options.limits;
	l->origin = &m->origin;
	l->monitors = true;
	l->clock = s->options.clock;
	l->region = s->options.region;
	l->own_routes = own_rows(&l->own_route_count);
	l->api = s->api;
	l->forward = &s->options.forward;
	l->workers = s->workers;
	m->thread.ready = loop_init(l);
	m->thread.started = m->thread.ready && pthread_create(&m->thread.thread, NULL, server_loop_thread, l) == 0;
	if (m->thread.started)
		uv_poll_start(&m->acceptor, UV_READABLE, on_acceptable);
	return m->thread.started;
}

static void close_listener(uv_handle_t *h)
{
	struct server *s = h->data;

	close(s->monitor.listen_fd);
	s->monitor.listen_fd = -1;
}

void monitor_stop(struct server *s)
{
	if (!s->monitor.wanted)
		return;
	uv_close((uv_handle_t *)&s->monitor.acceptor, close_listener);
	loop_drain(&s->monitor.thread.loop);
}

void monitor_cut(struct server *s)
{
	if (s->monitor.wanted)
		loop_cut(&s->monitor.thread.loop);
}

void monitor_end(struct server *s)
{
	struct loop_thread *t = &s->monitor.thread;

	if (t->started) {
		loop_drain(&t->loop);
		pthread_join(t->thread, NULL);
	}
	if (t->ready)
		loop_release(&t->loop);
	*t = (struct loop_thread){ 0 };
}
