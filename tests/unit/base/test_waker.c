/* Waiting of background threads: a wake is never lost, a stop ends every wait.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/waker.h"

#define LONG_MS 60000 /* longer than the test may take */

static void a_wake_before_the_wait_is_not_lost_and_counts_once(void **state)
{
	struct waker w;
	int64_t before;

	(void)state;
	waker_init(&w);
	waker_wake(&w);
	waker_wake(&w);
	assert_true(waker_wait(&w, LONG_MS));
	before = clock_monotonic_us();
	assert_true(waker_wait(&w, 20)); /* not woken again: it waits until the time */
	assert_true(clock_monotonic_us() - before >= 20000);
	waker_release(&w);
}

static void a_stop_ends_every_wait(void **state)
{
	struct waker w;

	(void)state;
	waker_init(&w);
	assert_true(waker_wait(&w, 0));
	waker_stop(&w);
	assert_false(waker_wait(&w, LONG_MS));
	waker_wake(&w);
	assert_false(waker_wait(&w, 0));
	waker_release(&w);
}

struct waiting {
	struct waker w;
	int rounds;
};

static void *wait_on(void *arg)
{
	struct waiting *x = arg;

	while (waker_wait(&x->w, LONG_MS))
		x->rounds++;
	return NULL;
}

static void a_thread_that_waits_is_woken_and_stopped(void **state)
{
	struct waiting x = { .rounds = 0 };
	pthread_t thread;

	(void)state;
	waker_init(&x.w);
	waker_wake(&x.w);
	assert_int_equal(pthread_create(&thread, NULL, wait_on, &x), 0);
	waker_wake(&x.w);
	waker_stop(&x.w);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_in_range(x.rounds, 0, 2);
	waker_release(&x.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wake_before_the_wait_is_not_lost_and_counts_once),
		cmocka_unit_test(a_stop_ends_every_wait),
		cmocka_unit_test(a_thread_that_waits_is_woken_and_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
