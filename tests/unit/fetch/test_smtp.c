/* Where mail goes out: addresses, senders, servers, passwords. tests/designs/mail-smtp.test.mjs speaks to a server.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/alloc.h"
#include "fetch/fetch.h"
#include "fetch/smtp.h"

static void an_address_has_no_second_meaning(void **state)
{
	static const char *const good[] = { "a@b", "ann.o'neil+x@mail.example.com", "a@b-c.example", "A_1@EXAMPLE.org" };
	static const char *const bad[] = { "",
					   "@",
					   "a@",
					   "@b",
					   "a",
					   "-a@b",
					   "a@-b",
					   "a b@c",
					   "a@b c",
					   "a@b@c",
					   "a..b@c",
					   ".a@b",
					   "a.@b",
					   "a@b..c",
					   "a@b.",
					   "\"a\"@b",
					   "<a@b>",
					   "a@b>",
					   "a,b@c",
					   "a:b@c",
					   "a@[1.2.3.4]",
					   "\xc3\xa4@b",
					   "a@\xc3\xa4",
					   "a\r\nb@c",
					   "a@b\nRCPT TO:<x@y>",
					   "a@b\r",
					   "a;b@c",
					   "a\\b@c",
					   "(a)@b" };
	char longest[65 + 3] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(smtp_is_address(slice_str(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(smtp_is_address(slice_str(bad[i])));
	assert_false(smtp_is_address(slice_make("a\0b@c", 5)));
	assert_false(smtp_is_address(slice_make("a@b\0", 4)));
	memset(longest, 'a', 64);
	memcpy(longest + 64, "@b", 3);
	assert_true(smtp_is_address(slice_str(longest)));
	memset(longest, 'a', 65);
	memcpy(longest + 65, "@b", 3);
	assert_false(smtp_is_address(slice_str(longest)));
}

static bool reads(const struct smtp_given *given, struct smtp_settings *s)
{
	char why[256];

	return smtp_settings_read(given, s, why, sizeof(why));
}

static void only_this_machine_is_spoken_to_in_plain_text(void **state)
{
	static const struct {
		const char *url, *made;
		bool plain;
	} rows[] = { { "smtp://127.0.0.1:2525", "smtp://127.0.0.1:2525/example.com", true },
		     { "smtp://localhost", "smtp://localhost/example.com", true },
		     { "smtp://[::1]:25/", "smtp://[::1]:25/example.com", true },
		     { "smtp://mail.localhost", "smtp://mail.localhost/example.com", false },
		     { "smtp://127.0.0.1.example.com", "smtp://127.0.0.1.example.com/example.com", false },
		     { "smtp://mail.example.com:587", "smtp://mail.example.com:587/example.com", false },
		     { "smtps://127.0.0.1", "smtps://127.0.0.1/example.com", false } };
	struct smtp_settings s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(reads(&(struct smtp_given){ .url = rows[i].url, .from = "a@example.com" }, &s));
		assert_string_equal(s.url, rows[i].made);
		assert_int_equal(s.plain, rows[i].plain);
		assert_null(s.user);
		smtp_settings_release(&s);
	}
}

static void a_sender_is_an_address_with_or_without_a_name(void **state)
{
	static const char *const bad[] = { "x",
					   "-x@example.com",
					   "a@example.com\r\nBcc: b@example.com",
					   "Ann <a@example.com",
					   "Ann\n <a@example.com>",
					   "Ann <a@example.com>, b@example.com",
					   "<>" };
	struct smtp_settings s;

	(void)state;
	assert_true(reads(&(struct smtp_given){ .url = "smtp://localhost", .from = "\"Ann \xc3\xa4\" <a@example.com>" },
			  &s));
	assert_string_equal(s.from, "a@example.com");
	assert_string_equal(s.from_name, "Ann \xc3\xa4");
	smtp_settings_release(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(reads(&(struct smtp_given){ .url = "smtp://localhost", .from = bad[i] }, &s));
		smtp_settings_release(&s);
	}
}

static void a_password_comes_from_a_file_and_goes_with_a_user(void **state)
{
	char path[] = "/tmp/thorpe-smtp-XXXXXX";
	int fd = mkstemp(path);
	struct smtp_given given = { .url = "smtps://me%40example.com@mail.example.com",
				    .from = "a@example.com",
				    .password_file = path };
	struct smtp_settings s;

	(void)state;
	assert_true(fd >= 0 && write(fd, "open sesame \r\nmore\n", 19) == 19);
	close(fd);
	assert_true(reads(&given, &s));
	assert_string_equal(s.user, "me@example.com");
	assert_string_equal(s.password, "open sesame ");
	assert_string_equal(s.url, "smtps://mail.example.com/example.com");
	smtp_settings_release(&s);
	given.url = "smtps://mail.example.com"; /* a password, and no user */
	assert_false(reads(&given, &s));
	smtp_settings_release(&s);
	given = (struct smtp_given){ .url = "smtps://me@mail.example.com", .from = "a@example.com" };
	assert_false(reads(&given, &s));
	smtp_settings_release(&s);
	given.url = "smtps://me:secret@mail.example.com"; /* ps shows it */
	assert_false(reads(&given, &s));
	smtp_settings_release(&s);
	unlink(path);
}

static void memory_that_runs_out_is_an_error(void **state)
{
	struct smtp_given given = { .url = "smtp://localhost", .from = "Ann <a@example.com>", .ca_file = "/ca" };
	struct smtp_settings s;
	bool failed = true;

	(void)state;
	for (long n = 0; failed; n++) {
		alloc_fail_after(n);
		failed = !reads(&given, &s) || alloc_has_failed();
		alloc_fail_never();
		smtp_settings_release(&s);
		assert_true(n < 100);
	}
}

static void keys_are_asked_for_where_nobody_listens(void **state)
{
	(void)state;
	assert_true(fetch_is_private("https://example.com/keys"));
	assert_true(fetch_is_private("http://localhost:8080/"));
	assert_true(fetch_is_private("http://127.0.0.1/"));
	assert_false(fetch_is_private("http://example.com/"));
	assert_false(fetch_is_private("http://127.0.0.1@example.com/"));
	assert_false(fetch_is_private("file:///etc/passwd"));
	assert_false(fetch_is_private(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_no_second_meaning),
		cmocka_unit_test(only_this_machine_is_spoken_to_in_plain_text),
		cmocka_unit_test(a_sender_is_an_address_with_or_without_a_name),
		cmocka_unit_test(a_password_comes_from_a_file_and_goes_with_a_user),
		cmocka_unit_test(memory_that_runs_out_is_an_error),
		cmocka_unit_test(keys_are_asked_for_where_nobody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
