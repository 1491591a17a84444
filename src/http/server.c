/* Starts the loops, accepts connections for them, and stops them in order.
 *
 * One thread accepts connections and gives each to the loop with the fewest. SO_REUSEPORT would distribute by hash,
 * unevenly for a few busy clients, and would let a second server take the port.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "http/serve/own.h"
#include "http/server_internal.h"

#define ACCEPT_MOST         64 /* per turn, so that signals get through */
#define THREADS_MOST        256
#define WORKERS_MOST        4096
#define RETRY_MS            100  /* before accepting again after a failure */
#define WARN_MS             1000 /* between two log lines about that */
#define WARN_ADDRESS_MS     (60 * 1000)
#define BUDGET_RESERVE_PART 8 /* of the memory for requests, reserved for small ones */

/* ---- accepting ---- */

static void refuse_connection(struct server *s, int fd)
{
	static const char text[] = SERVER_FULL_TEXT;

	if (!s->options.tls && send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_debug("a refused client was already gone");
	close(fd);
	server_count_refused(s);
}

void server_count_refused(struct server *s)
{
	atomic_fetch_add_explicit(&s->refused, 1, memory_order_relaxed);
}

void server_forget(struct server *s, const struct loop_socket *sock)
{
	addresses_leave(&s->addresses, sock->from);
	if (sock->on_reserve)
		atomic_fetch_sub_explicit(&s->on_reserve, 1, memory_order_relaxed);
}

static void warn_of_address(struct server *s, const struct address *a)
{
	uint64_t now = uv_now(&s->uv);
	char text[ADDRESS_TEXT];

	if (s->warned_of_address_at && now - s->warned_of_address_at < WARN_ADDRESS_MS)
		return;
	s->warned_of_address_at = now ? now : 1;
	address_format(a, text, sizeof(text));
	*strrchr(text, ':') = '\0'; /* the port */
	log_warn("%s has %llu connections: more are refused (--limit connections_per_address)", text,
		 (unsigned long long)s->options.limits.connections_per_address);
}

/* Counts a connection of its address. False: the address has too many. */
static bool enter_address(struct server *s, const struct address *a, struct address_entry **from)
{
	struct ip ip;

	*from = NULL;
	if (!ip_of_peer(&a->sa, &ip))
		return true;
	if (proxies_trust(s->options.proxies, &ip)) /* a proxy has many clients */
		return true;
	*from = addresses_enter(&s->addresses, ip_client(&ip), s->options.limits.connections_per_address);
	if (!*from)
		warn_of_address(s, a);
	return *from != NULL;
}

/* connection.h C7. All are on one loop, so it can find the oldest. */
static void take_on_reserve(struct server *s, int fd)
{
	/* A busy loop has not yet made room for connections in its inbox. */
	uint64_t most = HTTP_RESERVE_BURST * s->options.limits.reserved_connections;
	struct loop_socket sock = { .fd = fd, .on_reserve = true };

	if (atomic_fetch_add_explicit(&s->on_reserve, 1, memory_order_relaxed) < most &&
	    loop_adopt_socket(&s->threads[0].loop, sock))
		return;
	server_forget(s, &sock);
	refuse_connection(s, fd);
}

static void deal_out(struct server *s, int fd, const struct address *a)
{
	uint64_t total = 0, least = UINT64_MAX;
	struct loop_socket sock = { .fd = fd };
	struct loop *to = NULL;

	for (unsigned i = 0; i < s->thread_count; i++) {
		struct loop *l = &s->threads[i].loop;
		uint64_t open = atomic_load_explicit(&l->counters.open, memory_order_relaxed);

		total += open;
		if (open < least) {
			least = open;
			to = l;
		}
	}
	if (total >= s->options.limits.connections || !enter_address(s, a, &sock.from)) {
		take_on_reserve(s, fd);
	} else if (!loop_adopt_socket(to, sock)) {
		server_forget(s, &sock);
		refuse_connection(s, fd);
	}
}

static void on_acceptable(uv_poll_t *h, int status, int events);

static void on_retry(uv_timer_t *h)
{
	struct server *s = h->data;

	if (!s->stopping)
		uv_poll_start(&s->acceptor, UV_READABLE, on_acceptable);
}

/* The listening socket stays readable while accepting fails: waits instead of spinning. */
static void pause_accepting(struct server *s)
{
	uv_poll_stop(&s->acceptor);
	uv_timer_start(&s->retry, on_retry, RETRY_MS, 0);
}

static void warn_of_descriptors(struct server *s)
{
	uint64_t now = uv_now(&s->uv);

	if (s->warned_at && now - s->warned_at < WARN_MS)
		return;
	s->warned_at = now ? now : 1;
	log_warn("out of file descriptors: connections are refused");
}

/* Closes the reserve descriptor for a moment, so that at least one client gets a refusal. */
static bool drop_one(struct server *s)
{
	int fd;

	close(s->reserve_fd);
	fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		refuse_connection(s, fd);
	s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	warn_of_descriptors(s);
	return fd >= 0;
}

static void on_acceptable(uv_poll_t *h, int status, int events)
{
	struct server *s = h->data;

	(void)events;
	if (status < 0)
		return;
	for (int i = 0; i < ACCEPT_MOST; i++) {
		struct address from = { .len = sizeof(from.sa) };
		int fd = accept4(s->listen_fd, (struct sockaddr *)&from.sa, &from.len, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			deal_out(s, fd, &from);
		} else if (errno == EMFILE || errno == ENFILE) {
			if (!drop_one(s))
				pause_accepting(s);
			return;
		} else if (errno == ENOBUFS || errno == ENOMEM) {
			pause_accepting(s);
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			return;
		}
	}
}

/* ---- stopping ---- */

static void close_listener(uv_handle_t *h)
{
	struct server *s = h->data;

	close(s->listen_fd);
	s->listen_fd = -1;
}

static void begin_stop(struct server *s)
{
	if (s->stopping)
		return;
	s->stopping = true;
	log_info("stopping: waiting for requests in flight");
	uv_close((uv_handle_t *)&s->acceptor, close_listener);
	sides_stop(s);
	for (unsigned i = 0; i < s->thread_count; i++)
		loop_drain(&s->threads[i].loop);
}

static void on_signal(uv_signal_t *h, int number)
{
	struct server *s = h->data;

	(void)number;
	if (!s->stopping) {
		begin_stop(s);
		return;
	}
	log_info("stopping at once");
	for (unsigned i = 0; i < s->thread_count; i++)
		loop_cut(&s->threads[i].loop);
	sides_cut(s);
}

static void on_hangup(uv_signal_t *h, int number)
{
	(void)number;
	server_run_hooks(h->data);
}

static void on_wake(uv_async_t *h)
{
	struct server *s = h->data;

	if (atomic_exchange(&s->hangup_wanted, false))
		server_run_hooks(s);
	if (atomic_load(&s->stop_wanted))
		begin_stop(s);
	if (s->stopping && atomic_load(&s->finished) == s->thread_count + sides_loops(s))
		uv_stop(&s->uv);
}

void server_stop(struct server *s)
{
	atomic_store(&s->stop_wanted, true);
	uv_async_send(&s->wake);
}

/* ---- running ---- */

void *server_loop_thread(void *arg)
{
	struct loop *l = arg;

	loop_run(l);
	atomic_fetch_add(&l->server->finished, 1);
	uv_async_send(&l->server->wake);
	return NULL;
}

static bool init_thread(struct server *s, struct loop_thread *t)
{
	const struct server_options *o = &s->options;
	struct loop *l = &t->loop;

	l->server = s;
	l->limits = &o->limits;
	l->keys = keys_share(o->keys);
	l->tls = tls_context_share(o->tls);
	l->origin = &s->origin;
	l->proxies = o->proxies;
	l->clock = o->clock;
	l->region = o->region;
	l->routes = o->routes;
	l->route_count = o->route_count;
	l->own_routes = own_rows(&l->own_route_count);
	l->api = s->api;
	l->api_thread = api_thread_new(s->api);
	l->workers = s->workers;
	l->forward = &s->options.forward;
	l->ready = &s->options.ready;
	l->hashers = s->hashers;
	l->local = o->local.make ? o->local.make(o->local.ctx) : NULL;
	t->ready = l->api_thread && (l->local || !o->local.make) && loop_init(l);
	return t->ready;
}

static bool start_threads(struct server *s)
{
	s->workers = workers_new(&(struct workers_options){
		.threads = (unsigned)s->options.limits.workers,
		.waiting = s->options.limits.waiting,
		.local = s->options.local,
	});
	s->hashers = workers_new(&(struct workers_options){
		.threads = (unsigned)s->options.limits.hashers,
		.waiting = s->options.limits.hash_waiting,
		.fair = true,
		.local = s->options.local,
	});
	if (!s->workers || !s->hashers)
		return false;
	for (unsigned i = 0; i < s->thread_count; i++)
		if (!init_thread(s, &s->threads[i]))
			return false;
	for (unsigned i = 0; i < s->thread_count; i++) {
		struct loop_thread *t = &s->threads[i];

		t->started = pthread_create(&t->thread, NULL, server_loop_thread, &t->loop) == 0;
		if (!t->started)
			return false;
	}
	return sides_start(s);
}

/* Stops the started loops and waits for them; afterwards the workers get no more work. */
static void end_threads(struct server *s)
{
	for (unsigned i = 0; i < s->thread_count; i++) {
		struct loop_thread *t = &s->threads[i];

		if (t->started) {
			loop_drain(&t->loop);
			pthread_join(t->thread, NULL);
		}
	}
	sides_end(s);
	workers_free(s->workers);
	workers_free(s->hashers);
	s->workers = s->hashers = NULL;
	for (unsigned i = 0; i < s->thread_count; i++) {
		struct loop_thread *t = &s->threads[i];

		if (t->ready)
			loop_release(&t->loop);
		if (t->loop.api_thread)
			api_thread_free(t->loop.api_thread);
		if (t->loop.local)
			s->options.local.drop(t->loop.local);
		keys_free(t->loop.keys);
		tls_context_free(t->loop.tls);
		*t = (struct loop_thread){ 0 };
	}
}

static void accept_until_stopped(struct server *s)
{
	uv_poll_start(&s->acceptor, UV_READABLE, on_acceptable);
	uv_async_send(&s->wake); /* in case a stop was requested earlier */
	uv_run(&s->uv, UV_RUN_DEFAULT);
}

bool server_run(struct server *s, struct api *api)
{
	bool started;

	s->api = api;
	s->started_us = clock_monotonic_us();
	started = start_threads(s);
	if (started)
		accept_until_stopped(s);
	else
		log_error("not enough memory or threads to serve");
	end_threads(s);
	return started;
}

/* ---- life ---- */

static void complete_options(struct server_options *o)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (!o->listen)
		o->listen = SERVER_DEFAULT_LISTEN;
	if (!o->threads)
		o->threads = processors > 0 ? (unsigned)processors : 1;
	if (o->threads > THREADS_MOST)
		o->threads = THREADS_MOST;
	if (!o->region)
		o->region = "us-east-1";
	if (!o->clock)
		o->clock = &clock_system;
	http_limits_complete(&o->limits);
	if (o->limits.workers > WORKERS_MOST)
		o->limits.workers = WORKERS_MOST;
	/* A hash keeps a processor busy for 50 ms: half of the processors stay free for other requests. */
	if (!o->limits.hashers)
		o->limits.hashers = processors > 3 ? (uint64_t)processors / 2 : 1;
	if (o->limits.hashers > WORKERS_MOST)
		o->limits.hashers = WORKERS_MOST;
	http_parser_allow(o->limits.header_bytes);
}

struct origin_rules server_origin_rules(const struct server_options *o, const char *listen, const struct address *a,
					bool open)
{
	const char *colon = strrchr(listen, ':');

	return (struct origin_rules){
		.open = open,
		.takes_addresses = !address_is_loopback(a),
		.own = colon ? slice_make(listen, (size_t)(colon - listen)) : (struct slice){ 0 },
		.hosts = o->hosts,
		.host_count = o->host_count,
		.origins = o->cors,
		.origin_count = o->cors_count,
	};
}

static bool init_loop(struct server *s)
{
	if (uv_loop_init(&s->uv) < 0)
		return false;
	s->has_loop = true;
	s->acceptor.data = s->wake.data = s->sigterm.data = s->sigint.data = s->sighup.data = s->retry.data = s;
	return uv_timer_init(&s->uv, &s->retry) == 0 && uv_async_init(&s->uv, &s->wake, on_wake) == 0 &&
	       uv_poll_init(&s->uv, &s->acceptor, s->listen_fd) == 0 && uv_signal_init(&s->uv, &s->sigterm) == 0 &&
	       uv_signal_init(&s->uv, &s->sigint) == 0 && uv_signal_init(&s->uv, &s->sighup) == 0 && sides_init(s);
}

/* From the beginning: server_run() handles a signal that came before it. */
static bool catch_signals(struct server *s)
{
	return !s->options.handle_signals || (uv_signal_start(&s->sigterm, on_signal, SIGTERM) == 0 &&
					      uv_signal_start(&s->sigint, on_signal, SIGINT) == 0 &&
					      uv_signal_start(&s->sighup, on_hangup, SIGHUP) == 0);
}

struct server *server_new(const struct server_options *o, char *why, size_t n)
{
	struct server *s = mem_zalloc(sizeof(*s));

	if (!s) {
		snprintf(why, n, "not enough memory");
		return NULL;
	}
	s->options = *o;
	keys_share(s->options.keys);
	tls_context_share(s->options.tls);
	s->listen_fd = s->reserve_fd = -1;
	for (size_t i = 0; i < SIDES; i++)
		s->sides[i].listen_fd = -1;
	complete_options(&s->options);
	addresses_init(&s->addresses);
	s->budget.total = s->options.limits.request_memory;
	s->budget.reserve = s->budget.total / BUDGET_RESERVE_PART;
	s->thread_count = s->options.threads;
	if (!address_parse(&s->address, s->options.listen, why, n))
		goto failed;
	s->listen_fd = address_listen(&s->address, why, n);
	if (s->listen_fd < 0 || !sides_open(s, why, n))
		goto failed;
	s->origin = server_origin_rules(&s->options, s->options.listen, &s->address, !s->options.keys);
	s->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	s->threads = mem_zalloc(s->thread_count * sizeof(*s->threads));
	if (!s->threads || !init_loop(s) || !catch_signals(s)) {
		snprintf(why, n, "not enough memory or file descriptors");
		goto failed;
	}
	return s;
failed:
	server_free(s);
	return NULL;
}

const struct address *server_address(const struct server *s)
{
	return &s->address;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	if (s->has_loop) {
		uv_walk(&s->uv, loop_close_handle, NULL);
		uv_run(&s->uv, UV_RUN_DEFAULT);
		uv_loop_close(&s->uv);
	}
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->reserve_fd >= 0)
		close(s->reserve_fd);
	addresses_release(&s->addresses);
	sides_close(s);
	keys_free(s->options.keys);
	tls_context_free(s->options.tls);
	mem_free(s->threads);
	mem_free(s);
}
