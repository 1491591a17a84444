/* What follows a change: derived attributes after counters, copies after their source, cascades after a deletion.
 * SPDX-License-Identifier: Apache-2.0 */
#include "write_helper.h"
#include "app/write/deleting.h"
#include "app/write/keep.h"

static const char design[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<user>\n"
	"    attributes:\n"
	"      user: string, required\n      name: string\n      posts: counter\n      fans: counter\n"
	"      is_popular: = fans > 1\n"
	"    keys: {PK: USER#<user>, SK: PROFILE}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    delete: {then remove: [posts of user, fans of user]}\n"
	"  Post:\n"
	"    path: /posts/<id>\n"
	"    attributes:\n"
	"      id: string, required\n      user: string, required\n"
	"      author: copy of User(user).name, kept by posts of user\n"
	"      author_first: copy of User(user).name\n"
	"      likes: counter\n"
	"      score: = likes * 10\n"
	"      level: = choose(score > 15, 'hot', 'cold')\n"
	"    keys: {PK: POST#<id>, SK: POST, GSI1PK: USER#<user>, GSI1SK: POST#<id>, GSI2PK: 'LEVEL#<level>', GSI2SK: '<score:06>'}\n"
	"    companions:\n"
	"      - {PK: AUTHOR#<author>, SK: POST#<id>}\n"
	"      - {PK: POST#<id>, SK: SUMMARY, likes: <likes>}\n"
	"    counts: [User(user).posts]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    delete: {then remove: [likes of post]}\n"
	"  Like:\n"
	"    path: /posts/<id>/likes/<by>\n"
	"    attributes:\n      id: string, required\n      by: string, required\n"
	"    keys: {PK: POST#<id>, SK: LIKE#<by>}\n"
	"    counts: [Post(id).likes]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Fan:\n"
	"    path: /users/<user>/fans/<fan>\n"
	"    attributes:\n      user: string, required\n      fan: string, required\n"
	"      popular: copy of User(user).is_popular, kept by fans of user\n"
	"    keys: {PK: USER#<user>, SK: FAN#<fan>}\n"
	"    keys when popular = true: {GSI1PK: POPULAR, GSI1SK: <fan>}\n"
	"    counts: [User(user).fans]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"access:\n"
	"  posts of user: {query: GSI1, where: {GSI1PK: USER#<user>, GSI1SK: begins with POST#}, limit: 2}\n"
	"  likes of post: {query: table, where: {PK: POST#<id>, SK: begins with LIKE#}}\n"
	"  fans of user: {query: table, where: {PK: USER#<user>, SK: begins with FAN#}}\n";

static void posts(struct app_fixture *f)
{
	app_fixture_open(f, design);
	created(f, "a", "User", "ann", "{\"name\":\"Ann\"}");
	for (int i = 0; i < 5; i++) {
		char id[16];

		snprintf(id, sizeof(id), "p%d", i);
		created(f, "a", "Post", id, "{\"user\":\"ann\"}");
	}
}

static void derived_attributes_and_keys_follow_counters(void **state)
{
	struct app_fixture f;
	struct value p;

	(void)state;
	posts(&f);
	created(&f, "a", "Like", "p1/x", NULL);
	created(&f, "a", "Like", "p1/y", NULL);
	p = stored(&f, "POST#p1", "POST");
	assert_int_equal(number(p, "score"), 20);
	assert_text(p, "level", "hot");
	assert_text(p, "GSI2PK", "LEVEL#hot");
	assert_text(p, "GSI2SK", "000020");
	assert_int_equal(number(stored(&f, "POST#p1", "SUMMARY"), "likes"), 2);
	app_fixture_close(&f);
}

static void the_source_of_several_copies_is_read_once(void **state)
{
	struct app_fixture f;
	struct trace trace = { 0 };
	struct write_result out;
	struct run *r;
	size_t reads = 0;

	(void)state;
	posts(&f);
	r = app_fixture_run(&f, "a");
	r->trace = &trace;
	must(r, try_create(r, "Post", "p9", "{\"user\":\"ann\"}", &out), "Post");
	for (const struct trace_call *c = trace.first; c && strcmp(c->operation, "TransactWriteItems") != 0; c = c->next)
		reads += strcmp(c->operation, "GetItem") == 0;
	assert_int_equal(reads, 1);
	assert_text(out.full, "author", "Ann");
	assert_text(out.full, "author_first", "Ann");
	app_fixture_close(&f);
}

static void effects_that_a_crash_left_undone_can_be_repeated(void **state)
{
	struct app_fixture f;
	struct run *r;
	const struct entity *e;
	struct value key;
	struct dyn_refusal refusal;

	(void)state;
	posts(&f);
	r = app_fixture_run(&f, "!");
	e = entity_named(r, "Post");
	key = dyn_key_of(r, stored(&f, "POST#p1", "POST"));
	/* The counter has moved, and nothing else. */
	assert_int_equal(dyn_write(r,
				   &(struct dyn_write){
					   .kind = DYN_UPDATE,
					   .key = key,
					   .add = &(struct value_member){ SLICE("likes"), value_make_i64(r->arena, 3) },
					   .add_count = 1 },
				   1, SLICE(""), &refusal),
			 DYN_DONE);
	for (int i = 0; i < 2; i++) {
		must(r, keep_item(r, e, key), "keep");
		assert_text(stored(&f, "POST#p1", "POST"), "GSI2SK", "000030");
		assert_int_equal(number(stored(&f, "POST#p1", "SUMMARY"), "likes"), 3);
	}
	deleted(&f, "a", "Post", "p1");
	must(r, keep_item(r, e, key), "gone");
	assert_false(is_stored(&f, "POST#p1", "POST"));
	app_fixture_close(&f);
}

static void dependencies_on_a_counter_are_known(void **state)
{
	struct app_fixture f;
	struct run *r;

	(void)state;
	app_fixture_open(&f, design);
	r = app_fixture_run(&f, "!");
	assert_true(keep_depends(entity_named(r, "Post"), design_named(r->design, SLICE("likes"))));
	assert_true(keep_depends(entity_named(r, "User"), design_named(r->design, SLICE("fans"))));
	assert_false(keep_depends(entity_named(r, "User"), design_named(r->design, SLICE("posts"))));
	app_fixture_close(&f);
}

static void kept_copies_follow_their_source(void **state)
{
	struct app_fixture f;

	(void)state;
	posts(&f);
	created(&f, "a", "Like", "p3/x", NULL);
	updated(&f, "a", "User", "ann", "{\"name\":\"Anna\"}");
	for (int i = 0; i < 5; i++) {
		char pk[32];

		snprintf(pk, sizeof(pk), "POST#p%d", i);
		assert_text(stored(&f, pk, "POST"), "author", "Anna");
		assert_text(stored(&f, pk, "POST"), "author_first", "Anna");
		assert_true(is_stored(&f, "AUTHOR#Anna", pk));
		assert_false(is_stored(&f, "AUTHOR#Ann", pk));
	}
	assert_int_equal(number(stored(&f, "POST#p3", "POST"), "likes"), 1);
	assert_int_equal(number(item(&f, "User", "ann"), "posts"), 5);
	app_fixture_close(&f);
}

static void a_derived_attribute_that_a_counter_moves_is_copied_on(void **state)
{
	struct app_fixture f;

	(void)state;
	posts(&f);
	created(&f, "a", "Fan", "ann/x", NULL);
	assert_false(value_present(value_get(item(&f, "Fan", "ann/x"), SLICE("GSI1PK"))));
	created(&f, "a", "Fan", "ann/y", NULL);
	assert_true(value_bool(value_get(item(&f, "User", "ann"), SLICE("is_popular"))));
	assert_text(item(&f, "Fan", "ann/x"), "GSI1PK", "POPULAR");
	assert_text(item(&f, "Fan", "ann/y"), "GSI1PK", "POPULAR");
	deleted(&f, "a", "Fan", "ann/y");
	assert_false(value_present(value_get(item(&f, "Fan", "ann/x"), SLICE("GSI1PK"))));
	app_fixture_close(&f);
}

static const char books[] = "entities:\n"
			    "  Author:\n"
			    "    path: /authors/<id>\n"
			    "    attributes: {id: 'string, required', name: string, listed: 'boolean, default true'}\n"
			    "    keys: {PK: 'AUTHOR#<id>', SK: AUTHOR}\n"
			    "    allow: {create, read, update, delete: anyone}\n"
			    "  Book:\n"
			    "    path: /books/<isbn>\n"
			    "    attributes:\n"
			    "      isbn: string, required, fixed\n"
			    "      author: string, required\n"
			    "      author_name: copy of Author(author).name if listed = true, kept by books of author\n"
			    "      author_then: copy of Author(author).name\n"
			    "    keys: {PK: 'BOOK#<isbn>', SK: BOOK, GSI1PK: 'BY#<author>', GSI1SK: '<isbn>'}\n"
			    "    allow: {create, read, update, delete: anyone}\n"
			    "access:\n"
			    "  books of author: {query: GSI1, where: {GSI1PK: 'BY#<id>'}}\n";

static void assert_book(struct app_fixture *f, const char *isbn, const char *name)
{
	struct value book = item(f, "Book", isbn);

	if (name)
		assert_text(book, "author_name", name);
	else
		assert_false(value_present(value_get(book, SLICE("author_name"))));
}

static void kept_copies_come_and_go_with_their_source(void **state)
{
	struct app_fixture f;

	(void)state;
	app_fixture_open(&f, books);
	created(&f, "!", "Book", "1",
		"{\"author\":\"ann\",\"author_name\":\"Ann\"}"); /* there is nothing that it is a copy of */
	assert_book(&f, "1", NULL);
	created(&f, "a", "Author", "ann", "{\"name\":\"Ann\"}");
	assert_book(&f, "1", "Ann");
	created(&f, "a", "Book", "2", "{\"author\":\"ann\"}");
	assert_text(item(&f, "Book", "2"), "author_then", "Ann");
	/* Withdrawn, and back, without another change. */
	updated(&f, "a", "Author", "ann", "{\"listed\":false}");
	assert_book(&f, "1", NULL);
	updated(&f, "a", "Author", "ann", "{\"listed\":true}");
	assert_book(&f, "1", "Ann");
	/* Under another name it is another one. */
	updated(&f, "a", "Author", "ann", "{\"id\":\"anna\"}");
	assert_book(&f, "1", NULL);
	assert_book(&f, "2", NULL);
	updated(&f, "a", "Author", "anna", "{\"id\":\"ann\"}");
	assert_book(&f, "1", "Ann");
	assert_book(&f, "2", "Ann");
	deleted(&f, "a", "Author", "ann");
	assert_book(&f, "1", NULL);
	assert_book(&f, "2", NULL);
	assert_text(item(&f, "Book", "2"), "author_then", "Ann"); /* a snapshot: nobody keeps it */
	app_fixture_close(&f);
}

static const char keyed[] =
	"entities:\n"
	"  Shelf:\n"
	"    path: /shelves/<id>\n"
	"    attributes: {id: 'string, required, fixed', name: string, place: integer, tags: list of string, note: string}\n"
	"    keys: {PK: 'SHELF#<id>', SK: SHELF}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Box:\n"
	"    path: /boxes/<id>\n"
	"    attributes:\n"
	"      id: string, required, fixed\n"
	"      shelf: string, required\n"
	"      on: copy of Shelf(shelf).name, kept by boxes on shelf\n"
	"      at: copy of Shelf(shelf).place, kept by boxes on shelf\n"
	"      words: copy of Shelf(shelf).tags, kept by boxes on shelf\n"
	"      said: copy of Shelf(shelf).note, kept by boxes on shelf\n"
	"    keys: {PK: 'BOX#<id>', SK: BOX, GSI1PK: 'ON#<shelf>', GSI1SK: '<at:03>#<id>'}\n"
	"    companions: [{for: word in words, PK: 'WORD#<word>', SK: 'BOX#<id>'}]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"  Thing:\n"
	"    path: /things/<id>\n"
	"    attributes:\n"
	"      id: string, required, fixed\n"
	"      box: string, required\n"
	"      where: copy of Box(box).on, kept by things in box\n"
	"    keys: {PK: 'THING#<id>', SK: THING, GSI1PK: 'IN#<box>', GSI1SK: '<id>'}\n"
	"    keys when where is present: {GSI2PK: 'WHERE#<where>', GSI2SK: '<id>'}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"access:\n"
	"  boxes on shelf: {query: GSI1, where: {GSI1PK: 'ON#<id>'}}\n"
	"  things in box: {query: GSI1, where: {GSI1PK: 'IN#<id>'}}\n";

/* '#' is for the table: its place in a key is between the parts. */
static void a_value_that_a_copys_key_cannot_have_is_refused_at_the_source(void **state)
{
	/* clang-format off */
	static const struct {
		const char *json, *attribute, *why;
	} wrong[] = {
		{ "{\"name\":\"a#b\"}", "name", "is part of a key and cannot contain '#' (a Thing has a copy of it)" },
		{ "{\"name\":\"\"}", "name", "is part of a key and cannot be empty (a Thing has a copy of it)" },
		{ "{\"place\":1000}", "place", "must be a whole number of at most 3 digits, not negative (a Box has a copy of it)" },
		{ "{\"tags\":[\"x\",\"y#\"]}", "tags", "is part of a key and cannot contain '#' (a Box has a copy of it)" },
	};
	/* clang-format on */
	struct app_fixture f;
	struct write_result out;

	(void)state;
	app_fixture_open(&f, keyed);
	created(&f, "a", "Shelf", "s", "{\"name\":\"top\",\"place\":1,\"tags\":[\"x\"]}");
	created(&f, "a", "Box", "b", "{\"shelf\":\"s\"}");
	created(&f, "a", "Thing", "t", "{\"box\":\"b\"}");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct run *r = app_fixture_run(&f, "a");

		assert_false(try_update(r, "Shelf", "s", wrong[i].json, NULL, &out));
		assert_int_equal(r->problem.type, PROBLEM_INVALID);
		assert_int_equal(r->problem.part_count, 1);
		assert_string_equal(arena_cstr(&f.arena, r->problem.parts[0].attribute), wrong[i].attribute);
		assert_string_equal(arena_cstr(&f.arena, r->problem.parts[0].detail), wrong[i].why);
		assert_false(try_create(app_fixture_run(&f, "a"), "Shelf", "new", wrong[i].json, &out));
	}
	updated(&f, "a", "Shelf", "s", "{\"note\":\"#1\",\"name\":\"low\"}"); /* the copy of the note is in no key */
	assert_text(item(&f, "Box", "b"), "said", "#1");
	assert_text(item(&f, "Thing", "t"), "GSI2PK", "WHERE#low");
	app_fixture_close(&f);
}

static void a_cascade_goes_all_the_way(void **state)
{
	struct app_fixture f;
	struct value items[8];

	(void)state;
	posts(&f);
	created(&f, "a", "Like", "p3/x", NULL);
	created(&f, "a", "Like", "p4/x", NULL);
	created(&f, "a", "Fan", "ann/x", NULL);
	deleted(&f, "a", "User", "ann");
	assert_int_equal(scan(&f, items, 8), 0);
	app_fixture_close(&f);
}

static void a_cascade_can_be_done_again(void **state)
{
	struct app_fixture f;
	struct run *r;
	struct value gone;

	(void)state;
	posts(&f);
	gone = item(&f, "User", "ann");
	deleted(&f, "a", "User", "ann");
	r = app_fixture_run(&f, "!");
	must(r, deleting_finish(r, entity_named(r, "User"), gone, NULL), "again");
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derived_attributes_and_keys_follow_counters),
		cmocka_unit_test(the_source_of_several_copies_is_read_once),
		cmocka_unit_test(effects_that_a_crash_left_undone_can_be_repeated),
		cmocka_unit_test(dependencies_on_a_counter_are_known),
		cmocka_unit_test(kept_copies_follow_their_source),
		cmocka_unit_test(a_derived_attribute_that_a_counter_moves_is_copied_on),
		cmocka_unit_test(kept_copies_come_and_go_with_their_source),
		cmocka_unit_test(a_value_that_a_copys_key_cannot_have_is_refused_at_the_source),
		cmocka_unit_test(a_cascade_goes_all_the_way),
		cmocka_unit_test(a_cascade_can_be_done_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
