/* See wire.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/log.h"

#include "wire.h"

#define PATIENCE_S 20

static void *run(void *arg)
{
	struct wire *w = arg;

	return server_run(w->server, w->api) ? w : NULL;
}

void wire_start(struct wire *w, const struct server_options *o)
{
	static const char *const hosts[] = { "h", "x" };
	struct server_options mine = *o;
	char why[200];

	signal(SIGPIPE, SIG_IGN);
	log_set_level(LOG_WARN);
	mine.listen = "127.0.0.1:0";
	if (!mine.hosts) { /* what requests of these tests call it */
		mine.hosts = hosts;
		mine.host_count = sizeof(hosts) / sizeof(hosts[0]);
	}
	if (!mine.threads)
		mine.threads = 2;
	*w = (struct wire){ 0 };
	w->server = server_new(&mine, why, sizeof(why));
	if (!w->server)
		fail_msg("%s", why);
	w->api = fake_api_new();
	assert_int_equal(pthread_create(&w->thread, NULL, run, w), 0);
	w->running = true;
}

void wire_join(struct wire *w)
{
	void *ended;

	pthread_join(w->thread, &ended);
	w->running = false;
	assert_ptr_equal(ended, w);
}

void wire_stop(struct wire *w)
{
	if (w->running) {
		server_stop(w->server);
		wire_join(w);
	}
	fake_api_free(w->api);
	server_free(w->server);
}

int wire_connect(const struct wire *w)
{
	const struct address *a = server_address(w->server);
	struct timeval patience = { .tv_sec = PATIENCE_S };
	int one = 1, status, fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	/* Interrupted (wire_recv), Linux goes on where it was. */
	do
		status = connect(fd, (const struct sockaddr *)&a->sa, a->len);
	while (status < 0 && errno == EINTR);
	assert_int_equal(status, 0);
	return fd;
}

void wire_send(int fd, const void *p, size_t n)
{
	while (n) {
		ssize_t k = send(fd, p, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		assert_true(k > 0);
		p = (const char *)p + k;
		n -= (size_t)k;
	}
}

void wire_send_text(int fd, const char *text)
{
	wire_send(fd, text, strlen(text));
}

ssize_t wire_recv(int fd, void *p, size_t n)
{
	ssize_t k;

	do
		k = recv(fd, p, n, 0);
	while (k < 0 && errno == EINTR);
	return k;
}

/* One byte; false at the end of the connection. */
static bool read_byte(int fd, char *c)
{
	ssize_t n = wire_recv(fd, c, 1);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		fail_msg("no reply in time");
	return n == 1;
}

static void read_bytes(int fd, char *p, size_t n)
{
	while (n) {
		ssize_t k = wire_recv(fd, p, n);

		assert_true(k > 0);
		p += k;
		n -= (size_t)k;
	}
}

static bool read_head(int fd, struct wire_reply *r)
{
	size_t n = 0;

	while (n < 4 || memcmp(r->head + n - 4, "\r\n\r\n", 4)) {
		assert_true(n < sizeof(r->head) - 1);
		if (!read_byte(fd, r->head + n)) {
			assert_int_equal(n, 0);
			return false;
		}
		n++;
	}
	r->head[n] = '\0';
	assert_memory_equal(r->head, "HTTP/1.1 ", 9);
	r->status = (int)strtol(r->head + 9, NULL, 10);
	return true;
}

static void read_chunks(int fd, struct wire_reply *r)
{
	for (;;) {
		char line[32], end[2];
		size_t n = 0;

		while (n < 2 || line[n - 1] != '\n') {
			assert_true(n < sizeof(line) && read_byte(fd, line + n));
			n++;
		}
		n = strtoul(line, NULL, 16);
		r->body = mem_realloc(r->body, r->body_n + n + 1);
		read_bytes(fd, r->body + r->body_n, n);
		r->body_n += n;
		read_bytes(fd, end, 2);
		if (!n)
			return;
		r->decoded_chunks++;
	}
}

bool wire_header(const struct wire_reply *r, const char *name, char *value, size_t room)
{
	char line[128];
	const char *at, *end;

	snprintf(line, sizeof(line), "\r\n%s: ", name);
	at = strcasestr(r->head, line);
	if (!at)
		return false;
	at += strlen(line);
	end = strstr(at, "\r\n");
	snprintf(value, room, "%.*s", (int)(end - at), at);
	return true;
}

bool wire_read(int fd, struct wire_reply *r)
{
	char value[64];

	*r = (struct wire_reply){ 0 };
	if (!read_head(fd, r))
		return false;
	if (r->status == 100)
		return true;
	if (wire_header(r, "transfer-encoding", value, sizeof(value))) {
		read_chunks(fd, r);
		return true;
	}
	assert_true(wire_header(r, "content-length", value, sizeof(value)));
	r->body_n = strtoul(value, NULL, 10);
	r->body = mem_alloc(r->body_n + 1);
	read_bytes(fd, r->body, r->body_n);
	r->body[r->body_n] = '\0';
	return true;
}

bool wire_is_closed(int fd)
{
	char c;

	return !read_byte(fd, &c);
}

void wire_post(int fd, const char *operation, const char *more_headers, struct slice body)
{
	char head[1024];

	snprintf(head, sizeof(head),
		 "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.%s\r\n"
		 "Content-Type: application/x-amz-json-1.0\r\n%sContent-Length: %zu\r\n\r\n",
		 operation, more_headers, body.n);
	wire_send_text(fd, head);
	wire_send(fd, body.p, body.n);
}

bool wire_call(int fd, const char *operation, const char *body, int status, const char *expected)
{
	struct wire_reply r;
	bool same;

	wire_post(fd, operation, "", slice_str(body));
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, status);
	same = r.body_n == strlen(expected) && memcmp(r.body, expected, r.body_n) == 0;
	mem_free(r.body);
	return same;
}
