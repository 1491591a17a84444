/* A letter's bytes: nothing in a name, a subject or a text adds a header or a line.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "process/send/letter.h"

static char from[] = "noreply@example.com", name[] = "B\xc3\xa4rbel, \"X\" <y@example.com>";
static struct smtp_settings settings = { .from = from };

static const char *made(struct arena *a, struct slice subject, struct slice text)
{
	struct mail m = { .id = SLICE("0123"),
			  .address = SLICE("ann@example.com"),
			  .head = subject,
			  .text = text,
			  .asked_ms = INT64_C(1795132800000) };

	return arena_cstr(a, letter_make(a, &settings, &m));
}

static void a_letter_is_these_bytes(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_string_equal(made(&a, SLICE("Your code"), SLICE("Hello\nyou\r\n")),
			    "Date: Fri, 20 Nov 2026 00:00:00 +0000\r\n"
			    "From: <noreply@example.com>\r\n"
			    "To: <ann@example.com>\r\n"
			    "Subject: Your code\r\n"
			    "Message-ID: <0123@example.com>\r\n"
			    "Auto-Submitted: auto-generated\r\n"
			    "MIME-Version: 1.0\r\n"
			    "Content-Type: text/plain; charset=utf-8\r\n"
			    "Content-Transfer-Encoding: base64\r\n"
			    "\r\n"
			    "SGVsbG8NCnlvdQ0K\r\n");
	arena_release(&a);
}

static void a_subject_is_one_header(void **state)
{
	struct arena a;
	const char *text;

	(void)state;
	arena_init(&a);
	text = made(&a, SLICE("code\r\nBcc: all@example.com\n"), SLICE("x"));
	assert_non_null(strstr(text, "\r\nSubject: code  Bcc: all@example.com\r\nMessage-ID:"));
	text = made(&a, SLICE("=?UTF-8?B?eA==?="), SLICE("x")); /* what looks encoded is encoded */
	assert_non_null(strstr(text, "\r\nSubject: =?UTF-8?B?PT9VVEYtOD9CP2VBPT0/PQ==?=\r\n"));
	settings.from_name = name;
	text = made(&a, SLICE("x"), SLICE("x"));
	assert_non_null(
		strstr(text,
		       "\r\nFrom: =?UTF-8?B?QsOkcmJlbCwgIlgiIDx5QGV4YW1wbGUuY29tPg==?=\r\n <noreply@example.com>\r\n"));
	settings.from_name = NULL;
	arena_release(&a);
}

/* Characters are not cut, and lines stay within 78 bytes. */
static void a_long_subject_is_folded_between_characters(void **state)
{
	char subject[601];
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t shift = 0; shift < 3; shift++) {
		const char *text, *line, *end;

		memset(subject, 'a', shift);
		for (size_t i = shift; i + 3 <= 600; i += 3)
			memcpy(subject + i, "\xe2\x9c\x89", 3);
		subject[shift + (600 - shift) / 3 * 3] = '\0';
		text = made(&a, slice_str(subject), SLICE("x"));
		for (line = text; (end = strstr(line, "\r\n")); line = end + 2) {
			assert_true(end - line <= 78);
			assert_null(strstr(line, "?==?"));
			if (!strncmp(line, " =?UTF-8?B?",
				     11)) /* begins with a whole character: 1110xxxx is "4" in base64 */
				assert_int_equal(line[11], '4');
		}
	}
	arena_release(&a);
}

static void a_text_of_any_length_has_short_lines(void **state)
{
	char text[400];
	struct arena a;

	(void)state;
	arena_init(&a);
	memset(text, '.', sizeof(text));
	for (size_t n = 0; n < sizeof(text); n++) {
		const char *line, *end;

		for (line = made(&a, SLICE("x"), slice_make(text, n)); (end = strstr(line, "\r\n")); line = end + 2) {
			assert_true(end - line <= 78);
			assert_true(line[0] != '.'); /* a dot alone would end the mail */
		}
		arena_clear(&a);
	}
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_letter_is_these_bytes),
		cmocka_unit_test(a_subject_is_one_header),
		cmocka_unit_test(a_long_subject_is_folded_between_characters),
		cmocka_unit_test(a_text_of_any_length_has_short_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
