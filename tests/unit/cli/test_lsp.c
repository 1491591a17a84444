/* The language server's parts: framing, how editors count, and that documents return their memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/lsp/answer.h"
#include "cli/lsp/frame.h"

static void add(struct frame *f, const char *p, size_t n)
{
	memcpy(frame_room(f, n), p, n);
	frame_added(f, n);
}

static void messages_come_in_any_pieces(void **state)
{
	static const char text[] =
		"Content-Length: 5\r\n\r\nhelloContent-Type: x\ncontent-length:2 \n\n{}Content-Length: 0\r\n\r\n";
	static const char *const bodies[] = { "hello", "{}", "" };

	(void)state;
	for (size_t piece = 1; piece < sizeof(text); piece++) {
		struct frame f;
		struct slice body;
		const char *why;
		size_t size, taken = 0;

		frame_init(&f);
		for (size_t i = 0; i < sizeof(text) - 1; i += piece) {
			add(&f, text + i, sizeof(text) - 1 - i < piece ? sizeof(text) - 1 - i : piece);
			while (frame_take(&f, &body, &size, &why) == FRAME_TAKEN) {
				assert_true(slice_is(body, bodies[taken++]));
				frame_drop(&f, size);
			}
		}
		assert_int_equal(taken, 3);
		assert_int_equal(f.n, 0);
		frame_release(&f);
	}
}

static void what_is_no_message_is_refused(void **state)
{
	static const char *const wrong[] = { "\r\n",
					     "Content-Type: x\r\n\r\n",
					     "Content-Length: \r\n\r\n",
					     "Content-Length: 1x\r\n\r\n",
					     "Content-Length: -1\r\n\r\n",
					     "Content-Length: 16777217\r\n\r\n",
					     "Content-Length: 99999999999999999999999\r\n\r\n" };
	char endless[FRAME_HEADERS_MOST + 1];
	struct slice body;
	struct frame f;
	const char *why = NULL;
	size_t size;

	(void)state;
	frame_init(&f);
	assert_int_equal(frame_take(&f, &body, &size, &why), FRAME_MORE);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		f.n = 0;
		why = NULL;
		add(&f, wrong[i], strlen(wrong[i]));
		assert_int_equal(frame_take(&f, &body, &size, &why), FRAME_WRONG);
		assert_non_null(why);
	}
	memset(endless, 'x', sizeof(endless));
	f.n = 0;
	add(&f, endless, sizeof(endless) - 1);
	assert_int_equal(frame_take(&f, &body, &size, &why), FRAME_MORE);
	add(&f, "x", 1);
	assert_int_equal(frame_take(&f, &body, &size, &why), FRAME_WRONG);
	frame_release(&f);
}

static void editors_count_in_utf16(void **state)
{
	const struct slice text = SLICE("aé𝄞b\r\n\n𝄞\xff");
	/* byte, line, character: a is 1 byte, é 2, 𝄞 4 and two units */
	static const int places[][3] = { { 0, 0, 0 },  { 1, 0, 1 },  { 3, 0, 2 },  { 7, 0, 4 }, { 8, 0, 5 },
					 { 10, 1, 0 }, { 11, 2, 0 }, { 15, 2, 2 }, { 16, 2, 3 } };
	size_t from, to;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct position p = position_of_byte(text, (size_t)places[i][0]);

		assert_int_equal(p.line, places[i][1]);
		assert_int_equal(p.character, places[i][2]);
		assert_int_equal(position_to_byte(text, p), places[i][0]);
	}
	assert_int_equal(position_to_byte(text, (struct position){ 0, 3 }), 3);   /* within the pair */
	assert_int_equal(position_to_byte(text, (struct position){ 0, 99 }), 8);  /* beyond the line */
	assert_int_equal(position_to_byte(text, (struct position){ 99, 1 }), 16); /* beyond the text */
	assert_int_equal(position_to_byte(text, (struct position){ -1, -1 }), 0);
	place_to_bytes(text, (struct place){ 1, 3, 1 }, &from, &to);
	assert_int_equal(from, 3);
	assert_int_equal(to, 7);
	place_to_bytes(text, (struct place){ 1, 4, 100 }, &from, &to);
	assert_int_equal(to, 8);
	place_to_bytes(text, (struct place){ 0, 0, 0 }, &from, &to);
	assert_int_equal(from, 0);
	place_to_bytes(text, (struct place){ 50, 50, 5 }, &from, &to);
	assert_int_equal(to, text.n);
}

static size_t sent;

static void send_nothing(struct slice body)
{
	sent += body.n > 0;
}

static void tell(struct lsp *l, struct slice message)
{
	struct arena a;

	arena_init(&a);
	lsp_message(l, &a, json_parse(&a, message), send_nothing);
	for (size_t i = 0; i < l->documents.count; i++)
		if (l->documents.list[i].changed)
			lsp_publish(&l->documents.list[i], &a, send_nothing);
	arena_release(&a);
}

static void change(struct lsp *l, const char *method, int document, int version)
{
	char text[512];
	int n = snprintf(
		text, sizeof(text),
		"{\"method\":\"textDocument/%s\",\"params\":{\"textDocument\":{\"uri\":\"file:///%d\",\"version\":%d,"
		"\"text\":\"design: a\\ntable: x%d\"},\"contentChanges\":[{\"text\":\"design: b\\nkey: [%d\"}]}}",
		method, document, version, version, version);

	tell(l, slice_make(text, (size_t)n));
}

/* The sanitizer says what was not returned. */
static void documents_return_their_memory(void **state)
{
	struct lsp *l = calloc(1, sizeof(*l));

	(void)state;
	sent = 0;
	tell(l, SLICE("{\"id\":1,\"method\":\"initialize\"}"));
	for (int i = 0; i < DOCUMENTS_MOST + 10; i++)
		change(l, "didOpen", i, 1);
	assert_int_equal(l->documents.count, DOCUMENTS_MOST);
	assert_int_equal(sent, 1 + DOCUMENTS_MOST);
	for (int i = 0; i < 10000; i++)
		change(l, "didChange", i % 3, i);
	change(l, "didOpen", 1, 5); /* again: its text is replaced */
	assert_int_equal(l->documents.count, DOCUMENTS_MOST);
	for (int i = 0; i < DOCUMENTS_MOST / 2; i++)
		change(l, "didClose", i, 1);
	assert_int_equal(l->documents.count, DOCUMENTS_MOST / 2);
	documents_release(&l->documents);
	assert_int_equal(l->documents.count, 0);
	free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_come_in_any_pieces),
		cmocka_unit_test(what_is_no_message_is_refused),
		cmocka_unit_test(editors_count_in_utf16),
		cmocka_unit_test(documents_return_their_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
