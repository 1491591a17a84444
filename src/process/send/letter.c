/* Headers and body of a mail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/send/letter.h"
#include <string.h>
#include <time.h>

#define PLAIN_MOST 60 /* bytes of a header's text that need no folding */
#define WORD_BYTES 42 /* of an encoded word: with "Subject: " a line of 77 characters */
#define LINE_BYTES 57 /* of the body: 76 characters of base64 */

/* ---- headers ---- */

static bool is_plain(struct slice s, const char *others)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !(c && strchr(others, c)))
			return false;
	}
	return s.n <= PLAIN_MOST;
}

/* So many bytes, and not in the middle of a character. */
static size_t word_length(struct slice s)
{
	size_t n = s.n < WORD_BYTES ? s.n : WORD_BYTES;

	while (n > 1 && n < s.n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static void put_encoded(struct buf *b, struct slice s)
{
	while (s.n) {
		size_t n = word_length(s);

		buf_lit(b, "=?UTF-8?B?");
		buf_base64(b, slice_make(s.p, n));
		buf_lit(b, "?=");
		s = slice_make(s.p + n, s.n - n);
		if (s.n)
			buf_lit(b, "\r\n ");
	}
}

static struct slice without_controls(struct arena *a, struct slice s)
{
	char *copy = arena_alloc(a, s.n + 1);

	for (size_t i = 0; i < s.n; i++)
		copy[i] = (char)((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f ? ' ' : s.p[i]);
	return slice_trim(slice_make(copy, s.n), " ");
}

static void put_subject(struct arena *a, struct buf *b, struct slice subject)
{
	subject = without_controls(a, subject);
	buf_lit(b, "Subject: ");
	if (is_plain(subject, " !\"#$%&'()*+,-./:;<>@[]^_`{|}~")) /* no '=' and no '?': they begin an encoded word */
		buf_put(b, subject);
	else
		put_encoded(b, subject);
	buf_lit(b, "\r\n");
}

static void put_from(struct buf *b, const struct smtp_settings *s)
{
	struct slice name = s->from_name ? slice_str(s->from_name) : SLICE("");

	buf_lit(b, "From: ");
	if (is_plain(name, " "))
		buf_put(b, name);
	else
		put_encoded(b, name);
	if (name.n)
		buf_lit(b, "\r\n ");
	buf_lit(b, "<");
	buf_str(b, s->from);
	buf_lit(b, ">\r\n");
}

static void put_date(struct arena *a, struct buf *b, int64_t ms)
{
	static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t seconds = (time_t)(ms / 1000);
	struct tm t = { 0 };

	gmtime_r(&seconds, &t);
	buf_put(b, arena_printf(a, "Date: %.3s, %02d %.3s %04d %02d:%02d:%02d +0000\r\n", days + 3 * t.tm_wday,
				t.tm_mday, months + 3 * t.tm_mon, t.tm_year + 1900, t.tm_hour, t.tm_min, t.tm_sec));
}

/* ---- the body ---- */

/* A text's lines end with CRLF before they are encoded. */
static struct slice with_crlf(struct arena *a, struct slice s)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\n' && (!i || s.p[i - 1] != '\r'))
			buf_lit(&b, "\r");
		buf_add(&b, s.p + i, 1);
	}
	return buf_slice(&b);
}

static void put_body(struct arena *a, struct buf *b, struct slice text)
{
	text = with_crlf(a, text);
	for (size_t at = 0; at < text.n; at += LINE_BYTES) {
		buf_base64(b, slice_make(text.p + at, text.n - at < LINE_BYTES ? text.n - at : LINE_BYTES));
		buf_lit(b, "\r\n");
	}
}

struct slice letter_make(struct arena *a, const struct smtp_settings *s, const struct mail *m)
{
	struct buf b;

	buf_init(&b, a);
	put_date(a, &b, m->asked_ms);
	put_from(&b, s);
	buf_put(&b, arena_printf(a, "To: <%.*s>\r\n", SLICE_ARG(without_controls(a, m->address))));
	put_subject(a, &b, m->head);
	buf_put(&b, arena_printf(a, "Message-ID: <%.*s%s>\r\n", SLICE_ARG(m->id), strchr(s->from, '@')));
	buf_lit(&b, "Auto-Submitted: auto-generated\r\n"
		    "MIME-Version: 1.0\r\n"
		    "Content-Type: text/plain; charset=utf-8\r\n"
		    "Content-Transfer-Encoding: base64\r\n"
		    "\r\n");
	put_body(a, &b, m->text);
	return buf_slice(&b);
}
