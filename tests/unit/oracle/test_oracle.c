/* The oracle: a table as the runtime leaves it is in order; each thing that is planted in it is found, and nothing
 * else. SPDX-License-Identifier: Apache-2.0 */
#include "oracle_world.h"
#include "process/checkpoint.h"

static void what_the_runtime_leaves_is_in_order(void **s)
{
	struct oracle_summary m;
	struct app_fixture f;
	struct told t = { .notes = true };

	(void)s;
	open_world(&f);
	acted(&f, "!", "User", "ann", "look", NULL);
	updated(&f, "!", "User", "ann", "{\"email\":\"Ann@Y\",\"name\":\"Anna\",\"age\":40}");
	updated(&f, "!", "Post", "p1", "{\"tags\":[\"z\"],\"author\":\"bob\",\"weight\":5}");
	deleted(&f, "!", "Post", "p2");
	created(&f, "!", "User", "cid", "{\"email\":\"cid@x\",\"password\":\"secret enough\"}");
	created(&f, "!", "Post", "p4", "{\"author\":\"cid\",\"tags\":[\"x\"]}");
	created(&f, "!", "Post", "p5", "{\"author\":\"cid\",\"section\":\"news\"}");
	created(&f, "!", "Post", "p6", "{\"author\":\"bob\"}");
	updated(&f, "!", "User", "bob", "{\"name\":\"Bobby\"}");
	deleted(&f, "!", "User", "cid");
	m = ask_with(&f, &t, (struct oracle_options){ 0 });
	assert_string_equal(t.text.p, "");
	assert_true(m.items >= 8);
	assert_int_equal(m.differences + m.pending + m.notes, 0);
	app_fixture_close(&f);
}

/* ---- one item by itself ---- */

static void an_item_that_does_not_fit_is_found(void **s)
{
	/* clang-format off */
	static const struct {
		const char *name, *value, *told;
	} cases[] = {
		{ "email", NULL, "attribute-missing USER#bob email - -\nguard-left EMAIL#bob@x * -\n" },
		{ "age", "{\"S\":\"30\"}", "attribute-unfit USER#bob age 30 -\n" },
		{ "age", "{\"N\":\"30.5\"}", "attribute-unfit USER#bob age 30.5 -\n" },
		{ "age", "{\"N\":\"151\"}", "attribute-unfit USER#bob age 151 -\n" },
		{ "color", "{\"S\":\"pink\"}", "attribute-unfit USER#bob color pink -\nkey-differs USER#bob GSI2PK REDS -\n"
					       "key-differs USER#bob GSI2SK 000000#bob -\n" },
		{ "born", "{\"S\":\"yesterday\"}", "attribute-unfit USER#bob born yesterday -\n" },
		{ "words", "{\"L\":[{\"N\":\"1\"}]}", "attribute-unfit USER#bob words * -\n" },
		{ "words", "{\"L\":[{\"S\":\"1\"},{\"S\":\"1\"},{\"S\":\"1\"},{\"S\":\"1\"}]}", "attribute-unfit USER#bob words * -\n" },
		{ "name", "{\"S\":\"\"}", "attribute-unfit USER#bob name  -\ncopy-differs POST#p3 author_name Bob \n" },
		{ "name", "{\"S\":\"root\"}", "check-broken USER#bob - -\ncopy-differs POST#p3 author_name Bob root\n" },
		{ "young", "{\"BOOL\":true}", "derived-differs USER#bob young true -\n" },
		{ "score", "{\"N\":\"7\"}", "derived-differs USER#bob score 7 0\n" },
		{ "score", NULL, "derived-differs USER#bob score - 0\n" },
		{ "GSI1SK", "{\"S\":\"000007#bob\"}", "key-differs USER#bob GSI1SK 000007#bob 000000#bob\n" },
		{ "GSI1PK", NULL, "key-differs USER#bob GSI1PK - SCORES\n" },
		{ "kind", NULL, "key-differs USER#bob kind - USER\n" },
		/* the time decides whether they are there, not what they are */
		{ "GSI2PK", NULL, "" },
		{ "GSI2SK", "{\"S\":\"000007#bob\"}", "key-differs USER#bob GSI2SK 000007#bob 000000#bob\n" },
		{ "posts", "{\"S\":\"x\"}", "attribute-unfit USER#bob posts x -\n" },
		{ "nonsense", "{\"S\":\"x\"}", "" },
	};
	/* clang-format on */

	(void)s;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct app_fixture f;
		struct told t = { 0 };

		open_world(&f);
		raw_set(&f, "USER#bob", "USER", cases[i].name, cases[i].value);
		ask_with(&f, &t, (struct oracle_options){ 0 });
		if (strcmp(t.text.p, cases[i].told))
			fail_msg("%s = %s told\n%sand not\n%s", cases[i].name,
				 cases[i].value ? cases[i].value : "nothing", t.text.p, cases[i].told);
		app_fixture_close(&f);
	}
}

/* ---- between items ---- */

static void counters_are_counted_again(void **s)
{
	struct app_fixture f;
	struct told t = { 0 };

	(void)s;
	open_world(&f);
	raw_set(&f, "USER#ann", "USER", "posts", "{\"N\":\"3\"}");
	raw_set(&f, "USER#ann", "USER", "score", "{\"N\":\"30\"}");
	raw_set(&f, "USER#ann", "USER", "GSI1SK", "{\"S\":\"000030#ann\"}");
	raw_set(&f, "USER#bob", "USER", "seen", "{\"N\":\"99\"}"); /* an action adds to it: nobody can tell */
	raw_set(&f, "SECTION#news", "SECTION", "weight", NULL);
	ask_with(&f, &t, (struct oracle_options){ 0 });
	assert_string_equal(t.text.p, "counter-differs USER#ann posts 3 2\ncounter-differs SECTION#news weight - 4\n");
	assert_non_null(strstr(t.sentences.p, "User ann has posts = 3, but the recount is 2"));
	app_fixture_close(&f);
}

static void guards_are_one_for_each_value(void **s)
{
	struct app_fixture f;

	(void)s;
	open_world(&f);
	raw_delete(&f, "EMAIL#ann@x", "EMAIL");
	assert_told(&f, "guard-missing EMAIL#ann@x email - *\n");
	raw_put(&f, "{\"PK\":{\"S\":\"EMAIL#ann@x\"},\"SK\":{\"S\":\"EMAIL\"},\"id\":{\"S\":\"bob\"}}");
	assert_told(&f, "guard-differs EMAIL#ann@x id * *\n");
	raw_put(&f, "{\"PK\":{\"S\":\"EMAIL#ann@x\"},\"SK\":{\"S\":\"EMAIL\"},\"id\":{\"S\":\"ann\"}}");
	assert_told(&f, "");
	raw_put(&f, "{\"PK\":{\"S\":\"EMAIL#eve@x\"},\"SK\":{\"S\":\"EMAIL\"},\"id\":{\"S\":\"eve\"}}");
	assert_told(&f, "guard-left EMAIL#eve@x * -\n");
	raw_delete(&f, "EMAIL#eve@x", "EMAIL");
	raw_set(&f, "USER#bob", "USER", "email", "{\"S\":\"ann@x\"}");
	raw_delete(&f, "EMAIL#bob@x", "EMAIL");
	assert_told(&f, "unique-clash USER#ann email - -\n");
	app_fixture_close(&f);
}

static void companions_are_those_that_items_imply(void **s)
{
	struct app_fixture f;

	(void)s;
	open_world(&f);
	raw_delete(&f, "TAG#x", "p1");
	assert_told(&f, "companion-missing TAG#x - *\n");
	raw_put(&f, "{\"PK\":{\"S\":\"TAG#x\"},\"SK\":{\"S\":\"p1\"},\"author\":{\"S\":\"bob\"}}");
	assert_told(&f, "companion-differs TAG#x author * *\n");
	raw_put(&f,
		"{\"PK\":{\"S\":\"TAG#x\"},\"SK\":{\"S\":\"p1\"},\"author\":{\"S\":\"ann\"},\"more\":{\"S\":\"x\"}}");
	assert_told(&f, "companion-differs TAG#x more * *\n");
	raw_put(&f, "{\"PK\":{\"S\":\"TAG#x\"},\"SK\":{\"S\":\"p1\"},\"author\":{\"S\":\"ann\"}}");
	raw_put(&f, "{\"PK\":{\"S\":\"TAG#x\"},\"SK\":{\"S\":\"p3\"},\"author\":{\"S\":\"bob\"}}"); /* p3 is hidden */
	assert_told(&f, "companion-left TAG#x * -\n");
	app_fixture_close(&f);
}

static void credentials_have_an_account(void **s)
{
	struct app_fixture f;

	(void)s;
	open_world(&f);
	assert_true(is_stored(&f, "USER#ann", "AUTH"));
	raw_put(&f, "{\"PK\":{\"S\":\"USER#eve\"},\"SK\":{\"S\":\"AUTH\"},\"password_hash\":{\"S\":\"x\"}}");
	assert_told(&f, "credentials-left USER#eve - -\n");
	app_fixture_close(&f);
}

static void copies_are_what_their_source_is(void **s)
{
	struct app_fixture f;

	(void)s;
	open_world(&f);
	raw_set(&f, "POST#p1", "POST", "author_name", "{\"S\":\"Ana\"}");
	raw_set(&f, "POST#p3", "POST", "author_name", NULL);
	assert_told(&f, "copy-differs POST#p1 author_name Ana Ann\ncopy-differs POST#p3 author_name - Bob\n");
	app_fixture_close(&f);
}

static void what_a_cascade_removes_is_gone(void **s)
{
	struct app_fixture f;

	(void)s;
	open_world(&f);
	raw_delete(&f, "USER#bob", "USER");
	raw_delete(&f, "EMAIL#bob@x", "EMAIL");
	assert_told(&f, "orphan POST#p3 - -\n");
	app_fixture_close(&f);
}

static void a_requirement_that_a_deletion_looks_after_lasts(void **s)
{
	struct app_fixture f;

	(void)s;
	open_world(&f);
	raw_delete(&f, "SECTION#news", "SECTION");
	assert_told(&f, "requirement-broken POST#p1 - -\nrequirement-broken POST#p2 - -\n");
	app_fixture_close(&f);
}

static void strangers_are_no_differences(void **s)
{
	struct oracle_summary m;
	struct app_fixture f;
	struct told t = { .notes = true };

	(void)s;
	open_world(&f);
	raw_put(&f, "{\"PK\":{\"S\":\"WHAT\"},\"SK\":{\"S\":\"EVER\"}}");
	raw_put(&f, "{\"PK\":{\"S\":\"EMAIL#kept\"},\"SK\":{\"S\":\"EMAIL\"}}"); /* by hand: a guard has the id */
	raw_set(&f, "USER#bob", "USER", "nonsense", "{\"S\":\"x\"}");
	m = ask_with(&f, &t, (struct oracle_options){ 0 });
	assert_string_equal(t.text.p,
			    "attribute-unknown USER#bob nonsense x -\nstranger WHAT - -\nstranger EMAIL#kept - -\n");
	assert_int_equal(m.differences, 0);
	assert_int_equal(m.notes, 3);
	assert_int_equal(m.kinds[ORACLE_STRANGER], 2);
	app_fixture_close(&f);
}

/* Its dependents do not count as leftovers and must not be repaired. */
static void an_item_with_the_constants_of_another_kind_is_a_misfit(void **s)
{
	struct app_fixture f;

	(void)s;
	open_world(&f);
	raw_set(&f, "USER#ann", "USER", "kind", "{\"S\":\"ROBOT\"}");
	assert_told(&f, "misfit USER#ann kind ROBOT USER\n");
	app_fixture_close(&f);
}

static void unchecked_parts_are_reported_once(void **s)
{
	struct app_fixture f;
	struct told t = { .notes = true };

	(void)s;
	open_world(&f);
	ask_with(&f, &t, (struct oracle_options){ .notes = true });
	assert_string_equal(t.text.p, "not-judged - seen - -\nnot-judged - GSI2PK - -\nnot-judged - GSI2SK - -\n");
	app_fixture_close(&f);
}

/* ---- time to live ---- */

static void what_has_expired_is_gone_and_may_leave_something(void **s)
{
	struct app_fixture f;

	(void)s;
	open_world(&f);
	raw_set(&f, "POST#p1", "POST", "expires_at", "{\"N\":\"1768473000\"}"); /* now */
	raw_set(&f, "POST#p1", "POST", "weight", "{\"S\":\"three\"}");          /* nothing is said about it */
	raw_set(&f, "SECTION#news", "SECTION", "weight", "{\"N\":\"1\"}");
	assert_told(&f, ""); /* it counts, or not; its companions are there */
	raw_delete(&f, "TAG#x", "p1");
	raw_set(&f, "USER#ann", "USER", "posts", "{\"N\":\"1\"}");
	raw_set(&f, "USER#ann", "USER", "score", "{\"N\":\"10\"}");
	raw_set(&f, "USER#ann", "USER", "GSI1SK", "{\"S\":\"000010#ann\"}");
	assert_told(&f, ""); /* or not */
	raw_set(&f, "USER#ann", "USER", "posts", "{\"N\":\"3\"}");
	raw_set(&f, "USER#ann", "USER", "score", "{\"N\":\"30\"}");
	raw_set(&f, "USER#ann", "USER", "GSI1SK", "{\"S\":\"000030#ann\"}");
	assert_told(&f, "counter-differs USER#ann posts 3 1\n");
	app_fixture_close(&f);
}

/* ---- what the keeper has not seen ---- */

static void work_for_the_keeper_is_pending(void **s)
{
	struct app_fixture f;
	struct told t = { 0 };
	struct oracle_summary m;

	(void)s;
	open_world(&f);
	raw_delete(&f, "USER#bob",
		   "USER"); /* its post is left, and its guard, which no keeper takes away after a DeleteItem */
	raw_set(&f, "USER#ann", "USER", "name", "{\"S\":\"Anna\"}");
	raw_set(&f, "USER#ann", "USER", "GSI1SK", "{\"S\":\"x\"}"); /* it has counters, which moved */
	m = ask_with(&f, &t, (struct oracle_options){ .stream = true });
	assert_string_equal(t.text.p, "pending key-differs USER#ann GSI1SK x 000020#ann\n"
				      "guard-left EMAIL#bob@x * -\n"
				      "pending copy-differs POST#p1 author_name Ann Anna\n"
				      "pending copy-differs POST#p2 author_name Ann Anna\n"
				      "pending orphan POST#p3 - -\n");
	assert_int_equal(m.kinds[ORACLE_KEEPER_BEHIND], 1);
	assert_int_equal(m.differences, 1);
	app_fixture_close(&f);
}

static void what_a_marked_deletion_has_not_come_to_is_pending(void **s)
{
	struct app_fixture f;
	struct told t = { 0 };

	(void)s;
	open_world_with(&f,
			"design: test\ntitle: Test\ntable: Test\nkey: [PK, SK]\nindexes:\n  GSI1: {key: [GSI1PK, GSI1SK]}\n"
			"  GSI2: {key: [GSI2PK, GSI2SK]}\nttl: expires_at\n"); /* no stream: the marker alone tells */
	assert_true(checkpoint_provision(app_fixture_run(&f, "!")));
	raw_delete(&f, "USER#bob", "USER");
	raw_delete(&f, "EMAIL#bob@x", "EMAIL");
	ask_with(&f, &t, (struct oracle_options){ .stream = true });
	assert_string_equal(t.text.p, "orphan POST#p3 - -\n");
	raw(&f, "PutItem",
	    "{\"TableName\":\"Test.thorpe\",\"Item\":{\"PK\":{\"S\":\"DELETING#User\"},\"SK\":{\"S\":\"id=bob\"},"
	    "\"values\":{\"M\":{\"id\":{\"S\":\"bob\"}}}}}");
	ask_with(&f, &t, (struct oracle_options){ .stream = true });
	assert_string_equal(t.text.p, "pending orphan POST#p3 - -\n");
	app_fixture_close(&f);
}

/* ---- while others write ---- */

static void write_meanwhile(struct app_fixture *f, unsigned n)
{
	if (n == 1)
		raw_set(f, "SECTION#news", "SECTION", "weight", "{\"N\":\"4\"}"); /* what was wrong is right now */
	if (n < 3)
		raw_set(f, "USER#bob", "USER", "posts", n == 1 ? "{\"N\":\"7\"}" : "{\"N\":\"8\"}"); /* moves and moves */
}

static void passing_differences_are_not_reported(void **s)
{
	struct app_fixture f;
	struct told t = { .meanwhile = write_meanwhile };
	struct oracle_summary m;

	(void)s;
	open_world(&f);
	raw_set(&f, "SECTION#news", "SECTION", "weight", "{\"N\":\"9\"}");
	raw_set(&f, "POST#p1", "POST", "author_name", "{\"S\":\"Ana\"}");
	m = ask_with(&f, &t, (struct oracle_options){ .passes = 3 });
	/* the copy lasts; the counter of the section was mended; bob's was never the same twice */
	assert_string_equal(t.text.p, "copy-differs POST#p1 author_name Ana Ann\n");
	assert_int_equal(m.differences, 1);
	assert_true(m.moved >= 1);
	assert_int_equal(m.passes, 3);
	app_fixture_close(&f);
}

#define FLIPPED 10 /* users, each with a post that comes and goes; some pairs stand in different pages of the Scan */

static void flip(struct app_fixture *f, bool there)
{
	char path[16], body[32];

	for (int i = 0; i < FLIPPED; i++) {
		(void)snprintf(path, sizeof(path), "x%d", i);
		(void)snprintf(body, sizeof(body), "{\"author\":\"u%d\"}", i);
		if (there)
			created(f, "!", "Post", path, body);
		else
			deleted(f, "!", "Post", path);
	}
}

/* The posts are there while the first page is read, and not while the second one is: in each pass the same. */
static bool flip_between_pages(void *ctx, const struct oracle_progress *p)
{
	struct told *t = ctx;

	if (!p->comparing)
		flip(t->fixture, t->page++ % 2);
	return true;
}

static void two_pages(struct app_fixture *f)
{
	char *pad = arena_alloc(&f->arena, 20001);

	memset(pad, 'x', 20000);
	pad[20000] = 0;
	for (int i = 0; i < 60; i++)
		raw(f, "PutItem",
		    "{\"TableName\":\"Test\",\"Item\":{\"PK\":{\"S\":\"PAD#%d\"},\"SK\":{\"S\":\"PAD\"},\"x\":{\"S\":\"%s\"}}}",
		    i, pad);
	for (int i = 0; i < FLIPPED; i++)
		created(f, "!", "User", arena_printf(&f->arena, "u%d", i).p,
			arena_printf(&f->arena, "{\"email\":\"u%d@x\"}", i).p);
}

static void what_goes_up_and_down_is_not_told_however_often_it_is_the_same(void **s)
{
	struct app_fixture f;
	struct told t = { 0 };
	struct oracle_summary m;

	(void)s;
	open_world(&f);
	two_pages(&f);
	flip(&f, true);
	raw_set(&f, "SECTION#news", "SECTION", "weight", "{\"N\":\"9\"}"); /* wrong, and still */
	m = ask_with(&f, &t, (struct oracle_options){ .passes = 4, .progress = flip_between_pages });
	assert_int_equal(t.page, 2 * m.passes);
	assert_string_equal(t.text.p, "counter-differs SECTION#news weight 9 4\n");
	assert_true(m.moved >= 1);
	app_fixture_close(&f);
}

/* ---- many ---- */

static void facts_beyond_memory_say_the_same(void **s)
{
	struct app_fixture f;
	struct told all = { 0 }, little = { 0 };

	(void)s;
	open_world(&f);
	for (int i = 0; i < 300; i++) {
		char id[20], item[100];

		snprintf(id, sizeof(id), "q%d", i);
		snprintf(item, sizeof(item), "{\"author\":\"%s\",\"tags\":[\"x\",\"y%d\"],\"section\":\"news\"}",
			 i % 2 ? "ann" : "bob", i % 7);
		created(&f, "!", "Post", id, item);
	}
	raw_delete(&f, "TAG#x", "q7");
	raw_set(&f, "SECTION#news", "SECTION", "weight", "{\"N\":\"9\"}");
	raw_delete(&f, "USER#bob", "USER");
	ask_with(&f, &all, (struct oracle_options){ 0 });
	ask_with(&f, &little, (struct oracle_options){ .memory = 2000 });
	assert_string_equal(all.text.p, little.text.p);
	assert_non_null(strstr(all.text.p, "counter-differs SECTION#news weight 9 304"));
	assert_non_null(strstr(all.text.p, "companion-missing TAG#x"));
	assert_non_null(strstr(all.text.p, "orphan POST#q0"));
	app_fixture_close(&f);
}

static bool stop(void *ctx, const struct oracle_progress *p)
{
	(void)ctx;
	return p->comparing;
}

static void it_can_be_stopped_and_says_what_it_cannot_look_at(void **s)
{
	struct oracle_options o = { .now_ms = APP_FIXTURE_NOW, .progress = stop };
	struct oracle_summary m;
	struct app_fixture f;
	char why[256];

	(void)s;
	open_world(&f);
	assert_false(oracle_check(f.backend, f.design, &o, &m, why, sizeof(why)));
	assert_string_equal(why, "it was stopped");
	raw(&f, "DeleteTable", "{\"TableName\":\"Test\"}");
	o.progress = NULL;
	assert_false(oracle_check(f.backend, f.design, &o, &m, why, sizeof(why)));
	assert_non_null(strstr(why, "no table Test"));
	app_fixture_close(&f);
}

static void findings_are_json_too(void **s)
{
	struct app_fixture f;
	struct oracle_finding finding = { .kind = ORACLE_COUNTER_DIFFERS, .sentence = SLICE("a \"b\"") };
	struct buf b;

	(void)s;
	open_world(&f);
	buf_init(&b, &f.arena);
	finding.entity = &f.design->entities[0];
	finding.attribute = SLICE("posts");
	finding.key = value_make_map(&f.arena,
				     (struct value_member[]){ { SLICE("PK"), value_make_s(&f.arena, SLICE("A")) } }, 1);
	finding.found = value_make_i64(&f.arena, 3);
	finding.other_entity = finding.entity;
	oracle_finding_json(&b, f.design, &finding);
	buf_byte(&b, 0);
	assert_string_equal(
		b.p, "{\"kind\":\"counter-differs\",\"severity\":\"difference\",\"design\":\"test\",\"entity\":\"User\","
		     "\"key\":{\"PK\":{\"S\":\"A\"}},\"attribute\":\"posts\",\"found\":{\"N\":\"3\"},"
		     "\"other\":{\"entity\":\"User\"},\"sentence\":\"a \\\"b\\\"\"}");
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_runtime_leaves_is_in_order),
		cmocka_unit_test(an_item_that_does_not_fit_is_found),
		cmocka_unit_test(counters_are_counted_again),
		cmocka_unit_test(guards_are_one_for_each_value),
		cmocka_unit_test(companions_are_those_that_items_imply),
		cmocka_unit_test(credentials_have_an_account),
		cmocka_unit_test(copies_are_what_their_source_is),
		cmocka_unit_test(what_a_cascade_removes_is_gone),
		cmocka_unit_test(a_requirement_that_a_deletion_looks_after_lasts),
		cmocka_unit_test(strangers_are_no_differences),
		cmocka_unit_test(an_item_with_the_constants_of_another_kind_is_a_misfit),
		cmocka_unit_test(unchecked_parts_are_reported_once),
		cmocka_unit_test(what_has_expired_is_gone_and_may_leave_something),
		cmocka_unit_test(work_for_the_keeper_is_pending),
		cmocka_unit_test(what_a_marked_deletion_has_not_come_to_is_pending),
		cmocka_unit_test(passing_differences_are_not_reported),
		cmocka_unit_test(what_goes_up_and_down_is_not_told_however_often_it_is_the_same),
		cmocka_unit_test(facts_beyond_memory_say_the_same),
		cmocka_unit_test(it_can_be_stopped_and_says_what_it_cannot_look_at),
		cmocka_unit_test(findings_are_json_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
