/* What editors are told: the words for a place, marked ‸, and what a word is for. SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"

#include "design/editor/editor.h"

#define HERE "‸"

#define START                                                                \
	"design: shop\n"                                                     \
	"table: Shop\n"                                                      \
	"key: [PK, SK]\n"                                                    \
	"indexes:\n"                                                         \
	"  byOwner: {key: [owner, at]}\n"                                    \
	"types:\n"                                                           \
	"  Address: {street: string}\n"                                      \
	"entities:\n"                                                        \
	"  User:\n"                                                          \
	"    path: /users/<uid>\n"                                           \
	"    attributes: {uid: string, 'name': \"string 1..5, required\"}\n" \
	"  Thing:\n"                                                         \
	"    # a comment: of it\n"                                           \
	"    path: /things/<id>\n"                                           \
	"    attributes:\n"                                                  \
	"      id: string, id\n"                                             \
	"      owner: string, the caller\n"

#define ACCESS          \
	"access:\n"     \
	"  of owner:\n" \
	"    path: /o/<owner>\n"

/* The text without the mark, and where that was. */
static struct slice unmarked(const char *text, size_t *at)
{
	const char *mark = strstr(text, HERE);

	assert_non_null(mark);
	*at = (size_t)(mark - text);
	return arena_printf(&arena, "%.*s%s", (int)*at, text, mark + strlen(HERE));
}

static bool has(const struct editor_words *l, struct slice name)
{
	for (size_t i = 0; i < l->count; i++)
		if (slice_equal(l->list[i].name, name))
			return true;
	return false;
}

/* `expected`: words separated by |, of which those after a ! are not among them. `written`: what they replace. */
static void expect_words(const char *text, const char *written, const char *expected)
{
	size_t at;
	struct slice design = unmarked(text, &at), rest = slice_str(expected);
	struct editor_words l = editor_words(&arena, design, at);

	assert_true(l.from <= at);
	if (!slice_equal(slice_make(design.p + l.from, at - l.from), slice_str(written)))
		fail_msg("replaces '%.*s', not '%s': %s", (int)(at - l.from), design.p + l.from, written, text);
	while (rest.n) {
		const char *end = memchr(rest.p, '|', rest.n);
		struct slice word = slice_make(rest.p, end ? (size_t)(end - rest.p) : rest.n);
		bool wanted = word.p[0] != '!';

		if (!wanted)
			word = slice_make(word.p + 1, word.n - 1);
		if (has(&l, word) != wanted) {
			for (size_t i = 0; i < l.count; i++)
				print_message("%.*s\n", SLICE_ARG(l.list[i].name));
			fail_msg("%s '%.*s' at the end of %s", wanted ? "no" : "there is", SLICE_ARG(word), text);
		}
		rest = end ? slice_make(end + 1, rest.n - word.n - 1 - !wanted) : SLICE("");
	}
}

static void words_of_maps(void **state)
{
	(void)state;
	expect_words("‸", "", "design|table|entities|access|!path");
	expect_words("design: x\nta‸", "ta", "table|ttl|!query");
	expect_words(START "    ‸", "", "attributes|keys|companions|!design|!query");
	expect_words(START "    co‸\n    keys: {}\n", "co", "companions|counts");
	expect_words(START ACCESS "    ‸", "", "query|where|order|limit|!keys");
	expect_words(START ACCESS "    merge: {‸", "", "run|by|!query");
	expect_words(START ACCESS "    merge: {run: of owner, b‸", "b", "by|run|!query");
	expect_words(START "    delete: {then r‸", "then r", "then remove|refuse while");
	expect_words(START "    allow:\n      ‸", "", "create|read|update|delete");
	expect_words(START "    also:\n      - {on: created, p‸", "p", "put|update");
	expect_words(START "    also:\n      - p‸", "p", "put|update");
	expect_words(START "    actions:\n      go:\n        ‸", "", "set|when|requires|!path");
	expect_words(START "processors:\n  tell:\n    ‸", "", "on|every|put|send|!set");
	expect_words(START "    keys when owner is present:\n      ‸", "", "!path");
	/* A map that ended. */
	expect_words(START ACCESS "    path: {a: b}\n  ‸", "", "!query|!path");
	expect_words(START ACCESS "‸", "", "processors|traffic");
}

static void values(void **state)
{
	(void)state;
	expect_words("stream: ‸", "", "new and old images|off|keys only");
	expect_words("stream: new and o‸", "new and o", "new and old images");
	expect_words(START "    internal: ‸", "", "true|false");
	expect_words(START ACCESS "    order: n‸", "n", "newest first|descending");
	expect_words(START ACCESS "    query: ‸", "", "table|byOwner|!User");
	expect_words(START ACCESS "    query: b‸", "b", "byOwner");
	expect_words(START ACCESS "    returns: ‸", "", "User|Thing|!table");
	expect_words(START ACCESS "    merge: {run: ‸", "", "of owner");
	expect_words(START "    delete: {then remove: [‸]}\n" ACCESS, "", "of owner");
	expect_words(START "    delete:\n      then remove:\n        - ‸\n" ACCESS, "", "of owner");
	expect_words(START "processors:\n  p:\n    on: T‸", "T", "Thing|User");
	expect_words(START "    keys: {PK: THING#<‸", "", "id|owner|!uid|!size");
	expect_words(START "    path: /x/<o‸>", "o", "owner|!uid");
}

static void attributes_and_terms(void **state)
{
	(void)state;
	expect_words(START "      n: ‸", "", "string|integer|counter|list|Address|!required");
	expect_words(START "      n: int‸", "int", "integer");
	expect_words(START "      n: string, ‸", "", "required|fixed|default|!integer");
	expect_words(START "      n: string 1..30, required, lo‸", "lo", "lower");
	expect_words(START "      n: = ow‸", "ow", "owner|size|!required");
	expect_words(START "    attributes: {n: string, re‸", "re", "required");
	expect_words(START "    allow:\n      read: ow‸", "ow", "owner|caller|anyone|exists|!uid");
	expect_words(START "    allow: {read: owner = ca‸", "ca", "caller");
	expect_words(START "    actions:\n      go:\n        when: siz‸", "siz", "size|owner");
	/* Nothing stands in a comment. */
	expect_words("design: x # ‸", "", "!table|!design");
	expect_words("# ta‸", "", "!table");
}

static void expect_what(const char *text, const char *word, const char *says)
{
	size_t at, from, to;
	struct slice design = unmarked(text, &at), what = editor_what(&arena, design, at, &from, &to);

	if (!slice_equal(slice_make(design.p + from, to - from), slice_str(word)) || !contains(what, says))
		fail_msg("of '%.*s': %.*s", (int)(to - from), design.p + from, SLICE_ARG(what));
}

static void words_are_explained(void **state)
{
	(void)state;
	expect_what("ti‸tle: x\n", "title", "a title");
	expect_what("stre‸am: off\n", "stream", "what the stream shows");
	expect_what(START ACCESS "    or‸der: newest first\n", "order", "the order of the items");
	expect_what(START "    delete: {then re‸move: [x]}\n", "then remove", "");
	expect_what(START "    allow: {read: ow‸ner = caller}\n", "owner", "an attribute: string, the caller");
	expect_what(START "    requires: [Us‸er(owner)]\n", "User", "an entity: /users/<uid>");
	expect_what(START "      n: = si‸ze(owner)\n", "size", "a function: size(");
	expect_what(START "      na‸me: string\n", "name", "A type and clauses");
	expect_what("‸\n", "", "");
	expect_what("# tit‸le: x\n", "title", "");
}

/* Every byte of every beginning of a text is a place, whatever stands there. */
static void no_place_is_too_odd(void **state)
{
	static const char *const odd[] = { "",          "\n",     ":",          "::",
					   "- - - x",   "{{{{",   "}}}}]]",     "a: {b: [c: {d",
					   "'",         "\"a: b", "a:\n\tb: c", "a: 'it''s' # x\n  ‸",
					   "é: ü\n  ö", "- {",    "\r\n\r\n",   "a:\r\n  b:\r\n" };
	struct buf deep;

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		for (size_t n = 0; n <= strlen(odd[i]); n++)
			for (size_t at = 0; at <= n + 1; at++) {
				struct slice text = arena_copy(&arena, slice_make(odd[i], n));
				size_t from, to;
				struct editor_words l = editor_words(&arena, text, at);

				assert_true(l.from <= n);
				(void)editor_what(&arena, text, at, &from, &to);
				assert_true(from <= to && to <= n);
			}
	buf_init(&deep, &arena);
	for (int i = 0; i < 200; i++)
		buf_printf(&deep, "%*sa:\n", i, "");
	for (int i = 0; i < 200; i++)
		buf_str(&deep, "{a: [");
	assert_true(editor_words(&arena, buf_slice(&deep), deep.n).from <= deep.n);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(words_of_maps),       TEST(values), TEST(attributes_and_terms), TEST(words_are_explained),
		TEST(no_place_is_too_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
