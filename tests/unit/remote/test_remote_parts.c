/* The client's parts that need no service: places, settings, signatures, pauses, and what may be sent twice.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

#include "env.h"
#include "remote/place.h"
#include "remote/remote.h"
#include "remote/repeat.h"
#include "remote/retry.h"
#include "remote/sign.h"

static struct arena arena;

static int setup(void **state)
{
	(void)state;
	arena_init(&arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static const char *text(struct slice s)
{
	return arena_cstr(&arena, s);
}

/* ---- places ---- */

static void assert_refused(const char *backend, const char *part)
{
	struct remote_place p;
	char why[600] = "";

	assert_false(remote_parse(backend, &p, why, sizeof(why)));
	if (!strstr(why, part))
		fail_msg("'%s' is refused with: %s", backend, why);
}

static void backends_have_four_forms(void **state)
{
	struct remote_place p;
	char why[600];

	(void)state;
	assert_true(remote_parse("aws", &p, why, sizeof(why)));
	assert_string_equal(p.region, "");
	assert_string_equal(p.url, "");
	assert_true(remote_parse("aws:eu-west-1", &p, why, sizeof(why)));
	assert_string_equal(p.region, "eu-west-1");
	assert_true(remote_parse("https://db.example.com:8443/x", &p, why, sizeof(why)));
	assert_string_equal(p.url, "https://db.example.com:8443/x");
	assert_true(remote_parse("http://127.0.0.1:8000", &p, why, sizeof(why)));
	assert_string_equal(p.url, "http://127.0.0.1:8000/");
	assert_true(remote_parse("http://[::1]:8000", &p, why, sizeof(why)));
	assert_true(remote_parse("http://localhost:8000", &p, why, sizeof(why)));
}

static void other_backends_are_refused_with_a_reason(void **state)
{
	(void)state;
	assert_refused("http://db.example.com", "plain text");
	assert_refused("http://127.0.0.1.example.com:8000", "plain text");
	assert_refused("http://10.0.0.1:8000", "plain text");
	assert_refused("ftp://127.0.0.1", "neither https");
	assert_refused("aws:", "not a region");
	assert_refused("aws:../x", "not a region");
	assert_refused("aws:Eu-West-1", "not a region");
	assert_refused("somewhere", "write aws");
	assert_refused("", "write aws");
	assert_refused("https://", "not an address");
	assert_refused("https://h?x=1", "neither a user");
}

static void a_password_in_an_address_is_not_repeated(void **state)
{
	struct remote_place p;
	char why[600];

	(void)state;
	assert_false(remote_parse("https://me:hidden@h", &p, why, sizeof(why)));
	assert_null(strstr(why, "hidden"));
}

static void amazon_has_addresses_by_region(void **state)
{
	char url[PLACE_URL], region[PLACE_REGION], why[600];
	struct endpoint e;

	(void)state;
	endpoint_amazon(ENDPOINT_DYNAMODB, "eu-west-1", false, url);
	assert_string_equal(url, "https://dynamodb.eu-west-1.amazonaws.com");
	endpoint_amazon(ENDPOINT_STREAMS, "eu-west-1", false, url);
	assert_string_equal(url, "https://streams.dynamodb.eu-west-1.amazonaws.com");
	endpoint_amazon(ENDPOINT_DYNAMODB, "us-gov-west-1", true, url);
	assert_string_equal(url, "https://dynamodb-fips.us-gov-west-1.amazonaws.com");
	endpoint_amazon(ENDPOINT_DYNAMODB, "cn-north-1", false, url);
	assert_string_equal(url, "https://dynamodb.cn-north-1.amazonaws.com.cn");
	assert_true(endpoint_parse("https://dynamodb.ap-south-1.amazonaws.com", &e, why, sizeof(why)));
	assert_true(endpoint_region(&e, region));
	assert_string_equal(region, "ap-south-1");
	assert_true(endpoint_parse("https://123456789012.ddb.eu-north-1.amazonaws.com/", &e, why, sizeof(why)));
	assert_true(endpoint_region(&e, region));
	assert_string_equal(region, "eu-north-1");
	assert_true(endpoint_parse("https://dynamodb.example.com", &e, why, sizeof(why)));
	assert_false(endpoint_region(&e, region));
	assert_string_equal(e.host, "dynamodb.example.com");
	assert_true(endpoint_parse("https://h:443/", &e, why, sizeof(why)));
	assert_string_equal(e.host, "h");
	assert_true(endpoint_parse("http://127.0.0.1:8000/", &e, why, sizeof(why)));
	assert_string_equal(e.host, "127.0.0.1:8000");
	assert_true(e.loopback);
}

/* ---- settings ---- */

static char dir[] = "/tmp/thorpe-remote-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static const char *write_file(const char *name, const char *content)
{
	const char *path = text(arena_printf(&arena, "%s/%s", dir, name));
	FILE *f;

	f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
	return path;
}

static void the_two_files_are_read_as_aws_tools_do(void **state)
{
	struct test_env env;
	struct settings s;

	(void)state;
	test_env_init(&env);
	test_env_set(
		&env, "AWS_CONFIG_FILE",
		write_file("config",
			   "# a comment\nregion = nowhere\n[default]\nregion = eu-west-1\noutput = json\n\n"
			   "[profile work]\r\nregion=us-west-2\r\nREGION_OLD = x\r\n  ; another comment\nrole_arn = arn:aws:iam::1:role/a=b\n"
			   "services = mine\n[profile \"two words\"]\nregion = ap-south-1\n"
			   "[services mine]\ndynamodb =\n  endpoint_url = http://127.0.0.1:9\n  other = 1\ns3 =\n  endpoint_url = http://127.0.0.1:8\n"
			   "[work]\nregion = not-a-profile\n[sso-session s]\nsso_region = eu-north-1\n"));
	test_env_set(&env, "AWS_SHARED_CREDENTIALS_FILE",
		     write_file("credentials",
				"[work]\naws_access_key_id = ID\naws_secret_access_key = a/b+c=\nregion = sa-east-1\n"));
	test_env_set(&env, "AWS_PROFILE", "work");
	settings_load(&s, &arena, &env.env);
	assert_string_equal(s.profile, "work");
	assert_string_equal(settings_get(&s, "default", "region", SETTINGS_BOTH), "eu-west-1");
	assert_string_equal(settings_get(&s, "work", "region", SETTINGS_CONFIG), "us-west-2");
	assert_string_equal(settings_get(&s, "work", "region", SETTINGS_BOTH),
			    "sa-east-1"); /* the credentials file wins */
	assert_string_equal(settings_get(&s, "work", "region_old", SETTINGS_BOTH), "x");
	assert_string_equal(settings_get(&s, "work", "role_arn", SETTINGS_BOTH), "arn:aws:iam::1:role/a=b");
	assert_string_equal(settings_get(&s, "work", "aws_secret_access_key", SETTINGS_BOTH), "a/b+c=");
	assert_null(settings_get(&s, "work", "aws_secret_access_key", SETTINGS_CONFIG));
	assert_string_equal(settings_get(&s, "two words", "region", SETTINGS_BOTH), "ap-south-1");
	assert_string_equal(settings_get_of(&s, "sso-session", "s", "sso_region"), "eu-north-1");
	assert_string_equal(settings_endpoint(&s, "DYNAMODB", "dynamodb"), "http://127.0.0.1:9");
	test_env_set(&env, "AWS_ENDPOINT_URL", "http://127.0.0.1:1");
	assert_string_equal(settings_endpoint(&s, "DYNAMODB", "dynamodb"), "http://127.0.0.1:1");
	test_env_set(&env, "AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:2");
	assert_string_equal(settings_endpoint(&s, "DYNAMODB", "dynamodb"), "http://127.0.0.1:2");
	test_env_set(&env, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true");
	assert_null(settings_endpoint(&s, "DYNAMODB", "dynamodb"));
	assert_false(settings_has_profile(&s, "play"));
}

static void files_that_are_not_there_are_empty(void **state)
{
	struct test_env env;
	struct settings s;

	(void)state;
	test_env_init(&env);
	test_env_set(&env, "HOME", "/nowhere");
	settings_load(&s, &arena, &env.env);
	assert_string_equal(s.config_path, "/nowhere/.aws/config");
	assert_string_equal(s.profile, "default");
	assert_null(settings_get(&s, "default", "region", SETTINGS_BOTH));
}

static struct remote *open_with(struct test_env *env, const char *backend, char *why, size_t n)
{
	struct remote_options o = { .env = &env->env };

	assert_true(remote_parse(backend, &o.place, why, n));
	return remote_open(&o, why, n);
}

static void the_region_is_looked_for_in_order(void **state)
{
	struct test_env env;
	struct remote *r;
	char why[1300];

	(void)state;
	test_env_init(&env);
	test_env_set(&env, "AWS_EC2_METADATA_DISABLED", "true");
	r = open_with(&env, "aws", why, sizeof(why));
	assert_null(r);
	assert_non_null(strstr(why, "no region was found"));
	assert_non_null(strstr(why, "AWS_REGION"));
	test_env_set(&env, "AWS_CONFIG_FILE", write_file("region", "[default]\nregion = eu-west-1\n"));
	r = open_with(&env, "aws", why, sizeof(why));
	assert_string_equal(remote_region(r), "eu-west-1");
	assert_string_equal(remote_url(r), "https://dynamodb.eu-west-1.amazonaws.com/");
	remote_close(r);
	test_env_set(&env, "AWS_DEFAULT_REGION", "eu-west-2");
	r = open_with(&env, "aws", why, sizeof(why));
	assert_string_equal(remote_region(r), "eu-west-2");
	remote_close(r);
	test_env_set(&env, "AWS_REGION", "eu-west-3");
	r = open_with(&env, "aws", why, sizeof(why));
	assert_string_equal(remote_region(r), "eu-west-3");
	remote_close(r);
	r = open_with(&env, "aws:us-east-2", why, sizeof(why));
	assert_string_equal(remote_region(r), "us-east-2");
	remote_close(r);
	r = open_with(&env, "https://dynamodb.ap-south-1.amazonaws.com", why, sizeof(why));
	assert_string_equal(remote_region(r), "ap-south-1");
	remote_close(r);
	test_env_set(&env, "AWS_ENDPOINT_URL", "http://elsewhere.example.com");
	assert_null(open_with(&env, "aws", why, sizeof(why)));
	assert_non_null(strstr(why, "plain text"));
	test_env_set(&env, "AWS_ENDPOINT_URL", "http://127.0.0.1:7");
	r = open_with(&env, "aws", why, sizeof(why));
	assert_string_equal(remote_url(r), "http://127.0.0.1:7/");
	remote_close(r);
}

/* ---- signatures ---- */

static const char *authorization_of(const char *token)
{
	struct sigv4_cache cache = { 0 };
	struct endpoint e;
	struct sign_ask s = { .endpoint = &e,
			      .region = "us-east-1",
			      .service = "dynamodb",
			      .content_type = "application/x-amz-json-1.0",
			      .target = "DynamoDB_20120810.DescribeTable",
			      .body = SLICE("{\"TableName\":\"t\"}"),
			      .now_ms = 1440938160000LL,
			      .id = "AKIDEXAMPLE",
			      .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
			      .token = token,
			      .cache = &cache };
	const char *const *h;
	char why[100];

	assert_true(endpoint_parse("http://localhost:8000/", &e, why, sizeof(why)));
	for (h = sign_headers(&arena, &s); *h; h++)
		if (!strncmp(*h, "authorization: ", 15))
			return *h + 15;
	fail();
	return NULL;
}

/* Made with botocore 1.43. */
static void requests_are_signed_as_botocore_does(void **state)
{
	(void)state;
	assert_string_equal(authorization_of(NULL),
			    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request, "
			    "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
			    "Signature=d96d5b890e0df1647e1212379646c960d69bd0ef6d4065bfd7d51ea3008e7ff8");
	assert_string_equal(authorization_of("THE/TOKEN+x=="),
			    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request, "
			    "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token;x-amz-target, "
			    "Signature=e2e0d48b129d5d068d5e72faed9618d3c04652834a0b8f6cfe97bc66a57918da");
}

/* ---- pauses and tokens ---- */

static void pauses_double_and_are_spread(void **state)
{
	struct retry_pauses p = { 0 };

	(void)state;
	assert_int_equal(retry_pause_ms(&p, RETRY_TRANSIENT, 1, 0.999, -1), 24);
	assert_int_equal(retry_pause_ms(&p, RETRY_TRANSIENT, 2, 0.999, -1), 49);
	assert_int_equal(retry_pause_ms(&p, RETRY_TRANSIENT, 3, 0.5, -1), 50);
	assert_int_equal(retry_pause_ms(&p, RETRY_TRANSIENT, 3, 0, -1), 0);
	assert_int_equal(retry_pause_ms(&p, RETRY_THROTTLED, 1, 0.5, -1), 500);
	assert_int_equal(retry_pause_ms(&p, RETRY_THROTTLED, 3, 0.5, -1), 2000);
	assert_int_equal(retry_pause_ms(&p, RETRY_THROTTLED, 30, 0.5, -1), 10000); /* 20 s at most */
	for (int i = 0; i < 1000; i++) {
		double chance = retry_chance();

		assert_true(chance >= 0 && chance < 1);
	}
}

static void the_service_may_ask_for_a_longer_pause(void **state)
{
	struct retry_pauses p = { 0 };

	(void)state;
	assert_int_equal(retry_pause_ms(&p, RETRY_TRANSIENT, 1, 0.4, 700), 700);
	assert_int_equal(retry_pause_ms(&p, RETRY_TRANSIENT, 1, 0.4, 3), 10);       /* not for a shorter one */
	assert_int_equal(retry_pause_ms(&p, RETRY_TRANSIENT, 1, 0.4, 60000), 5010); /* nor for 5 s more */
}

static void repetitions_cost_tokens(void **state)
{
	struct retry_quota q;
	int taken = 0, got;

	(void)state;
	retry_quota_init(&q);
	while ((got = retry_quota_take(&q, RETRY_TRANSIENT)))
		taken += got;
	assert_int_equal(taken, 500 / 14 * 14);
	assert_int_equal(retry_quota_take(&q, RETRY_THROTTLED), 5); /* 10 are left */
	retry_quota_give(&q, 0);
	assert_int_equal(atomic_load(&q.tokens), 6);
	retry_quota_give(&q, 14);
	assert_int_equal(atomic_load(&q.tokens), 20);
	for (int i = 0; i < 1000; i++)
		retry_quota_give(&q, 14);
	assert_int_equal(atomic_load(&q.tokens), 500);
}

static enum retry_kind kind(int status, const char *error, const char *body)
{
	return retry_kind_of(status, slice_str(error), SLICE(""), json_parse(&arena, slice_str(body)));
}

static void errors_are_worth_another_attempt_or_not(void **state)
{
	(void)state;
	assert_int_equal(kind(400, "ProvisionedThroughputExceededException", "{}"), RETRY_THROTTLED);
	assert_int_equal(kind(400, "ThrottlingException", "{}"), RETRY_THROTTLED);
	assert_int_equal(kind(500, "InternalServerError", "{}"), RETRY_TRANSIENT);
	assert_int_equal(kind(503, "", "{}"), RETRY_TRANSIENT);
	assert_int_equal(kind(400, "TransactionInProgressException", "{}"), RETRY_TRANSIENT);
	assert_int_equal(kind(400, "ConditionalCheckFailedException", "{}"), RETRY_NOT);
	assert_int_equal(kind(400, "TransactionConflictException", "{}"), RETRY_NOT);
	assert_int_equal(kind(400, "ResourceNotFoundException", "{}"), RETRY_NOT);
	assert_int_equal(kind(400, "LimitExceededException", "{}"), RETRY_NOT);
	assert_int_equal(kind(400, "ExpiredTokenException", "{}"), RETRY_EXPIRED);
	assert_int_equal(kind(400, "RequestTimeTooSkewed", "{}"), RETRY_SKEWED);
	assert_int_equal(kind(400, "InvalidSignatureException", "{}"), RETRY_NOT);
	assert_int_equal(kind(400, "TransactionCanceledException",
			      "{\"CancellationReasons\":[{\"Code\":\"None\"},{\"Code\":\"ThrottlingError\"}]}"),
			 RETRY_THROTTLED);
	assert_int_equal(
		kind(400, "TransactionCanceledException",
		     "{\"CancellationReasons\":[{\"Code\":\"ConditionalCheckFailed\"},{\"Code\":\"ThrottlingError\"}]}"),
		RETRY_NOT);
	assert_int_equal(kind(400, "TransactionCanceledException",
			      "{\"CancellationReasons\":[{\"Code\":\"TransactionConflict\"}]}"),
			 RETRY_NOT);
}

/* ---- what may be sent twice ---- */

static struct repeat_plan plan(const char *operation, const char *body, bool sure)
{
	struct repeat_plan p;

	repeat_plan(&arena, operation, slice_str(body), sure, false, &p);
	return p;
}

static void assert_repeat(const char *operation, const char *body, enum repeat how)
{
	struct repeat_plan p = plan(operation, body, false);

	if (p.how != how)
		fail_msg("%s %s: %d, not %d", operation, body, p.how, how);
}

static void writes_that_compute_nothing_can_be_repeated(void **state)
{
	(void)state;
	assert_repeat("GetItem", "{}", REPEAT_FREELY);
	assert_repeat("PutItem", "{\"TableName\":\"t\",\"Item\":{}}", REPEAT_FREELY);
	assert_repeat("PutItem", "{\"ConditionExpression\":\"attribute_not_exists(PK)\"}", REPEAT_UNSAFE);
	assert_repeat("PutItem", "{\"Item\":{\"x\":{\"S\":\"ConditionExpression\"}}}", REPEAT_FREELY);
	assert_repeat("PutItem", "{\"Expected\":{}}", REPEAT_UNSAFE);
	assert_repeat("PutItem", "{\"ReturnValues\":\"ALL_OLD\"}", REPEAT_UNSAFE);
	assert_repeat("DeleteItem", "{\"Key\":{}}", REPEAT_FREELY);
	assert_repeat("UpdateItem", "{\"UpdateExpression\":\"SET #n0 = :v0 REMOVE #n1\"}", REPEAT_FREELY);
	assert_repeat("UpdateItem", "{\"UpdateExpression\":\"SET a = if_not_exists(a, :v)\"}", REPEAT_FREELY);
	assert_repeat("UpdateItem", "{\"UpdateExpression\":\"SET #n0 = #n0 + :v0\"}", REPEAT_UNSAFE);
	assert_repeat("UpdateItem", "{\"UpdateExpression\":\"SET #n0 = :v0 ADD #n1 :v1\"}", REPEAT_UNSAFE);
	assert_repeat("UpdateItem", "{\"UpdateExpression\":\"add #n1 :v1\"}", REPEAT_UNSAFE);
	assert_repeat("UpdateItem", "{\"UpdateExpression\":\"DELETE tags :v1\"}", REPEAT_UNSAFE);
	assert_repeat("UpdateItem", "{\"UpdateExpression\":\"SET l = list_append(l, :v)\"}", REPEAT_UNSAFE);
	assert_repeat("UpdateItem", "{\"UpdateExpression\":\"SET #add = :add\"}", REPEAT_FREELY);
	assert_repeat("UpdateItem", "{\"AttributeUpdates\":{}}", REPEAT_UNSAFE);
	assert_repeat("BatchWriteItem", "{}", REPEAT_FREELY);
	assert_repeat("ExecuteStatement", "{}", REPEAT_UNSAFE);
	assert_repeat("DescribeTable", "{}", REPEAT_FREELY);
	assert_repeat("TransactWriteItems", "{\"TransactItems\":[]}", REPEAT_BY_TOKEN);
}

static void transactions_get_a_token_unless_they_have_one(void **state)
{
	struct repeat_plan p = plan("TransactWriteItems", "{\"TransactItems\":[]}", true), other;
	const char *with = "{\"TransactItems\":[],\"ClientRequestToken\":\"mine\"}";
	const struct json *token = json_get(json_parse(&arena, p.body), "ClientRequestToken");

	(void)state;
	assert_true(json_is(token, JSON_STRING));
	assert_int_equal(token->string.n, 32);
	other = plan("TransactWriteItems", "{\"TransactItems\":[]}", true);
	assert_false(slice_equal(p.body, other.body));
	assert_string_equal(text(plan("TransactWriteItems", with, true).body), with);
	/* Similar words in data are not a token. */
	p = plan("TransactWriteItems",
		 "{\"TransactItems\":[{\"Put\":{\"Item\":{\"x\":{\"S\":\"ClientRequestToken\"}}}}] }\n", true);
	assert_true(json_is(json_get(json_parse(&arena, p.body), "ClientRequestToken"), JSON_STRING));
	p = plan("TransactWriteItems", "{}", true);
	assert_true(json_is(json_get(json_parse(&arena, p.body), "ClientRequestToken"), JSON_STRING));
}

static void a_write_under_a_condition_becomes_a_transaction_of_one(void **state)
{
	struct repeat_plan p = plan(
		"PutItem",
		"{\"TableName\":\"t\",\"Item\":{\"PK\":{\"S\":\"a\\u0000\\\"\"}},\"ConditionExpression\":\"attribute_not_exists(PK)\","
		"\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\",\"ReturnConsumedCapacity\":\"TOTAL\",\"ReturnValues\":\"NONE\"}",
		true);
	const struct json *j = json_parse(&arena, p.body), *items = json_get(j, "TransactItems"), *put;

	(void)state;
	assert_true(p.alone);
	assert_string_equal(p.operation, "TransactWriteItems");
	assert_int_equal(p.how, REPEAT_BY_TOKEN);
	assert_true(json_is(json_get(j, "ClientRequestToken"), JSON_STRING));
	assert_true(json_is(json_get(j, "ReturnConsumedCapacity"), JSON_STRING));
	assert_int_equal(items->count, 1);
	put = json_get(&items->items[0], "Put");
	assert_int_equal(put->count, 4);
	assert_memory_equal(json_get(json_get(json_get(put, "Item"), "PK"), "S")->string.p, "a\0\"", 3);
	/* What a transaction cannot answer stays as it is. */
	p = plan("UpdateItem", "{\"UpdateExpression\":\"ADD n :v\",\"ReturnValues\":\"UPDATED_NEW\"}", true);
	assert_false(p.alone);
	assert_int_equal(p.how, REPEAT_UNSAFE);
}

static struct backend_reply restored(int status, const char *error, const char *body)
{
	struct backend_reply r = { .status = status,
				   .error = slice_str(error),
				   .message = slice_str(error),
				   .body = json_parse(&arena, slice_str(body)) };

	repeat_restore(&arena, &r);
	return r;
}

static void the_reply_to_one_reads_as_the_single_operations(void **state)
{
	struct backend_reply r = restored(
		400, "TransactionCanceledException",
		"{\"CancellationReasons\":[{\"Code\":\"ConditionalCheckFailed\",\"Message\":\"The conditional request failed\","
		"\"Item\":{\"PK\":{\"S\":\"a\"}}}]}");

	(void)state;
	assert_string_equal(text(r.error), "ConditionalCheckFailedException");
	assert_string_equal(text(r.message), "The conditional request failed");
	assert_non_null(json_get(r.body, "Item"));
	r = restored(400, "TransactionCanceledException",
		     "{\"CancellationReasons\":[{\"Code\":\"ValidationError\",\"Message\":\"too large\"}]}");
	assert_string_equal(text(r.error), "ValidationException");
	r = restored(400, "TransactionCanceledException",
		     "{\"CancellationReasons\":[{\"Code\":\"TransactionConflict\"}]}");
	assert_string_equal(text(r.error), "TransactionConflictException");
	r = restored(200, "", "{\"ConsumedCapacity\":[{\"TableName\":\"t\",\"CapacityUnits\":2}]}");
	assert_int_equal(json_get(json_get(r.body, "ConsumedCapacity"), "CapacityUnits")->integer, 2);
	r = restored(400, "ValidationException", "{}");
	assert_string_equal(text(r.error), "ValidationException");
}

static void capacity_is_requested_by_default(void **state)
{
	struct repeat_plan p;

	(void)state;
	repeat_plan(&arena, "Query", SLICE("{\"TableName\":\"t\"}"), true, true, &p);
	assert_string_equal(text(p.body), "{\"TableName\":\"t\",\"ReturnConsumedCapacity\":\"TOTAL\"}");
	repeat_plan(&arena, "Query", SLICE("{\"ReturnConsumedCapacity\":\"NONE\"}"), true, true, &p);
	assert_string_equal(text(p.body), "{\"ReturnConsumedCapacity\":\"NONE\"}");
	repeat_plan(&arena, "GetRecords", SLICE("{}"), true, true, &p);
	assert_string_equal(text(p.body), "{}");
	assert_true(p.streams);
	repeat_plan(&arena, "DescribeTable", SLICE("{}"), true, true, &p);
	assert_string_equal(text(p.body), "{}");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(backends_have_four_forms),
		T(other_backends_are_refused_with_a_reason),
		T(a_password_in_an_address_is_not_repeated),
		T(amazon_has_addresses_by_region),
		T(the_two_files_are_read_as_aws_tools_do),
		T(files_that_are_not_there_are_empty),
		T(the_region_is_looked_for_in_order),
		T(requests_are_signed_as_botocore_does),
		T(pauses_double_and_are_spread),
		T(the_service_may_ask_for_a_longer_pause),
		T(repetitions_cost_tokens),
		T(errors_are_worth_another_attempt_or_not),
		T(writes_that_compute_nothing_can_be_repeated),
		T(transactions_get_a_token_unless_they_have_one),
		T(a_write_under_a_condition_becomes_a_transaction_of_one),
		T(the_reply_to_one_reads_as_the_single_operations),
		T(capacity_is_requested_by_default),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
