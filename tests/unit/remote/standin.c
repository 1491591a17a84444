/* Sockets, threads, and as much of HTTP as a stand-in needs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "standin.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 512

struct standin {
	standin_fn *fn;
	void *ctx;
	int listener, port;
	char url[64];
	pthread_t thread;
	pthread_mutex_t lock; /* of fn and what follows */
	unsigned requests;
	atomic_bool stop;
	pthread_t threads[CONNECTIONS];
	unsigned connections;
};

struct connection {
	struct standin *server;
	int fd;
};

const char *standin_header(const struct standin_request *q, const char *name)
{
	static _Thread_local char value[8192];
	size_t n = strlen(name);

	for (const char *p = q->head; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] != '\0'))
		if (!strncasecmp(p, name, n) && p[n] == ':') {
			p += n + 1;
			p += strspn(p, " ");
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(p, "\r\n"), p);
			return value;
		}
	return "";
}

/* One byte more, or false. */
static bool receive(struct connection *c, char *p, size_t n)
{
	while (n) {
		struct pollfd f = { .fd = c->fd, .events = POLLIN };
		ssize_t got;

		if (atomic_load(&c->server->stop))
			return false;
		if (poll(&f, 1, 50) <= 0)
			continue;
		got = recv(c->fd, p, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

static bool read_request(struct connection *c, struct standin_request *q)
{
	char line[2048], *space;
	size_t n = 0;

	for (n = 0; n < sizeof(q->head) - 1; n++) {
		if (!receive(c, q->head + n, 1))
			return false;
		if (n >= 3 && !memcmp(q->head + n - 3, "\r\n\r\n", 4))
			break;
	}
	q->head[n + 1 < sizeof(q->head) ? n + 1 : n] = '\0';
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(q->head, "\r\n"), q->head);
	space = strchr(line, ' ');
	if (!space)
		return false;
	*space = '\0';
	snprintf(q->method, sizeof(q->method), "%.7s", line);
	snprintf(q->path, sizeof(q->path), "%.*s", (int)strcspn(space + 1, " "), space + 1);
	q->body_n = strtoul(standin_header(q, "content-length"), NULL, 10);
	if (q->body_n >= sizeof(q->body))
		return false;
	q->body[q->body_n] = '\0';
	return receive(c, q->body, q->body_n);
}

static bool send_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		p += sent;
		n -= (size_t)sent;
	}
	return true;
}

static bool answer(struct connection *c, const struct standin_reply *r)
{
	size_t n = r->body_n ? r->body_n : strlen(r->body);
	char head[8192];
	int head_n;

	for (int left = r->delay_ms; left > 0 && !atomic_load(&c->server->stop); left -= 10)
		nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000000 }, NULL);
	if (!r->status)
		return false;
	head_n = snprintf(head, sizeof(head), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s\r\n", r->status, n,
			  r->headers ? r->headers : "");
	return send_all(c->fd, head, (size_t)head_n) && send_all(c->fd, r->body, r->half ? n / 2 : n) && !r->half &&
	       !r->then_close;
}

static void *serve(void *ctx)
{
	struct connection *c = ctx;
	struct standin *s = c->server;
	struct standin_request *q = calloc(1, sizeof(*q));
	struct standin_reply *r = calloc(1, sizeof(*r));
	unsigned n = 0;
	bool goes_on = q && r;

	while (goes_on && read_request(c, q)) {
		memset(r, 0, offsetof(struct standin_reply, body) + 1);
		memset((char *)r + offsetof(struct standin_reply, body_n), 0,
		       sizeof(*r) - offsetof(struct standin_reply, body_n));
		r->status = 200;
		q->on_connection = ++n;
		pthread_mutex_lock(&s->lock);
		q->number = ++s->requests;
		s->fn(s->ctx, q, r);
		pthread_mutex_unlock(&s->lock);
		goes_on = answer(c, r);
	}
	close(c->fd);
	free(q);
	free(r);
	free(c);
	return NULL;
}

static void *accept_all(void *ctx)
{
	struct standin *s = ctx;

	while (!atomic_load(&s->stop)) {
		struct pollfd f = { .fd = s->listener, .events = POLLIN };
		struct connection *c;
		int fd;

		if (poll(&f, 1, 50) <= 0 || (fd = accept(s->listener, NULL, NULL)) < 0)
			continue;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
		c = calloc(1, sizeof(*c));
		pthread_mutex_lock(&s->lock);
		if (!c || s->connections == CONNECTIONS) {
			close(fd);
			free(c);
		} else {
			*c = (struct connection){ s, fd };
			if (!pthread_create(&s->threads[s->connections], NULL, serve, c))
				s->connections++;
		}
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

struct standin *standin_start(standin_fn *fn, void *ctx)
{
	struct standin *s = calloc(1, sizeof(*s));
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);

	if (!s)
		abort();
	s->fn = fn;
	s->ctx = ctx;
	pthread_mutex_init(&s->lock, NULL);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&a, sizeof(a)) || listen(s->listener, 256) ||
	    getsockname(s->listener, (struct sockaddr *)&a, &n))
		abort();
	s->port = ntohs(a.sin_port);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d", s->port);
	if (pthread_create(&s->thread, NULL, accept_all, s))
		abort();
	return s;
}

void standin_stop(struct standin *s)
{
	atomic_store(&s->stop, true);
	pthread_join(s->thread, NULL);
	for (unsigned i = 0; i < s->connections; i++)
		pthread_join(s->threads[i], NULL);
	close(s->listener);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int standin_port(const struct standin *s)
{
	return s->port;
}

const char *standin_url(const struct standin *s)
{
	return s->url;
}

unsigned standin_requests(struct standin *s)
{
	unsigned n;

	pthread_mutex_lock(&s->lock);
	n = s->requests;
	pthread_mutex_unlock(&s->lock);
	return n;
}

unsigned standin_connections(struct standin *s)
{
	unsigned n;

	pthread_mutex_lock(&s->lock);
	n = s->connections;
	pthread_mutex_unlock(&s->lock);
	return n;
}
