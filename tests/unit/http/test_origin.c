/* Which Host names and origins an open server takes.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "http/door/origin.h"

static const char *const hosts[] = { "thorpe.internal" };
static const char *const origins[] = { "https://app.example", "http://app.example:3000" };

static const struct origin_rules loopback = { .open = true };
static const struct origin_rules reachable = {
	.open = true,
	.takes_addresses = true,
	.own = { "nas", 3 },
	.hosts = hosts,
	.host_count = 1,
	.origins = origins,
	.origin_count = 2,
};
static const struct origin_rules keyed = { .origins = origins, .origin_count = 2 };

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

/* NULL: without that header. */
struct sent {
	const char *host, *origin, *site, *mode, *dest;
	enum http_method method;
	bool http10, visitable;
};

static struct http_request request(const struct sent *s)
{
	struct http_header *h = arena_array(&arena, struct http_header, 5);
	struct http_request r = { .arena = &arena, .method = s->method, .headers = h, .http10 = s->http10 };

#define ADD(field, header) \
	if (s->field)      \
	h[r.header_count++] = (struct http_header){ slice_str(header), slice_str(s->field) }
	ADD(site, "sec-fetch-site");
	ADD(host, "host");
	ADD(origin, "origin");
	ADD(mode, "sec-fetch-mode");
	ADD(dest, "sec-fetch-dest");
#undef ADD
	return r;
}

static enum origin_verdict judge(const struct origin_rules *rules, struct sent s)
{
	struct http_request r = request(&s);
	struct origin_memo memo = { 0 };
	enum origin_verdict first = origin_judge(rules, &r, s.visitable, &memo);

	if (rules->open)
		assert_int_equal(memo.has_no_origin, !s.origin);
	assert_int_equal(origin_judge(rules, &r, s.visitable, &memo), first); /* what is remembered changes nothing */
	return first;
}

static void a_server_on_loopback_answers_to_loopback_names(void **state)
{
	static const char *const good[] = { "localhost",       "LOCALHOST:8000",       "localhost.",
					    "localhost:",      "a.localhost:1",        "127.0.0.1",
					    "127.0.0.1:65535", "127.8.9.10",           "[::1]",
					    "[::1]:8000",      "[0:0:0:0:0:0:0:1]:80", "[::ffff:127.0.0.1]" };
	static const char *const bad[] = { "",
					   "evil.example",
					   "evil.example:8000",
					   "localhost.evil.example",
					   "127.0.0.1.evil.example",
					   "notlocalhost",
					   ".localhost.evil",
					   "localhost@evil.example",
					   "127.0.0.1@evil.example",
					   "localhost:evil",
					   "localhost:80:80",
					   "localhost:123456",
					   "10.0.0.1",
					   "[::2]",
					   "[::1",
					   "[::1]x",
					   "::1",
					   "128.0.0.1",
					   "127",
					   "thorpe.internal",
					   "nas" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(judge(&loopback, (struct sent){ .host = good[i] }), ORIGIN_FINE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(judge(&loopback, (struct sent){ .host = bad[i] }), ORIGIN_FOREIGN_HOST);
		assert_int_equal(judge(&loopback, (struct sent){ .host = bad[i], .http10 = true }), ORIGIN_FOREIGN_HOST);
		assert_int_equal(judge(&keyed, (struct sent){ .host = bad[i] }), ORIGIN_FINE);
	}
}

static void only_http_1_0_may_leave_host_out(void **state)
{
	(void)state;
	assert_int_equal(judge(&loopback, (struct sent){ .http10 = true }), ORIGIN_FINE);
	assert_int_equal(judge(&loopback, (struct sent){ 0 }), ORIGIN_FOREIGN_HOST);
	assert_int_equal(judge(&loopback, (struct sent){ .http10 = true, .origin = "http://evil.example" }),
			 ORIGIN_FOREIGN_PAGE);
}

static void a_server_others_can_reach_also_answers_to_addresses_and_names_it_was_given(void **state)
{
	static const char *const good[] = { "10.0.0.1:8000", "192.168.7.7", "[2001:db8::1]:8000", "localhost",
					    "nas:8000",      "NAS",         "thorpe.internal",    "Thorpe.Internal:9" };
	static const char *const bad[] = { "evil.example",     "10.0.0.1.evil.example",
					   "nas.evil.example", "a.thorpe.internal",
					   "10.0.0",           "999.0.0.1" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(judge(&reachable, (struct sent){ .host = good[i] }), ORIGIN_FINE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(judge(&reachable, (struct sent){ .host = bad[i] }), ORIGIN_FOREIGN_HOST);
}

static void a_name_that_was_fine_is_remembered_as_it_was(void **state)
{
	struct http_request good = request(&(struct sent){ .host = "localhost:8000" });
	struct http_request longer = request(&(struct sent){ .host = "localhost:80001" });
	struct http_request other = request(&(struct sent){ .host = "localhosf:8000" });
	struct http_request endless =
		request(&(struct sent){ .host = "a.very.long.name.that.does.not.fit.into.what.is.kept.localhost" });
	struct origin_memo memo = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(origin_judge(&loopback, &good, false, &memo), ORIGIN_FINE);
		assert_int_equal(origin_judge(&loopback, &other, false, &memo), ORIGIN_FOREIGN_HOST);
		assert_int_equal(origin_judge(&loopback, &longer, false, &memo), ORIGIN_FINE);
		assert_int_equal(origin_judge(&loopback, &endless, false, &memo), ORIGIN_FINE);
		assert_int_equal(origin_judge(&loopback, &other, false, &memo), ORIGIN_FOREIGN_HOST);
	}
}

static struct slice allowed(const struct origin_rules *rules, const char *origin)
{
	struct http_request r = request(&(struct sent){ .host = "localhost:8000", .origin = origin });

	return origin_allowed(rules, &r);
}

static void loopback_origins_may_call_and_others_may_not(void **state)
{
	static const char *const good[] = { "http://localhost", "https://localhost:3000", "http://127.0.0.1:5173",
					    "http://[::1]:1", "http://a.localhost" };
	static const char *const bad[] = { "null",
					   "",
					   "http://evil.example",
					   "https://localhost.evil.example",
					   "http://localhost@evil.example",
					   "file://",
					   "http://",
					   "localhost",
					   "ftp://localhost",
					   "http://localhost/path",
					   "http://localhost:3000 ",
					   "http://app.example",
					   "https://app.example:3000",
					   "https://app.example.evil.example",
					   "chrome-extension://localhost" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(judge(&loopback, (struct sent){ .host = "localhost:8000",
								 .origin = good[i],
								 .site = "cross-site" }),
				 ORIGIN_FINE);
		assert_true(slice_is(allowed(&loopback, good[i]), good[i]));
		assert_true(slice_is(allowed(&keyed, good[i]), good[i]));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(judge(&loopback, (struct sent){ .host = "localhost:8000", .origin = bad[i] }),
				 ORIGIN_FOREIGN_PAGE);
		assert_int_equal(judge(&reachable, (struct sent){ .host = "localhost:8000", .origin = bad[i] }),
				 ORIGIN_FOREIGN_PAGE);
		assert_int_equal(judge(&keyed, (struct sent){ .host = "localhost:8000", .origin = bad[i] }),
				 ORIGIN_FINE);
		assert_int_equal(allowed(&loopback, bad[i]).n, 0);
		assert_int_equal(allowed(&keyed, bad[i]).n, 0);
	}
	assert_int_equal(allowed(&loopback, NULL).n, 0);
}

static void origins_that_were_named_may_call(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(judge(&reachable, (struct sent){ .host = "localhost", .origin = origins[i] }),
				 ORIGIN_FINE);
		assert_true(slice_is(allowed(&reachable, origins[i]), origins[i]));
		assert_true(slice_is(allowed(&keyed, origins[i]), origins[i]));
	}
}

static void a_page_of_the_server_itself_may_call(void **state)
{
	(void)state;
	assert_int_equal(judge(&reachable, (struct sent){ .host = "10.0.0.1:8000", .origin = "http://10.0.0.1:8000" }),
			 ORIGIN_FINE);
	assert_int_equal(judge(&reachable,
			       (struct sent){ .host = "thorpe.internal", .origin = "https://thorpe.internal" }),
			 ORIGIN_FINE);
	assert_int_equal(judge(&reachable, (struct sent){ .host = "10.0.0.1:8000", .origin = "http://10.0.0.1:8001" }),
			 ORIGIN_FOREIGN_PAGE);
	assert_int_equal(judge(&reachable, (struct sent){ .host = "evil.example", .origin = "http://evil.example" }),
			 ORIGIN_FOREIGN_HOST);
}

static void without_an_origin_the_browser_says_which_site_asks(void **state)
{
	struct sent visit = { .host = "localhost:8000",
			      .site = "cross-site",
			      .mode = "navigate",
			      .dest = "document",
			      .method = HTTP_GET,
			      .visitable = true };

	(void)state;
	assert_int_equal(judge(&loopback, (struct sent){ .host = "localhost", .site = "same-origin" }), ORIGIN_FINE);
	assert_int_equal(judge(&loopback, (struct sent){ .host = "localhost", .site = "none" }), ORIGIN_FINE);
	assert_int_equal(judge(&loopback, (struct sent){ .host = "localhost", .site = "same-site" }), ORIGIN_FINE);
	assert_int_equal(judge(&reachable, (struct sent){ .host = "thorpe.internal", .site = "same-site" }),
			 ORIGIN_FOREIGN_PAGE);
	assert_int_equal(judge(&loopback, (struct sent){ .host = "localhost", .site = "cross-site", .method = HTTP_GET }),
			 ORIGIN_FOREIGN_PAGE);
	assert_int_equal(judge(&loopback, (struct sent){ .host = "localhost", .site = "what-comes-next" }),
			 ORIGIN_FOREIGN_PAGE);
	assert_int_equal(judge(&loopback, visit), ORIGIN_FINE);
	visit.visitable = false;
	assert_int_equal(judge(&loopback, visit), ORIGIN_FOREIGN_PAGE);
	visit.visitable = true;
	visit.dest = "iframe";
	assert_int_equal(judge(&loopback, visit), ORIGIN_FOREIGN_PAGE);
	visit.dest = "document";
	visit.method = HTTP_POST;
	assert_int_equal(judge(&loopback, visit), ORIGIN_FOREIGN_PAGE);
	visit.method = HTTP_GET;
	visit.origin = "http://evil.example";
	assert_int_equal(judge(&loopback, visit), ORIGIN_FOREIGN_PAGE);
}

static void a_star_lets_every_page_call_but_not_every_name(void **state)
{
	static const char *const star[] = { "*" };
	const struct origin_rules rules = { .open = true, .origins = star, .origin_count = 1 };

	(void)state;
	assert_int_equal(judge(&rules, (struct sent){ .host = "localhost", .origin = "null" }), ORIGIN_FINE);
	assert_int_equal(judge(&rules, (struct sent){ .host = "localhost", .site = "cross-site" }), ORIGIN_FINE);
	assert_int_equal(judge(&rules, (struct sent){ .host = "evil.example", .origin = "http://evil.example" }),
			 ORIGIN_FOREIGN_HOST);
	assert_true(slice_is(allowed(&rules, "http://evil.example"), "*"));
}

static void options_are_checked(void **state)
{
	static const char *const hosts_bad[] = { "", "http://a", "a:80", "a b", "a/", "*" };
	static const char *const origins_good[] = { "*", "https://a.example", "http://a:3000", "http://[::1]:3000",
						    "chrome-extension://abcdef" };
	static const char *const origins_bad[] = { "",
						   "null",
						   "a.example",
						   "https://a.example/",
						   "https://a.example/x",
						   "https://",
						   "https://a b",
						   "http://a:80",
						   "https://a:443",
						   "https://a:",
						   "https://a:99999x",
						   "://a",
						   "http://*.example" };
	char why[300];

	(void)state;
	assert_true(origin_check_host("thorpe.internal", why, sizeof(why)));
	assert_true(origin_check_host("[fd00::1]", why, sizeof(why)));
	for (size_t i = 0; i < sizeof(hosts_bad) / sizeof(hosts_bad[0]); i++)
		assert_false(origin_check_host(hosts_bad[i], why, sizeof(why)));
	for (size_t i = 0; i < sizeof(origins_good) / sizeof(origins_good[0]); i++)
		assert_true(origin_check_origin(origins_good[i], why, sizeof(why)));
	for (size_t i = 0; i < sizeof(origins_bad) / sizeof(origins_bad[0]); i++)
		assert_false(origin_check_origin(origins_bad[i], why, sizeof(why)));
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_server_on_loopback_answers_to_loopback_names),
		TEST(only_http_1_0_may_leave_host_out),
		TEST(a_server_others_can_reach_also_answers_to_addresses_and_names_it_was_given),
		TEST(a_name_that_was_fine_is_remembered_as_it_was),
		TEST(loopback_origins_may_call_and_others_may_not),
		TEST(origins_that_were_named_may_call),
		TEST(a_page_of_the_server_itself_may_call),
		TEST(without_an_origin_the_browser_says_which_site_asks),
		TEST(a_star_lets_every_page_call_but_not_every_name),
		TEST(options_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
