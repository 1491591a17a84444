/* Requests that workers answer: order, refusal, clients that leave, the end of the server.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "http/connection/exchange.h"

#include "wire.h"

/* Workers that run /gate wait until it is opened. */
static struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int waiting, passed, locals;
	bool open;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void gate_pass(void)
{
	pthread_mutex_lock(&gate.lock);
	gate.waiting++;
	pthread_cond_broadcast(&gate.changed);
	while (!gate.open)
		pthread_cond_wait(&gate.changed, &gate.lock);
	gate.waiting--;
	gate.passed++;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

static void gate_set(bool open)
{
	pthread_mutex_lock(&gate.lock);
	gate.open = open;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
}

static void gate_await(int waiting)
{
	pthread_mutex_lock(&gate.lock);
	while (gate.waiting < waiting)
		pthread_cond_wait(&gate.changed, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
}

/* Which hashing requests were done, in their order. Of one thread. */
static char order[256];

static void note_order(struct slice said)
{
	size_t n = strlen(order);

	snprintf(order + n, sizeof(order) - n, "%.*s ", SLICE_ARG(said));
}

static void run(struct exchange_work *w, struct arena *a, void *local)
{
	const struct slice *said = w->ctx;

	assert_non_null(local);
	if (slice_starts(*said, SLICE("memory"))) { /* the first block is the request's; this one is new */
		alloc_fail_after(0);
		arena_alloc(a, 1024 * 1024);
	}
	if (slice_starts(*said, SLICE("hash")) && !w->may_hash) {
		w->hashes = true;
		w->status = 503;
		w->body = SLICE("hashers are busy");
		return;
	}
	if (!slice_starts(*said, SLICE("quick")))
		gate_pass();
	if (slice_starts(*said, SLICE("hash")))
		note_order(*said);
	w->status = 201;
	w->type = SLICE("text/plain");
	w->body = arena_printf(a, "did %.*s", SLICE_ARG(*said));
	w->headers = SLICE("Location: /here\r\n");
}

static void handle(struct exchange *ex, void *ctx)
{
	struct slice *said = arena_new(&ex->arena, struct slice);

	(void)ctx;
	*said = ex->req.body;
	(void)exchange_client(ex);
	if (!exchange_work(ex, run, said))
		exchange_reply_with(ex, 503, SLICE("text/plain"), SLICE("busy"), SLICE("Retry-After: 1\r\n"));
}

static void handle_empty(struct exchange *ex, void *ctx)
{
	(void)ctx;
	exchange_reply_with(ex, ex->req.method == HTTP_DELETE ? 204 : 304, SLICE(""), SLICE(""),
			    SLICE("ETag: \"1\"\r\n"));
}

static void *local_make(void *ctx)
{
	(void)ctx;
	__atomic_fetch_add(&gate.locals, 1, __ATOMIC_SEQ_CST);
	return mem_alloc(1);
}

static void local_drop(void *local)
{
	__atomic_fetch_sub(&gate.locals, 1, __ATOMIC_SEQ_CST);
	mem_free(local);
}

static struct wire wire;

static struct proxies loopback;

static int start(void **state)
{
	static const struct http_route routes[] = {
		{ HTTP_POST, "/work", 0, handle, NULL },
		{ HTTP_DELETE, "/nothing", 0, handle_empty, NULL },
		{ HTTP_GET, "/nothing", 0, handle_empty, NULL },
	};

	(void)state;
	gate.open = false;
	gate.waiting = gate.passed = 0;
	order[0] = '\0';
	loopback.count = 0;
	assert_true(proxies_add(&loopback, "127.0.0.0/8", NULL, 0));
	wire_start(&wire, &(struct server_options){
				  .routes = routes,
				  .route_count = 3,
				  .limits = { .workers = 4, .waiting = 3, .hashers = 1, .hash_waiting = 6 },
				  .proxies = &loopback,
				  .local = { local_make, local_drop },
			  });
	return 0;
}

static int stop(void **state)
{
	(void)state;
	gate_set(true);
	wire_stop(&wire);
	return __atomic_load_n(&gate.locals, __ATOMIC_SEQ_CST);
}

static void post(int fd, const char *body)
{
	char text[256];

	snprintf(text, sizeof(text), "POST /work HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", strlen(body),
		 body);
	wire_send_text(fd, text);
}

static void expect(int fd, int status, const char *body)
{
	struct wire_reply r;

	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, status);
	assert_string_equal(r.body, body);
	mem_free(r.body);
}

static void a_worker_answers(void **state)
{
	int fd = wire_connect(&wire);
	struct wire_reply r;
	char value[64];

	(void)state;
	post(fd, "quick");
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 201);
	assert_true(wire_header(&r, "location", value, sizeof(value)));
	assert_string_equal(value, "/here");
	mem_free(r.body);
	close(fd);
}

static void waiting_requests_do_not_delay_others(void **state)
{
	int slow = wire_connect(&wire), fast = wire_connect(&wire);

	(void)state;
	post(slow, "slow");
	gate_await(1);
	post(fast, "quick");
	expect(fast, 201, "did quick");
	assert_true(wire_call(fast, "Echo", "{}", 200, "{}"));
	gate_set(true);
	expect(slow, 201, "did slow");
	close(slow);
	close(fast);
}

static void pipelined_requests_are_done_one_after_the_other(void **state)
{
	int fd = wire_connect(&wire);

	(void)state;
	post(fd, "slow one");
	post(fd, "quick two");
	wire_post(fd, "Echo", "", SLICE("three"));
	gate_await(1);
	gate_set(true);
	expect(fd, 201, "did slow one");
	expect(fd, 201, "did quick two");
	expect(fd, 200, "three");
	close(fd);
}

static bool metrics_say(int fd, const char *line)
{
	struct wire_reply r;
	bool said;

	wire_send_text(fd, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(wire_read(fd, &r));
	said = strstr(r.body, line) != NULL;
	mem_free(r.body);
	return said;
}

static void beyond_the_queue_it_is_503_and_then_well_again(void **state)
{
	struct wire_reply r;
	char value[16];
	int fds[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		fds[i] = wire_connect(&wire);
	for (int i = 0; i < 4; i++)
		post(fds[i], "running");
	gate_await(4);
	for (int i = 4; i < 7; i++)
		post(fds[i], "waiting");
	while (!metrics_say(fds[7], "\nthorpe_http_waiting 3\n"))
		; /* they come in on other loops */
	post(fds[7], "quick");
	assert_true(wire_read(fds[7], &r));
	assert_int_equal(r.status, 503);
	assert_true(wire_header(&r, "retry-after", value, sizeof(value)));
	mem_free(r.body);
	gate_set(true);
	for (int i = 0; i < 7; i++)
		expect(fds[i], 201, i < 4 ? "did running" : "did waiting");
	post(fds[7], "quick");
	expect(fds[7], 201, "did quick");
	for (int i = 0; i < 8; i++)
		close(fds[i]);
}

static void hash_for(int fd, const char *client, const char *body)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "POST /work HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\nContent-Length: %zu\r\n\r\n%s", client,
		 strlen(body), body);
	wire_send_text(fd, text);
}

static void await_metric(int fd, const char *line)
{
	while (!metrics_say(fd, line))
		;
}

static void hashing_takes_no_worker(void **state)
{
	int fds[7], other = wire_connect(&wire);

	(void)state;
	for (int i = 0; i < 7; i++) {
		char client[32];

		fds[i] = wire_connect(&wire);
		snprintf(client, sizeof(client), "192.0.2.%d", i);
		hash_for(fds[i], client, "hash");
	}
	gate_await(1);
	await_metric(other, "\nthorpe_http_hash_waiting 6\n");
	assert_true(metrics_say(other, "\nthorpe_http_hashers 1\n"));
	assert_int_equal(gate.waiting, 1);
	post(other, "quick");
	expect(other, 201, "did quick");
	/* All seven places are taken: the next is refused with the reply that the worker has prepared. */
	hash_for(other, "192.0.2.9", "hash");
	expect(other, 503, "hashers are busy");
	assert_true(metrics_say(other, "\nthorpe_http_hash_busy_total 1\n"));
	gate_set(true);
	for (int i = 0; i < 7; i++) {
		expect(fds[i], 201, "did hash");
		close(fds[i]);
	}
	close(other);
}

static void clients_take_turns_in_the_queue_of_hashes(void **state)
{
	static const char *const bodies[] = { "hash a0", "hash a1", "hash a2", "hash a3", "hash b1", "hash b2" };
	int fds[6], look = wire_connect(&wire);
	char line[64];

	(void)state;
	for (int i = 0; i < 6; i++) {
		fds[i] = wire_connect(&wire);
		hash_for(fds[i], i < 4 ? "192.0.2.1" : "2001:db8::1", bodies[i]);
		if (!i)
			gate_await(1);
		snprintf(line, sizeof(line), "\nthorpe_http_hash_waiting %d\n", i);
		await_metric(look, line);
	}
	gate_set(true);
	for (int i = 0; i < 6; i++) {
		struct wire_reply r;

		assert_true(wire_read(fds[i], &r));
		assert_int_equal(r.status, 201);
		mem_free(r.body);
		close(fds[i]);
	}
	assert_string_equal(order, "hash a0 hash a1 hash b1 hash a2 hash b2 hash a3 ");
	close(look);
}

static void one_client_has_half_of_that_queue(void **state)
{
	int fds[5], look = wire_connect(&wire);
	char line[64];

	(void)state;
	for (int i = 0; i < 5; i++)
		fds[i] = wire_connect(&wire);
	for (int i = 0; i < 4; i++) {
		hash_for(fds[i], "192.0.2.1", "hash");
		if (!i)
			gate_await(1);
		snprintf(line, sizeof(line), "\nthorpe_http_hash_waiting %d\n", i);
		await_metric(look, line);
	}
	hash_for(fds[4], "192.0.2.1", "hash");
	expect(fds[4], 503, "hashers are busy");
	hash_for(fds[4], "192.0.2.2", "hash");
	await_metric(look, "\nthorpe_http_hash_waiting 4\n");
	gate_set(true);
	for (int i = 0; i < 5; i++) {
		expect(fds[i], 201, "did hash");
		close(fds[i]);
	}
	close(look);
}

static void stopping_waits_for_queued_hashes(void **state)
{
	int first = wire_connect(&wire), second = wire_connect(&wire), look = wire_connect(&wire);

	(void)state;
	hash_for(first, "192.0.2.1", "hash");
	gate_await(1);
	hash_for(second, "192.0.2.1", "hash");
	await_metric(look, "\nthorpe_http_hash_waiting 1\n");
	close(first);
	server_stop(wire.server);
	gate_set(true);
	expect(second, 201, "did hash");
	wire_join(&wire);
	assert_int_equal(gate.passed, 2);
	close(second);
	close(look);
}

static void a_client_may_leave_while_a_worker_runs(void **state)
{
	int gone = wire_connect(&wire), here = wire_connect(&wire);

	(void)state;
	post(gone, "slow");
	post(gone, "quick, never begun");
	gate_await(1);
	close(gone);
	post(here, "quick");
	expect(here, 201, "did quick");
	gate_set(true);
	post(here, "quick");
	expect(here, 201, "did quick");
	close(here);
}

static void stopping_waits_for_workers(void **state)
{
	int fd = wire_connect(&wire), gone = wire_connect(&wire);

	(void)state;
	post(fd, "slow");
	post(gone, "slow");
	gate_await(2);
	close(gone);
	server_stop(wire.server);
	gate_set(true);
	expect(fd, 201, "did slow");
	assert_true(wire_is_closed(fd));
	wire_join(&wire);
	assert_int_equal(gate.passed, 2);
	close(fd);
}

static void memory_that_runs_out_is_a_500(void **state)
{
	int fd = wire_connect(&wire);
	struct wire_reply r;

	(void)state;
	post(fd, "memory");
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 500);
	assert_true(wire_is_closed(fd));
	mem_free(r.body);
	close(fd);
}

static void replies_without_a_body_do_not_say_how_long_it_is(void **state)
{
	static const char *const requests[] = { "DELETE /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
						"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" };
	int fd = wire_connect(&wire);
	char all[4096];
	size_t n = 0;
	ssize_t got;

	(void)state;
	for (int i = 0; i < 2; i++)
		wire_send_text(fd, requests[i]);
	while ((got = wire_recv(fd, all + n, sizeof(all) - 1 - n)) > 0)
		n += (size_t)got;
	all[n] = '\0';
	assert_non_null(strstr(all, "HTTP/1.1 204 No Content\r\n"));
	assert_non_null(strstr(all, "HTTP/1.1 304 Not Modified\r\n"));
	assert_null(strstr(all, "Content-Length"));
	close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_worker_answers),
		TEST(waiting_requests_do_not_delay_others),
		TEST(pipelined_requests_are_done_one_after_the_other),
		TEST(beyond_the_queue_it_is_503_and_then_well_again),
		TEST(hashing_takes_no_worker),
		TEST(clients_take_turns_in_the_queue_of_hashes),
		TEST(one_client_has_half_of_that_queue),
		TEST(stopping_waits_for_queued_hashes),
		TEST(a_client_may_leave_while_a_worker_runs),
		TEST(stopping_waits_for_workers),
		TEST(memory_that_runs_out_is_a_500),
		TEST(replies_without_a_body_do_not_say_how_long_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
