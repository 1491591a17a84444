/* Which client a request comes from, when proxies stand before the server and clients lie.
 * SPDX-License-Identifier: Apache-2.0 */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "http/door/proxies.h"

#define HEADERS_MOST 8

static struct proxies trusted;

static int setup(void **state)
{
	static const char *const list[] = { "10.0.0.0/8", "192.0.2.7", "2001:db8:aa::/48" };
	char why[200];

	(void)state;
	trusted.count = 0;
	for (size_t i = 0; i < 3; i++)
		if (!proxies_add(&trusted, list[i], why, sizeof(why)))
			return -1;
	return 0;
}

/* `lines`: "name: value" of each header, up to a NULL. */
static void expect_client(const char *peer, const char *client, const char *const *lines)
{
	struct http_header headers[HEADERS_MOST];
	struct http_request r = { .headers = headers };
	char text[IP_TEXT];
	struct ip ip;

	for (; lines[r.header_count]; r.header_count++) {
		const char *colon = strchr(lines[r.header_count], ':');

		headers[r.header_count].name =
			slice_make(lines[r.header_count], (size_t)(colon - lines[r.header_count]));
		headers[r.header_count].value = http_trim(slice_str(colon + 1));
	}
	assert_true(ip_parse(slice_str(peer), &ip));
	ip = proxies_client(&trusted, &ip, &r);
	ip_format(&ip, text);
	assert_string_equal(text, client);
}

#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void anyone_else_is_not_believed(void **state)
{
	(void)state;
	expect_client("203.0.113.5", "203.0.113.5", LINES("x-forwarded-for: 198.51.100.1"));
	expect_client("203.0.113.5", "203.0.113.5", LINES("forwarded: for=198.51.100.1"));
	expect_client("11.0.0.1", "11.0.0.1", LINES("x-forwarded-for: 198.51.100.1"));
	expect_client("192.0.2.8", "192.0.2.8", LINES("x-forwarded-for: 198.51.100.1"));
	expect_client("2001:db8:ab::1", "2001:db8:ab::1", LINES("x-forwarded-for: 198.51.100.1"));
}

static void a_trusted_proxy_names_the_client(void **state)
{
	(void)state;
	expect_client("10.1.2.3", "198.51.100.1", LINES("x-forwarded-for: 198.51.100.1"));
	expect_client("10.1.2.3", "198.51.100.1", LINES("x-forwarded-for: 198.51.100.1:4711"));
	expect_client("192.0.2.7", "2001:db8::9", LINES("x-forwarded-for: 2001:db8::9"));
	expect_client("2001:db8:aa:1::5", "2001:db8::9", LINES("x-forwarded-for: [2001:db8::9]:80"));
	expect_client("::ffff:10.1.2.3", "198.51.100.1", LINES("x-forwarded-for: ::ffff:198.51.100.1"));
	expect_client("10.1.2.3", "10.1.2.3", LINES("accept: */*"));
	expect_client("10.1.2.3", "198.51.100.1", LINES("forwarded: for=198.51.100.1;proto=https;by=10.1.2.3"));
	expect_client("10.1.2.3", "198.51.100.1", LINES("forwarded: proto=https; FOR=\"198.51.100.1:8080\""));
	expect_client("10.1.2.3", "2001:db8::9", LINES("forwarded: for=\"[2001:db8::9]:4711\""));
}

static void of_several_the_rightmost_that_is_no_proxy_counts(void **state)
{
	(void)state;
	/* The client wrote the first, and the proxies the others. */
	expect_client("10.1.2.3", "198.51.100.1", LINES("x-forwarded-for: 6.6.6.6, 198.51.100.1, 10.9.9.9"));
	expect_client("10.1.2.3", "198.51.100.1",
		      LINES("x-forwarded-for: 6.6.6.6", "x-forwarded-for: 198.51.100.1 ,192.0.2.7"));
	expect_client("10.1.2.3", "198.51.100.1", LINES("x-forwarded-for: 10.0.0.1, 198.51.100.1"));
	expect_client("10.1.2.3", "198.51.100.1",
		      LINES("forwarded: for=6.6.6.6, for=198.51.100.1, for=10.9.9.9;proto=http"));
	expect_client("10.1.2.3", "198.51.100.1", LINES("x-forwarded-for: , ,198.51.100.1, ,"));
	/* A request that began at a proxy. */
	expect_client("10.1.2.3", "10.0.0.2", LINES("x-forwarded-for: 10.0.0.2, 10.0.0.3"));
}

static void an_unreadable_entry_ends_the_walk(void **state)
{
	static const char *const bad[] = { "unknown",
					   "_hidden",
					   "1.2.3",
					   "1.2.3.4.5",
					   "1.2.3.4:",
					   "1.2.3.4:x",
					   "[2001:db8::9",
					   "[1.2.3.4]",
					   "[2001:db8::9]x",
					   "fe80::1%eth0",
					   "\"1.2.3.4\"",
					   "1.2.3.4 5.6.7.8",
					   "01.2.3.4",
					   "1.2.3.4\x01",
					   "::1::2",
					   ":",
					   "[]",
					   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	char line[200];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(line, sizeof(line), "x-forwarded-for: %s", bad[i]);
		expect_client("10.1.2.3", "10.1.2.3", LINES(line));
		snprintf(line, sizeof(line), "x-forwarded-for: 198.51.100.1, %s, 10.0.0.9", bad[i]);
		expect_client("10.1.2.3", "10.0.0.9", LINES(line));
	}
	expect_client("10.1.2.3", "10.1.2.3", LINES("forwarded: proto=https"));
	expect_client("10.1.2.3", "10.1.2.3", LINES("forwarded: for=_x"));
	expect_client("10.1.2.3", "10.1.2.3", LINES("forwarded: for=198.51.100.1;for=198.51.100.2"));
	expect_client("10.1.2.3", "10.1.2.3", LINES("forwarded: for=\"198.51.100.1"));
	expect_client("10.1.2.3", "10.1.2.3", LINES("x-forwarded-for:"));
	/* A quote that the client has left open does not hide what the proxy adds. */
	expect_client("10.1.2.3", "198.51.100.1", LINES("forwarded: for=\"6.6.6.6, for=198.51.100.1"));
	expect_client("10.1.2.3", "198.51.100.1", LINES("x-forwarded-for: \"6.6.6.6, 198.51.100.1"));
}

static void two_headers_that_differ_name_no_client(void **state)
{
	(void)state;
	expect_client("10.1.2.3", "10.1.2.3", LINES("x-forwarded-for: 198.51.100.1", "forwarded: for=6.6.6.6"));
	expect_client("10.1.2.3", "10.1.2.3", LINES("x-forwarded-for: 6.6.6.6", "forwarded: for=198.51.100.1"));
	expect_client("10.1.2.3", "198.51.100.1", LINES("x-forwarded-for: 198.51.100.1", "forwarded: for=198.51.100.1"));
}

static void a_wrong_range_is_reported(void **state)
{
	static const char *const bad[] = { "",
					   "10.0.0.0/33",
					   "10.0.0.0/",
					   "10.0.0.0/x",
					   "10.0.0.0/8 ",
					   "10.0.0.1/8",
					   "10.0.0.0/-1",
					   "::1/129",
					   "2001:db8::1/32",
					   "proxy.example",
					   "10.0.0.0/8/8",
					   "/8",
					   "10.0.0.0/0008" };
	char why[200];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		why[0] = '\0';
		if (proxies_add(&trusted, bad[i], why, sizeof(why)))
			fail_msg("'%s' was taken", bad[i]);
		assert_true(strlen(why) > 10);
	}
	assert_int_equal(trusted.count, 3);
	while (trusted.count < PROXIES_MOST)
		assert_true(proxies_add(&trusted, "0.0.0.0/0", why, sizeof(why)));
	assert_false(proxies_add(&trusted, "::1", why, sizeof(why)));
}

static void all_of_a_family_is_not_all_of_the_other(void **state)
{
	struct ip v4, v6;
	char why[200];

	(void)state;
	assert_true(ip_parse(SLICE("203.0.113.5"), &v4) && ip_parse(SLICE("2001:db8::5"), &v6));
	assert_false(proxies_trust(NULL, &v4));
	trusted.count = 0;
	assert_false(proxies_trust(&trusted, &v4));
	assert_true(proxies_add(&trusted, "0.0.0.0/0", why, sizeof(why)));
	assert_true(proxies_trust(&trusted, &v4));
	assert_false(proxies_trust(&trusted, &v6));
	trusted.count = 0;
	assert_true(proxies_add(&trusted, "2001:db8::/31", why, sizeof(why)));
	assert_true(proxies_trust(&trusted, &v6));
	assert_true(ip_parse(SLICE("2001:dba::5"), &v6));
	assert_false(proxies_trust(&trusted, &v6));
}

static void a_peer_is_read_from_its_socket_address(void **state)
{
	struct sockaddr_storage sa = { .ss_family = AF_UNIX };
	struct ip ip, other;

	(void)state;
	assert_false(ip_of_peer(&sa, &ip));
	((struct sockaddr_in *)&sa)->sin_family = AF_INET;
	((struct sockaddr_in *)&sa)->sin_addr.s_addr = htonl(0xc0000207);
	assert_true(ip_of_peer(&sa, &ip) && ip_is_v4(&ip));
	assert_true(proxies_trust(&trusted, &ip));
	assert_true(ip_parse(SLICE("192.0.2.8"), &other) && ip_client(&ip) != ip_client(&other));
	assert_true(ip_parse(SLICE("2001:db8::1"), &ip) && ip_parse(SLICE("2001:db8::2"), &other));
	assert_true(ip_client(&ip) == ip_client(&other));
	assert_true(ip_parse(SLICE("2001:db8:0:1::2"), &other) && ip_client(&ip) != ip_client(&other));
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(anyone_else_is_not_believed),
		TEST(a_trusted_proxy_names_the_client),
		TEST(of_several_the_rightmost_that_is_no_proxy_counts),
		TEST(an_unreadable_entry_ends_the_walk),
		TEST(two_headers_that_differ_name_no_client),
		TEST(a_wrong_range_is_reported),
		TEST(all_of_a_family_is_not_all_of_the_other),
		TEST(a_peer_is_read_from_its_socket_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
