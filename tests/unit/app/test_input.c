/* Plain JSON into attribute values: types, ranges, what the server keeps, everything wrong told at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "app/entity/input.h"
#include "app/entity/output.h"
#include "app/entity/packed.h"

static const char design_text[] =
	"entities:\n"
	"  Thing:\n"
	"    path: /things/<id>\n"
	"    attributes:\n"
	"      id: string 1..40, id\n"
	"      owner: string, the caller\n"
	"      title: string 3..10, required\n"
	"      mail: string 3..20, lower\n"
	"      code: string 4..4\n"
	"      body: text ..5\n"
	"      price: number 0.5..99.5\n"
	"      stars: integer 1..5\n"
	"      big: number\n"
	"      ready: boolean, default false\n"
	"      at: timestamp\n"
	"      until: epoch\n"
	"      kind: public | followers | private, default public\n"
	"      tags: list of string 0..3, lower\n"
	"      slugs: list of slug 0..3, lower\n"
	"      days: list of timestamp\n"
	"      moods: list of good | bad\n"
	"      words: set of string\n"
	"      marks: set of number 1..3\n"
	"      free: map\n"
	"      any: list\n"
	"      blob: binary 0..4\n"
	"      steps: list 0..2, compressed\n"
	"      parent: string, default null\n"
	"      votes: counter\n"
	"      score: = votes * 2\n"
	"      made: timestamp, now\n"
	"      changed: timestamp, touched\n"
	"      state: open | closed, default open, managed\n"
	"      secret: string, hidden\n"
	"      gone: epoch, 3 days after made\n"
	"      reason: string, required, when kind = 'private'\n"
	"    keys: {PK: THING#<id>, SK: THING, GSI1PK: A#<id>, GSI1SK: A, GSI2PK: B#<id>, GSI2SK: B}\n"
	"    keys when gone is present: {expires_at: <gone>}\n"
	"    login: {by: [title], password: secret, subject: id}\n"
	"    actions:\n"
	"      close: {set: {state: closed}, input: [title, state]}\n"
	"      open: {set: {state: open}}\n";

static int setup(void **state)
{
	static struct app_fixture f;

	app_fixture_open(&f, design_text);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	app_fixture_close(*state);
	return 0;
}

static const struct entity *thing(struct app_fixture *f)
{
	return design_entity(f->design, SLICE("Thing"));
}

static struct slice json_of(struct arena *a, struct value v)
{
	struct buf b;

	buf_init(&b, a);
	output_value(&b, v);
	return buf_slice(&b);
}

/* The body as alice (or "!", an operator) sends it; NULL when it is refused, and then *r has the problem. */
static struct row *body_as(struct app_fixture *f, const char *who, enum input_use use, const char *action,
			   const char *text, struct run **r)
{
	struct row *out = arena_new(&f->arena, struct row);
	const struct entity *e = thing(f);
	const struct action *a = NULL;
	const struct json *j = json_parse(&f->arena, slice_str(text));

	assert_non_null(j);
	for (size_t i = 0; action && i < e->action_count; i++)
		if (slice_is(e->actions[i].name, action))
			a = &e->actions[i];
	*r = app_fixture_run(f, who);
	return input_body(*r, e, use, a, j, out) ? out : NULL;
}

static void takes(struct app_fixture *f, const char *name, const char *value, const char *stored)
{
	struct run *r;
	struct row *out = body_as(f, "alice", INPUT_CREATE, NULL,
				  arena_cstr(&f->arena, arena_printf(&f->arena, "{\"%s\":%s}", name, value)), &r);
	struct slice got;

	if (!out)
		fail_msg("%s %s: %.*s", name, value, SLICE_ARG(r->problem.parts[0].detail));
	got = json_of(&f->arena, row_find(out, slice_str(name)));
	if (!slice_is(got, stored))
		fail_msg("%s %s: got %.*s", name, value, SLICE_ARG(got));
}

static void refuses(struct app_fixture *f, const char *name, const char *value, const char *why)
{
	struct run *r;

	assert_null(body_as(f, "alice", INPUT_CREATE, NULL,
			    arena_cstr(&f->arena, arena_printf(&f->arena, "{\"%s\":%s}", name, value)), &r));
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
	assert_int_equal(r->problem.part_count, 1);
	assert_true(slice_is(r->problem.parts[0].attribute, name));
	if (!slice_is(r->problem.parts[0].detail, why))
		fail_msg("%s %s: %.*s", name, value, SLICE_ARG(r->problem.parts[0].detail));
}

static void test_strings_are_measured_in_characters(void **state)
{
	takes(*state, "title", "\"abc\"", "\"abc\"");
	takes(*state, "title", "\"ÄÖÜÄÖÜÄÖÜÄ\"", "\"ÄÖÜÄÖÜÄÖÜÄ\"");
	refuses(*state, "title", "\"äö\"", "between 3 and 10 characters");
	refuses(*state, "title", "\"12345678901\"", "between 3 and 10 characters");
	refuses(*state, "title", "7", "a string");
	refuses(*state, "code", "\"abc\"", "exactly 4 characters");
	takes(*state, "body", "\"\"", "\"\"");
	refuses(*state, "body", "\"123456\"", "at most 5 characters");
}

static void test_lower_is_trimmed_before_it_is_measured(void **state)
{
	takes(*state, "mail", "\"  Ann@X.org\\n\"", "\"ann@x.org\"");
	refuses(*state, "mail", "\"   ab   \"", "between 3 and 20 characters");
	takes(*state, "tags", "[\"Red\", \" red \", \"BLUE\"]", "[\"red\",\"blue\"]");
	takes(*state, "tags", "[\"a\", \"A\", \"b\", \"B\", \"c\"]", "[\"a\",\"b\",\"c\"]");
	takes(*state, "slugs", "[\" A-B \", \"a-b\"]", "[\"a-b\"]");
	refuses(*state, "slugs", "[\"a b\"]", "element 1: letters and digits with single hyphens between them");
	refuses(*state, "tags", "[\"a\", \"b\", \"c\", \"d\"]", "at most 3 elements");
	refuses(*state, "tags", "[\"a\", 2]", "element 2: a string");
}

static void test_numbers_are_kept_exactly(void **state)
{
	takes(*state, "big", "0.1", "0.1");
	takes(*state, "big", "-12.50", "-12.5");
	takes(*state, "big", "9223372036854775807", "9223372036854775807");
	takes(*state, "big", "1e20", "100000000000000000000");
	takes(*state, "big", "1.7976931348623157", "1.7976931348623157");
	refuses(*state, "big", "1e200", "a number between -1e126 and 1e126");
	refuses(*state, "big", "\"1\"", "a number");
	takes(*state, "price", "99.5", "99.5");
	refuses(*state, "price", "0.4", "between 0.5 and 99.5");
	takes(*state, "stars", "5", "5");
	takes(*state, "stars", "5.0", "5");
	refuses(*state, "stars", "4.5", "a whole number");
	refuses(*state, "stars", "\"4\"", "a whole number");
	refuses(*state, "stars", "6", "between 1 and 5");
}

static void test_scalars_of_every_type(void **state)
{
	takes(*state, "ready", "true", "true");
	refuses(*state, "ready", "\"true\"", "true or false");
	takes(*state, "at", "\"2026-01-15T12:30:00.25+02:00\"", "\"2026-01-15T10:30:00Z\"");
	refuses(*state, "at", "\"2026-02-30T00:00:00Z\"", "a timestamp like 2026-01-15T10:30:00Z");
	takes(*state, "until", "1768473000", "1768473000");
	refuses(*state, "until", "1.5", "a time in whole seconds since 1970");
	takes(*state, "kind", "\"followers\"", "\"followers\"");
	refuses(*state, "kind", "\"Public\"", "one of: public, followers, private");
	takes(*state, "blob", "\"AAEC\"", "\"AAEC\"");
	refuses(*state, "blob", "\"AAE\"", "base64");
	refuses(*state, "blob", "\"AAECAwQF\"", "at most 4 bytes");
}

static void test_lists_sets_and_maps(void **state)
{
	takes(*state, "days", "[\"2026-01-15t10:30:00z\"]", "[\"2026-01-15T10:30:00Z\"]");
	refuses(*state, "days", "[\"monday\"]", "element 1: a timestamp like 2026-01-15T10:30:00Z");
	refuses(*state, "moods", "[\"good\", \"ugly\"]", "element 2: one of: good, bad");
	takes(*state, "words", "[\"b\", \"a\"]", "[\"a\",\"b\"]");
	refuses(*state, "words", "[\"b\", \"b\"]", "a list without duplicates");
	takes(*state, "marks", "[2, 1.5]", "[1.5,2]");
	refuses(*state, "marks", "[]", "between 1 and 3 elements");
	takes(*state, "free", "{\"a\":[1,null,{\"b\":false}]}", "{\"a\":[1,null,{\"b\":false}]}");
	refuses(*state, "free", "[]", "an object");
	refuses(*state, "free", "{\"\":1}", "no empty names");
	takes(*state, "any", "[1,\"x\",[]]", "[1,\"x\",[]]");
	refuses(*state, "any", "{}", "a list");
}

static void test_an_empty_set_is_nothing(void **state)
{
	struct run *r;
	struct row *out = body_as(*state, "alice", INPUT_UPDATE, NULL, "{\"words\":[]}", &r);

	assert_non_null(out);
	assert_true(row_has_text(out, SLICE("words")));
	assert_false(value_present(row_find(out, SLICE("words"))));
}

static void test_nesting_has_the_databases_limit(void **state)
{
	struct app_fixture *f = *state;
	struct buf b;

	for (int levels = 31; levels <= 32; levels++) {
		buf_init(&b, &f->arena);
		for (int i = 0; i < levels; i++)
			buf_byte(&b, '[');
		for (int i = 0; i < levels; i++)
			buf_byte(&b, ']');
		buf_byte(&b, 0);
		if (levels == 31)
			takes(f, "any", b.p, b.p);
		else
			refuses(f, "any", b.p, "element 1: less deeply nested lists and objects");
	}
}

static void test_compressed_is_gzip_of_the_json(void **state)
{
	struct app_fixture *f = *state;
	struct run *r;
	struct row *out = body_as(f, "alice", INPUT_CREATE, NULL, "{\"steps\":[{\"a\":0.1},\"two\"]}", &r);
	struct value v;
	struct buf b;

	assert_non_null(out);
	v = row_find(out, SLICE("steps"));
	assert_int_equal(value_type(v), VALUE_B);
	assert_memory_equal(value_bytes(v).p, "\x1f\x8b", 2);
	buf_init(&b, &f->arena);
	assert_true(packed_write(&b, v));
	assert_true(slice_is(buf_slice(&b), "[{\"a\":0.1},\"two\"]"));
	refuses(f, "steps", "[1,2,3]", "at most 2 elements");
}

static void test_attributes_kept_by_the_server_cannot_be_given(void **state)
{
	static const char *const kept[] = { "votes", "score", "made", "changed", "state", "secret", "gone" };
	struct run *r;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		refuses(*state, kept[i], "1", "cannot be changed by you: the server keeps it");
		refuses(*state, kept[i], "null", "cannot be changed by you: the server keeps it");
	}
	assert_non_null(body_as(*state, "!", INPUT_CREATE, NULL,
				"{\"votes\":3,\"state\":\"closed\",\"made\":\"2026-01-15T10:30:00Z\"}", &r));
}

static void test_the_caller_is_not_taken_from_the_body(void **state)
{
	struct run *r;
	struct row *out = body_as(*state, "alice", INPUT_CREATE, NULL, "{\"owner\":\"bob\"}", &r);

	assert_non_null(out);
	assert_false(row_has_text(out, SLICE("owner")));
	out = body_as(*state, "!", INPUT_CREATE, NULL, "{\"owner\":\"bob\"}", &r);
	assert_true(slice_is(value_bytes(row_find(out, SLICE("owner"))), "bob"));
}

static void test_null_removes_or_is_null_where_the_default_is(void **state)
{
	struct run *r;
	struct row *out = body_as(*state, "alice", INPUT_UPDATE, NULL, "{\"body\":null,\"parent\":null}", &r);

	assert_non_null(out);
	assert_true(row_has_text(out, SLICE("body")));
	assert_false(value_present(row_find(out, SLICE("body"))));
	assert_int_equal(value_type(row_find(out, SLICE("parent"))), VALUE_NULL);
	refuses(*state, "title", "null", "is required");
}

static void test_unknown_names_get_a_suggestion(void **state)
{
	refuses(*state, "titel", "\"x\"", "there is no such attribute; did you mean 'title'?");
	refuses(*state, "zzzzzzzz", "1", "there is no such attribute");
	refuses(*state, "PK", "\"x\"", "there is no such attribute");
	refuses(*state, "secrets", "\"x\"", "there is no such attribute"); /* hidden ones are not suggested */
}

static void test_all_errors_are_reported_at_once(void **state)
{
	struct run *r;

	assert_null(body_as(*state, "alice", INPUT_CREATE, NULL, "{\"title\":1,\"stars\":9,\"nope\":1,\"body\":\"ok\"}",
			    &r));
	assert_int_equal(r->problem.part_count, 3);
	assert_null(body_as(*state, "alice", INPUT_CREATE, NULL, "[]", &r));
	assert_int_equal(r->problem.type, PROBLEM_MALFORMED);
}

static void test_actions_take_their_input_only(void **state)
{
	struct run *r;
	struct row *out =
		body_as(*state, "alice", INPUT_ACTION, "close", "{\"title\":\"done\",\"state\":\"closed\"}", &r);

	assert_non_null(out);
	assert_int_equal(value_count(row_item(out)), 2);
	assert_null(body_as(*state, "alice", INPUT_ACTION, "close", "{\"body\":\"x\"}", &r));
	assert_true(slice_is(r->problem.parts[0].detail, "this action does not take it"));
	assert_null(body_as(*state, "!", INPUT_ACTION, "open", "{\"title\":\"done\"}", &r));
	assert_true(slice_is(r->problem.parts[0].detail, "this action takes no input"));
}

static void test_passwords_pass_through(void **state)
{
	struct run *r;
	struct row *out = body_as(*state, "alice", INPUT_UPDATE, NULL,
				  "{\"password\":\"Geheim 1\",\"current_password\":\"x\"}", &r);

	assert_non_null(out);
	assert_true(slice_is(value_bytes(row_find(out, SLICE("password"))), "Geheim 1"));
	refuses(*state, "password", "1", "a string");
}

static bool text(struct app_fixture *f, const char *name, const char *value, struct slice *out)
{
	struct run *r = app_fixture_run(f, "alice");
	const struct attribute *a = entity_attribute(thing(f), slice_str(name));
	struct value v = VALUE_ABSENT;

	if (!input_text(r, a, slice_str(name), slice_str(value), &v)) {
		*out = r->problem.parts[0].detail;
		return false;
	}
	*out = json_of(&f->arena, v);
	return true;
}

static void test_parameters_come_as_text(void **state)
{
	static const struct {
		const char *name, *text, *json;
		bool good;
	} cases[] = {
		{ "nothing known", "5", "\"5\"", true },
		{ "stars", "5", "5", true },
		{ "stars", "five", "a whole number", false },
		{ "stars", "6", "between 1 and 5", false },
		{ "big", "12345678901234567890123456789012345678", "12345678901234567890123456789012345678", true },
		{ "big", "123456789012345678901234567890123456789", "a number of at most 38 digits", false },
		{ "ready", "true", "true", true },
		{ "ready", "yes", "true or false", false },
		{ "at", "2026-01-15T10:30:00Z", "\"2026-01-15T10:30:00Z\"", true },
		{ "mail", " Ann@X.org", "\"ann@x.org\"", true },
		{ "tags", "Red,blue", "[\"red\",\"blue\"]", true },
		{ "tags", "", "[]", true },
		{ "marks", "1,2", "[1,2]", true },
		{ "free", "{\"a\":1}", "{\"a\":1}", true },
		{ "free", "nonsense", "an object", false },
		{ "id", "\xff", "UTF-8 is expected", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct slice got;

		assert_int_equal(text(*state, cases[i].name, cases[i].text, &got), cases[i].good);
		if (!slice_is(got, cases[i].json))
			fail_msg("%s %s: %.*s", cases[i].name, cases[i].text, SLICE_ARG(got));
	}
}

static void test_required_attributes_must_be_there_while_their_condition_holds(void **state)
{
	struct app_fixture *f = *state;
	struct run *r = app_fixture_run(f, "alice");
	struct row full;

	row_init(&full, &f->arena, NULL);
	assert_false(input_required(r, thing(f), &full));
	assert_int_equal(r->problem.part_count, 1);
	assert_true(slice_is(r->problem.parts[0].attribute, "title"));
	row_put(&full, SLICE("title"), value_make_s(&f->arena, SLICE("abc")));
	assert_true(input_required(app_fixture_run(f, "alice"), thing(f), &full));
	row_put(&full, SLICE("kind"), value_make_s(&f->arena, SLICE("private")));
	assert_false(input_required(app_fixture_run(f, "alice"), thing(f), &full));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_strings_are_measured_in_characters),
		T(test_lower_is_trimmed_before_it_is_measured),
		T(test_numbers_are_kept_exactly),
		T(test_scalars_of_every_type),
		T(test_lists_sets_and_maps),
		T(test_an_empty_set_is_nothing),
		T(test_nesting_has_the_databases_limit),
		T(test_compressed_is_gzip_of_the_json),
		T(test_attributes_kept_by_the_server_cannot_be_given),
		T(test_the_caller_is_not_taken_from_the_body),
		T(test_null_removes_or_is_null_where_the_default_is),
		T(test_unknown_names_get_a_suggestion),
		T(test_all_errors_are_reported_at_once),
		T(test_actions_take_their_input_only),
		T(test_passwords_pass_through),
		T(test_parameters_come_as_text),
		T(test_required_attributes_must_be_there_while_their_condition_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
