/* Then, merge, walk, rank, tree, unite.
 * SPDX-License-Identifier: Apache-2.0 */
#include "read_helper.h"

#define DESIGN                                                                                                                   \
	"entities:\n"                                                                                                            \
	"  Post:\n"                                                                                                              \
	"    path: /posts/<id>\n"                                                                                                \
	"    attributes: {id: string, author: string, category: string, at: timestamp, score: integer, open: boolean, "          \
	"tags: list of string}\n"                                                                                                \
	"    keys: {PK: POST#<id>, SK: POST, GSI1PK: CAT#<category>, GSI1SK: <at>#<id>}\n"                                       \
	"    keys when open = true: {GSI2PK: DAY#<at:date>, GSI2SK: <at>#<id>}\n"                                                \
	"    companions:\n"                                                                                                      \
	"      - {for: tag in tags, PK: POST#<id>, SK: TAG#<tag>, GSI2PK: TAG#<tag>, GSI2SK: POST#<id>, post: <id>}\n"           \
	"    allow: {read: open = true or author = caller}\n"                                                                    \
	"  Category:\n"                                                                                                          \
	"    path: /categories/<id>\n"                                                                                           \
	"    attributes: {id: string, parent: string, editor: string}\n"                                                         \
	"    keys: {PK: CATEGORY#<id>, SK: CATEGORY, GSI1PK: BELOW#<parent>, GSI1SK: CATEGORY#<id>}\n"                           \
	"    allow: {read: editor is absent or editor = caller}\n"                                                               \
	"  Save:\n"                                                                                                              \
	"    path: /users/<user>/saves/<id>\n"                                                                                   \
	"    attributes: {user: string, id: string, place: integer, at: timestamp}\n"                                            \
	"    keys: {PK: USER#<user>, SK: SAVE#<id>, GSI2PK: SAVES#<user>, GSI2SK: <at>}\n"                                       \
	"    allow: {read: user = caller}\n"                                                                                     \
	"  Rating:\n"                                                                                                            \
	"    path: /posts/<post>/ratings/<id>\n"                                                                                 \
	"    attributes: {post: string, id: string, stars: integer}\n"                                                           \
	"    keys: {PK: POST#<post>, SK: RATING#<id>, GSI1PK: STARS#<stars>, GSI1SK: RATED#<post>#<id>}\n"                       \
	"    allow: {read: anyone}\n"                                                                                            \
	"  Comment:\n"                                                                                                           \
	"    path: /posts/<post>/comments/<id>\n"                                                                                \
	"    attributes: {post: string, id: string, parent: string, at: timestamp}\n"                                            \
	"    keys: {PK: POST#<post>, SK: COMMENT#<id>}\n"                                                                        \
	"    allow: {read: anyone}\n"                                                                                            \
	"  Group:\n"                                                                                                             \
	"    path: /groups/<id>\n"                                                                                               \
	"    attributes: {id: string, may: list of string}\n"                                                                    \
	"    keys: {PK: GROUP#<id>, SK: GROUP, GSI1PK: GROUPS, GSI1SK: GROUP#<id>}\n"                                            \
	"    allow: {read: anyone}\n"                                                                                            \
	"access:\n"                                                                                                              \
	"  of category: {path: /c/<category>, query: GSI1, where: {GSI1PK: CAT#<category>}, order: newest first}\n"              \
	"  below: {path: /b/<parent>, query: GSI1, where: {GSI1PK: BELOW#<parent>}}\n"                                           \
	"  all below: {path: /ab/<parent>, merge: {run: of category, for each: below, with: {category: <id>}, by: "              \
	"at}, order: newest first}\n"                                                                                            \
	"  oldest below: {path: /ob/<parent>, merge: {run: of category, for each: below, with: {category: <id>}, by: "           \
	"at}, order: oldest first}\n"                                                                                            \
	"  in turn: {path: /it/<parent>, merge: {run: of category, for each: below, with: {category: <id>}}}\n"                  \
	"  deep: {path: /d/<parent>, merge: {run: of category, for each: below, with: {category: <id>}, by: at, "                \
	"levels: 3}, order: newest first}\n"                                                                                     \
	"  saves: {path: /s/<user>, query: GSI2, where: {GSI2PK: SAVES#<user>}, order: newest first, "                           \
	"then: {get: Post, keys: {PK: POST#<id>, SK: POST}, keep: score > 0}}\n"                                                 \
	"  both: {path: /both/<user>/<category>, merge: {of: [saves, of category], by: at}, order: newest first}\n"              \
	"  first saved: {path: /f/<user>, query: GSI2, where: {GSI2PK: SAVES#<user>}, one: true, "                               \
	"then: {get: Post, keys: {PK: POST#<id>, SK: POST}}}\n"                                                                  \
	"  by place: {path: /bp/<user>, query: table, where: {PK: USER#<user>, SK: begins with SAVE#}, limit: 100, "             \
	"rank: {by: -place}, "                                                                                                   \
	"then: {get: Post, keys: {PK: POST#<id>, SK: POST}}}\n"                                                                  \
	"  by attribute: {path: /ba/<user>, query: table, where: {PK: USER#<user>, SK: begins with SAVE#}, rank: {by: place}}\n" \
	"  by age: {path: /bg/<user>, query: table, where: {PK: USER#<user>, SK: begins with SAVE#}, rank: {by: age}}\n"         \
	"  tagged: {path: /t/<tag>, query: GSI2, where: {GSI2PK: TAG#<tag>}}\n"                                                  \
	"  search:\n"                                                                                                            \
	"    path: /search\n"                                                                                                    \
	"    with: {q: string, required}\n"                                                                                      \
	"    merge: {run: tagged, for: word in words(input.q), with: {tag: <word>}, by: GSI2SK, in all: true}\n"                 \
	"    then: {get: Post, keys: {PK: '<PK>', SK: POST}}\n"                                                                  \
	"  any word:\n"                                                                                                          \
	"    path: /any\n"                                                                                                       \
	"    with: {q: string, required}\n"                                                                                      \
	"    merge: {run: posts tagged, for: word in words(input.q), with: {tag: <word>}}\n"                                     \
	"  posts tagged: {path: /pt/<tag>, query: GSI2, where: {GSI2PK: TAG#<tag>}, then: {get: Post, keys: {PK: "               \
	"'<PK>', SK: POST}}}\n"                                                                                                  \
	"  days:\n"                                                                                                              \
	"    path: /days\n"                                                                                                      \
	"    with: {day: 'string, default today'}\n"                                                                             \
	"    query: GSI2\n"                                                                                                      \
	"    where: {GSI2PK: DAY#<day>}\n"                                                                                       \
	"    walk: {day: one day back, 3 times}\n"                                                                               \
	"    order: newest first\n"                                                                                              \
	"  best:\n"                                                                                                              \
	"    path: /best\n"                                                                                                      \
	"    with: {day: 'string, default today'}\n"                                                                             \
	"    query: GSI2\n"                                                                                                      \
	"    where: {GSI2PK: DAY#<day>}\n"                                                                                       \
	"    walk: {day: one day back, 3 times}\n"                                                                               \
	"    limit: 50\n"                                                                                                        \
	"    rank: {by: score / (epoch(now) - epoch(at)), keep: 3}\n"                                                            \
	"  of value: {path: /v/<post>/<stars>, query: GSI1, where: {GSI1PK: STARS#<stars>, GSI1SK: begins with "                 \
	"RATED#<post>#}}\n"                                                                                                      \
	"  ratings: {path: /r/<post>, merge: {run: of value, for: n in 1..5, with: {stars: <n>}}}\n"                             \
	"  histogram: {path: /h/<post>, merge: {run: of value, for: n in 1..5, with: {stars: <n>}}, count: true}\n"              \
	"  thread: {path: /thread/<post>, query: table, where: {PK: POST#<post>, SK: begins with COMMENT#}, tree: "              \
	"{parent: parent, by: at}}\n"                                                                                            \
	"  may: {path: /may, query: GSI1, where: {GSI1PK: GROUPS}, unite: may}\n"

static struct app_fixture *open_all(void)
{
	static struct app_fixture f;

	app_fixture_open(&f, DESIGN);
	put(&f, "Category", "id=x parent=top");
	put(&f, "Category", "id=y parent=top");
	put(&f, "Category", "id=z parent=top editor=ann");
	put(&f, "Category", "id=xx parent=x");
	put(&f, "Category", "id=x parent=xx"); /* moves x below xx: a circle; put again at the top under another name */
	put(&f, "Category", "id=w parent=top");
	put(&f, "Post", "id=a author=ann category=w at=2026-01-15T08:00:00Z score=10 open=true tags=red,round");
	put(&f, "Post", "id=b author=ann category=y at=2026-01-15T07:00:00Z score=20 open=true tags=red");
	put(&f, "Post", "id=c author=ann category=w at=2026-01-14T08:00:00Z score=30 open=true tags=round,soft");
	put(&f, "Post", "id=d author=ann category=y at=2026-01-13T08:00:00Z score=5 open=false tags=red,soft,round");
	put(&f, "Post", "id=e author=ann category=y at=2026-01-13T08:00:00Z score=0 open=true");
	put(&f, "Post", "id=f author=ann category=w at=2026-01-13T08:00:00Z score=7 open=true tags=red,round");
	put(&f, "Post", "id=g author=ann category=z at=2026-01-12T08:00:00Z score=7 open=true");
	put(&f, "Post", "id=h author=ann category=xx at=2026-01-15T09:00:00Z score=7 open=false");
	return &f;
}

static void one_pattern_over_the_rows_of_another(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	assert_reads(f, "bob", "all below", "parent=top", "a b c f e");
	assert_reads(f, "ann", "all below", "parent=top", "a b c f e d g");
	assert_reads(f, "bob", "oldest below", "parent=top", "f e c b a");
	assert_reads(f, "bob", "in turn", "parent=top", "a c f b e");
	assert_reads(f, "bob", "all below", "parent=nothing", "");
	app_fixture_close(f);
}

static void down_a_tree_level_by_level(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	put(f, "Category", "id=w2 parent=w");
	put(f, "Category", "id=w3 parent=w2");
	put(f, "Category", "id=w4 parent=w3"); /* too deep: three levels below the top */
	put(f, "Post", "id=i author=ann category=w2 at=2026-01-11T08:00:00Z open=true");
	put(f, "Post", "id=j author=ann category=w3 at=2026-01-10T08:00:00Z open=true");
	put(f, "Post", "id=k author=ann category=w4 at=2026-01-09T08:00:00Z open=true");
	put(f, "Post", "id=l author=ann category=top at=2026-01-08T08:00:00Z open=true");
	assert_reads(f, "bob", "deep", "parent=top", "a b c f e i j l");
	assert_reads(f, "bob", "deep", "parent=w2", "i j k");
	assert_reads(f, "ann", "deep", "parent=x", "h"); /* a circle ends */
	app_fixture_close(f);
}

static void rows_lead_to_items(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	put(f, "Save", "user=bob id=a at=2026-01-01T00:00:00Z place=3");
	put(f, "Save", "user=bob id=d at=2026-01-02T00:00:00Z place=1"); /* may not be read */
	put(f, "Save", "user=bob id=gone at=2026-01-03T00:00:00Z place=2");
	put(f, "Save", "user=bob id=e at=2026-01-04T00:00:00Z place=5"); /* is not kept */
	put(f, "Save", "user=bob id=c at=2026-01-05T00:00:00Z place=4");
	put(f, "Save", "user=bob id=b at=2026-01-06T00:00:00Z place=9");
	assert_reads(f, "bob", "saves", "user=bob", "b c a");
	assert_reads(f, "ann", "saves", "user=bob", ""); /* his list is nobody else's business */
	assert_reads(f, "!", "saves", "user=bob", "b c d a");
	assert_string_equal(read_text(f, "bob", "first saved", "user=bob", 0, "id"), "a");
	assert_string_equal(read_text(f, "bob", "by place", "user=bob", 0, "id"),
			    "a c e b"); /* ranked before they are fetched */
	app_fixture_close(f);
}

/* Rows without the attribute come last, equal ones in the order of the list. */
static void pages_are_ranked_by_an_attribute(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	put(f, "Save", "user=bob id=a place=3");
	put(f, "Save", "user=bob id=b");
	put(f, "Save", "user=bob id=c place=12");
	put(f, "Save", "user=bob id=d place=-1");
	put(f, "Save", "user=bob id=e place=3");
	put(f, "Save", "user=bob id=f");
	assert_string_equal(read_text(f, "bob", "by attribute", "user=bob", 0, "id"), "c a e d b f");
	assert_string_equal(read_text(f, "bob", "by attribute", "user=bob", 2, "id"), "a b c d e f");
	assert_string_equal(read_text(f, "bob", "by age", "user=bob", 0, "id"),
			    "a b c d e f"); /* nothing says when they were made */
	app_fixture_close(f);
}

static void several_patterns_are_one_list_and_an_item_is_once_in_it(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	put(f, "Save", "user=bob id=b at=2026-01-15T07:00:00Z");
	put(f, "Save", "user=bob id=c at=2026-01-14T08:00:00Z");
	put(f, "Save", "user=bob id=f at=2026-01-13T08:00:00Z");
	assert_reads(f, "bob", "both", "user=bob category=y", "b c f e");
	assert_reads(f, "bob", "both", "user=bob category=w", "a b c f");
	app_fixture_close(f);
}

static void what_every_run_returns(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	assert_reads(f, "bob", "search", "q=red", "a b f");
	assert_reads(f, "ann", "search", "q=red", "a b d f");
	assert_reads(f, "bob", "search", "q=round,Red", "a f");
	assert_reads(f, "ann", "search", "q=red,round,soft", "d");
	assert_reads(f, "bob", "search", "q=red,blue", "");
	assert_reads(f, "bob", "search", "q=the", "");
	assert_int_equal(read_status(f, "bob", "search", ""), 422);
	/* one run after the other: an item that two return comes once, on whichever page */
	assert_reads(f, "bob", "any word", "q=red,round,soft", "a b f c");
	app_fixture_close(f);
}

static void the_next_partition_when_one_is_exhausted(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	assert_reads(f, "bob", "days", "", "a b c f e");
	assert_reads(f, "bob", "days", "day=2026-01-14", "c f e g");
	assert_reads(f, "bob", "days", "day=2026-01-10", "");
	assert_int_equal(read_status(f, "bob", "days", "day=tomorrow"), 422);
	app_fixture_close(f);
}

static void the_best_of_a_bounded_number(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	/* scores an hour: a 10/2.5, b 20/3.5, c 30/26.5, f 7/50.5, e 0 */
	assert_reads(f, "bob", "best", "", "b a c");
	assert_string_equal(read_text(f, "bob", "best", "", 0, "id"), "b a c");
	app_fixture_close(f);
}

static void counts_over_numbers_have_a_sum_and_a_mean(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	put(f, "Rating", "post=a id=ann stars=5");
	put(f, "Rating", "post=a id=bob stars=4");
	put(f, "Rating", "post=a id=cat stars=4");
	put(f, "Rating", "post=b id=cat stars=1");
	assert_string_equal(read_json(f, NULL, "histogram", "post=a"),
			    "{\"count\":3,\"mean\":4.3333,\"counts\":{\"1\":0,\"2\":0,\"3\":0,\"4\":2,\"5\":1}}");
	assert_string_equal(read_json(f, NULL, "histogram", "post=c"),
			    "{\"count\":0,\"mean\":null,\"counts\":{\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0}}");
	assert_reads(f, NULL, "ratings", "post=a", "bob cat ann");
	app_fixture_close(f);
}

static void rows_are_nested_under_their_parents(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	put(f, "Comment", "post=a id=4 at=2026-01-01T00:00:00Z");
	put(f, "Comment", "post=a id=1 parent=4 at=2026-01-03T00:00:00Z");
	put(f, "Comment", "post=a id=2 parent=4 at=2026-01-02T00:00:00Z");
	put(f, "Comment", "post=a id=3 parent=1 at=2026-01-04T00:00:00Z");
	put(f, "Comment", "post=a id=5 parent=gone at=2026-01-05T00:00:00Z");
	put(f, "Comment", "post=a id=6 parent=7 at=2026-01-06T00:00:00Z"); /* a circle */
	put(f, "Comment", "post=a id=7 parent=6 at=2026-01-07T00:00:00Z");
	assert_string_equal(read_text(f, NULL, "thread", "post=a", 0, "id"), "4(2 1(3)) 5 7(6)");
	assert_non_null(strstr(read_json(f, NULL, "thread", "post=a"),
			       "\"id\":\"5\",\"parent\":\"gone\",\"at\":\"2026-01-05T00:00:00Z\",\"children\":[]}"));
	app_fixture_close(f);
}

static void a_deep_thread_stays_readable(void **state)
{
	struct app_fixture *f = open_all();
	struct run *r = app_fixture_run(f, NULL);
	const struct row *row;
	struct read_result x;
	char text[120];
	int depth = 0, count = 0;

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "post=a id=%04d parent=%04d at=2026-01-01T00:00:00Z", i, i - 1);
		put(f, "Comment", text);
	}
	assert_int_equal(read_page(r, "thread", "post=a", 0, SLICE(""), &x), 200);
	assert_int_equal(x.row_count, 1);
	for (row = x.rows; row; row = row->child_count ? row->children : NULL) {
		depth++;
		count += (int)row->child_count;
	}
	assert_int_equal(depth, 200);
	assert_int_equal(count, 299); /* none is lost */
	app_fixture_close(f);
}

static void lists_of_rows_are_united(void **state)
{
	struct app_fixture *f = open_all();

	(void)state;
	put(f, "Group", "id=1 may=read,write");
	put(f, "Group", "id=2 may=write,delete");
	put(f, "Group", "id=3");
	assert_string_equal(read_json(f, NULL, "may", ""), "{\"items\":[\"read\",\"write\",\"delete\"]}");
	app_fixture_close(f);
}

static void many_parts_many_ties_every_page(void **state)
{
	static struct app_fixture f;
	char text[160], expected[2000] = "";
	size_t n = 0;

	(void)state;
	app_fixture_open(&f, DESIGN);
	for (int c = 0; c < 12; c++) {
		snprintf(text, sizeof(text), "id=c%02d parent=top", c);
		put(&f, "Category", text);
		for (int i = 0; i < 5; i++) {
			snprintf(text, sizeof(text),
				 "id=%d%02d author=ann category=c%02d at=2026-01-1%dT00:00:00Z open=true", i, c, c, i);
			put(&f, "Post", text);
		}
	}
	for (int i = 0; i < 5; i++)
		for (int c = 0; c < 12; c++)
			n += (size_t)snprintf(expected + n, sizeof(expected) - n, "%s%d%02d", n ? " " : "", i, c);
	assert_reads(&f, "bob", "oldest below", "parent=top", expected);
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pattern_over_the_rows_of_another),
		cmocka_unit_test(down_a_tree_level_by_level),
		cmocka_unit_test(rows_lead_to_items),
		cmocka_unit_test(pages_are_ranked_by_an_attribute),
		cmocka_unit_test(several_patterns_are_one_list_and_an_item_is_once_in_it),
		cmocka_unit_test(what_every_run_returns),
		cmocka_unit_test(the_next_partition_when_one_is_exhausted),
		cmocka_unit_test(the_best_of_a_bounded_number),
		cmocka_unit_test(counts_over_numbers_have_a_sum_and_a_mean),
		cmocka_unit_test(rows_are_nested_under_their_parents),
		cmocka_unit_test(a_deep_thread_stays_readable),
		cmocka_unit_test(lists_of_rows_are_united),
		cmocka_unit_test(many_parts_many_ties_every_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
