/* Requests from bytes, whole and in pieces, good and bad.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "http/parse/request_plain.h"

static struct http_limits limits;
static struct request_parser parser;
static struct http_request req;
static struct arena arena;

static int setup(void **state)
{
	(void)state;
	limits = (struct http_limits){ .header_bytes = 512, .header_count = 5, .body_bytes = 100 };
	http_limits_complete(&limits);
	arena_init(&arena);
	request_parser_init(&parser, &limits);
	request_begin(&parser, &req, &arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void again(void **state)
{
	teardown(state);
	setup(state);
}

static enum request_status feed_all(const char *text, size_t step, size_t *total)
{
	size_t n = strlen(text), used;
	enum request_status s = REQUEST_MORE;

	for (*total = 0; *total < n && s == REQUEST_MORE; *total += used) {
		size_t k = n - *total < step ? n - *total : step;
		/* A copy of exactly that size, so that reading beyond it is noticed. */
		char *copy = mem_strndup(text + *total, k);

		s = request_feed(&parser, copy, k, &used);
		mem_free(copy);
	}
	return s;
}

static void assert_slice(struct slice s, const char *expected)
{
	assert_int_equal(s.n, strlen(expected));
	assert_memory_equal(s.p, expected, s.n);
}

static const char whole[] = "POST /a/b?x=1%202&y HTTP/1.1\r\nHost: h\r\nX-Amz-Target:   T.Op  \r\n"
			    "Empty:\r\nContent-Length: 5\r\n\r\nhello";

static void check_whole(void)
{
	assert_int_equal(req.method, HTTP_POST);
	assert_slice(req.path, "/a/b");
	assert_slice(req.query, "x=1%202&y");
	assert_slice(request_query(&req, SLICE("x")), "1 2");
	assert_slice(request_query(&req, SLICE("y")), "");
	assert_null(request_query(&req, SLICE("z")).p);
	assert_slice(request_header(&req, SLICE("x-amz-target")), "T.Op");
	assert_non_null(request_header(&req, SLICE("empty")).p);
	assert_slice(request_header(&req, SLICE("empty")), "");
	assert_null(request_header(&req, SLICE("absent")).p);
	assert_slice(req.body, "hello");
	assert_true(req.keep_alive);
}

static void a_request_is_the_same_in_pieces_of_any_size(void **state)
{
	for (size_t step = 1; step <= sizeof(whole); step++) {
		size_t used;

		again(state);
		assert_int_equal(feed_all(whole, step, &used), REQUEST_DONE);
		assert_int_equal(used, sizeof(whole) - 1);
		check_whole();
	}
}

static void a_request_takes_no_byte_of_the_next(void **state)
{
	static const char two[] = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab"
				  "GET /next HTTP/1.1\r\nHost: h\r\n\r\n";
	size_t used, more;

	(void)state;
	assert_int_equal(request_feed(&parser, two, sizeof(two) - 1, &used), REQUEST_DONE);
	assert_slice(req.body, "ab");
	request_begin(&parser, &req, &arena);
	assert_int_equal(request_feed(&parser, two + used, sizeof(two) - 1 - used, &more), REQUEST_DONE);
	assert_slice(req.path, "/next");
	assert_int_equal(used + more, sizeof(two) - 1);
}

static const char plain[] = "POST /a?b HTTP/1.1\r\nHost: h:1\r\nConnection: Keep-Alive\r\n"
			    "Content-Type: application/x-amz-json-1.0\r\nContent-Length: 3\r\n\r\n{ }";

static void a_plain_request_needs_no_http_parser(void **state)
{
	size_t used;

	(void)state;
	assert_true(request_take_plain(&req, &limits, plain, sizeof(plain) - 1, &used));
	assert_int_equal(used, sizeof(plain) - 1);
	assert_slice(request_header(&req, SLICE("content-type")), "application/x-amz-json-1.0");
	assert_slice(req.body, "{ }");
}

/* One byte of `text` replaced, left out or doubled, or two changes of that kind. */
static void mutate(char *text, uint32_t *seed)
{
	static const char bytes[] = "\r\n\t :;,0159aZ-_/?#%\"\x7f\x80\x01\xff";

	for (int changes = 1 + (int)(*seed >> 28) % 2; changes; changes--) {
		size_t at, n = strlen(text);

		*seed = *seed * 1664525 + 1013904223;
		at = (*seed >> 8) % n;
		switch (*seed >> 4 & 3) {
		case 0: memmove(text + at, text + at + 1, n - at); break;
		case 1: memmove(text + at + 1, text + at, n - at + 1); break;
		default: text[at] = bytes[(*seed >> 20) % (sizeof(bytes) - 1)];
		}
	}
}

static struct slice outcome(struct arena *a, size_t used)
{
	struct buf b;

	buf_init(&b, a);
	buf_printf(&b, "%d %d %d %zu|%.*s|%.*s|", req.method, req.http10, req.keep_alive, used, SLICE_ARG(req.path),
		   SLICE_ARG(req.query));
	for (size_t i = 0; i < req.header_count; i++)
		buf_printf(&b, "%.*s=%.*s|", SLICE_ARG(req.headers[i].name), SLICE_ARG(req.headers[i].value));
	buf_put(&b, req.body);
	return buf_slice(&b);
}

static void what_is_taken_as_plain_http_parser_takes_alike(void **state)
{
	struct arena kept;
	uint32_t seed = 1;
	size_t taken = 0;

	arena_init(&kept);
	for (int i = 0; i < 40000; i++) {
		struct slice direct;
		size_t used, pieces;
		char text[400];

		memcpy(text, i % 2 ? plain : whole, i % 2 ? sizeof(plain) : sizeof(whole));
		mutate(text, &seed);
		again(state);
		if (!request_take_plain(&req, &limits, text, strlen(text), &used))
			continue;
		taken++;
		arena_clear(&kept);
		direct = outcome(&kept, used);
		again(state);
		assert_int_equal(feed_all(text, 1, &pieces), REQUEST_DONE);
		assert_true(slice_equal(direct, outcome(&kept, pieces)));
	}
	arena_release(&kept);
	assert_true(taken > 5000);
}

static void chunks_are_put_together_and_trailers_ignored(void **state)
{
	size_t used;

	(void)state;
	assert_int_equal(feed_all("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
				  "3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
				  7, &used),
			 REQUEST_DONE);
	assert_slice(req.body, "abcde");
	assert_null(request_header(&req, SLICE("trailer")).p);
}

static void an_offer_to_upgrade_is_ignored(void **state)
{
	size_t used;

	(void)state;
	assert_int_equal(feed_all("POST / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
				  "Content-Length: 2\r\n\r\nok",
				  1000, &used),
			 REQUEST_DONE);
	assert_slice(req.body, "ok");
}

static void a_client_can_ask_before_it_sends(void **state)
{
	size_t used;

	(void)state;
	assert_int_equal(feed_all("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
				  "Content-Length: 2\r\n\r\n",
				  1000, &used),
			 REQUEST_MORE);
	assert_true(req.has_head);
	assert_true(req.expects_continue);
}

static void what_is_refused_has_a_status(void **state)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {
		{ "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n", 413 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
		  "40\r\n0123456789012345678901234567890123456789012345678901234567890123\r\n"
		  "40\r\n0123456789012345678901234567890123456789012345678901234567890123\r\n",
		  413 },
		{ "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: "
		  "chunked\r\n\r\n",
		  400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 1\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nX: a\r\n\tb\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\n Host: h\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n",
		  400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n", 400 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nExpect: miracles\r\n\r\n", 417 },
		{ "CONNECT a:1 HTTP/1.1\r\nHost: h\r\n\r\n", 405 },
		{ "GET / HTTP/1.1\r\na:1\r\nb:1\r\nc:1\r\nd:1\r\ne:1\r\nf:1\r\n\r\n", 431 },
		{ "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505 },
		{ "GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505 },
		{ "\x16\x03\x01\x02", 400 },
		{ "hello\r\n\r\n", 400 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t step = 1; step < 200; step += 13) {
			size_t used;

			again(state);
			assert_int_equal(feed_all(cases[i].text, step, &used), REQUEST_REFUSED);
			assert_int_equal(req.refused, cases[i].status);
			assert_non_null(req.why);
			assert_false(req.keep_alive);
		}
	}
}

#define CHUNKED "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Each of these is taken by one parser or proxy in use, and read otherwise by another. */
static void what_two_parsers_may_read_differently_is_refused(void **state)
{
	static const char *const texts[] = {
		CHUNKED "3\r\nabc2\r\nde\r\n0\r\n\r\n", /* no line end after the data */
		CHUNKED "3\r\nabcXY0\r\n\r\n",
		CHUNKED "3\r\nabc\n0\r\n\r\n",
		CHUNKED "3\nabc\r\n0\r\n\r\n", /* LF alone */
		CHUNKED "3;a=1\nabc\r\n0\r\n\r\n",
		CHUNKED "3;a=\x01\r\nabc\r\n0\r\n\r\n",
		CHUNKED "3\r\nabc\r\n0\n\n",
		CHUNKED "3\r\nabc\r\n0\r\n\n",
		CHUNKED "3\r\nabc\r\n0\r\nA: b\n\r\n",
		CHUNKED "3\r\nabc\r\n0\r\nA: b\r\n c\r\n\r\n",
		CHUNKED "3\rabc\r\n0\r\n\r\n", /* CR alone */
		CHUNKED "\r\n0\r\n\r\n",       /* sizes that are none */
		CHUNKED "-1\r\n",
		CHUNKED "+3\r\nabc\r\n0\r\n\r\n",
		CHUNKED "0x3\r\nabc\r\n0\r\n\r\n",
		CHUNKED " 3\r\nabc\r\n0\r\n\r\n",
		CHUNKED "3g\r\nabc\r\n0\r\n\r\n",
		CHUNKED "10000000000000003\r\nabc\r\n0\r\n\r\n",
		CHUNKED "0000000000000000000000003\r\nabc\r\n0\r\n\r\n",
		"POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3, 3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 18446744073709551619\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length\t: 3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length\x0b: 3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nX: \x0b\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nX: a\rContent-Length: 3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\nContent-Length: 3\r\n\r\nabc",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\nabc",
		"POST / HTTP/1.1\nHost: h\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\n\rGET /other HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nA B: x\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nA\x80: x\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t step = 1; step < 200; step += 13) {
			size_t used;

			again(state);
			if (feed_all(texts[i], step, &used) != REQUEST_REFUSED || req.refused != 400)
				fail_msg("taken, or %d: %s", req.refused, texts[i]);
			assert_false(req.keep_alive);
		}
	}
}

static void what_is_around_chunks_is_limited(void **state)
{
	static const char *const texts[] = { CHUNKED "1;", CHUNKED "0\r\nA: " };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		enum request_status s;
		size_t used, fed = 0;

		again(state);
		s = feed_all(texts[i], 1000, &used);
		while (s == REQUEST_MORE && fed++ < 10000)
			s = request_feed(&parser, "a", 1, &used);
		assert_int_equal(s, REQUEST_REFUSED);
		assert_true(fed < 600);
	}
}

static uint64_t seven(void *ctx, const struct http_request *r)
{
	(void)ctx;
	return slice_is(r->path, "/seven") ? 7 : 100;
}

static bool only_polite(void *ctx, struct http_request *r)
{
	++*(int *)ctx;
	if (request_header(r, SLICE("please")).p)
		return true;
	r->refused = 403;
	r->why = "Say please.";
	return false;
}

static void the_gate_judges_the_head_before_the_body(void **state)
{
	static const struct {
		const char *text;
		enum request_status status;
		int refused, asked;
	} cases[] = {
		{ "POST /seven HTTP/1.1\r\nHost: h\r\nContent-Length: 8\r\n\r\n", REQUEST_REFUSED, 413, 0 },
		{ "POST /seven HTTP/1.1\r\nHost: h\r\nContent-Length: 7\r\n\r\n", REQUEST_REFUSED, 403, 1 },
		{ "POST /seven HTTP/1.1\r\nHost: h\r\nPlease: 1\r\nContent-Length: 7\r\n\r\n", REQUEST_MORE, 0, 1 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nPlease: 1\r\nContent-Length: 8\r\n\r\n", REQUEST_MORE, 0, 1 },
		{ "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", REQUEST_REFUSED, 403, 1 },
		{ "POST /seven HTTP/1.1\r\nHost: h\r\nPlease: 1\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678",
		  REQUEST_REFUSED, 413, 1 },
		{ "DELETE / HTTP/1.1\r\nHost: h\r\n\r\n", REQUEST_DONE, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int asked = 0;
		size_t used;

		again(state);
		parser.gate = (struct request_gate){ seven, only_polite, &asked };
		assert_int_equal(feed_all(cases[i].text, 1000, &used), cases[i].status);
		assert_int_equal(req.refused, cases[i].refused);
		assert_int_equal(asked, cases[i].asked);
	}
}

static void room_is_made_for_what_was_announced_and_no_more(void **state)
{
	char text[200], *body = mem_zalloc(300 * 1000);
	size_t used;

	(void)state;
	limits.body_bytes = 16 << 20;
	snprintf(text, sizeof(text), "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 270000\r\n\r\n");
	assert_int_equal(feed_all(text, 1000, &used), REQUEST_MORE);
	for (size_t fed = 0; fed < 270000; fed += 10000)
		(void)request_feed(&parser, body, 10000, &used);
	assert_int_equal(req.body.n, 270000);
	assert_true(arena.total < 270000 + 20000);
	mem_free(body);
}

static void an_endless_head_is_refused(void **state)
{
	enum request_status s;
	size_t used, fed = 0;

	(void)state;
	s = feed_all("GET / HTTP/1.1\r\nHost: h\r\nX: ", 1000, &used);
	while (s == REQUEST_MORE && fed++ < 10000)
		s = request_feed(&parser, "a", 1, &used);
	assert_int_equal(s, REQUEST_REFUSED);
	assert_int_equal(req.refused, 431);
	assert_true(fed < 600);
}

/* What is neither head nor body, and never ends: trailers, the extension of a chunk. Many small chunks have an end. */
static void endless_trailers_and_extensions_are_refused(void **state)
{
	static const char *const beginnings[] = { "0\r\nTrailer: ", "0\r\nTrailer", "3;extension=", "3;extension",
						  "0;x=\"" };

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		enum request_status s;
		size_t used, fed = 0;

		again(state);
		s = feed_all("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 1000, &used);
		assert_int_equal(s, REQUEST_MORE);
		s = feed_all(beginnings[i], 1000, &used);
		while (s == REQUEST_MORE && fed++ < 10000)
			s = request_feed(&parser, "a", 1, &used);
		assert_int_equal(s, REQUEST_REFUSED);
		assert_true(fed < 600);
		assert_true(req.refused == 431 || req.refused == 400);
	}
}

static void a_body_may_come_in_chunks_of_one_byte(void **state)
{
	enum request_status s;
	size_t used;

	limits.header_bytes = 100; /* the chunks are more than that */
	(void)state;
	s = feed_all("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", 1000, &used);
	for (int i = 0; i < 90; i++) {
		assert_int_equal(s, REQUEST_MORE);
		s = feed_all("1\r\nx\r\n", 1000, &used);
	}
	assert_int_equal(feed_all("0\r\n\r\n", 1000, &used), REQUEST_DONE);
	assert_int_equal(req.body.n, 90);
}

/* One parser serves a connection: how one request ended must not show in the next. */
static void requests_of_every_kind_follow_one_another(void **state)
{
	static const char *const kinds[] = {
		"GET /0 HTTP/1.1\r\nHost: h\r\n\r\n",
		"PUT /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab",
		"POST /2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
		"POST /3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: x\r\n\r\n",
		"GET /4 HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
		"PATCH /5 HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"HEAD /6 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
		"DELETE /7 HTTP/1.1\r\nHost: h\r\nX:\r\n\r\n",
	};
	size_t count = sizeof(kinds) / sizeof(kinds[0]);

	for (size_t i = 0; i < count * count; i++) {
		size_t used, more, n = strlen(kinds[i / count]);
		char both[400], path[4];

		again(state);
		snprintf(both, sizeof(both), "%s%s", kinds[i / count], kinds[i % count]);
		if (i / count % 2) /* in one piece, or byte for byte */
			assert_int_equal(request_feed(&parser, both, strlen(both), &used), REQUEST_DONE);
		else
			assert_int_equal(feed_all(both, 1, &used), REQUEST_DONE);
		assert_int_equal(used, n);
		assert_true(req.keep_alive);
		request_begin(&parser, &req, &arena);
		assert_int_equal(feed_all(both + n, 7, &more), REQUEST_DONE);
		assert_int_equal(more, strlen(kinds[i % count]));
		snprintf(path, sizeof(path), "/%zu", i % count);
		assert_slice(req.path, path);
	}
}

static void lists_are_searched_with_their_weights(void **state)
{
	(void)state;
	assert_true(http_list_has(SLICE("gzip"), SLICE("gzip")));
	assert_true(http_list_has(SLICE("br, GZIP;q=0.5"), SLICE("gzip")));
	assert_false(http_list_has(SLICE("br, gzip;q=0"), SLICE("gzip")));
	assert_false(http_list_has(SLICE("gzip;q=0.000"), SLICE("gzip")));
	assert_false(http_list_has(SLICE("xgzip, identity"), SLICE("gzip")));
	assert_false(http_list_has(SLICE(""), SLICE("gzip")));
}

static void running_out_of_memory_leaves_by_the_arena(void **state)
{
	(void)state;
	for (long n = 0; n < 8; n++) {
		volatile bool done = false;
		bool failed;
		size_t used;

		again(state);
		arena_release(&arena);
		alloc_fail_after(n);
		ARENA_TRY(&arena, {
			request_begin(&parser, &req, &arena);
			done = request_feed(&parser, whole, sizeof(whole) - 1, &used) ==
			       REQUEST_DONE;
		}, {});
		failed = alloc_has_failed();
		alloc_fail_never();
		assert_true(done || failed);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_request_is_the_same_in_pieces_of_any_size),
		TEST(a_request_takes_no_byte_of_the_next),
		TEST(a_plain_request_needs_no_http_parser),
		TEST(what_is_taken_as_plain_http_parser_takes_alike),
		TEST(chunks_are_put_together_and_trailers_ignored),
		TEST(an_offer_to_upgrade_is_ignored),
		TEST(a_client_can_ask_before_it_sends),
		TEST(what_is_refused_has_a_status),
		TEST(what_two_parsers_may_read_differently_is_refused),
		TEST(what_is_around_chunks_is_limited),
		TEST(the_gate_judges_the_head_before_the_body),
		TEST(room_is_made_for_what_was_announced_and_no_more),
		TEST(an_endless_head_is_refused),
		TEST(endless_trailers_and_extensions_are_refused),
		TEST(a_body_may_come_in_chunks_of_one_byte),
		TEST(requests_of_every_kind_follow_one_another),
		TEST(lists_are_searched_with_their_weights),
		TEST(running_out_of_memory_leaves_by_the_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
