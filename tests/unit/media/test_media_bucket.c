/* Addresses of a bucket's files, signed as AWS documents. SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "media/media.h"
#include "wire/sigv4.h"

#define ID "01ARZ3NDEKTSV4RRFFQ69G5FAV"

static bool contains(struct slice s, const char *text)
{
	return memmem(s.p, s.n, text, strlen(text));
}

/* "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)" in the manual of S3 has this example. */
static void a_query_is_signed_as_in_amazons_example(void **state)
{
	struct http_header host = { SLICE("host"), SLICE("examplebucket.s3.amazonaws.com") };
	struct sigv4_message m = {
		.method = SLICE("GET"),
		.path = SLICE("/test.txt"),
		.query = SLICE(
			"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
			"aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"),
		.headers = &host,
		.header_count = 1,
		.signed_headers = SLICE("host"),
		.payload = SLICE(SIGV4_UNSIGNED),
		.presigned = true,
	};
	struct sigv4_scope scope = { SLICE("20130524"), SLICE("us-east-1"), SLICE("s3"), SLICE(SIGV4_TERMINATOR) };
	struct sigv4_key key = { SLICE("AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request"),
				 SLICE("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY") };
	struct sigv4_cache cache = { 0 };
	struct slice signature;
	struct arena a;

	(void)state;
	arena_init(&a);
	signature = sigv4_sign(&a, &m, &key, &scope, SLICE("20130524T000000Z"), &cache);
	assert_true(slice_is(signature, "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"));
	arena_release(&a);
}

static struct media *open_at(const char *where, const char *endpoint, char *why)
{
	setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", 1);
	return media_open(&(struct media_options){ .where = where, .endpoint = endpoint, .region = "eu-west-1" }, why,
			  256);
}

static struct slice upload_url(struct media *m, struct arena *a)
{
	struct media_address q = { .file = { SLICE("shop"), SLICE(ID) },
				   .from_s = 1369353600,
				   .seconds = 900,
				   .type = SLICE("image/png"),
				   .size = 17 };
	struct slice url;
	char why[256];

	assert_true(media_upload_url(m, a, &q, &url, why, sizeof(why)));
	return url;
}

static void a_bucket_is_a_host_at_amazon_and_a_path_elsewhere(void **state)
{
	char why[256];
	struct arena a;
	struct media *m;

	(void)state;
	arena_init(&a);
	m = open_at("s3://pictures/of/shop/", NULL, why);
	assert_non_null(m);
	assert_string_equal(media_origin(m), "https://pictures.s3.eu-west-1.amazonaws.com");
	assert_true(slice_starts(upload_url(m, &a),
				 SLICE("https://pictures.s3.eu-west-1.amazonaws.com/of/shop/shop/" ID "?")));
	assert_true(contains(upload_url(m, &a),
			     "X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost%3Bif-none-match&"));
	assert_true(contains(upload_url(m, &a), "X-Amz-Date=20130524T000000Z&X-Amz-Expires=900"));
	media_close(m);
	m = open_at("s3://pic.tures", NULL, why);
	assert_non_null(m);
	assert_true(slice_starts(upload_url(m, &a), SLICE("https://s3.eu-west-1.amazonaws.com/pic.tures/shop/" ID "?")));
	media_close(m);
	m = open_at("s3://pictures", "http://127.0.0.1:9", why);
	assert_non_null(m);
	assert_true(slice_starts(upload_url(m, &a), SLICE("http://127.0.0.1:9/pictures/shop/" ID "?")));
	media_close(m);
	arena_release(&a);
}

static void what_is_no_bucket_is_refused(void **state)
{
	static const char *const wrong[] = { "s3://",         "s3://ab",     "s3:///x",      "s3://a b c",
					     "s3://abc/../d", "s3://abc//d", "s3://abc/%41", "s3://abc/d?e" };
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_null(open_at(wrong[i], NULL, why));
		assert_non_null(strstr(why, "is not s3://bucket"));
	}
	assert_null(open_at("s3://abc", "http://example.com", why)); /* not in plain text */
	assert_null(open_at("s3://abc", "https://example.com/path", why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_is_signed_as_in_amazons_example),
		cmocka_unit_test(a_bucket_is_a_host_at_amazon_and_a_path_elsewhere),
		cmocka_unit_test(what_is_no_bucket_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
