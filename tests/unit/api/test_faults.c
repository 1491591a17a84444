/* Every operation with the 1st, 2nd, 3rd… allocation or store call failing: a clean reply each time, no
 * leak (ASan), and a database that agrees with itself afterwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "api/api.h"
#include "base/alloc.h"

#define ALLOCATIONS_MAX 400 /* more than any request here makes */
#define STORE_CALLS_MAX 40

struct fixture {
	struct db *db;
	struct api *api;
	struct api_thread *thread;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

static int setup(void **state)
{
	static struct fixture f;
	char why[256];

	memset(&f, 0, sizeof(f));
	if (db_open(&(struct db_options){ .no_background = true }, &f.db, why, sizeof(why)) != STORE_OPENED)
		return -1;
	f.api = api_new(&(struct api_options){ .db = f.db });
	f.thread = api_thread_new(f.api);
	pthread_mutex_init(&f.lock, NULL);
	pthread_cond_init(&f.cond, NULL);
	*state = &f;
	return f.api && f.thread ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	api_thread_free(f->thread);
	db_close(f->db);
	api_free(f->api);
	pthread_mutex_destroy(&f->lock);
	pthread_cond_destroy(&f->cond);
	return 0;
}

static void on_done(struct api_call *c)
{
	struct fixture *f = c->ctx;

	pthread_mutex_lock(&f->lock);
	f->done = true;
	pthread_cond_signal(&f->cond);
	pthread_mutex_unlock(&f->lock);
}

/* Runs one call with `allocations` of this thread succeeding before they fail (-1: none fails). */
static int call(struct fixture *f, const char *op, const char *body, long allocations)
{
	struct arena a;
	char target[80];
	struct api_call c = { .arena = &a, .done = on_done, .ctx = f, .body = slice_str(body) };
	int status;

	snprintf(target, sizeof(target), "%s.%s",
		 strstr(op, "Stream") || strstr(op, "Shard") || strstr(op, "Records") ? "DynamoDBStreams_20120810"
										      : "DynamoDB_20120810",
		 op);
	c.target = slice_str(target);
	arena_init(&a);
	f->done = false;
	if (allocations >= 0)
		alloc_fail_after(allocations);
	api_start(f->api, f->thread, &c);
	pthread_mutex_lock(&f->lock);
	while (!f->done)
		pthread_cond_wait(&f->cond, &f->lock);
	pthread_mutex_unlock(&f->lock);
	api_finish(&c);
	alloc_fail_never();
	status = c.status;
	assert_true(status == 200 || status == 400 || status == 500);
	assert_true(c.reply.n >= 2 && c.reply.p[0] == '{' && c.reply.p[c.reply.n - 1] == '}');
	if (allocations < 0 && status == 400)
		print_error("%s: %.*s\n", op, SLICE_ARG(c.reply));
	arena_release(&a);
	return status;
}

static void verify(struct fixture *f, const char *after)
{
	struct arena a;
	struct buf report;

	arena_init(&a);
	buf_init(&report, &a);
	if (!db_verify(f->db, &report))
		fail_msg("after %s: %.*s", after, SLICE_ARG(buf_slice(&report)));
	arena_release(&a);
}

#define KEY(k) "\"Key\":{\"pk\":{\"S\":\"" k "\"},\"sk\":{\"N\":\"1\"}}"

static const char create_table[] =
	"{\"TableName\":\"faults\",\"BillingMode\":\"PAY_PER_REQUEST\","
	"\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"},"
	"{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"},{\"AttributeName\":\"g\",\"AttributeType\":\"S\"}],"
	"\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}],"
	"\"LocalSecondaryIndexes\":[{\"IndexName\":\"lsi\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},"
	"{\"AttributeName\":\"g\",\"KeyType\":\"RANGE\"}],\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}],"
	"\"GlobalSecondaryIndexes\":[{\"IndexName\":\"gsi\",\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":\"HASH\"}],"
	"\"Projection\":{\"ProjectionType\":\"ALL\"}}],"
	"\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"}}";

/* In an order in which each succeeds when nothing fails, and may be repeated. */
/* clang-format off */
static const struct {
	const char *op, *body;
} calls[] = {
	{ "PutItem", "{\"TableName\":\"faults\",\"Item\":{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"},\"g\":{\"S\":\"x\"},"
		     "\"m\":{\"M\":{\"l\":{\"L\":[{\"N\":\"1\"},{\"BOOL\":true}]}}},\"ss\":{\"SS\":[\"p\",\"q\"]}},"
		     "\"ReturnValues\":\"ALL_OLD\",\"ReturnConsumedCapacity\":\"INDEXES\"}" },
	{ "UpdateItem", "{\"TableName\":\"faults\"," KEY("a") ",\"UpdateExpression\":\"SET #m.l[0] = :v ADD n :one "
			"DELETE ss :p REMOVE zz\",\"ConditionExpression\":\"attribute_exists(pk) OR size(g) > :one\","
			"\"ExpressionAttributeNames\":{\"#m\":\"m\"},\"ExpressionAttributeValues\":{\":v\":{\"S\":\"new\"},"
			"\":one\":{\"N\":\"1\"},\":p\":{\"SS\":[\"p\"]}},\"ReturnValues\":\"ALL_NEW\"}" },
	{ "GetItem", "{\"TableName\":\"faults\"," KEY("a") ",\"ProjectionExpression\":\"g, m.l[1]\"}" },
	{ "Query", "{\"TableName\":\"faults\",\"IndexName\":\"gsi\",\"KeyConditionExpression\":\"g = :g\","
		   "\"FilterExpression\":\"attribute_exists(m)\",\"ExpressionAttributeValues\":{\":g\":{\"S\":\"x\"}}}" },
	{ "Query", "{\"TableName\":\"faults\",\"IndexName\":\"lsi\",\"Select\":\"ALL_ATTRIBUTES\",\"KeyConditionExpression\":"
		   "\"pk = :p AND begins_with(g, :g)\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"a\"},\":g\":{\"S\":\"x\"}}}" },
	{ "Scan", "{\"TableName\":\"faults\",\"Segment\":0,\"TotalSegments\":1,\"Limit\":1}" },
	{ "BatchWriteItem", "{\"RequestItems\":{\"faults\":[{\"PutRequest\":{\"Item\":{\"pk\":{\"S\":\"b\"},\"sk\":{\"N\":\"1\"},"
			    "\"g\":{\"S\":\"y\"}}}},{\"DeleteRequest\":{" KEY("c") "}}]}}" },
	{ "BatchGetItem", "{\"RequestItems\":{\"faults\":{\"Keys\":[{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"}}]}}}" },
	{ "TransactWriteItems", "{\"TransactItems\":[{\"Put\":{\"TableName\":\"faults\",\"Item\":{\"pk\":{\"S\":\"t\"},"
				"\"sk\":{\"N\":\"1\"},\"g\":{\"S\":\"z\"}}}},{\"Update\":{\"TableName\":\"faults\"," KEY("u")
				",\"UpdateExpression\":\"ADD n :n\",\"ExpressionAttributeValues\":{\":n\":{\"N\":\"1\"}}}},"
				"{\"ConditionCheck\":{\"TableName\":\"faults\"," KEY("none")
				",\"ConditionExpression\":\"attribute_not_exists(pk)\"}}]}" },
	{ "TransactGetItems", "{\"TransactItems\":[{\"Get\":{\"TableName\":\"faults\"," KEY("t") "}}]}" },
	{ "DeleteItem", "{\"TableName\":\"faults\"," KEY("b") ",\"ReturnValues\":\"ALL_OLD\"}" },
	{ "DescribeTable", "{\"TableName\":\"faults\"}" },
	{ "ListTables", "{}" },
	{ "ListStreams", "{}" },
	{ "DescribeTimeToLive", "{\"TableName\":\"faults\"}" },
	{ "DescribeLimits", "{}" },
};
/* clang-format on */

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void each_allocation_failing_gives_a_clean_reply(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(call(f, "CreateTable", create_table, -1), 200);
	for (size_t i = 0; i < CALLS; i++) {
		long n = 0;

		while (n < ALLOCATIONS_MAX) {
			int status = call(f, calls[i].op, calls[i].body, n++);

			assert_int_not_equal(status, 400);
			if (!alloc_has_failed())
				break;
		}
		assert_true(n < ALLOCATIONS_MAX);
		verify(f, calls[i].op);
		assert_int_equal(call(f, calls[i].op, calls[i].body, -1), 200);
	}
}

static void creating_a_table_with_failing_allocations_leaves_none_by_half(void **state)
{
	struct fixture *f = *state;
	int status;
	long n = 0;

	do {
		status = call(f, "CreateTable", create_table, n++);
		assert_int_not_equal(status, 400);
		verify(f, "CreateTable");
		/* A 500 may also mean that only the reply could not be made: then the table is there, whole. */
		if (status != 200 && call(f, "Scan", "{\"TableName\":\"faults\"}", ALLOCATIONS_MAX) == 200)
			assert_int_equal(call(f, "DeleteTable", "{\"TableName\":\"faults\"}", -1), 200);
	} while (status != 200 && n < ALLOCATIONS_MAX);
	assert_int_equal(status, 200);
	assert_int_equal(call(f, "DeleteTable", "{\"TableName\":\"faults\"}", -1), 200);
	verify(f, "DeleteTable");
}

static void each_store_call_failing_gives_a_clean_reply(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(call(f, "CreateTable", create_table, -1), 200);
	for (size_t i = 0; i < CALLS; i++) {
		int status;
		long n = 0;

		do {
			store_fail_after(db_store(f->db), n++);
			status = call(f, calls[i].op, calls[i].body, -1);
			store_fail_after(db_store(f->db), -1);
			assert_int_not_equal(status, 400);
			verify(f, calls[i].op);
		} while (status == 500 && n < STORE_CALLS_MAX);
		assert_int_equal(status, 200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_allocation_failing_gives_a_clean_reply, setup, teardown),
		cmocka_unit_test_setup_teardown(creating_a_table_with_failing_allocations_leaves_none_by_half, setup,
						teardown),
		cmocka_unit_test_setup_teardown(each_store_call_failing_gives_a_clean_reply, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
