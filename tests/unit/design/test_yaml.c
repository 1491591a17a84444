/* YAML as a tree with places, and what is no YAML. SPDX-License-Identifier: Apache-2.0 */
#include "load_helper.h"
#include "design/source/yaml.h"

static const struct yaml *parse(const char *text)
{
	source = (struct source){ SLICE("test.yaml"), slice_str(text) };
	findings_init(&findings, &arena);
	return yaml_parse(&arena, &source, no_env, NULL, &findings);
}

static void place_is(struct place p, int line, int column, int length)
{
	assert_int_equal(p.line, line);
	assert_int_equal(p.column, column);
	assert_int_equal(p.length, length);
}

static void scalars_keep_their_places(void **state)
{
	const struct yaml *y = parse("é: wörd\n'q''q': \"a\\tb\" # no\nlist:\n- x\n- [y, z]\nn:\n");

	(void)state;
	assert_int_equal(y->count, 4);
	place_is(y->entries[0].key.place, 1, 1, 1);
	place_is(y->entries[0].value.place, 1, 4, 4);
	SLICE_IS(y->entries[1].key.text, "q'q");
	assert_true(y->entries[1].key.quoted);
	place_is(y->entries[1].key.place, 2, 2, 4);
	SLICE_IS(y->entries[1].value.text, "a\tb");
	place_is(yaml_place(&source, &y->entries[1].value, 2, 1), 2, 13, 1);
	assert_int_equal(y->entries[2].value.kind, YAML_LIST);
	assert_int_equal(y->entries[2].value.items[1].count, 2);
	place_is(y->entries[2].value.items[1].items[1].place, 5, 7, 1);
	assert_int_equal(y->entries[3].value.kind, YAML_NULL);
	place_is(y->entries[3].value.place, 6, 1, 1);
}

/* Nothing stands where its key, or its list, stands: libfyaml's versions differ. */
static void nothing_has_the_place_of_its_key_or_list(void **state)
{
	const struct yaml *y = parse("a:\nb: {c: , d:}\ne:\n  -\n  - 1\nf: [g: , h]\nk: # no\n\nlast:");
	const struct yaml *map = &y->entries[1].value, *list = &y->entries[2].value, *flow = &y->entries[3].value;

	(void)state;
	assert_int_equal(y->count, 6);
	assert_int_equal(y->entries[0].value.kind, YAML_NULL);
	place_is(y->entries[0].value.place, 1, 1, 1);
	assert_int_equal(y->entries[0].value.at, 1);
	place_is(map->entries[0].value.place, 2, 5, 1);
	place_is(map->entries[1].value.place, 2, 10, 1);
	assert_false(map->entries[1].bare);
	assert_int_equal(list->items[0].kind, YAML_NULL);
	place_is(list->items[0].place, list->place.line, list->place.column, list->place.length);
	place_is(list->items[1].place, 5, 5, 1);
	place_is(flow->items[0].entries[0].value.place, 6, 5, 1);
	place_is(y->entries[4].value.place, 7, 1, 1);
	place_is(y->entries[5].value.place, 9, 1, 4);
}

static void single_quotes_fold_and_double(void **state)
{
	static const struct {
		const char *yaml, *text;
	} cases[] = {
		{ "''", "" },
		{ "''''", "'" },
		{ "'it''s'", "it's" },
		{ "'''''''''''''''''''''x'", "''''''''''x" },
		{ "'a  \r\n  \t b'", "a b" },
		{ "'a\n\n\n  b '", "a\n\nb " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct yaml *y = parse(arena_cstr(&arena, arena_printf(&arena, "k: %s\n", cases[i].yaml)));

		assert_non_null(y);
		assert_true(y->entries[0].value.quoted);
		SLICE_IS(y->entries[0].value.text, cases[i].text);
	}
}

static void what_looks_like_something_else_is_text(void **state)
{
	static const char *const texts[] = {
		"= a * 2", "<x>", "a | b | c",       "USER#<id>",     "-position", "off", "null",
		"12",      "< T", "30 days after x", "x = 'a' and y", "@",         NULL,
	};

	(void)state;
	for (size_t i = 0; strcmp(texts[i], "@") != 0; i++) {
		const struct yaml *y = parse(arena_cstr(&arena, arena_printf(&arena, "k: %s\n", texts[i])));

		assert_non_null(y);
		SLICE_IS(y->entries[0].value.text, texts[i]);
	}
	SLICE_IS(parse("{unique: email, PK: E#<email>}\n")->entries[1].value.text, "E#<email>");
	SLICE_IS(parse("keys when x = 'public': 1\n")->entries[0].key.text, "keys when x = 'public'");
	SLICE_IS(parse("update, delete: 1\n")->entries[0].key.text, "update, delete");
	SLICE_IS(parse("[a: number, b]\n")->items[0].entries[0].value.text, "number");
}

static void commas_in_parentheses_do_not_split(void **state)
{
	const struct yaml *y = parse("[E(a, b).c, F(d), 'G(', h]");

	(void)state;
	assert_int_equal(y->count, 4);
	SLICE_IS(y->items[0].text, "E(a, b).c");
	place_is(y->items[0].place, 1, 2, 9);
	place_is(yaml_place(&source, &y->items[0], 5, 1), 1, 7, 1);
}

static void bare_entries_go_to_a_neighbour(void **state)
{
	size_t n;
	const struct yaml *y = parse("{a: string, required, b: , c, d: x}");
	const struct yaml_entry *e = yaml_entries(&arena, &source, y, YAML_JOIN_VALUES, &n);

	(void)state;
	assert_int_equal(n, 3);
	SLICE_IS(e[0].value.text, "string, required");
	assert_int_equal(e[1].value.kind, YAML_NULL);
	SLICE_IS(e[2].key.text, "c, d");
	y = parse("{a, b: x, c, d: y, E(f, g): z}");
	e = yaml_entries(&arena, &source, y, YAML_JOIN_KEYS, &n);
	assert_int_equal(n, 3);
	SLICE_IS(e[0].key.text, "a, b");
	SLICE_IS(e[1].key.text, "c, d");
	SLICE_IS(e[2].key.text, "E(f, g)");
	y = parse("{a: E(f, g), b: 1}");
	e = yaml_entries(&arena, &source, y, YAML_JOIN_KEYS, &n);
	assert_int_equal(n, 2);
	SLICE_IS(e[0].value.text, "E(f, g)");
}

static void a_byte_order_mark_is_no_character(void **state)
{
	const struct yaml *y = parse("\xef\xbb\xbf"
				     "a: b\n");

	(void)state;
	place_is(y->entries[0].key.place, 1, 1, 1);
	place_is(y->entries[0].value.place, 1, 4, 1);
}

static void refused(const char *marked, const char *rule, const char *says)
{
	struct place places[8] = { { 0 } };
	size_t count;
	struct slice text = unmark(marked, places, &count);

	(void)parse(arena_cstr(&arena, text));
	if (findings.count != 1)
		show_findings();
	assert_int_equal(findings.count, 1);
	assert_string_equal(findings.list[0].rule, rule);
	if (!contains(findings.list[0].message, says) && !contains(findings.list[0].repair, says)) {
		show_findings();
		fail();
	}
	if (count && findings.list[0].place.column != places[0].column)
		show_findings();
	if (count)
		place_is(findings.list[0].place, places[0].line, places[0].column,
			 places[0].length ? places[0].length : 1);
}

static void invalid_yaml_is_explained(void **state)
{
	(void)state;
	refused("a: «[»b\nc: d\n", "yaml", "not closed");
	refused("a: «{»b: c\n", "yaml", "not closed");
	refused("a: b«:» c\n", "yaml", "a second ': '");
	refused("a:\n\tb: c\n", "yaml", "indent with spaces");
	refused("a: \"b\n", "yaml", "not closed");
	refused("a: «@»b\n", "yaml", "put it in quotes");
	refused("a: > b\n", "yaml", "in quotes");
	refused("a: b\n«\x01»\n", "yaml", "control character");
	refused("a: *«x»\n", "yaml", "");
	refused("a: b\n---\nc: d\n", "yaml", "one file is one design");
	refused("a: 1\nb: 2\n«a»: 3\n", "duplicate-key", "first in line 1");
	refused("? [a]\n: b\n", "yaml", "expected a word");
	refused("a: &«x» b\n", "yaml", "anchors");
	refused("a: «!x» b\n", "yaml", "tags");
	refused("a: «${1}»\n", "bad-variable", "${NAME}");
	refused("a: x «${B}» y\n", "unset-variable", "has no B");
}

static void the_wrong_line_is_named(void **state)
{
	(void)state;
	refused("a:\n  b: c\n    «d»: e\n", "yaml", "indented deeper than the line before");
	refused("a:\n  b: c\n «d»: e\n", "yaml", "not indented like the lines before");
	refused("a: {b: c\nd«»: e\nf: g\n", "yaml", "the '{' in line 1 is not closed");
	refused("a: [b, c\nd: e\nf«»: g\n", "yaml", "expected ',' or ']'");
	refused("a: {b: c #d}\n«e»: f\n", "yaml", "' #' begins a comment");
	refused("a: «\"b»\nc: d\n", "yaml", "quote is not closed");
	refused("«a b»\nc: d\n", "yaml", "expected ': '");
	refused("a: {b: *«}»\n", "yaml", "cannot have aliases");
	refused("a:\n  - b: c\n  «d»: e\n", "yaml", "this line has no '- '");
	refused("a: {b: U#«{»x}, c: d}\n", "yaml", "a placeholder is written <name>");
	refused("a: \"b\" «c»\n", "yaml", "closing quote");
	refused("a: \"«\\q»\"\n", "yaml", "single quotes");
}

static void bytes_that_are_no_text_are_refused(void **state)
{
	static const char *const texts[] = { "a: \xff",          "\xc0\x80",    "a: \xed\xa0\x80",
					     "\xf5\x80\x80\x80", "a: \xe2\x82", "a: \x7f" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_null(parse(texts[i]));
		assert_int_equal(findings.count, 1);
	}
}

static void nesting_and_size_have_limits(void **state)
{
	struct buf b;

	(void)state;
	for (size_t depth = 20; depth < 3000; depth *= 4) {
		buf_init(&b, &arena);
		for (size_t i = 0; i < depth; i++)
			buf_byte(&b, '[');
		for (size_t i = 0; i < depth; i++)
			buf_byte(&b, ']');
		buf_byte(&b, '\0');
		assert_true((parse(b.p) != NULL) == (depth < YAML_DEPTH_MAX));
	}
	buf_init(&b, &arena);
	buf_lit(&b, "a: ");
	while (b.n <= YAML_SIZE_MAX)
		buf_lit(&b, "0123456789abcdef");
	buf_byte(&b, '\0');
	assert_null(parse(b.p));
	assert_true(contains(findings.list[0].message, "1 MiB"));
}

static void an_empty_file_is_nothing(void **state)
{
	(void)state;
	assert_int_equal(parse("")->kind, YAML_NULL);
	assert_int_equal(parse("# only this\n")->kind, YAML_NULL);
	source.text = (struct slice){ NULL, 0 };
	assert_int_equal(yaml_parse(&arena, &source, no_env, NULL, &findings)->kind, YAML_NULL);
	assert_null(load(""));
	assert_true(contains(findings.list[0].message, "the file is empty"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(scalars_keep_their_places),
		TEST(nothing_has_the_place_of_its_key_or_list),
		TEST(single_quotes_fold_and_double),
		TEST(what_looks_like_something_else_is_text),
		TEST(commas_in_parentheses_do_not_split),
		TEST(bare_entries_go_to_a_neighbour),
		TEST(a_byte_order_mark_is_no_character),
		TEST(invalid_yaml_is_explained),
		TEST(the_wrong_line_is_named),
		TEST(bytes_that_are_no_text_are_refused),
		TEST(nesting_and_size_have_limits),
		TEST(an_empty_file_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
