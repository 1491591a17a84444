/* libthorpe: DynamoDB's operations called in process, by several threads, across a reopen.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "thorpe.h"

#define THREADS 4
#define ADDS    50

static int call(struct thorpe *db, const char *op, const char *body, const char *expected)
{
	struct thorpe_reply r;
	int status;

	thorpe_call(db, op, body, strlen(body), &r);
	status = r.status;
	assert_int_equal(strlen(r.body), r.size);
	if (expected && !strstr(r.body, expected))
		fail_msg("%s: %s", op, r.body);
	thorpe_reply_free(&r);
	return status;
}

static const char create[] = "{\"TableName\":\"counters\",\"BillingMode\":\"PAY_PER_REQUEST\","
			     "\"AttributeDefinitions\":[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],"
			     "\"KeySchema\":[{\"AttributeName\":\"id\",\"KeyType\":\"HASH\"}]}";
static const char add[] = "{\"TableName\":\"counters\",\"Key\":{\"id\":{\"S\":\"c\"}},"
			  "\"UpdateExpression\":\"ADD n :one\",\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}}}";
static const char get[] = "{\"TableName\":\"counters\",\"Key\":{\"id\":{\"S\":\"c\"}}}";

static struct thorpe *open_db(const char *dir)
{
	struct thorpe *db;
	char why[256];

	if (!thorpe_open(&(struct thorpe_options){ .dir = dir, .relaxed = true }, &db, why, sizeof(why)))
		fail_msg("%s", why);
	return db;
}

static void *add_many(void *db)
{
	intptr_t failed = 0;

	for (int i = 0; i < ADDS; i++) {
		struct thorpe_reply r;

		thorpe_call(db, "UpdateItem", add, strlen(add), &r);
		failed += r.status != 200;
		thorpe_reply_free(&r);
	}
	return (void *)failed;
}

static void threads_add_up_and_a_reopen_finds_the_sum(void **state)
{
	char dir[] = "/tmp/thorpe-embed-XXXXXX", command[64];
	pthread_t threads[THREADS];
	struct thorpe *db;

	assert_non_null(mkdtemp(dir));
	db = open_db(dir);
	assert_int_equal(call(db, "CreateTable", create, "\"TableName\":\"counters\""), 200);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, db), 0);
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
	thorpe_close(db);
	db = open_db(dir);
	assert_int_equal(call(db, "GetItem", get, "\"n\":{\"N\":\"200\"}"), 200);
	thorpe_close(db);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void errors_are_dynamodbs_documents(void **state)
{
	struct thorpe *db = open_db(NULL);

	assert_int_equal(call(db, "GetItem", get, "ResourceNotFoundException"), 400);
	assert_int_equal(call(db, "Fly", "{}", "UnknownOperationException"), 400);
	assert_int_equal(call(db, "GetItem", "{", "SerializationException"), 400);
	assert_int_equal(call(db, "ListStreams", "{}", "\"Streams\":[]"), 200);
	thorpe_close(db);
}

static void a_directory_that_cannot_be_made_is_explained(void **state)
{
	struct thorpe *db;
	char why[256] = "";

	assert_false(thorpe_open(&(struct thorpe_options){ .dir = "/dev/null/no" }, &db, why, sizeof(why)));
	assert_true(strlen(why) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_add_up_and_a_reopen_finds_the_sum),
		cmocka_unit_test(errors_are_dynamodbs_documents),
		cmocka_unit_test(a_directory_that_cannot_be_made_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
