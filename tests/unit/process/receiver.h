/* A receiver: an HTTP server in a thread of the test that records requests and sends prepared replies.
 *
 *     receiver_start();                         receiver.port
 *     receiver_answer("500 Sorry", "", "");     from now on; a reply for each request: receiver_then()
 *     wait_until(receiver_count() == 3);
 *     receiver_stop();
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_RECEIVER_H
#define THORPE_TESTS_RECEIVER_H

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RECEIVED_MOST 4096
#define SCRIPT_MOST   64

struct received {
	char *text; /* the whole request, NUL-terminated */
	char *body;
};

static struct receiver {
	int fd, port;
	pthread_t thread;
	pthread_mutex_t lock;
	char *usual, *script[SCRIPT_MOST]; /* replies; script ones first */
	size_t script_count, script_next;
	char *(*make)(const struct received *q); /* a body for the usual 200 reply; NULL: none */
	struct received list[RECEIVED_MOST];
	size_t count;
	bool hangs; /* reads and never answers */
} receiver = { .lock = PTHREAD_MUTEX_INITIALIZER };

#define wait_until(condition)                                                      \
	do {                                                                       \
		int left_ = 20000;                                                 \
		while (!(condition) && left_-- > 0)                                \
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL); \
		if (left_ <= 0)                                                    \
			fail_msg("waited in vain for: %s", #condition);            \
	} while (0)

static inline char *receiver_reply(const char *status, const char *headers, const char *body)
{
	char *text = NULL;

	if (asprintf(&text, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n%s\r\n%s", status, strlen(body),
		     headers, body) < 0)
		abort();
	return text;
}

static inline void receiver_answer(const char *status, const char *headers, const char *body)
{
	pthread_mutex_lock(&receiver.lock);
	free(receiver.usual);
	receiver.usual = receiver_reply(status, headers, body);
	pthread_mutex_unlock(&receiver.lock);
}

/* The next request that has none yet gets this one. */
static inline void receiver_then(char *reply)
{
	pthread_mutex_lock(&receiver.lock);
	receiver.script[receiver.script_count++] = reply;
	pthread_mutex_unlock(&receiver.lock);
}

static inline size_t receiver_count(void)
{
	size_t n;

	pthread_mutex_lock(&receiver.lock);
	n = receiver.count;
	pthread_mutex_unlock(&receiver.lock);
	return n;
}

static inline bool receiver_read(int fd, struct received *q)
{
	size_t n = 0, room = 1 << 16, length = 0;
	char *text = malloc(room), *end = NULL, *at;

	for (;;) {
		ssize_t got = read(fd, text + n, room - n - 1);

		if (got <= 0)
			break;
		n += (size_t)got;
		text[n] = 0;
		if (!end && (end = strstr(text, "\r\n\r\n"))) {
			at = strcasestr(text, "\r\nContent-Length:");
			length = at ? strtoul(at + 17, NULL, 10) : 0;
		}
		if (end && n >= (size_t)(end + 4 - text) + length) {
			*q = (struct received){ .text = text, .body = end + 4 };
			return true;
		}
		if (n + 1 == room) {
			size_t offset = end ? (size_t)(end - text) : 0;

			text = realloc(text, room *= 2);
			end = end ? text + offset : NULL;
		}
	}
	free(text);
	return false;
}

static inline char *receiver_next(const struct received *q)
{
	char *body, *reply;

	if (receiver.script_next < receiver.script_count)
		return strdup(receiver.script[receiver.script_next++]);
	body = receiver.make ? receiver.make(q) : NULL;
	reply = body ? receiver_reply("200 OK", "", body) : strdup(receiver.usual);
	free(body);
	return reply;
}

static inline void receiver_serve_one(int fd)
{
	struct received q;
	char *reply;

	if (!receiver_read(fd, &q))
		return;
	pthread_mutex_lock(&receiver.lock);
	reply = receiver.hangs ? NULL : receiver_next(&q);
	receiver.list[receiver.count++] = q;
	pthread_mutex_unlock(&receiver.lock);
	if (!reply) /* until the other side has had enough */
		(void)!read(fd, &(char){ 0 }, 1);
	for (size_t sent = 0, n = reply ? strlen(reply) : 0; sent < n;) {
		ssize_t done = send(fd, reply + sent, n - sent, MSG_NOSIGNAL);

		if (done <= 0)
			break;
		sent += (size_t)done;
	}
	free(reply);
}

static inline void *receiver_run(void *ctx)
{
	int fd;

	(void)ctx;
	while ((fd = accept(receiver.fd, NULL, NULL)) >= 0) {
		receiver_serve_one(fd);
		close(fd);
	}
	return NULL;
}

static inline void receiver_start(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);

	receiver.fd = socket(AF_INET, SOCK_STREAM, 0);
	receiver.make = NULL;
	receiver.hangs = false;
	receiver_answer("200 OK", "", "");
	assert_int_equal(bind(receiver.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(receiver.fd, 16), 0);
	assert_int_equal(getsockname(receiver.fd, (struct sockaddr *)&at, &n), 0);
	receiver.port = ntohs(at.sin_port);
	assert_int_equal(pthread_create(&receiver.thread, NULL, receiver_run, NULL), 0);
}

static inline void receiver_forget(void)
{
	pthread_mutex_lock(&receiver.lock);
	for (size_t i = 0; i < receiver.count; i++)
		free(receiver.list[i].text);
	for (size_t i = 0; i < receiver.script_count; i++)
		free(receiver.script[i]);
	receiver.count = receiver.script_count = receiver.script_next = 0;
	pthread_mutex_unlock(&receiver.lock);
}

static inline void receiver_stop(void)
{
	shutdown(receiver.fd, SHUT_RDWR);
	pthread_join(receiver.thread, NULL);
	close(receiver.fd);
	receiver_forget();
	free(receiver.usual);
	receiver.usual = NULL;
}

/* A header's value, up to the end of its line, copied; NULL: none. */
static inline char *received_header(const struct received *q, const char *name)
{
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), "\r\n%s: ", name);
	at = strcasestr(q->text, line);
	if (!at)
		return NULL;
	at += strlen(line);
	return strndup(at, strcspn(at, "\r"));
}

#endif
