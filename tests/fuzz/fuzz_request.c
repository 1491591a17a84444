/* Any body for any operation: answered with a document, never a crash, and the database stays
 * right.
 *
 * The first byte picks the operation, the rest is the body. All inputs of a while meet one database
 * in memory, so that they find what earlier ones left; from time to time it is verified and begun
 * anew.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>

#include "api/api.h"
#include "api/op.h"
#include "base/log.h"
#include "json/json.h"

#define INPUTS_PER_CHECK    2000
#define INPUTS_PER_DATABASE 20000
#define TABLES_MOST         40
#define START_MS            1767225600000 /* 2026-01-01: seeds name the stream that is opened then */

static struct db *db;
static struct api *api;
static struct api_thread *caller;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static bool is_done;

static _Atomic int64_t now_ms; /* moves with the inputs, so that those that fail will fail again */

static int64_t now(void *ctx)
{
	(void)ctx;
	return now_ms;
}

static const struct clock clock_of_inputs = { .now_ms = now };

static void check(bool ok, const char *what, struct slice text)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %.*s\n", what, SLICE_ARG(text));
	abort();
}

static void on_done(struct api_call *c)
{
	(void)c;
	pthread_mutex_lock(&lock);
	is_done = true;
	pthread_cond_signal(&answered);
	pthread_mutex_unlock(&lock);
}

static int call(const char *service, const char *name, struct slice body)
{
	struct api_call c = { .body = body, .done = on_done };
	struct arena a;

	arena_init(&a);
	c.arena = &a;
	c.target = arena_printf(&a, "%s_20120810.%s", service, name);
	is_done = false;
	api_start(api, caller, &c);
	pthread_mutex_lock(&lock);
	while (!is_done)
		pthread_cond_wait(&answered, &lock);
	pthread_mutex_unlock(&lock);
	api_finish(&c);
	check(c.status == 200 || (c.status >= 400 && c.status < 500), name, c.reply);
	check((c.status == 200) == (c.error_type.n == 0), "an error and its name", c.error_type);
	/* TagResource and UntagResource answer with nothing. */
	check(c.reply.n == 0 || json_parse(&a, c.reply) != NULL, "the reply is not JSON", c.reply);
	arena_release(&a);
	return c.status;
}

static const char *const first_requests[][2] = {
	{ "CreateTable", "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\","
			 "\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"},"
			 "{\"AttributeName\":\"s\",\"KeyType\":\"RANGE\"}],"
			 "\"AttributeDefinitions\":[{\"AttributeName\":\"p\",\"AttributeType\":\"S\"},"
			 "{\"AttributeName\":\"s\",\"AttributeType\":\"N\"},"
			 "{\"AttributeName\":\"g\",\"AttributeType\":\"B\"}],"
			 "\"LocalSecondaryIndexes\":[{\"IndexName\":\"lsi\",\"Projection\":{\"ProjectionType\":\"ALL\"},"
			 "\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"},"
			 "{\"AttributeName\":\"g\",\"KeyType\":\"RANGE\"}]}],"
			 "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"gsi\","
			 "\"Projection\":{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"x\"]},"
			 "\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":\"HASH\"}]}],"
			 "\"StreamSpecification\":{\"StreamEnabled\":true,"
			 "\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"}}" },
	{ "UpdateTimeToLive", "{\"TableName\":\"tab\","
			      "\"TimeToLiveSpecification\":{\"Enabled\":true,\"AttributeName\":\"x\"}}" },
	{ "PutItem", "{\"TableName\":\"tab\",\"Item\":{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"1\"},\"g\":{\"B\":\"AA==\"},"
		     "\"x\":{\"N\":\"2\"},\"l\":{\"L\":[{\"M\":{\"k\":{\"SS\":[\"u\",\"v\"]}}}]}}}" },
};

static void open_database(void)
{
	struct db_options o = { .no_background = true, .clock = &clock_of_inputs };
	char why[256] = "";

	log_set_level(LOG_ERROR);
	now_ms = START_MS;
	if (db_open(&o, &db, why, sizeof(why)) != STORE_OPENED)
		check(false, "cannot open", slice_str(why));
	api = api_new(&(struct api_options){ .db = db });
	caller = api_thread_new(api);
	for (size_t i = 0; i < sizeof(first_requests) / sizeof(first_requests[0]); i++)
		check(call("DynamoDB", first_requests[i][0], slice_str(first_requests[i][1])) == 200, "cannot begin",
		      slice_str(first_requests[i][0]));
}

static void close_database(void)
{
	api_thread_free(caller);
	api_free(api);
	db_close(db);
	db = NULL;
}

static void verify(void)
{
	struct buf report;
	struct arena a;

	arena_init(&a);
	buf_init(&report, &a);
	while (db_step(db))
		;
	check(db_verify(db, &report), "the database does not agree with itself", buf_slice(&report));
	arena_release(&a);
}

static bool has_many_tables(void)
{
	struct arena a;
	bool many;

	arena_init(&a);
	many = catalog_count(db_catalog(db, &a)) > TABLES_MOST;
	arena_release(&a);
	return many;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned inputs;
	const struct op *op;

	if (size == 0)
		return 0;
	if (!db)
		open_database();
	now_ms++;
	op = op_at(data[0] % op_count());
	call(op->flags & OP_STREAMS ? "DynamoDBStreams" : "DynamoDB", op->name, slice_make(data + 1, size - 1));
	if (++inputs % INPUTS_PER_CHECK == 0)
		verify();
	if (inputs % INPUTS_PER_DATABASE == 0 || has_many_tables()) {
		verify();
		close_database();
	}
	return 0;
}
