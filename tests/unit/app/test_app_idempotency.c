/* Answers that are remembered under an Idempotency-Key.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "app/rest/idempotency.h"
#include "base/alloc.h"

#define MINUTE 60000

struct memory {
	struct arena arena;
	struct idempotency *table;
	struct answer answer;
	struct idempotency_ticket *ticket;
};

static void open_memory(struct memory *m)
{
	memset(m, 0, sizeof(*m));
	arena_init(&m->arena);
	m->table = idempotency_new();
	assert_non_null(m->table);
}

static void close_memory(struct memory *m)
{
	arena_release(&m->arena);
	idempotency_free(m->table);
}

static enum idempotency_state begin(struct memory *m, int key, int digest, int64_t now_ms)
{
	struct idempotency_ask q = { .now_ms = now_ms };

	memcpy(q.key, &key, sizeof(key));
	memcpy(q.digest, &digest, sizeof(digest));
	return idempotency_begin(m->table, &m->arena, &q, &m->answer, &m->ticket);
}

static void end(struct memory *m, int status, const char *body)
{
	struct answer w = { .status = status,
			    .type = ANSWER_JSON,
			    .body = slice_str(body),
			    .location = SLICE("/a/b"),
			    .etag = SLICE("\"x\"") };

	idempotency_end(m->ticket, &w);
}

static void the_first_answer_is_given_again(void **state)
{
	struct memory m;

	(void)state;
	open_memory(&m);
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_NEW);
	end(&m, 201, "{\"a\":1}");
	assert_int_equal(begin(&m, 1, 1, 9 * MINUTE), IDEMPOTENCY_DONE);
	assert_int_equal(m.answer.status, 201);
	assert_true(slice_is(m.answer.body, "{\"a\":1}"));
	assert_true(slice_is(m.answer.location, "/a/b"));
	assert_true(slice_is(m.answer.etag, "\"x\""));
	assert_int_equal(begin(&m, 2, 1, 9 * MINUTE), IDEMPOTENCY_NEW);
	end(&m, 204, "");
	assert_int_equal(begin(&m, 2, 1, 9 * MINUTE), IDEMPOTENCY_DONE);
	assert_int_equal(m.answer.status, 204);
	close_memory(&m);
}

static void another_request_under_the_same_key_is_recognized(void **state)
{
	struct memory m;

	(void)state;
	open_memory(&m);
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_NEW);
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_RUNNING);
	assert_int_equal(begin(&m, 1, 2, 0), IDEMPOTENCY_OTHER);
	close_memory(&m);
}

static void ten_minutes_are_remembered(void **state)
{
	struct memory m;

	(void)state;
	open_memory(&m);
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_NEW);
	end(&m, 200, "old");
	assert_int_equal(begin(&m, 1, 2, 10 * MINUTE), IDEMPOTENCY_NEW);
	end(&m, 200, "new");
	assert_int_equal(begin(&m, 1, 2, 11 * MINUTE), IDEMPOTENCY_DONE);
	assert_true(slice_is(m.answer.body, "new"));
	close_memory(&m);
}

static void replies_that_may_change_are_not_remembered(void **state)
{
	static const int statuses[] = { 500, 503, 401, 429 };
	struct memory m;

	(void)state;
	open_memory(&m);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_NEW);
		end(&m, statuses[i], "no");
	}
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_NEW);
	end(&m, 409, "there");
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_DONE);
	close_memory(&m);
}

static void a_request_that_is_given_up_is_forgotten(void **state)
{
	struct memory m;

	(void)state;
	open_memory(&m);
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_NEW);
	arena_clear(&m.arena); /* as when memory runs out in the middle */
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_NEW);
	close_memory(&m);
}

static void the_oldest_make_room(void **state)
{
	struct memory m;

	(void)state;
	open_memory(&m);
	assert_int_equal(begin(&m, 0, 1, 0), IDEMPOTENCY_NEW); /* stays: it is still running */
	for (int i = 1; i <= 20001; i++) {
		assert_int_equal(begin(&m, i, 1, 0), IDEMPOTENCY_NEW);
		end(&m, 200, "x");
	}
	assert_int_equal(begin(&m, 20001, 1, 0), IDEMPOTENCY_DONE);
	assert_int_equal(begin(&m, 0, 1, 0), IDEMPOTENCY_RUNNING);
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_NEW);
	close_memory(&m);
}

static void without_memory_nothing_is_remembered(void **state)
{
	struct memory m;

	(void)state;
	open_memory(&m);
	assert_int_equal(begin(&m, 9, 1, 0), IDEMPOTENCY_NEW);
	alloc_fail_after(0);
	assert_int_equal(begin(&m, 1, 1, 0), IDEMPOTENCY_FULL);
	alloc_fail_never();
	assert_int_equal(begin(&m, 2, 1, 0), IDEMPOTENCY_NEW);
	alloc_fail_after(0);
	end(&m, 200, "x");
	alloc_fail_never();
	assert_int_equal(begin(&m, 2, 1, 0), IDEMPOTENCY_NEW);
	close_memory(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_answer_is_given_again),
		cmocka_unit_test(another_request_under_the_same_key_is_recognized),
		cmocka_unit_test(ten_minutes_are_remembered),
		cmocka_unit_test(replies_that_may_change_are_not_remembered),
		cmocka_unit_test(a_request_that_is_given_up_is_forgotten),
		cmocka_unit_test(the_oldest_make_room),
		cmocka_unit_test(without_memory_nothing_is_remembered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
