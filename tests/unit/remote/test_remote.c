/* Calls to a database that replies, does not, replies late or twice, and what callers get.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "env.h"
#include "remote/remote.h"
#include "standin.h"
#include "wire/gzip.h"

#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define TOKENS 8192

/* ---- a scripted database ---- */

enum mischief {
	GOOD,
	DROPS_BEFORE, /* the request is read and thrown away */
	DROPS_AFTER,  /* it is carried out, and nobody is told */
	HALF_A_REPLY,
	FAILS, /* 500, carried out */
	THROTTLES,
	LATE, /* carried out, told too late */
	DAMAGED,
	SKEWED,
	EXPIRED,
	OTHER, /* `fn` */
};

struct world {
	enum mischief first[8]; /* of the requests, one after the other; then `always` */
	unsigned firsts;
	enum mischief always;
	standin_fn *fn;
	int delay_ms;
	const char *headers;
	unsigned chance; /* of 100 requests so many meet one of the faults above */
	unsigned seed;
	/* What was seen: */
	unsigned done;       /* writes that were carried out */
	unsigned same_token; /* writes that were not, their token being known */
	char tokens[TOKENS][40];
	unsigned token_count;
	char last_target[64], last_body[4096], last_date[32], last_key[300], last_head[4096];
};

static struct world world;
static struct standin *server;
static struct test_env env;
static struct remote *remote;
static struct backend *backend;
static struct arena arena;
static char why[1300];

static int64_t wall_ms = 1763431200000LL;
static int64_t test_now(void *ctx)
{
	(void)ctx;
	return wall_ms;
}
static const struct clock test_clock = { .now_ms = test_now };

static void carry_out(const struct standin_request *q)
{
	const char *token = strstr(q->body, "\"ClientRequestToken\":\"");

	if (!strstr(standin_header(q, "x-amz-target"), "Write") && !strstr(standin_header(q, "x-amz-target"), "PutItem"))
		return;
	if (!token) {
		world.done++;
		return;
	}
	token += 22;
	for (unsigned i = 0; i < world.token_count; i++)
		if (!strncmp(world.tokens[i], token, 32)) {
			world.same_token++;
			return;
		}
	assert_true(world.token_count < TOKENS);
	snprintf(world.tokens[world.token_count++], 40, "%.32s", token);
	world.done++;
}

static void error_reply(struct standin_reply *r, int status, const char *type, const char *message)
{
	r->status = status;
	snprintf(r->body, sizeof(r->body), "{\"__type\":\"com.amazonaws.dynamodb.v20120810#%s\",\"message\":\"%s\"}",
		 type, message);
}

static enum mischief next_mischief(unsigned number)
{
	if (number <= world.firsts)
		return world.first[number - 1];
	if (world.chance && (unsigned)rand_r(&world.seed) % 100 < world.chance)
		return (enum mischief)(DROPS_BEFORE + (unsigned)rand_r(&world.seed) % (THROTTLES - DROPS_BEFORE));
	return world.always;
}

static void database(void *ctx, const struct standin_request *q, struct standin_reply *r)
{
	static _Thread_local char crc[64]; /* read after the lock is gone */

	(void)ctx;
	snprintf(world.last_target, sizeof(world.last_target), "%s", standin_header(q, "x-amz-target"));
	snprintf(world.last_body, sizeof(world.last_body), "%.4000s", q->body);
	snprintf(world.last_date, sizeof(world.last_date), "%.31s", standin_header(q, "x-amz-date"));
	snprintf(world.last_key, sizeof(world.last_key), "%.299s", standin_header(q, "authorization"));
	snprintf(world.last_head, sizeof(world.last_head), "%.4000s", q->head);
	snprintf(r->body, sizeof(r->body), "{\"ConsumedCapacity\":{\"TableName\":\"t\",\"CapacityUnits\":1.5}}");
	snprintf(crc, sizeof(crc), "x-amz-crc32: %u\r\n", gzip_crc32(slice_str(r->body)));
	r->headers = world.headers ? world.headers : crc;
	switch (next_mischief(q->number)) {
	case GOOD: carry_out(q); break;
	case DROPS_BEFORE: r->status = 0; break;
	case DROPS_AFTER:
		carry_out(q);
		r->status = 0;
		break;
	case HALF_A_REPLY:
		carry_out(q);
		r->half = true;
		break;
	case FAILS:
		carry_out(q);
		r->headers = world.headers;
		error_reply(r, 500, "InternalServerError", "");
		break;
	case THROTTLES:
		r->headers = world.headers;
		error_reply(r, 400, "ProvisionedThroughputExceededException", "slower");
		break;
	case LATE:
		carry_out(q);
		r->delay_ms = world.delay_ms;
		break;
	case DAMAGED:
		carry_out(q);
		r->headers = "x-amz-crc32: 1\r\n";
		break;
	case SKEWED:
		r->headers = "Date: Tue, 18 Nov 2025 03:00:00 GMT\r\n";
		error_reply(r, 400, "InvalidSignatureException",
			    "Signature expired: 20251118T020000Z is now earlier than 20251118T024500Z");
		break;
	case EXPIRED:
		r->headers = NULL;
		error_reply(r, 400, "ExpiredTokenException", "The security token included in the request is expired");
		break;
	case OTHER:
		r->headers = world.headers;
		world.fn(NULL, q, r);
		break;
	}
}

static int setup(void **state)
{
	(void)state;
	world = (struct world){ .seed = 1 };
	arena_init(&arena);
	test_env_init(&env);
	test_env_set(&env, "AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
	test_env_set(&env, "AWS_SECRET_ACCESS_KEY", SECRET);
	server = standin_start(database, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	remote_backend_free(backend);
	remote_close(remote);
	backend = NULL;
	remote = NULL;
	if (server)
		standin_stop(server);
	server = NULL;
	arena_release(&arena);
	return 0;
}

static void open_remote(struct remote_options o)
{
	o.env = &env.env;
	if (!o.place.url[0])
		snprintf(o.place.url, sizeof(o.place.url), "%s/", standin_url(server));
	o.base_ms = o.base_ms ? o.base_ms : 1;
	o.throttled_ms = o.throttled_ms ? o.throttled_ms : 1;
	remote = remote_open(&o, why, sizeof(why));
	if (!remote)
		fail_msg("%s", why);
	backend = remote_backend_new(remote);
	assert_non_null(backend);
}

static struct backend_reply call(const char *operation, const char *body)
{
	struct backend_reply r;

	backend_call(backend, &arena, operation, slice_str(body), &r);
	assert_non_null(r.body);
	return r;
}

static const char *text(struct slice s)
{
	return arena_cstr(&arena, s);
}

static void script(unsigned n, ...)
{
	va_list ap;

	va_start(ap, n);
	for (world.firsts = 0; world.firsts < n; world.firsts++)
		world.first[world.firsts] = (enum mischief)va_arg(ap, int);
	va_end(ap);
}

static struct remote_metrics metrics(void)
{
	struct remote_metrics m;

	remote_metrics(remote, &arena, &m);
	return m;
}

static int64_t now_ms(void)
{
	return clock_monotonic_us() / 1000;
}

#define CONDITIONAL \
	"{\"TableName\":\"t\",\"Item\":{\"PK\":{\"S\":\"a\"}},\"ConditionExpression\":\"attribute_not_exists(PK)\"}"
#define PLAIN       "{\"TableName\":\"t\",\"Item\":{\"PK\":{\"S\":\"a\"}}}"
#define TRANSACTION "{\"TransactItems\":[{\"Put\":" PLAIN "}]}"

/* ---- when all is well ---- */

static void calls_are_signed_and_share_a_connection(void **state)
{
	struct remote_metrics m;

	(void)state;
	open_remote((struct remote_options){ 0 });
	remote_label(backend, SLICE("feed"));
	for (int i = 0; i < 10; i++)
		assert_int_equal(call("GetItem", "{\"TableName\":\"t\"}").status, 200);
	assert_string_equal(world.last_target, "DynamoDB_20120810.GetItem");
	assert_non_null(strstr(world.last_key, "Credential=AKIDEXAMPLE/"));
	assert_non_null(strstr(world.last_head, "application/x-amz-json-1.0"));
	call("GetRecords", "{}");
	assert_string_equal(world.last_target, "DynamoDBStreams_20120810.GetRecords");
	assert_int_equal(standin_connections(server), 1);
	m = metrics();
	assert_int_equal(m.calls, 11);
	assert_int_equal(m.attempts, 11);
	assert_int_equal(m.retries, 0);
	assert_int_equal(m.connections_busy, 0);
	for (size_t i = 0; i < m.use_count; i++)
		if (!strcmp(m.uses[i].operation, "GetItem")) {
			assert_string_equal(m.uses[i].label, "feed");
			assert_true(m.uses[i].read_units == 15);
			assert_true(m.uses[i].write_units == 0);
			return;
		}
	fail();
}

static void metrics_are_written_for_prometheus(void **state)
{
	struct remote_metrics m;
	struct buf out;
	const char *all;

	(void)state;
	script(1, THROTTLES);
	open_remote((struct remote_options){ 0 });
	remote_label(backend, SLICE("the \"feed\""));
	call("Query", "{}");
	m = metrics();
	buf_init(&out, &arena);
	remote_metrics_write(&(struct remote_reading){ SLICE("social"), m }, 1, &out);
	all = text(buf_slice(&out));
	assert_non_null(strstr(all, "\nthorpe_backend_calls_total{backend=\"social\"} 1\n"));
	assert_non_null(strstr(all, "\nthorpe_backend_attempts_total{backend=\"social\"} 2\n"));
	assert_non_null(strstr(all, "\nthorpe_backend_troubles_total{backend=\"social\",kind=\"throttled\"} 1\n"));
	assert_non_null(strstr(
		all,
		"\nthorpe_backend_read_units_total{backend=\"social\",operation=\"Query\",pattern=\"the \\\"feed\\\"\"} 1.5\n"));
	assert_non_null(strstr(all, "\nthorpe_backend_call_seconds_bucket{backend=\"social\",le=\"+Inf\"} 1\n"));
	assert_null(strstr(all, "AKID"));
}

static void session_tokens_are_sent(void **state)
{
	(void)state;
	test_env_set(&env, "AWS_SESSION_TOKEN", "the-token");
	open_remote((struct remote_options){ 0 });
	call("GetItem", "{}");
	assert_non_null(strstr(world.last_head, "x-amz-security-token: the-token"));
	assert_non_null(strstr(world.last_key, "x-amz-security-token"));
}

static void a_server_of_this_machine_needs_no_credentials(void **state)
{
	(void)state;
	test_env_init(&env);
	open_remote((struct remote_options){ 0 });
	assert_int_equal(call("GetItem", "{}").status, 200);
	assert_non_null(strstr(world.last_key, "Credential=local/"));
}

static void packed(void *ctx, const struct standin_request *q, struct standin_reply *r)
{
	struct gzip g = { 0 };
	struct arena a;
	struct slice body;
	char plain[4096];
	static _Thread_local char headers[100];

	(void)ctx;
	assert_non_null(strstr(q->head, "accept-encoding: gzip"));
	memset(plain, ' ', sizeof(plain));
	memcpy(plain, "{\"Count\":7", 10);
	plain[sizeof(plain) - 1] = '}';
	arena_init(&a);
	body = gzip_pack(&g, &a, slice_make(plain, sizeof(plain)));
	memcpy(r->body, body.p, body.n);
	r->body_n = body.n;
	snprintf(headers, sizeof(headers), "Content-Encoding: gzip\r\nx-amz-crc32: %u\r\n", gzip_crc32(body));
	r->headers = headers;
	arena_release(&a);
	gzip_release(&g);
}

static void packed_replies_are_unpacked(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = OTHER;
	world.fn = packed;
	open_remote((struct remote_options){ .gzip = true });
	r = call("Query", "{}");
	assert_int_equal(r.status, 200);
	assert_int_equal(json_get(r.body, "Count")->integer, 7);
}

/* ---- what the network does ---- */

static void reads_are_repeated_whatever_happened(void **state)
{
	(void)state;
	script(3, DROPS_BEFORE, HALF_A_REPLY, DAMAGED);
	open_remote((struct remote_options){ 0 });
	assert_int_equal(call("Query", "{}").status, 200);
	assert_int_equal(standin_requests(server), 4);
	assert_int_equal(metrics().troubles[REMOTE_CUT], 2);
	assert_int_equal(metrics().troubles[REMOTE_DAMAGED], 1);
	assert_int_equal(metrics().retries, 3);
}

static void four_attempts_are_the_most(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = FAILS;
	open_remote((struct remote_options){ 0 });
	r = call("GetItem", "{}");
	assert_int_equal(standin_requests(server), 4);
	assert_int_equal(r.status, 500);
	assert_string_equal(text(r.error), "InternalServerError");
	assert_int_equal(metrics().failures, 1);
}

static void unless_the_settings_say_another_number(void **state)
{
	(void)state;
	world.always = FAILS;
	test_env_set(&env, "AWS_MAX_ATTEMPTS", "2");
	open_remote((struct remote_options){ 0 });
	call("GetItem", "{}");
	assert_int_equal(standin_requests(server), 2);
}

static void a_transaction_whose_reply_was_lost_is_done_once(void **state)
{
	(void)state;
	script(3, DROPS_AFTER, FAILS, DROPS_BEFORE);
	open_remote((struct remote_options){ 0 });
	assert_int_equal(call("TransactWriteItems", TRANSACTION).status, 200);
	assert_int_equal(world.done, 1);
	assert_int_equal(world.same_token, 2);
	assert_int_equal(call("TransactWriteItems", TRANSACTION).status, 200); /* another call is another write */
	assert_int_equal(world.done, 2);
}

static void a_write_under_a_condition_is_done_once(void **state)
{
	(void)state;
	script(2, DROPS_AFTER, FAILS);
	open_remote((struct remote_options){ 0 });
	assert_int_equal(call("PutItem", CONDITIONAL).status, 200);
	assert_string_equal(world.last_target, "DynamoDB_20120810.TransactWriteItems");
	assert_int_equal(world.done, 1);
	assert_int_equal(world.same_token, 2);
}

static void a_plain_write_under_a_condition_is_not_repeated(void **state)
{
	static const enum mischief faults[] = { DROPS_AFTER, DROPS_BEFORE, HALF_A_REPLY, FAILS, DAMAGED };
	struct backend_reply r;

	(void)state;
	open_remote((struct remote_options){ .plain_writes = true });
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		unsigned before = standin_requests(server);

		world.always = GOOD;
		assert_int_equal(call("GetItem", "{}").status, 200); /* so that the connection is one that was used */
		world.always = faults[i];
		r = call("PutItem", CONDITIONAL);
		assert_int_equal(standin_requests(server), before + 2);
		assert_int_equal(r.status, 500);
		assert_string_equal(text(r.error), REMOTE_OUTCOME_UNKNOWN);
		assert_non_null(strstr(text(r.message), "may or may not have been done"));
	}
}

/* The same over a connection that is new. */
static void nor_over_a_new_connection(void **state)
{
	(void)state;
	world.always = DROPS_AFTER;
	open_remote((struct remote_options){ .plain_writes = true });
	assert_string_equal(text(call("PutItem", CONDITIONAL).error), REMOTE_OUTCOME_UNKNOWN);
	assert_int_equal(standin_requests(server), 1);
	assert_int_equal(world.done, 1);
}

static void a_plain_write_that_was_throttled_is_repeated(void **state)
{
	(void)state;
	script(2, THROTTLES, THROTTLES);
	open_remote((struct remote_options){ .plain_writes = true });
	assert_int_equal(call("PutItem", CONDITIONAL).status, 200);
	assert_string_equal(world.last_target, "DynamoDB_20120810.PutItem");
	assert_int_equal(world.done, 1);
}

static void a_write_without_condition_is_repeated(void **state)
{
	(void)state;
	script(1, DROPS_AFTER);
	open_remote((struct remote_options){ .plain_writes = true });
	assert_int_equal(call("PutItem", PLAIN).status, 200);
	assert_int_equal(world.done, 2);
}

static void a_write_that_never_succeeds_has_an_unknown_outcome(void **state)
{
	(void)state;
	world.always = DROPS_AFTER;
	open_remote((struct remote_options){ 0 });
	assert_string_equal(text(call("TransactWriteItems", TRANSACTION).error), REMOTE_OUTCOME_UNKNOWN);
	assert_int_equal(standin_requests(server), 4);
	assert_int_equal(world.done, 1);
}

/* Throttled in the end, but the first attempt may have been done. */
static void throttling_after_a_lost_reply_is_no_answer(void **state)
{
	(void)state;
	script(1, DROPS_AFTER);
	world.always = THROTTLES;
	open_remote((struct remote_options){ 0 });
	assert_string_equal(text(call("TransactWriteItems", TRANSACTION).error), REMOTE_OUTCOME_UNKNOWN);
}

static void a_database_that_is_not_there_is_unavailable(void **state)
{
	struct remote_options o = { 0 };
	struct backend_reply r;

	(void)state;
	snprintf(o.place.url, sizeof(o.place.url), "%s/", standin_url(server));
	standin_stop(server);
	server = NULL;
	open_remote(o);
	r = call("PutItem", CONDITIONAL);
	assert_string_equal(text(r.error), REMOTE_UNAVAILABLE); /* it was never sent */
	assert_int_equal(metrics().troubles[REMOTE_CONNECT], 4);
}

static void late_replies_are_not_waited_for(void **state)
{
	int64_t before = now_ms();

	(void)state;
	script(1, LATE);
	world.delay_ms = 8000;
	open_remote((struct remote_options){ .attempt_ms = 500 });
	assert_int_equal(call("TransactWriteItems", TRANSACTION).status, 200);
	assert_true(now_ms() - before < 7000);
	assert_int_equal(world.done, 1);
	assert_true(world.same_token >= 1);
	assert_true(metrics().troubles[REMOTE_LATE] >= 1);
}

static void a_plain_write_that_was_not_answered_in_time_is_not_repeated(void **state)
{
	(void)state;
	script(1, LATE);
	world.delay_ms = 2000;
	open_remote((struct remote_options){ .plain_writes = true, .attempt_ms = 100 });
	assert_string_equal(text(call("PutItem", CONDITIONAL).error), REMOTE_OUTCOME_UNKNOWN);
	assert_int_equal(standin_requests(server), 1);
}

static void a_call_ends_in_time_whatever_happens(void **state)
{
	int64_t before = now_ms();

	(void)state;
	world.always = LATE;
	world.delay_ms = 8000;
	open_remote((struct remote_options){ .attempt_ms = 20000, .total_ms = 400 });
	assert_string_equal(text(call("GetItem", "{}").error), REMOTE_UNAVAILABLE);
	assert_true(now_ms() - before < 6000);
	assert_int_equal(standin_requests(server), 1);
}

/* ---- what the service says ---- */

static void throttling_is_reported_after_the_last_attempt(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = THROTTLES;
	open_remote((struct remote_options){ 0 });
	r = call("PutItem", PLAIN);
	assert_int_equal(r.status, 400);
	assert_string_equal(text(r.error), "ProvisionedThroughputExceededException");
	assert_int_equal(metrics().throttles, 4);
	assert_int_equal(metrics().failures, 1);
}

static void pauses_are_as_long_as_the_service_asks(void **state)
{
	int64_t before = now_ms();

	(void)state;
	script(1, THROTTLES);
	world.headers = "x-amz-retry-after: 300\r\n";
	open_remote((struct remote_options){ 0 });
	assert_int_equal(call("GetItem", "{}").status, 200);
	assert_true(now_ms() - before >= 300);
}

/* 500 tokens are spent, then each call is one attempt. */
static void a_service_that_is_down_is_not_asked_four_times_as_often(void **state)
{
	struct remote_metrics m;

	(void)state;
	world.always = FAILS;
	open_remote((struct remote_options){ 0 });
	for (int i = 0; i < 40; i++)
		call("GetItem", "{}");
	m = metrics();
	assert_int_equal(m.attempts, 40 + 500 / 14);
	assert_true(m.retry_tokens < 14);
}

static void refuses(void *ctx, const struct standin_request *q, struct standin_reply *r)
{
	(void)ctx, (void)q;
	r->status = 400;
	snprintf(r->body, sizeof(r->body),
		 "{\"__type\":\"com.amazonaws.dynamodb.v20120810#TransactionCanceledException\",\"CancellationReasons\":["
		 "{\"Code\":\"ConditionalCheckFailed\",\"Message\":\"The conditional request failed\",\"Item\":{\"PK\":{\"S\":\"a\"}}}]}");
}

static void a_refused_condition_reads_as_one(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = OTHER;
	world.fn = refuses;
	open_remote((struct remote_options){ 0 });
	r = call("PutItem", CONDITIONAL);
	assert_int_equal(r.status, 400);
	assert_string_equal(text(r.error), "ConditionalCheckFailedException");
	assert_non_null(json_get(r.body, "Item"));
	assert_int_equal(standin_requests(server), 1);
}

static int conflicts_seen,
	conflicts_from; /* the first request, counted from 0, that meets a conflict; the one after it is taken */

static void conflicts(void *ctx, const struct standin_request *q, struct standin_reply *r)
{
	int n = conflicts_seen++;

	(void)ctx, (void)q;
	r->status = n < conflicts_from ? 500 : n == conflicts_from ? 400 : 200;
	if (r->status == 500)
		snprintf(r->body, sizeof(r->body),
			 "{\"__type\":\"com.amazonaws.dynamodb.v20120810#InternalServerError\"}");
	else if (r->status == 400)
		snprintf(r->body, sizeof(r->body),
			 "{\"__type\":\"com.amazonaws.dynamodb.v20120810#TransactionCanceledException\","
			 "\"CancellationReasons\":[{\"Code\":\"None\"},{\"Code\":\"TransactionConflict\"}]}");
	else
		snprintf(r->body, sizeof(r->body), "{}");
}

static void a_conflict_settles_nothing_that_may_have_been_done_before(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = OTHER;
	world.fn = conflicts;
	conflicts_seen = 0;
	conflicts_from = 1; /* after a lost reply */
	open_remote((struct remote_options){ .base_ms = 1 });
	r = call("TransactWriteItems", "{\"TransactItems\":[]}");
	assert_int_equal(r.status, 200);
	assert_int_equal(standin_requests(server), 3);
}

static void a_conflict_at_once_is_for_the_caller(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = OTHER;
	world.fn = conflicts;
	conflicts_seen = conflicts_from = 0;
	open_remote((struct remote_options){ .base_ms = 1 });
	r = call("TransactWriteItems", "{\"TransactItems\":[]}");
	assert_int_equal(r.status, 400);
	assert_string_equal(text(r.error), "TransactionCanceledException");
	assert_int_equal(standin_requests(server), 1);
}

static void a_page(void *ctx, const struct standin_request *q, struct standin_reply *r)
{
	(void)ctx, (void)q;
	r->status = 404;
	snprintf(r->body, sizeof(r->body), "<html>not here</html>");
}

static void a_server_that_is_not_dynamodb_is_reported(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = OTHER;
	world.fn = a_page;
	open_remote((struct remote_options){ 0 });
	r = call("GetItem", "{}");
	assert_int_equal(r.status, 404);
	assert_non_null(strstr(text(r.message), "is it the address of one?"));
}

static void a_capital_message(void *ctx, const struct standin_request *q, struct standin_reply *r)
{
	(void)ctx, (void)q;
	r->status = 400;
	snprintf(r->body, sizeof(r->body),
		 "{\"__type\":\"com.amazon.coral.validate#ValidationException\",\"Message\":\"Item size to update has …\"}");
}

static void the_message_of_an_error_may_have_a_capital(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = OTHER;
	world.fn = a_capital_message;
	open_remote((struct remote_options){ 0 });
	r = call("UpdateItem", "{}");
	assert_true(slice_is(r.error, "ValidationException"));
	assert_true(slice_is(r.message, "Item size to update has …"));
}

static void no_table(void *ctx, const struct standin_request *q, struct standin_reply *r)
{
	(void)ctx, (void)q;
	error_reply(r, 400, "ResourceNotFoundException", "Requested resource not found: Table: Posts not found");
}

static void errors_are_explained(void **state)
{
	struct remote_options o = { 0 };
	struct backend_reply r;
	struct remote *amazon;

	(void)state;
	world.always = OTHER;
	world.fn = no_table;
	open_remote((struct remote_options){ 0 });
	r = call("GetItem", "{}");
	assert_non_null(strstr(text(remote_explain(remote, &arena, &r)), "there is no table Posts at http://127.0.0.1:"));
	assert_false(remote_has_table(backend, SLICE("Likes"), why, sizeof(why)));
	assert_non_null(strstr(why, "there is no table Likes at http://127.0.0.1:"));
	world.always = GOOD;
	assert_true(remote_has_table(backend, SLICE("Likes"), why, sizeof(why)));
	o.env = &env.env;
	snprintf(o.place.region, sizeof(o.place.region), "eu-west-1");
	amazon = remote_open(&o, why, sizeof(why));
	assert_non_null(strstr(text(remote_explain(amazon, &arena, &r)),
			       "there is no table Posts in eu-west-1: if it is in another region"));
	remote_close(amazon);
}

/* ---- clocks and credentials ---- */

static void the_service_s_clock_counts(void **state)
{
	(void)state;
	script(1, SKEWED); /* it is 03:00 there and 02:00 here */
	open_remote((struct remote_options){ .clock = &test_clock });
	assert_int_equal(call("GetItem", "{}").status, 200);
	assert_string_equal(world.last_date, "20251118T030000Z");
	assert_int_equal(metrics().skew_ms, 3600 * 1000);
	call("GetItem", "{}"); /* the next call knows */
	assert_int_equal(standin_requests(server), 3);
}

static void replies_tell_how_far_off_the_clock_is(void **state)
{
	(void)state;
	open_remote((struct remote_options){ .clock = &test_clock });
	call("GetItem", "{}");
	assert_int_equal(remote_clock_off_ms(remote), 0); /* no date */
	world.headers = "Date: Tue, 18 Nov 2025 02:10:00 GMT\r\n";
	call("GetItem", "{}");
	assert_int_equal(remote_clock_off_ms(remote), 600500);
	world.headers = "Date: Tue, 18 Nov 2025 02:10:01 GMT\r\n"; /* does not follow each second */
	call("GetItem", "{}");
	assert_int_equal(remote_clock_off_ms(remote), 600500);
	world.headers = "Date: Tue, 18 Nov 2025 01:50:00 GMT\r\n";
	call("GetItem", "{}");
	assert_int_equal(remote_clock_off_ms(remote), -599500);
	world.headers = "Date: Tue, 18 Nov 2025 01:59:58 GMT\r\n";
	call("GetItem", "{}");
	assert_int_equal(remote_clock_off_ms(remote), 0);
	assert_int_equal(metrics().skew_ms, 0); /* signatures were taken */
}

static void a_persistently_refused_signature_is_reported(void **state)
{
	(void)state;
	world.always = SKEWED;
	open_remote((struct remote_options){ .clock = &test_clock });
	assert_string_equal(text(call("GetItem", "{}").error), "InvalidSignatureException");
	assert_int_equal(standin_requests(server), 2);
}

static void expired_credentials_are_looked_for_again(void **state)
{
	(void)state;
	script(2, GOOD, EXPIRED);
	open_remote((struct remote_options){ .clock = &test_clock });
	call("GetItem", "{}");
	test_env_set(&env, "AWS_ACCESS_KEY_ID", "AKIDTHENEXT");
	wall_ms += 60000;
	assert_int_equal(call("TransactWriteItems", TRANSACTION).status, 200);
	assert_non_null(strstr(world.last_key, "Credential=AKIDTHENEXT/"));
	assert_int_equal(world.done, 1);
	assert_int_equal(metrics().renewals, 2);
}

/* A new secret of the same key: what was derived from the old one is forgotten. */
static void a_new_secret_signs_at_once(void **state)
{
	char with_new[300];

	(void)state;
	script(2, GOOD, EXPIRED);
	open_remote((struct remote_options){ .clock = &test_clock });
	call("GetItem", "{}");
	test_env_set(&env, "AWS_SECRET_ACCESS_KEY", "another-secret");
	wall_ms += 60000;
	assert_int_equal(call("GetItem", "{}").status, 200);
	snprintf(with_new, sizeof(with_new), "%s", world.last_key);
	remote_backend_free(backend);
	remote_close(remote);
	open_remote((struct remote_options){ .clock = &test_clock });
	call("GetItem", "{}");
	assert_string_equal(world.last_key, with_new);
}

static void persistently_expired_credentials_are_reported(void **state)
{
	struct backend_reply r;

	(void)state;
	world.always = EXPIRED;
	open_remote((struct remote_options){ .clock = &test_clock });
	r = call("GetItem", "{}");
	assert_string_equal(text(r.error), "ExpiredTokenException");
	assert_non_null(strstr(text(remote_explain(remote, &arena, &r)), "renew them"));
	wall_ms += 60000;
	call("GetItem", "{}");
	assert_true(standin_requests(server) <= 3);
}

static void without_credentials_the_places_are_named(void **state)
{
	struct remote_options o = { 0 };
	struct backend_reply r;

	(void)state;
	test_env_init(&env);
	test_env_set(&env, "AWS_EC2_METADATA_DISABLED", "true");
	test_env_set(&env, "HOME", "/nowhere");
	snprintf(o.place.region, sizeof(o.place.region), "eu-west-1");
	open_remote(o);
	remote_backend_free(backend);
	remote_close(remote);
	o.env = &env.env;
	remote = remote_open(&o, why, sizeof(why));
	backend = remote_backend_new(remote);
	r = call("GetItem", "{}");
	assert_int_equal(r.status, 500);
	assert_string_equal(text(r.error), REMOTE_NO_CREDENTIALS);
	assert_non_null(strstr(text(r.message), "no credentials were found: looked at"));
	assert_non_null(strstr(text(r.message), "AWS_ACCESS_KEY_ID"));
	assert_non_null(strstr(text(r.message), "/nowhere/.aws/config"));
	assert_false(remote_has_credentials(remote, why, sizeof(why)));
}

/* ---- many at once ---- */

#define THREADS 64
#define CALLS   20

static atomic_uint succeeded, unknown, others;

static void *write_many(void *ctx)
{
	struct backend *b = remote_backend_new(remote);
	struct arena a;

	(void)ctx;
	arena_init(&a);
	for (int i = 0; i < CALLS; i++) {
		struct backend_reply r;

		backend_call(b, &a, "PutItem", slice_str(CONDITIONAL), &r);
		if (r.status == 200)
			atomic_fetch_add(&succeeded, 1);
		else if (slice_is(r.error, REMOTE_OUTCOME_UNKNOWN))
			atomic_fetch_add(&unknown, 1);
		else
			atomic_fetch_add(&others, 1);
		arena_clear(&a);
	}
	arena_release(&a);
	remote_backend_free(b);
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[THREADS];

	atomic_store(&succeeded, 0);
	atomic_store(&unknown, 0);
	atomic_store(&others, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void many_threads_share_few_connections(void **state)
{
	(void)state;
	open_remote((struct remote_options){ .connections = 8 });
	run_threads();
	assert_int_equal(succeeded, THREADS * CALLS);
	assert_int_equal(world.done, THREADS * CALLS);
	assert_true(standin_connections(server) <= 8);
	assert_int_equal(metrics().connections_busy, 0);
}

static void many_threads_over_a_bad_network_write_once_each(void **state)
{
	(void)state;
	world.chance = 10;
	open_remote((struct remote_options){ .connections = 16, .attempts = 10 });
	run_threads();
	/* What was told as done was done, once; what was not told may have been. */
	assert_true(world.done >= succeeded && world.done <= succeeded + unknown);
	assert_true(succeeded + unknown + others == THREADS * CALLS);
	assert_true(succeeded > THREADS * CALLS / 2);
	assert_true(world.same_token > 0);
	assert_int_equal(metrics().connections_busy, 0);
}

static void *stop_soon(void *ctx)
{
	(void)ctx;
	while (!standin_requests(server))
		usleep(1000);
	remote_stop(remote);
	return NULL;
}

static void stopping_ends_calls_under_way(void **state)
{
	int64_t before = now_ms();
	pthread_t thread;

	(void)state;
	world.always = LATE;
	world.delay_ms = 8000;
	open_remote((struct remote_options){ 0 });
	assert_int_equal(pthread_create(&thread, NULL, stop_soon, NULL), 0);
	assert_string_equal(text(call("GetItem", "{}").error), REMOTE_UNAVAILABLE);
	assert_true(now_ms() - before < 7000);
	pthread_join(thread, NULL);
	assert_string_equal(text(call("GetItem", "{}").error), REMOTE_UNAVAILABLE);
	assert_int_equal(standin_requests(server), 1);
}

static void no_connection_is_lost_when_memory_is_out(void **state)
{
	bool done = false;

	(void)state;
	open_remote((struct remote_options){ .connections = 1, .total_ms = 3000 });
	call("GetItem", "{}");
	for (long n = 0; !done && n < 200; n++) {
		struct backend_reply r = { 0 };
		volatile bool left = false;
		struct arena a;

		arena_init(&a);
		alloc_fail_after(n);
		ARENA_TRY(&a, { backend_call(backend, &a, "PutItem", slice_str(CONDITIONAL), &r); }, { left = true; });
		done = !alloc_has_failed();
		alloc_fail_never();
		assert_true(left || r.status);
		arena_release(&a);
	}
	assert_true(done);
	assert_int_equal(call("GetItem", "{}").status, 200);
}

static void opening_without_memory_is_reported(void **state)
{
	struct remote_options o = { .env = &env.env };
	bool done = false;

	(void)state;
	snprintf(o.place.url, sizeof(o.place.url), "%s/", standin_url(server));
	for (long n = 0; !done && n < 500; n++) {
		struct remote *r;
		struct backend *b = NULL;
		bool found = false;

		alloc_fail_after(n);
		r = remote_open(&o, why, sizeof(why));
		if (r) {
			found = remote_has_credentials(r, why, sizeof(why));
			b = remote_backend_new(r);
		}
		done = !alloc_has_failed();
		alloc_fail_never();
		if (!done && !found)
			assert_string_equal(why, "out of memory");
		assert_true(!done || (r && found && b));
		remote_backend_free(b);
		remote_close(r);
	}
	assert_true(done);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(calls_are_signed_and_share_a_connection),
		T(metrics_are_written_for_prometheus),
		T(session_tokens_are_sent),
		T(a_server_of_this_machine_needs_no_credentials),
		T(packed_replies_are_unpacked),
		T(reads_are_repeated_whatever_happened),
		T(four_attempts_are_the_most),
		T(unless_the_settings_say_another_number),
		T(a_transaction_whose_reply_was_lost_is_done_once),
		T(a_write_under_a_condition_is_done_once),
		T(a_plain_write_under_a_condition_is_not_repeated),
		T(nor_over_a_new_connection),
		T(a_plain_write_that_was_throttled_is_repeated),
		T(a_write_without_condition_is_repeated),
		T(a_write_that_never_succeeds_has_an_unknown_outcome),
		T(throttling_after_a_lost_reply_is_no_answer),
		T(a_database_that_is_not_there_is_unavailable),
		T(late_replies_are_not_waited_for),
		T(a_plain_write_that_was_not_answered_in_time_is_not_repeated),
		T(a_call_ends_in_time_whatever_happens),
		T(throttling_is_reported_after_the_last_attempt),
		T(pauses_are_as_long_as_the_service_asks),
		T(a_service_that_is_down_is_not_asked_four_times_as_often),
		T(a_refused_condition_reads_as_one),
		T(a_conflict_settles_nothing_that_may_have_been_done_before),
		T(a_conflict_at_once_is_for_the_caller),
		T(a_server_that_is_not_dynamodb_is_reported),
		T(the_message_of_an_error_may_have_a_capital),
		T(errors_are_explained),
		T(the_service_s_clock_counts),
		T(replies_tell_how_far_off_the_clock_is),
		T(a_persistently_refused_signature_is_reported),
		T(expired_credentials_are_looked_for_again),
		T(a_new_secret_signs_at_once),
		T(persistently_expired_credentials_are_reported),
		T(without_credentials_the_places_are_named),
		T(many_threads_share_few_connections),
		T(many_threads_over_a_bad_network_write_once_each),
		T(stopping_ends_calls_under_way),
		T(no_connection_is_lost_when_memory_is_out),
		T(opening_without_memory_is_reported),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
