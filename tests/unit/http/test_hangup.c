/* Hooks of SIGHUP, and keys replaced while requests are verified. Certificates: tests/wire/reload.test.mjs.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"

#include "wire.h"

#define BOTH   "a secret-a\nb secret-b\n"
#define AUTH_A "YTpzZWNyZXQtYQ==" /* a:secret-a */
#define AUTH_B "YjpzZWNyZXQtYg==" /* b:secret-b */

static struct wire wire;

static struct keys *keys_of(const char *text)
{
	char why[200];
	struct keys *k = keys_parse(slice_str(text), "keys", why, sizeof(why));

	assert_non_null(k);
	return k;
}

static void start(const char *text)
{
	struct keys *k = text ? keys_of(text) : NULL;

	wire_start(&wire, &(struct server_options){ .keys = k, .threads = 3, .handle_signals = true });
	keys_free(k); /* the server has its share */
}

static int stop(void **state)
{
	(void)state;
	wire_stop(&wire);
	return 0;
}

/* The status of a request with this key, over a connection of its own. */
static int ask(const char *auth)
{
	int fd = wire_connect(&wire);
	struct wire_reply r;
	char text[200];

	snprintf(text, sizeof(text), "GET /metrics HTTP/1.1\r\nHost: h\r\nAuthorization: Basic %s\r\n\r\n", auth);
	wire_send_text(fd, text);
	assert_true(wire_read(fd, &r));
	mem_free(r.body);
	close(fd);
	return r.status;
}

static void await_status(const char *auth, int status)
{
	for (int i = 0; i < 2000; i++) {
		if (ask(auth) == status)
			return;
		usleep(1000);
	}
	fail_msg("in vain: %d", status);
}

/* ---- hooks ---- */

static atomic_int order[8], calls;

static void note(void *ctx)
{
	int n = atomic_load(&calls);

	if (n < 8)
		atomic_store(&order[n], *(int *)ctx);
	atomic_fetch_add(&calls, 1);
}

static void await_calls(int n)
{
	for (int i = 0; i < 20000 && atomic_load(&calls) < n; i++)
		usleep(1000);
	assert_int_equal(atomic_load(&calls), n);
}

static void hooks_run_in_their_order_each_time_by_call_and_by_signal(void **state)
{
	static int one = 1, two = 2;

	(void)state;
	atomic_store(&calls, 0);
	start(NULL);
	server_on_hangup(wire.server, note, &one);
	server_on_hangup(wire.server, note, &two);
	server_hangup(wire.server);
	await_calls(2);
	kill(getpid(), SIGHUP);
	await_calls(4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(atomic_load(&order[i]), i % 2 + 1);
	assert_int_equal(ask(AUTH_A), 200);
}

static void a_server_without_hooks_goes_on(void **state)
{
	(void)state;
	start(NULL);
	for (int i = 0; i < 20; i++)
		kill(getpid(), SIGHUP);
	server_hangup(wire.server);
	assert_int_equal(ask(AUTH_A), 200);
}

/* ---- keys ---- */

struct replacing {
	struct keys *next;
	int fail_after; /* allocations; < 0: never */
	atomic_int replaced, refused;
};

static void replace(void *ctx)
{
	struct replacing *r = ctx;
	bool done;

	if (r->fail_after >= 0)
		alloc_fail_after(r->fail_after);
	done = server_replace(wire.server, r->next, NULL);
	alloc_fail_never();
	atomic_fetch_add(done ? &r->replaced : &r->refused, 1);
}

static void other_keys_are_taken_and_old_ones_no_longer(void **state)
{
	struct replacing r = { .next = keys_of("b secret-b\n"), .fail_after = -1 };

	(void)state;
	start("a secret-a\n");
	server_on_hangup(wire.server, replace, &r);
	assert_int_equal(ask(AUTH_A), 200);
	assert_int_equal(ask(AUTH_B), 401);
	server_hangup(wire.server);
	await_status(AUTH_B, 200);
	await_status(AUTH_A, 401);
	keys_free(r.next);
	for (int i = 0; i < 30; i++) { /* on every loop */
		await_status(AUTH_B, 200);
		await_status(AUTH_A, 401);
	}
}

static void without_memory_the_old_keys_stay(void **state)
{
	struct replacing r = { .next = keys_of("b secret-b\n") };

	(void)state;
	start("a secret-a\n");
	server_on_hangup(wire.server, replace, &r);
	for (r.fail_after = 0; !atomic_load(&r.replaced); r.fail_after++) {
		int before = atomic_load(&r.refused) + atomic_load(&r.replaced);

		assert_true(r.fail_after < 20);
		server_hangup(wire.server);
		for (int i = 0; i < 20000 && atomic_load(&r.refused) + atomic_load(&r.replaced) == before; i++)
			usleep(1000);
		if (!atomic_load(&r.replaced))
			assert_int_equal(ask(AUTH_A), 200);
	}
	assert_true(atomic_load(&r.refused) >= 3);
	await_status(AUTH_B, 200);
	keys_free(r.next);
}

static atomic_bool asking;

static void *ask_all_the_time(void *unused)
{
	(void)unused;
	while (atomic_load(&asking))
		assert_int_equal(ask(AUTH_A), 200);
	return NULL;
}

static void requests_are_verified_while_keys_are_replaced_again_and_again(void **state)
{
	struct replacing r = { .next = keys_of(BOTH), .fail_after = -1 };
	pthread_t clients[4];

	(void)state;
	start("a secret-a\n");
	server_on_hangup(wire.server, replace, &r);
	atomic_store(&asking, true);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&clients[i], NULL, ask_all_the_time, NULL), 0);
	for (int i = 0; i < 200; i++) {
		int before = atomic_load(&r.replaced);

		server_hangup(wire.server);
		for (int k = 0; k < 20000 && atomic_load(&r.replaced) == before; k++)
			usleep(100);
	}
	atomic_store(&asking, false);
	for (int i = 0; i < 4; i++)
		pthread_join(clients[i], NULL);
	assert_true(atomic_load(&r.replaced) > 100);
	keys_free(r.next);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, stop)
	const struct CMUnitTest tests[] = {
		TEST(hooks_run_in_their_order_each_time_by_call_and_by_signal),
		TEST(a_server_without_hooks_goes_on),
		TEST(other_keys_are_taken_and_old_ones_no_longer),
		TEST(without_memory_the_old_keys_stay),
		TEST(requests_are_verified_while_keys_are_replaced_again_and_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
