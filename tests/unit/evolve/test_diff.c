/* Each kind of change, what it means for stored items, and that no change is missed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "load_helper.h"
#include "evolve/diff.h"

static const char before_text[] =
	"design: shop\n"
	"title: A shop\n"
	"table: Shop\n"
	"key: [PK, SK]\n"
	"indexes:\n"
	"  GSI1: {key: [GSI1PK, GSI1SK]}\n"
	"types:\n"
	"  Size: {width: number, height: number}\n"
	"entities:\n"
	"  Shelf:\n"
	"    path: /shelves/<shelf>\n"
	"    attributes:\n"
	"      shelf: string 1..20, fixed\n"
	"      name: string 1..100\n"
	"      things: counter\n"
	"    keys: {PK: SHELF#<shelf>, SK: META}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Thing:\n"
	"    path: /things/<id>\n"
	"    attributes:\n"
	"      id: string, id\n"
	"      shelf: string, required\n"
	"      code: string 1..20\n"
	"      note: string 0..200\n"
	"      state: NEW | OLD, default NEW\n"
	"      price: number 0..1000\n"
	"      size: Size\n"
	"      label: = code + '!'\n"
	"      shelf_name: copy of Shelf(shelf).name\n"
	"      made: timestamp, now\n"
	"    keys: {PK: THING#<id>, SK: META, GSI1PK: SHELF#<shelf>, GSI1SK: <made>#<id>}\n"
	"    companions:\n"
	"      - {unique: code, PK: CODE#<code>, SK: CODE, thing: <id>}\n"
	"    counts: [Shelf(shelf).things]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"access:\n"
	"  shelf things: {path: /shelves/<shelf>/things, query: GSI1, where: {GSI1PK: SHELF#<shelf>}}\n";

/* `text` with `from`, which is in it once, replaced. */
static const char *edited(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	if (!at || strstr(at + 1, from))
		fail_msg("'%s' is not there once", from);
	return arena_cstr(&arena, arena_printf(&arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)));
}

/* All changes, as "subject change need" by '; '. */
static const char *said(const struct diff *x)
{
	struct buf b;

	buf_init(&b, &arena);
	for (size_t i = 0; i < x->count; i++)
		buf_printf(&b, "%s%.*s %s %s", i ? "; " : "", SLICE_ARG(x->list[i].subject),
			   diff_act_names[x->list[i].act], diff_need_names[x->list[i].need]);
	return arena_cstr(&arena, buf_slice(&b));
}

static const struct design *loaded(const char *text)
{
	const struct design *d = load(text);

	if (!d)
		show_findings();
	assert_non_null(d);
	return d;
}

static void expect_from(const char *old, const char *text, const char *expected)
{
	struct diff x;

	diff_designs(&arena, loaded(old), loaded(text), &x);
	assert_string_equal(said(&x), expected);
	for (size_t i = 0; i < x.count; i++) {
		assert_true(x.list[i].means.n > 0);
		assert_true(x.list[i].place.line > 0);
		assert_true(x.list[i].need <= x.most);
	}
}

/* One part of the design is replaced. */
static void expect(const char *from, const char *to, const char *expected)
{
	expect_from(before_text, edited(before_text, from, to), expected);
}

static void a_design_that_is_laid_out_differently_is_the_same(void **state)
{
	(void)state;
	expect("title: A shop", "title: A shop", "");
	expect("    keys: {PK: SHELF#<shelf>, SK: META}\n", "    keys:\n      SK: META\n      PK: SHELF#<shelf>\n", "");
	expect("title: A shop", "title: 'A shop'", "");
}

static void rules_hold_from_now_on(void **state)
{
	(void)state;
	expect("title: A shop", "title: Another", "title changed nothing");
	expect("      code: string 1..20\n", "      code: string 1..20, fixed\n", "Thing.code changed nothing");
	expect("default NEW", "default OLD", "Thing.state changed nothing");
	expect("note: string 0..200", "note: string 0..300", "Thing.note changed nothing");
	expect("/shelves/<shelf>/things", "/shelves/<shelf>/content", "access pattern shelf things changed nothing");
	expect("      made:", "      more: string\n      made:", "Thing.more added nothing");
}

static void items_that_may_not_fit_are_named(void **state)
{
	(void)state;
	expect("note: string 0..200", "note: string 0..100", "Thing.note changed judge");
	expect("note: string 0..200", "note: string 0..200 matches 'a+'", "Thing.note changed judge");
	expect("note: string 0..200", "note: string 0..200, required", "Thing.note changed judge");
	expect("note: string 0..200", "note: a | b", "Thing.note changed judge");
	expect("note: string 0..200", "note: email 0..200", "Thing.note changed judge");
	expect("note: string 0..200", "note: reference to Shelf", "Thing.note changed judge");
	expect_from(edited(before_text, "note: string 0..200", "note: reference to Shelf, may be missing"),
		    edited(before_text, "note: string 0..200", "note: reference to Shelf"), "Thing.note changed judge");
	expect_from(edited(before_text, "note: string 0..200", "note: reference to Shelf"),
		    edited(before_text, "note: string 0..200", "note: reference to Shelf, may be missing"),
		    "Thing.note changed nothing");
	expect("NEW | OLD", "NEW | USED", "Thing.state changed judge");
	expect("number 0..1000", "number 1..1000", "Thing.price changed judge");
	expect("number 0..1000", "integer 0..1000", "Thing.price changed judge");
	expect("      made:", "      more: string, required\n      made:", "Thing.more added judge");
	expect("height: number", "height: number 0..5", "Thing.size changed judge; type Size changed nothing");
	expect("height: number", "depth: number", "Thing.size changed judge; type Size changed nothing");
	expect("    counts: [", "    check: {price > 1: too cheap}\n    counts: [", "Thing check added judge");
	expect("    counts: [", "    requires: Shelf(shelf)\n    counts: [", "Thing requires added judge");
}

static void computed_attributes_are_made_again(void **state)
{
	(void)state;
	expect("code + '!'", "code + '?'", "Thing.label changed rewrite");
	expect("      made:", "      more: string, default x\n      made:", "Thing.more added rewrite");
	expect("      made:", "      more: = price * 2\n      made:", "Thing.more added rewrite");
	expect("copy of Shelf(shelf).name", "copy of Shelf(shelf).shelf", "Thing.shelf_name changed rewrite");
	expect("note: string 0..200", "note: string 0..200 when price > 3", "Thing.note changed rewrite");
	expect("      note: string 0..200\n", "", "Thing.note removed rewrite");
	expect("GSI1SK: <made>#<id>", "GSI1SK: <id>", "Thing keys GSI1SK changed rewrite");
	expect("thing: <id>}", "thing: <id>, of: <shelf>}",
	       "Thing companion code added guard; Thing companion code removed rewrite");
	expect("    counts: [", "    keys when price > 3: {kind: DEAR}\n    counts: [", "Thing keys kind added rewrite");
}

static void counters_are_counted_again(void **state)
{
	(void)state;
	expect("[Shelf(shelf).things]", "[Shelf(shelf).things when state = 'NEW']",
	       "Thing counts Shelf.things added count; Thing counts Shelf.things removed count");
	expect("      things: counter\n", "      things: counter\n      dear: counter\n", "Shelf.dear added count");
	expect("    counts: [Shelf(shelf).things]\n", "", "Thing counts Shelf.things removed count");
}

static void values_are_converted(void **state)
{
	(void)state;
	expect("note: string 0..200", "note: list of string 0..9", "Thing.note changed convert");
	expect("number 0..1000", "string 0..10", "Thing.price changed convert");
	expect("made: timestamp, now", "made: timestamp ms, now", "Thing.made changed convert");
	expect("note: string 0..200", "note: string 0..200, lower", "Thing.note changed convert");
	expect("note: string 0..200", "note: string 0..200, compressed", "Thing.note changed convert");
}

static void a_name_that_was_changed_is_followed(void **state)
{
	char *all = arena_cstr(&arena, slice_str(before_text));
	const char *renamed, *again;

	(void)state;
	expect("note: string 0..200", "remark: string 0..200, was note", "Thing.remark renamed convert");
	/* `was` of a change that was made long ago */
	again = edited(before_text, "note: string 0..200", "note: string 0..200, was remark");
	expect_from(again, again, "");
	/* keys, guards and terms made of the attribute are the same, and so are those of other entities */
	renamed = edited(all, "      code: string 1..20\n", "      sku: string 1..20, was code\n");
	renamed = edited(renamed, "= code + '!'", "= sku + '!'");
	renamed = edited(renamed, "{unique: code, PK: CODE#<code>", "{unique: sku, PK: CODE#<sku>");
	expect_from(all, renamed, "Thing.sku renamed convert");
	renamed = edited(all, "  Shelf:\n", "  Rack:\n    was: Shelf\n");
	renamed = edited(renamed, "copy of Shelf(", "copy of Rack(");
	renamed = edited(renamed, "[Shelf(shelf)", "[Rack(shelf)");
	expect_from(all, renamed, "entity Rack renamed nothing");
	renamed = edited(all, "      name: string 1..100\n      things: counter",
			 "      label: string 1..100, was name\n      all: counter, was things");
	renamed = edited(renamed, "(shelf).name", "(shelf).label");
	renamed = edited(renamed, "(shelf).things", "(shelf).all");
	expect_from(all, renamed, "Shelf.label renamed convert; Shelf.all renamed convert");
}

static void guards_are_made_for_what_becomes_unique(void **state)
{
	(void)state;
	expect("    companions:\n", "    companions:\n      - {unique: note, PK: NOTE#<note>, SK: NOTE}\n",
	       "Thing companion note added guard");
	expect("      - {unique: code, PK: CODE#<code>", "      - {unique: code, PK: SKU#<code>",
	       "Thing companion code added guard; Thing companion code removed rewrite");
}

static void items_move_when_the_key_of_the_table_changes(void **state)
{
	(void)state;
	expect("PK: THING#<id>", "PK: T#<id>", "Thing keys PK changed move");
	expect("SK: META, GSI1PK", "SK: THING, GSI1PK", "Thing keys SK changed move");
}

static void the_table_itself_changes(void **state)
{
	(void)state;
	expect("GSI1: {key: [GSI1PK, GSI1SK]}", "GSI1: {key: [GSI1PK, GSI1SK], projection: keys only}",
	       "index GSI1 changed table");
	expect("title: A shop\n", "title: A shop\nstream: new image\n", "stream added table");
	expect("table: Shop", "table: Other", "table changed cannot");
	expect("key: [PK, SK]", "key: [PK]", "key changed cannot");
}

static void entities_come_and_go(void **state)
{
	static const char extra[] = "  Note:\n    path: /notes/<id>\n    attributes: {id: 'string, id'}\n"
				    "    keys: {PK: NOTE#<id>, SK: META}\naccess:\n";
	const char *more = edited(before_text, "access:\n", extra);

	(void)state;
	expect_from(before_text, more, "entity Note added nothing");
	expect_from(more, before_text, "entity Note removed leave");
}

static void a_wrong_was_is_an_error(void **state)
{
	(void)state;
	assert_null(load(edited(before_text, "note: string 0..200", "note: string 0..200, was code")));
	assert_true(contains(findings.list[0].message, "'code' is an attribute of this design"));
	assert_null(load(edited(before_text, "note: string 0..200", "note: string 0..200, was 7")));
	assert_true(contains(findings.list[0].message, "the attribute's name in the design before"));
	assert_null(
		load(edited(before_text, "note: string 0..200", "note: string, was old\n      two: string, was old")));
	assert_true(contains(findings.list[0].message, "was called 'old', too"));
	assert_null(load(edited(before_text, "  Thing:\n", "  Thing:\n    was: Shelf\n")));
	assert_true(contains(findings.list[0].message, "'Shelf' is an entity of this design"));
}

static void files_that_no_longer_fit_are_named(void **state)
{
	const char *with = edited(before_text, "title: A shop\n", "title: A shop\nstream: new and old images\n");
	const char *wide =
		edited(with, "      made:", "      picture: file image/png | image/webp up to 5 MB\n      made:");

	(void)state;
	expect_from(wide, edited(wide, "5 MB", "6 MB"), "Thing.picture changed nothing");
	expect_from(wide, edited(wide, "5 MB", "4 MB"), "Thing.picture changed judge");
	expect_from(wide, edited(wide, " | image/webp", ""), "Thing.picture changed judge");
	expect_from(wide, edited(wide, "image/png | image/webp", "image/*"), "Thing.picture changed nothing");
	expect_from(edited(wide, "image/png | image/webp", "image/*"), wide, "Thing.picture changed judge");
	expect_from(with, wide, "Thing.picture added nothing");
}

/* ---- nothing is missed ---- */
static struct slice whole_file(struct arena *a, const char *path)
{
	FILE *f = fopen(path, "rb");
	struct buf b;
	size_t n;

	assert_non_null(f);
	buf_init(&b, a);
	while ((n = fread(buf_room(&b, 65536), 1, 65536, f)))
		b.n += n;
	fclose(f);
	return buf_slice(&b);
}

static bool says_nothing(struct slice line)
{
	while (line.n && (*line.p == ' ' || *line.p == '\n'))
		line.p++, line.n--;
	return !line.n || *line.p == '#';
}

/* Each line is taken out in turn. What still loads is a change, and one that is found in both directions. */
static void every_line_of_a_design_that_is_taken_out_is_a_change(void **state)
{
	static const char *const names[] = { "blog", "fus", "perfectit", "social", "wavyblog" };
	struct arena texts;
	size_t judged = 0;

	(void)state;
	arena_init(&texts);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct slice text =
			whole_file(&texts,
				   arena_cstr(&texts, arena_printf(&texts, THORPE_ROOT "/designs/%s.yaml", names[i])));

		for (size_t at = 0, n; at < text.n; at += n) {
			const char *end = memchr(text.p + at, '\n', text.n - at);
			const struct design *d, *whole;
			struct diff x;

			n = end ? (size_t)(end - text.p) + 1 - at : text.n - at;
			if (says_nothing(slice_make(text.p + at, n)))
				continue;
			d = load(arena_cstr(&arena, arena_printf(&arena, "%.*s%.*s", (int)at, text.p,
								 (int)(text.n - at - n), text.p + at + n)));
			if (d) {
				whole = load(arena_cstr(&arena, text));
				assert_non_null(whole);
				diff_designs(&arena, whole, d, &x);
				if (!x.count)
					fail_msg("%s: no change without: %.*s", names[i], (int)n, text.p + at);
				diff_designs(&arena, d, whole, &x);
				if (!x.count)
					fail_msg("%s: no change with: %.*s", names[i], (int)n, text.p + at);
				judged++;
			}
			arena_clear(&arena);
		}
	}
	arena_release(&texts);
	assert_true(judged > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_design_that_is_laid_out_differently_is_the_same, begin, end),
		cmocka_unit_test_setup_teardown(rules_hold_from_now_on, begin, end),
		cmocka_unit_test_setup_teardown(items_that_may_not_fit_are_named, begin, end),
		cmocka_unit_test_setup_teardown(computed_attributes_are_made_again, begin, end),
		cmocka_unit_test_setup_teardown(counters_are_counted_again, begin, end),
		cmocka_unit_test_setup_teardown(values_are_converted, begin, end),
		cmocka_unit_test_setup_teardown(a_name_that_was_changed_is_followed, begin, end),
		cmocka_unit_test_setup_teardown(guards_are_made_for_what_becomes_unique, begin, end),
		cmocka_unit_test_setup_teardown(items_move_when_the_key_of_the_table_changes, begin, end),
		cmocka_unit_test_setup_teardown(the_table_itself_changes, begin, end),
		cmocka_unit_test_setup_teardown(entities_come_and_go, begin, end),
		cmocka_unit_test_setup_teardown(a_wrong_was_is_an_error, begin, end),
		cmocka_unit_test_setup_teardown(files_that_no_longer_fit_are_named, begin, end),
		cmocka_unit_test_setup_teardown(every_line_of_a_design_that_is_taken_out_is_a_change, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
