/* The server over real sockets: what it answers, and in which order.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "wire/gzip.h"

#include "wire.h"

static struct wire wire;

static int setup(void **state)
{
	(void)state;
	wire_start(&wire, &(struct server_options){ 0 });
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	wire_stop(&wire);
	return 0;
}

static void one(const char *request, struct wire_reply *r)
{
	int fd = wire_connect(&wire);

	wire_send_text(fd, request);
	assert_true(wire_read(fd, r));
	close(fd);
}

static void assert_header(const struct wire_reply *r, const char *name, const char *expected)
{
	char value[256];

	assert_true(wire_header(r, name, value, sizeof(value)));
	assert_string_equal(value, expected);
}

static void assert_reply(const char *request, int status, const char *body)
{
	struct wire_reply r;

	one(request, &r);
	assert_int_equal(r.status, status);
	assert_string_equal(r.body, body);
	mem_free(r.body);
}

static void a_connection_serves_many_requests(void **state)
{
	int fd = wire_connect(&wire);

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_true(wire_call(fd, "Echo", "{\"a\":1}", 200, "{\"a\":1}"));
		assert_true(wire_call(fd, "Later", "{\"b\":2}", 200, "{\"b\":2}"));
	}
	close(fd);
}

static void replies_carry_dynamodbs_headers(void **state)
{
	struct wire_reply r;
	char value[128];
	int fd = wire_connect(&wire);

	(void)state;
	wire_post(fd, "Echo", "", SLICE("123456789"));
	assert_true(wire_read(fd, &r));
	assert_header(&r, "content-type", "application/x-amz-json-1.0");
	assert_header(&r, "x-amz-crc32", "3421780262");
	assert_true(wire_header(&r, "x-amzn-requestid", value, sizeof(value)));
	assert_int_equal(strlen(value), 52);
	assert_true(wire_header(&r, "date", value, sizeof(value)));
	assert_false(wire_header(&r, "access-control-allow-origin", value, sizeof(value)));
	assert_false(wire_header(&r, "connection", value, sizeof(value)));
	mem_free(r.body);
	close(fd);
}

static void pipelined_replies_come_in_order(void **state)
{
	enum { N = 200 };
	int fd = wire_connect(&wire);
	struct wire_reply r;
	char body[16];

	(void)state;
	for (int i = 0; i < N; i++) {
		snprintf(body, sizeof(body), "%d", i);
		wire_post(fd, i % 3 ? "Later" : "Echo", "", slice_str(body));
	}
	for (int i = 0; i < N; i++) {
		assert_true(wire_read(fd, &r));
		assert_int_equal(strtol(r.body, NULL, 10), i);
		mem_free(r.body);
	}
	close(fd);
}

static void a_slow_request_holds_back_later_ones(void **state)
{
	int fd = wire_connect(&wire), other = wire_connect(&wire);
	struct wire_reply r;

	(void)state;
	wire_post(fd, "Hold", "", SLICE("first"));
	for (int i = 0; i < 40; i++)
		wire_post(fd, "Echo", "", SLICE("second"));
	fake_api_await_held(wire.api, 1);
	assert_true(wire_call(other, "Echo", "x", 200, "x"));
	fake_api_release(wire.api);
	assert_true(wire_read(fd, &r));
	assert_string_equal(r.body, "first");
	mem_free(r.body);
	for (int i = 0; i < 40; i++) {
		assert_true(wire_read(fd, &r));
		assert_string_equal(r.body, "second");
		mem_free(r.body);
	}
	close(fd);
	close(other);
	/* What had to wait is counted no more. */
	one("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n", &r);
	assert_non_null(strstr(r.body, "\nthorpe_http_request_memory_bytes 0\n"));
	mem_free(r.body);
}

static void a_chunked_body_and_a_split_request_are_put_together(void **state)
{
	static const char request[] = "POST / HTTP/1.1\r\nHost: h\r\nX-Amz-Target: x.Echo\r\n"
				      "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
				      "2\r\n{}\r\n3\r\n   \r\n0\r\n\r\n";
	int fd = wire_connect(&wire);
	struct wire_reply r;

	(void)state;
	for (size_t i = 0; i < sizeof(request) - 1; i++)
		wire_send(fd, request + i, 1);
	assert_true(wire_read(fd, &r));
	assert_string_equal(r.body, "{}   ");
	assert_header(&r, "content-type", "application/json");
	mem_free(r.body);
	close(fd);
}

static void a_client_that_asks_may_continue(void **state)
{
	int fd = wire_connect(&wire);
	struct wire_reply r;

	(void)state;
	wire_send_text(fd, "POST / HTTP/1.1\r\nHost: h\r\nX-Amz-Target: x.Echo\r\nExpect: 100-continue\r\n"
			   "Content-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n");
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 100);
	wire_send_text(fd, "ok");
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "ok");
	mem_free(r.body);
	close(fd);
}

static void a_zipped_body_is_unzipped(void **state)
{
	struct gzip g = { 0 };
	struct arena a;
	struct slice packed, plain;
	struct wire_reply r;
	int fd = wire_connect(&wire);
	char letters[600];

	(void)state;
	arena_init(&a);
	memset(letters, 'z', sizeof(letters));
	plain = slice_make(letters, sizeof(letters));
	packed = gzip_pack(&g, &a, plain);
	wire_post(fd, "Echo", "Content-Encoding: gzip\r\n", packed);
	assert_true(wire_read(fd, &r));
	assert_true(slice_equal(slice_make(r.body, r.body_n), plain));
	mem_free(r.body);
	wire_post(fd, "Echo", "Content-Encoding: gzip\r\n", SLICE("this is not gzip at all"));
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 400);
	mem_free(r.body);
	wire_post(fd, "Echo", "Content-Encoding: br\r\n", SLICE("{}"));
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 415);
	mem_free(r.body);
	packed = gzip_pack(&g, &a, slice_make(arena_zalloc(&a, 17 << 20), 17 << 20));
	wire_post(fd, "Echo", "Content-Encoding: gzip\r\n", packed);
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.status, 413);
	mem_free(r.body);
	close(fd);
	gzip_release(&g);
	arena_release(&a);
}

static void a_large_reply_is_compressed_on_request(void **state)
{
	struct gzip g = { 0 };
	struct arena a;
	struct slice out;
	struct wire_reply r;
	char crc[32];
	int fd = wire_connect(&wire);

	(void)state;
	arena_init(&a);
	wire_post(fd, "Big", "Accept-Encoding: gzip, deflate\r\n", SLICE("{}"));
	assert_true(wire_read(fd, &r));
	assert_header(&r, "content-encoding", "gzip");
	snprintf(crc, sizeof(crc), "%u", gzip_crc32(slice_make(r.body, r.body_n)));
	assert_header(&r, "x-amz-crc32", crc);
	assert_int_equal(gunzip(&g, &a, slice_make(r.body, r.body_n), 1 << 20, &out), GUNZIP_OK);
	assert_int_equal(out.n, 100000);
	mem_free(r.body);
	wire_post(fd, "Big", "Accept-Encoding: identity\r\n", SLICE("{}"));
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.body_n, 100000);
	mem_free(r.body);
	close(fd);
	gzip_release(&g);
	arena_release(&a);
}

#define PREFLIGHT(origin)                                                                                \
	"OPTIONS / HTTP/1.1\r\nHost: h\r\nOrigin: " origin "\r\nAccess-Control-Request-Method: POST\r\n" \
	"Access-Control-Request-Headers: a, b\r\n\r\n"

static void a_page_of_a_loopback_origin_may_call(void **state)
{
	struct wire_reply r;

	(void)state;
	one(PREFLIGHT("http://localhost:3000"), &r);
	assert_int_equal(r.status, 200);
	assert_int_equal(r.body_n, 0);
	assert_header(&r, "access-control-allow-origin", "http://localhost:3000");
	assert_header(&r, "access-control-allow-headers", "a, b");
	assert_header(&r, "access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
	assert_header(&r, "access-control-max-age", "7200");
	assert_header(&r, "vary", "Origin");
	mem_free(r.body);
	one("POST / HTTP/1.1\r\nHost: h\r\nOrigin: http://localhost:3000\r\n\r\n", &r);
	assert_int_equal(r.status, 400);
	assert_header(&r, "access-control-allow-origin", "http://localhost:3000");
	mem_free(r.body);
}

static void a_page_of_another_origin_may_not(void **state)
{
	static const char *const requests[] = {
		PREFLIGHT("http://evil.example"),
		"POST / HTTP/1.1\r\nHost: h\r\nOrigin: http://evil.example\r\nX-Amz-Target: x.Echo\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nOrigin: null\r\nX-Amz-Target: x.Echo\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: h\r\nSec-Fetch-Site: cross-site\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: evil.example\r\nX-Amz-Target: x.Echo\r\n\r\n",
		"POST / HTTP/1.0\r\nHost: evil.example\r\nX-Amz-Target: x.Echo\r\n\r\n",
		"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"GET /nothing HTTP/1.1\r\nHost: evil.example\r\n\r\n",
	};
	char value[256];
	struct wire_reply r;

	(void)state;
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		one(requests[i], &r);
		assert_int_equal(r.status, 403);
		assert_non_null(strstr(r.body, "AccessDeniedException"));
		assert_false(wire_header(&r, "access-control-allow-origin", value, sizeof(value)));
		mem_free(r.body);
	}
	assert_reply("GET /healthz HTTP/1.0\r\n\r\n", 200, "ok\n");
}

static void paths_are_routed(void **state)
{
	struct wire_reply r;

	(void)state;
	assert_reply("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 200, "healthy: dynamodb.us-east-1.amazonaws.com ");
	assert_reply("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n", 200, "ok\n");
	assert_reply("PUT / HTTP/1.1\r\nHost: h\r\n\r\n", 404, "<UnknownOperationException/>\n");
	assert_reply("OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n", 404, "<UnknownOperationException/>\n");
	assert_reply("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi", 404, "<UnknownOperationException/>\n");
	assert_reply("GET /healthzz HTTP/1.1\r\nHost: h\r\n\r\n", 404, "{\"message\":\"There is nothing here.\"}");
	one("GET /metrics HTTP/1.1\r\nHost: h\r\n\r\n", &r);
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body, "fake_metric 1\n"));
	assert_non_null(strstr(r.body, "\nthorpe_http_connections "));
	assert_non_null(strstr(r.body, "\nprocess_resident_memory_bytes "));
	assert_non_null(strstr(r.body, "\nthorpe_http_replies_total{status=\"4xx\"} "));
	mem_free(r.body);
}

static void connections_end_when_the_client_wants(void **state)
{
	struct wire_reply r;
	int fd = wire_connect(&wire);

	(void)state;
	wire_send_text(fd, "GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
	assert_true(wire_read(fd, &r));
	assert_header(&r, "connection", "close");
	assert_true(wire_is_closed(fd));
	mem_free(r.body);
	close(fd);
	fd = wire_connect(&wire);
	wire_send_text(fd, "GET /healthz HTTP/1.0\r\n\r\n");
	assert_true(wire_read(fd, &r));
	assert_true(wire_is_closed(fd));
	mem_free(r.body);
	close(fd);
	fd = wire_connect(&wire);
	wire_send_text(fd, "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	assert_true(wire_read(fd, &r));
	assert_header(&r, "connection", "keep-alive");
	mem_free(r.body);
	assert_true(wire_call(fd, "Echo", "x", 200, "x"));
	close(fd);
}

static void half_a_signature_is_a_mistake_and_none_is_fine(void **state)
{
	(void)state;
	assert_reply("POST / HTTP/1.1\r\nHost: h\r\nX-Amz-Target: x.Echo\r\nAuthorization: Bearer "
		     "\xff\r\n\r\n",
		     400,
		     "{\"__type\":\"com.amazon.coral.service#MissingAuthenticationTokenException\","
		     "\"message\":\"Request is missing Authentication Token\"}");
	assert_reply("POST / HTTP/1.1\r\nHost: h\r\nDate: x\r\nAuthorization: AWS4-x "
		     "Credential=\xff Signature=b\r\n\r\n",
		     400,
		     "{\"__type\":\"com.amazon.coral.service#IncompleteSignatureException\","
		     "\"message\":\"Authorization header requires 'SignedHeaders' parameter. "
		     "Authorization=AWS4-x Credential=? Signature=b\"}");
	assert_reply("POST / HTTP/1.1\r\nHost: h\r\nX-Amz-Target: x.Echo\r\n\r\n", 200, "");
}

static void big_bodies_and_replies_pass(void **state)
{
	size_t n = 16 << 20;
	char *body = mem_alloc(n);
	struct wire_reply r;
	int fd = wire_connect(&wire);

	(void)state;
	memset(body, 'b', n);
	wire_post(fd, "Echo", "", slice_make(body, n));
	assert_true(wire_read(fd, &r));
	assert_int_equal(r.body_n, n);
	assert_memory_equal(r.body, body, n);
	mem_free(r.body);
	mem_free(body);
	for (int i = 0; i < 4; i++)
		wire_post(fd, "Huge", "", SLICE("{}"));
	for (int i = 0; i < 4; i++) {
		assert_true(wire_read(fd, &r));
		assert_int_equal(r.body_n, 8 * 1000 * 1000);
		mem_free(r.body);
	}
	close(fd);
}

static int64_t a_little(void *ctx, const struct app *app)
{
	(void)app;
	++*(int *)ctx;
	return 50;
}

static void only_writes_are_delayed_when_writers_are_slowed(void **state)
{
	int asked = 0, fd, other;
	struct wire_reply r;
	int64_t start;

	(void)state;
	wire_stop(&wire);
	wire_start(&wire, &(struct server_options){ .write_delay = { a_little, &asked } });
	fd = wire_connect(&wire);
	start = clock_monotonic_us();
	wire_post(fd, "PutItem", "", SLICE("{}"));
	wire_post(fd, "Echo", "", SLICE("second")); /* behind it on the same connection */
	other = wire_connect(&wire);
	assert_true(wire_call(other, "Echo", "first", 200, "first"));
	assert_true(wire_read(fd, &r));
	assert_true(clock_monotonic_us() - start >= 45000);
	assert_int_equal(r.status, 400); /* the api here does not know it */
	mem_free(r.body);
	assert_true(wire_read(fd, &r));
	assert_string_equal(r.body, "second");
	mem_free(r.body);
	assert_int_equal(asked, 1);
	wire_post(fd, "DeleteItem", "", SLICE("{}")); /* whose client does not wait */
	assert_true(wire_call(other, "Echo", "third", 200, "third"));
	close(fd);
	close(other);
	wire_stop(&wire);
	wire_start(&wire, &(struct server_options){ 0 });
}

static void add_line(void *ctx, struct buf *out)
{
	buf_str(out, ctx);
}

static void metrics_of_others_are_shown(void **state)
{
	static char line[] = "more_metrics 42\n";
	struct metrics_writer writer = { add_line, line };
	struct wire_reply r;

	(void)state;
	wire_stop(&wire);
	wire_start(&wire, &(struct server_options){ .metrics = &writer, .metric_count = 1 });
	one("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", &r);
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body, line));
	mem_free(r.body);
	wire_stop(&wire);
	wire_start(&wire, &(struct server_options){ 0 });
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_connection_serves_many_requests),
		TEST(replies_carry_dynamodbs_headers),
		TEST(pipelined_replies_come_in_order),
		TEST(a_slow_request_holds_back_later_ones),
		TEST(a_chunked_body_and_a_split_request_are_put_together),
		TEST(a_client_that_asks_may_continue),
		TEST(a_zipped_body_is_unzipped),
		TEST(a_large_reply_is_compressed_on_request),
		TEST(a_page_of_a_loopback_origin_may_call),
		TEST(a_page_of_another_origin_may_not),
		TEST(paths_are_routed),
		TEST(connections_end_when_the_client_wants),
		TEST(half_a_signature_is_a_mistake_and_none_is_fine),
		TEST(big_bodies_and_replies_pass),
		TEST(only_writes_are_delayed_when_writers_are_slowed),
		TEST(metrics_of_others_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
