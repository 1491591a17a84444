/* Signatures: AWS's published vectors, what botocore signs, and everything that can be wrong with
 * them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "http/door/address.h"
#include "http/door/basic.h"
#include "http/door/sigv4.h"

#define NOW_MS 1440938160000LL /* 2015-08-30T12:36:00Z */
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

static struct http_limits limits;
static struct request_parser parser;
static struct http_request req;
static struct arena arena;
static struct keys *keys;
static struct sigv4_cache cache;
static struct error err;

static int setup(void **state)
{
	char why[200];

	(void)state;
	http_limits_complete(&limits);
	arena_init(&arena);
	cache = (struct sigv4_cache){ 0 };
	keys = keys_parse(SLICE("# test keys\n\nAKIDEXAMPLE " SECRET "\r\nother\tsecret"), "keys", why, sizeof(why));
	assert_non_null(keys);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	keys_free(keys);
	return 0;
}

static void parse(struct slice text)
{
	size_t used;

	request_parser_init(&parser, &limits);
	request_begin(&parser, &req, &arena);
	assert_int_equal(request_feed(&parser, text.p, text.n, &used), REQUEST_DONE);
}

/* ---- AWS's test suite (service "service", which sigv4_verify() would not accept) ---- */

static void assert_signature(const char *head, const char *signed_headers, const char *body, const char *expected)
{
	struct sigv4 s = {
		.credential = SLICE("AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"),
		.signed_headers = slice_str(signed_headers),
		.scope_date = SLICE("20150830"),
		.region = SLICE("us-east-1"),
		.service = SLICE("service"),
		.terminator = SLICE("aws4_request"),
		.iso_date = SLICE("20150830T123600Z"),
	};
	struct slice got;

	parse(arena_printf(&arena,
			   "%s\r\nHost:example.amazonaws.com\r\nX-Amz-Date:20150830T123600Z\r\n"
			   "Content-Length: %zu\r\n\r\n%s",
			   head, strlen(body), body));
	got = sigv4_signature(&req, &s, SLICE(SECRET), &cache);
	assert_int_equal(got.n, 64);
	assert_memory_equal(got.p, expected, 64);
}

static void the_published_vectors_agree(void **state)
{
	const char *plain = "host;x-amz-date";

	(void)state;
	/* get-vanilla */
	assert_signature("GET / HTTP/1.1", plain, "",
			 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
	/* get-vanilla-query-order-key-case */
	assert_signature("GET /?Param2=value2&Param1=value1 HTTP/1.1", plain, "",
			 "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500");
	/* get-vanilla-empty-query-key */
	assert_signature("GET /?Param1=value1 HTTP/1.1", plain, "",
			 "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb");
	/* get-relative-relative: normalised to "/" */
	assert_signature("GET /example1/example2/../.. HTTP/1.1", plain, "",
			 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
	/* get-slash */
	assert_signature("GET // HTTP/1.1", plain, "",
			 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31");
	/* post-vanilla */
	assert_signature("POST / HTTP/1.1", plain, "",
			 "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b");
	/* get-header-value-trim */
	assert_signature("GET / HTTP/1.1\r\nMy-Header1:  value1\r\nMy-Header2: \"a   b   c\"",
			 "host;my-header1;my-header2;x-amz-date", "",
			 "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
	/* get-header-key-duplicate */
	assert_signature("GET / HTTP/1.1\r\nMy-Header1:value2\r\nMy-Header1:value2\r\nMy-Header1:value1",
			 "host;my-header1;x-amz-date", "",
			 "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea");
	/* post-x-www-form-urlencoded */
	assert_signature("POST / HTTP/1.1\r\nContent-Type:application/x-www-form-urlencoded",
			 "content-type;host;x-amz-date", "Param1=value1",
			 "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
}

/* ---- what botocore signs ---- */

#define CREDENTIAL "AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request"
#define SIGNED     "content-type;host;x-amz-date;x-amz-target"
#define SIGNATURE  "d96d5b890e0df1647e1212379646c960d69bd0ef6d4065bfd7d51ea3008e7ff8"

static bool verify_with(const char *authorization, const char *date, const char *body, int64_t now)
{
	parse(arena_printf(&arena,
			   "POST / HTTP/1.1\r\nHost: localhost:8000\r\nX-Amz-Date: %s\r\n"
			   "X-Amz-Target: DynamoDB_20120810.DescribeTable\r\n"
			   "Content-Type: application/x-amz-json-1.0\r\n"
			   "%s%s\r\nContent-Length: %zu\r\n\r\n%s",
			   date, authorization ? "Authorization: " : "X: ", authorization ? authorization : "",
			   strlen(body), body));
	err = (struct error){ 0 };
	return sigv4_verify(&req, keys, SLICE("us-east-1"), &cache, now, &err);
}

static bool verify(const char *authorization)
{
	return verify_with(authorization, "20150830T123600Z", "{\"TableName\":\"t\"}", NOW_MS);
}

static void assert_refused(enum err code, const char *message)
{
	assert_int_equal(err.code, code);
	assert_int_equal(err.message.n, strlen(message));
	assert_memory_equal(err.message.p, message, err.message.n);
}

#define GOOD                                                                     \
	"AWS4-HMAC-SHA256 Credential=" CREDENTIAL ", SignedHeaders=" SIGNED ", " \
	"Signature=" SIGNATURE
#define MISMATCH                                                                                \
	"The request signature we calculated does not match the signature you provided. Check " \
	"your AWS Secret Access Key and signing method. Consult the service documentation for " \
	"details."

static void a_good_signature_passes_again_and_again(void **state)
{
	(void)state;
	assert_true(verify(GOOD));
	assert_true(verify(GOOD));
	assert_true(verify_with(GOOD, "20150830T123600Z", "{\"TableName\":\"t\"}", NOW_MS + 899000));
	assert_true(verify_with(GOOD, "20150830T123600Z", "{\"TableName\":\"t\"}", NOW_MS - 899000));
}

static void a_changed_body_or_signature_fails(void **state)
{
	(void)state;
	assert_false(verify_with(GOOD, "20150830T123600Z", "{\"TableName\":\"u\"}", NOW_MS));
	assert_refused(ERR_INVALID_SIGNATURE, MISMATCH);
	assert_false(verify("AWS4-HMAC-SHA256 Credential=" CREDENTIAL ", SignedHeaders=" SIGNED ", Signature=00"));
	assert_refused(ERR_INVALID_SIGNATURE, MISMATCH);
	assert_false(verify("AWS4-HMAC-SHA256 Credential=other/20150830/us-east-1/dynamodb/aws4_request"
			    ", SignedHeaders=" SIGNED ", Signature=" SIGNATURE));
	assert_refused(ERR_INVALID_SIGNATURE, MISMATCH);
}

static void an_unknown_key_is_no_client(void **state)
{
	(void)state;
	assert_false(verify("AWS4-HMAC-SHA256 Credential=nobody/20150830/us-east-1/dynamodb/aws4_request"
			    ", SignedHeaders=" SIGNED ", Signature=" SIGNATURE));
	assert_refused(ERR_UNRECOGNIZED_CLIENT, "The security token included in the request is invalid.");
}

static void the_clocks_must_agree_within_15_minutes(void **state)
{
	(void)state;
	assert_false(verify_with(GOOD, "20150830T123600Z", "{}", NOW_MS + 901000));
	assert_refused(ERR_INVALID_SIGNATURE, "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z "
					      "(20150830T125101Z - 15 min.)");
	assert_false(verify_with(GOOD, "20150830T123600Z", "{}", NOW_MS - 901000));
	assert_refused(ERR_INVALID_SIGNATURE, "Signature not yet current: 20150830T123600Z is still later than "
					      "20150830T123559Z (20150830T122059Z + 15 min.)");
	assert_false(verify_with(GOOD, "201", "{}", NOW_MS));
	assert_refused(ERR_INCOMPLETE_SIGNATURE, "Date must be in ISO-8601 'basic format'. Got '201'. "
						 "See http://en.wikipedia.org/wiki/ISO_8601");
}

static void missing_parts_are_named(void **state)
{
	(void)state;
	assert_false(verify(NULL));
	assert_refused(ERR_MISSING_AUTH_TOKEN, "Request is missing Authentication Token");
	assert_false(verify("AWS4"));
	assert_refused(ERR_MISSING_AUTH_TOKEN, "Request is missing Authentication Token");
	assert_false(verify("AWS4- Signature=b,Credential=a"));
	assert_refused(ERR_INCOMPLETE_SIGNATURE, "Authorization header requires 'SignedHeaders' parameter. "
						 "Authorization=AWS4- Signature=b,Credential=a");
	assert_false(verify("AWS4-HMAC-SHA256 Credential=a/b/c/d, SignedHeaders=host;x-amz-target, "
			    "Signature=x"));
	assert_refused(ERR_INCOMPLETE_SIGNATURE, "Credential must have exactly 5 slash-delimited elements, e.g. "
						 "keyid/date/region/service/term, got 'a/b/c/d'");
}

static void the_scope_must_fit(void **state)
{
	(void)state;
	assert_false(verify("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150829/us-east-1/s3/aws3_request"
			    ", SignedHeaders=" SIGNED ", Signature=" SIGNATURE));
	assert_refused(ERR_INVALID_SIGNATURE,
		       "Credential should be scoped to correct service: 'dynamodb'. "
		       "Credential should be scoped with a valid terminator: 'aws4_request', not "
		       "'aws3_request'. Date in Credential scope does not match YYYYMMDD from ISO-8601 "
		       "version of date from HTTP: '20150829' != '20150830', from '20150830T123600Z'.");
	assert_false(verify("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-west-1/dynamodb/aws4_request"
			    ", SignedHeaders=" SIGNED ", Signature=" SIGNATURE));
	assert_refused(ERR_INVALID_SIGNATURE, "Credential should be scoped to a valid region, not 'eu-west-1'. ");
	assert_false(verify("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/US-EAST-1/s3/aws4_request"
			    ", SignedHeaders=" SIGNED ", Signature=" SIGNATURE));
	assert_refused(ERR_INVALID_SIGNATURE, "Credential should be scoped to a valid region, not 'US-EAST-1'. "
					      "Credential should be scoped to correct service: 'dynamodb'. ");
	assert_false(verify("AWS4-HMAC-SHA1 Credential=" CREDENTIAL ", SignedHeaders=" SIGNED ", Signature=" SIGNATURE));
	assert_refused(ERR_INCOMPLETE_SIGNATURE, "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA1' "
						 "(only AWS4-HMAC-SHA256 for now). ");
}

static void a_key_with_a_new_secret_is_verified_with_it(void **state)
{
	struct keys *others, *old = keys;
	char why[200];

	(void)state;
	assert_true(verify(GOOD));
	others = keys_parse(SLICE("AKIDEXAMPLE another-secret\n"), "keys", why, sizeof(why));
	assert_non_null(others);
	keys = others;
	sigv4_forget(&cache);
	assert_false(verify(GOOD));
	assert_refused(ERR_INVALID_SIGNATURE, MISMATCH);
	keys = old;
	keys_free(others);
}

static void keys_live_until_their_last_share_is_freed(void **state)
{
	struct keys *share = keys_share(keys);

	(void)state;
	keys_free(share);
	assert_true(slice_is(keys_secret(keys, SLICE("other")), "secret"));
	assert_null(keys_share(NULL));
}

static void a_key_as_user_and_password(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text;
		bool good;
	} all[] = {
		{ "Basic b3RoZXI6c2VjcmV0", true },        /* other:secret */
		{ "basic b3RoZXI6c2VjcmV0", true },
		{ "Basic b3RoZXI6c2VjcmU=", false },       /* other:secre */
		{ "Basic b3RoZXI6c2VjcmV0cw==", false },   /* other:secrets */
		{ "Basic b3RoZXI6", false },               /* other: */
		{ "Basic b3RoZXI=", false },               /* other */
		{ "Basic bm9ib2R5OnNlY3JldA==", false },   /* nobody:secret */
		{ "Basic OnNlY3JldA==", false },           /* :secret */
		{ "Basic ", false }, { "Basic ====", false }, { "Basic b3RoZXI6c2VjcmV", false }, { "Basic \xff\xff\xff\xff", false },
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_true(basic_is_present(slice_str(all[i].text)));
		assert_int_equal(basic_verify(slice_str(all[i].text), keys), all[i].good);
	}
	for (int tls = 0; tls < 2; tls++) {
		assert_true(basic_is_confidential(tls, SLICE("127.0.0.1")));
		assert_true(basic_is_confidential(tls, SLICE("::1")));
		assert_true(basic_is_confidential(tls, SLICE("::ffff:127.0.0.1")));
		assert_int_equal(basic_is_confidential(tls, SLICE("10.0.0.7")), tls);
		assert_int_equal(basic_is_confidential(tls, SLICE("::ffff:10.0.0.7")), tls);
		assert_int_equal(basic_is_confidential(tls, SLICE("")), tls);
	}
	assert_false(basic_is_present(SLICE("Bearer x")));
	assert_false(basic_is_present(SLICE("")));
}

static void host_and_target_must_be_signed(void **state)
{
	(void)state;
	assert_false(verify("AWS4-HMAC-SHA256 Credential=" CREDENTIAL
			    ", SignedHeaders=x-amz-date;x-amz-target, Signature=" SIGNATURE));
	assert_refused(ERR_INVALID_SIGNATURE, "'Host' must be a 'SignedHeader' in the AWS Authorization.");
	assert_false(verify("AWS4-HMAC-SHA256 Credential=" CREDENTIAL
			    ", SignedHeaders=host;x-amz-date, Signature=" SIGNATURE));
	assert_int_equal(err.code, ERR_INVALID_SIGNATURE);
}

#define PRESIGNED                                                                        \
	"/?b=2&a=x%20y&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F" \
	"20150830%2Fus-east-1%2Fdynamodb%2Faws4_request&X-Amz-Date=20150830T123600Z"     \
	"&X-Amz-Expires=3600&X-Amz-SignedHeaders=host%3Bx-amz-target&X-Amz-Signature="   \
	"9dceb06d0757ab541a560e9f8288e8745997078113a75007cf8a4cbd8b50a9e2"

static bool verify_presigned(const char *url, const char *more, int64_t now)
{
	parse(arena_printf(&arena,
			   "POST %s HTTP/1.1\r\nHost: localhost:8000\r\n"
			   "X-Amz-Target: DynamoDB_20120810.ListTables\r\n%s"
			   "\r\n",
			   url, more));
	err = (struct error){ 0 };
	return sigv4_verify(&req, keys, SLICE("us-east-1"), &cache, now, &err);
}

static void presigned_requests_pass_until_they_expire(void **state)
{
	(void)state;
	assert_true(verify_presigned(PRESIGNED, "", NOW_MS));
	assert_true(verify_presigned(PRESIGNED, "", NOW_MS + 3599000));
	assert_false(verify_presigned(PRESIGNED, "", NOW_MS + 3601000));
	assert_int_equal(err.code, ERR_INVALID_SIGNATURE);
	assert_false(verify_presigned(PRESIGNED "&c=3", "", NOW_MS));
	assert_refused(ERR_INVALID_SIGNATURE, MISMATCH);
	assert_false(verify_presigned(PRESIGNED, "Authorization: " GOOD "\r\n", NOW_MS));
	assert_refused(ERR_INVALID_SIGNATURE,
		       "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as "
		       "HTTP header.");
	assert_false(verify_presigned("/?X-Amz-Algorithm=a&X-Amz-Credential=b&X-Amz-Signature=c"
				      "&X-Amz-Date=d",
				      "", NOW_MS));
	assert_refused(ERR_INCOMPLETE_SIGNATURE, "AWS query-string parameters must include 'X-Amz-SignedHeaders'. "
						 "Re-examine the query-string parameters.");
}

/* ---- keys and addresses ---- */

static void bad_key_files_are_refused_with_the_line(void **state)
{
	char why[200];

	(void)state;
	assert_null(keys_parse(SLICE("a b\nlonely\n"), "f", why, sizeof(why)));
	assert_string_equal(why, "f, line 2: expected 'ACCESS_KEY SECRET', each key once");
	assert_null(keys_parse(SLICE("a b\na c\n"), "f", why, sizeof(why)));
	assert_null(keys_parse(SLICE("a b c\n"), "f", why, sizeof(why)));
	assert_null(keys_parse(SLICE("# none\n"), "f", why, sizeof(why)));
	assert_null(keys_load("/nowhere/keys", why, sizeof(why)));
	assert_int_equal(keys_count(keys), 2);
}

static void private_addresses_are_known(void **state)
{
	static const char *const private[] = { "127.0.0.1:1",   "10.1.2.3:1",    "172.16.0.1:1", "172.31.255.255:1",
					       "192.168.0.1:1", "169.254.1.1:1", "100.64.0.1:1", "[::1]:1",
					       "[fd00::1]:1",   "[fe80::1]:1" };
	static const char *const public[] = { "8.8.8.8:1",     "172.32.0.1:1",    "172.15.0.1:1", "192.169.0.1:1",
					      "100.128.0.1:1", "[2001:db8::1]:1", "0.0.0.0:1" };
	struct address a;
	char why[200];

	(void)state;
	for (size_t i = 0; i < sizeof(private) / sizeof(private[0]); i++) {
		assert_true(address_parse(&a, private[i], why, sizeof(why)));
		assert_true(address_is_private(&a));
		assert_false(address_is_any(&a));
	}
	for (size_t i = 0; i < sizeof(public) / sizeof(public[0]); i++) {
		assert_true(address_parse(&a, public[i], why, sizeof(why)));
		assert_false(address_is_private(&a));
	}
	assert_true(address_is_any(&a));
	assert_true(address_parse(&a, "[::]:1", why, sizeof(why)) && address_is_any(&a));
}

static void addresses_are_read_and_printed(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text, *printed;
		bool loopback;
	} good[] = {
		{ "127.0.0.1:8000", "127.0.0.1:8000", true }, { "8001", "127.0.0.1:8001", true },
		{ "0.0.0.0:1", "0.0.0.0:1", false },          { "*:1", "0.0.0.0:1", false },
		{ "[::1]:80", "[::1]:80", true },             { "[::]:80", "[::]:80", false },
		{ "10.0.0.1:0", "10.0.0.1:0", false },
	};
	/* clang-format on */
	static const char *const bad[] = {
		"", ":8000", "127.0.0.1:", "127.0.0.1:http", "::1:80", "127.0.0.1:99999x", "[::1]"
	};
	struct address a;
	char text[ADDRESS_TEXT], why[200];

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(address_parse(&a, good[i].text, why, sizeof(why)));
		address_format(&a, text, sizeof(text));
		assert_string_equal(text, good[i].printed);
		assert_int_equal(address_is_loopback(&a), good[i].loopback);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(address_parse(&a, bad[i], why, sizeof(why)));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_published_vectors_agree),
		TEST(a_good_signature_passes_again_and_again),
		TEST(a_changed_body_or_signature_fails),
		TEST(an_unknown_key_is_no_client),
		TEST(the_clocks_must_agree_within_15_minutes),
		TEST(missing_parts_are_named),
		TEST(the_scope_must_fit),
		TEST(a_key_with_a_new_secret_is_verified_with_it),
		TEST(keys_live_until_their_last_share_is_freed),
		TEST(a_key_as_user_and_password),
		TEST(host_and_target_must_be_signed),
		TEST(presigned_requests_pass_until_they_expire),
		TEST(bad_key_files_are_refused_with_the_line),
		TEST(private_addresses_are_known),
		TEST(addresses_are_read_and_printed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
