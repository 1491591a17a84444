/* Requests at a steady rate, whatever the server does: how long each takes from the moment it was due.
 *
 *   steady PORT TEMPLATES RATE SECONDS CONNECTIONS START
 *
 * A load generator that waits for an answer before it asks again does not notice a pause: nothing was
 * asked meanwhile. Here a request that is due while all connections are busy waits, and that counts.
 *
 * It shares the processors with the server and can be late itself: `late_p99_us` says how late, from when a
 * request was due and a connection free. All times include that.
 * Prints one JSON document.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "template.h"

#define READ_BYTES      (256 << 10)
#define HEAD_BYTES      4096
#define LAST_ANSWERS_US 5000000

struct connection {
	int fd;
	uint64_t due;          /* of the request under way */
	char head[HEAD_BYTES]; /* as much of the answer as was needed to know its length */
	size_t head_size;
	size_t left; /* of the body; only once in_body */
	bool busy, in_body;
};

static struct connection *all, **idle; /* idle: a ring, so that all connections take turns, whoever serves them */
static size_t connection_count, idle_first, idle_count;
static uint64_t free_since; /* when there was an idle connection again after there had been none */
static uint32_t *times;
static size_t done, errors;
static char first_error[80];

static int dial(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		quit("cannot connect to port %d: %s", port, strerror(errno));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void failed(const char *why)
{
	if (!errors++)
		snprintf(first_error, sizeof(first_error), "%.70s", why);
}

static void put_idle(struct connection *c)
{
	if (!idle_count)
		free_since = now_us();
	idle[(idle_first + idle_count++) % connection_count] = c;
}

static struct connection *take_idle(void)
{
	struct connection *c = idle[idle_first];

	idle_first = (idle_first + 1) % connection_count;
	idle_count--;
	return c;
}

/* Blocking: a request fits into the socket's empty buffer, so it does not block. */
static void send_request(struct connection *c, const struct template *t, uint64_t due)
{
	c->due = due;
	c->busy = true;
	c->in_body = false;
	c->head_size = 0;
	if (send(c->fd, t->text, t->size, MSG_NOSIGNAL) != (ssize_t)t->size)
		quit("cannot send: %s", strerror(errno));
}

static void answered(struct connection *c)
{
	if (c->head[9] == '2')
		times[done++] = (uint32_t)(now_us() - c->due);
	else
		failed(c->head);
	c->busy = false;
	put_idle(c);
}

/* Takes what belongs to the head. False: it is not whole yet. */
static bool take_head(struct connection *c, const char *p, size_t n, size_t *used)
{
	size_t room = HEAD_BYTES - 1 - c->head_size, take = n < room ? n : room, before = c->head_size;
	const char *end, *length;

	memcpy(c->head + c->head_size, p, take);
	c->head_size += take;
	c->head[c->head_size] = 0;
	end = strstr(c->head, "\r\n\r\n");
	if (!end) {
		if (c->head_size == HEAD_BYTES - 1)
			quit("an answer's head has more than %d bytes", HEAD_BYTES);
		*used = take;
		return false;
	}
	*used = (size_t)(end + 4 - c->head) - before;
	length = strcasestr(c->head, "content-length:");
	c->left = length && length < end ? strtoul(length + 15, NULL, 10) : 0;
	c->in_body = true;
	return true;
}

static void on_readable(struct connection *c, char *buffer)
{
	ssize_t n = recv(c->fd, buffer, READ_BYTES, MSG_DONTWAIT);
	size_t used = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		quit("the server closed a connection");
	if (!c->in_body && !take_head(c, buffer, (size_t)n, &used))
		return;
	c->left -= (size_t)n - used < c->left ? (size_t)n - used : c->left;
	if (!c->left)
		answered(c);
}

static void wait_for_answers(int poll, char *buffer, uint64_t until)
{
	struct epoll_event events[64];
	uint64_t now = now_us(), left = until > now ? until - now : 0;
	struct timespec timeout = { .tv_sec = (time_t)(left / 1000000), .tv_nsec = (long)(left % 1000000 * 1000) };
	int n = epoll_pwait2(poll, events, 64, &timeout, NULL);

	for (int i = 0; i < n; i++)
		on_readable(events[i].data.ptr, buffer);
}

static void open_all(int poll, int port, size_t n)
{
	connection_count = n;
	all = mem_zalloc(n * sizeof(*all));
	idle = mem_zalloc(n * sizeof(*idle));
	if (!all || !idle)
		quit("out of memory");
	for (size_t i = 0; i < n; i++) {
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = &all[i] };

		all[i].fd = dial(port);
		put_idle(&all[i]);
		if (epoll_ctl(poll, EPOLL_CTL_ADD, all[i].fd, &e))
			quit("epoll: %s", strerror(errno));
	}
}

static uint64_t due_at(uint64_t start, size_t n, double rate)
{
	return start + (uint64_t)((double)n * 1e6 / rate);
}

/* What was never answered, or never sent, has taken at least until now: a percentile must see it. */
static size_t add_unanswered(size_t sent, size_t total, uint64_t start, double rate)
{
	uint64_t now = now_us();
	size_t n = done;

	for (size_t i = 0; i < connection_count; i++)
		if (all[i].busy)
			times[n++] = (uint32_t)(now - all[i].due);
	for (size_t i = sent; i < total; i++)
		times[n++] = (uint32_t)(now - due_at(start, i, rate));
	return n;
}

int main(int argc, char **argv)
{
	struct templates templates;
	double rate = argc == 7 ? strtod(argv[3], NULL) : 0, seconds = argc == 7 ? strtod(argv[4], NULL) : 0;
	size_t connections = argc == 7 ? strtoul(argv[5], NULL, 10) : 0, total = (size_t)(rate * seconds), sent = 0;
	int poll = epoll_create1(0);
	char *buffer = mem_alloc(READ_BYTES);
	uint32_t *late;
	uint64_t start, end;

	if (!total || !connections || connections > 4096)
		quit("steady PORT TEMPLATES RATE SECONDS CONNECTIONS START");
	templates_read(&templates, argv[2], strtoull(argv[6], NULL, 10), 0, 1);
	times = mem_alloc(total * sizeof(*times));
	late = mem_alloc(total * sizeof(*late));
	if (!times || !late || !buffer)
		quit("out of memory");
	open_all(poll, (int)strtol(argv[1], NULL, 10), connections);
	/* The kernel lets a sleeper lie for 50 µs longer, unless it is told. */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	start = now_us();
	end = start + (uint64_t)(seconds * 1e6) + LAST_ANSWERS_US;
	while (done + errors < total && now_us() < end) {
		uint64_t now = now_us(), next = end;

		while (sent < total && idle_count) {
			next = due_at(start, sent, rate);
			if (next > now)
				break;
			late[sent] = (uint32_t)(now_us() - (next > free_since ? next : free_since));
			send_request(take_idle(), template_next(&templates, UINT32_MAX), next);
			sent++;
		}
		wait_for_answers(poll, buffer, sent < total && idle_count ? next : end);
	}
	errors += sent - done - errors;
	printf("{\"requests\": %zu, \"unsent\": %zu, \"errors\": %zu, \"rate\": %.1f, ", done, total - sent, errors,
	       rate);
	sort_times(late, sent);
	printf("\"late_p99_us\": %u, ", sent ? late[sent * 99 / 100] : 0);
	print_latencies(times, add_unanswered(sent, total, start, rate));
	printf("}\n");
	mem_free(late);
	if (errors)
		fprintf(stderr, "bench: %zu requests failed, the first with: %s\n", errors, first_error);
	templates_release(&templates);
	return 0;
}
