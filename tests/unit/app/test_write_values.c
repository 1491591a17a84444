/* Omitted attributes revert to defaults or are removed; and versions, which no two writes share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "write_helper.h"

static const char design[] =
	"entities:\n"
	"  Shelf:\n"
	"    path: /shelves/<shelf>\n"
	"    attributes: {shelf: 'string, required', books: counter, state: 'open | shut, default open'}\n"
	"    keys: {PK: SHELF#<shelf>, SK: SHELF}\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    actions: {shut: {set: {state: shut}}}\n"
	"  Book:\n"
	"    path: /books/<id>\n"
	"    attributes:\n"
	"      id: string, required\n"
	"      shelf: string, default main\n"
	"      order: integer 0..99, default 7\n"
	"      flag: boolean, default true\n"
	"      kind: novel | poem, default novel\n"
	"      tags: list of string, default []\n"
	"      more: map, default {}\n"
	"      rate: number, default 1.5\n"
	"      seen: timestamp, default now\n"
	"      code: string, default lower(title)\n"
	"      twice: integer, default order + order\n"
	"      state: string, default Shelf(shelf).state\n"
	"      start: string, default one, fixed\n"
	"      nothing: string, default null\n"
	"      plain: string\n"
	"      title: string, required\n"
	"      made: string, id\n"
	"      changed: timestamp, touched\n"
	"    keys: {PK: BOOK#<id>, SK: BOOK, GSI1PK: SHELF#<shelf>, GSI1SK: '<order:02>#<id>'}\n"
	"    companions: [{PK: SHELF#<shelf>, SK: '<order:02>#<id>'}]\n"
	"    counts: [Shelf(shelf).books]\n"
	"    allow: {create, read, update, delete: anyone}\n"
	"    actions: {say: {input: [order, plain]}}\n"
	"  Stamp:\n"
	"    path: /stamps/<id>\n"
	"    attributes:\n      id: string, required\n      text: string\n      other: string\n      at: epoch, touched\n"
	"    keys: {PK: STAMP#<id>, SK: STAMP}\n"
	"    allow: {create, read, update, delete: anyone}\n";

static void books(struct app_fixture *f)
{
	app_fixture_open(f, design);
	created(f, "ann", "Shelf", "main", NULL);
	created(f, "ann", "Shelf", "side", NULL);
	created(f, "ann", "Book", "b",
		"{\"title\":\"Title\",\"shelf\":\"side\",\"order\":3,\"flag\":false,\"kind\":\"poem\",\"tags\":[\"x\"],"
		"\"more\":{\"a\":1},\"rate\":2,\"code\":\"c\",\"twice\":1,\"state\":\"s\",\"plain\":\"p\",\"nothing\":\"n\"}");
}

/* ---- null ---- */

static void null_puts_the_default_back(void **state)
{
	static const char *const names[] = { "order", "flag",  "kind",  "tags",  "more",    "rate",
					     "code",  "twice", "shelf", "state", "nothing", "seen" };
	struct app_fixture f;
	struct value fresh;

	(void)state;
	books(&f);
	fresh = created(&f, "ann", "Book", "fresh", "{\"title\":\"Title\"}");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct value v = updated(&f, "ann", "Book", "b",
					 arena_cstr(&f.arena, arena_printf(&f.arena, "{\"%s\":null}", names[i])));

		if (strcmp(names[i], "twice") && strcmp(names[i], "state") &&
		    !value_equal(value_get(v, slice_str(names[i])), value_get(fresh, slice_str(names[i]))))
			fail_msg("%s is not what it is in a new one", names[i]);
		assert_true(value_equal(value_get(v, slice_str(names[i])),
					value_get(item(&f, "Book", "b"), slice_str(names[i]))));
	}
	assert_int_equal(number(item(&f, "Book", "b"), "twice"), 14);
	assert_text(item(&f, "Book", "b"), "state", "open");
	/* and with it the list, the companion and the count */
	assert_text(stored(&f, "BOOK#b", "BOOK"), "GSI1PK", "SHELF#main");
	assert_text(stored(&f, "BOOK#b", "BOOK"), "GSI1SK", "07#b");
	assert_true(is_stored(&f, "SHELF#main", "07#b"));
	assert_false(is_stored(&f, "SHELF#side", "03#b"));
	assert_int_equal(number(item(&f, "Shelf", "main"), "books"), 2);
	assert_int_equal(number(item(&f, "Shelf", "side"), "books"), 0);
	app_fixture_close(&f);
}

/* Each after what it refers to, whatever is given with it. */
static void defaults_are_made_of_what_is_given(void **state)
{
	struct app_fixture f;
	struct value v;

	(void)state;
	books(&f);
	v = updated(&f, "ann", "Book", "b", "{\"twice\":null,\"order\":5,\"code\":null,\"title\":\"NEW\"}");
	assert_int_equal(number(v, "twice"), 10);
	assert_text(v, "code", "new");
	v = updated(&f, "ann", "Book", "b", "{\"twice\":null,\"order\":null}");
	assert_int_equal(number(v, "twice"), 14);
	v = acted(&f, "ann", "Book", "b", "say", "{\"order\":null,\"plain\":null}");
	assert_int_equal(number(v, "order"), 7);
	assert_false(value_present(value_get(v, SLICE("plain"))));
	app_fixture_close(&f);
}

static void without_a_default_null_removes_and_required_stays(void **state)
{
	struct app_fixture f;
	struct value v;

	(void)state;
	books(&f);
	v = updated(&f, "ann", "Book", "b", "{\"plain\":null}");
	assert_false(value_present(value_get(v, SLICE("plain"))));
	update_fails(&f, "ann", "Book", "b", "{\"title\":null}", PROBLEM_INVALID, "is required");
	update_fails(&f, "ann", "Book", "b", "{\"made\":null}", PROBLEM_INVALID, "is required");
	updated(&f, "ann", "Book", "b", "{\"start\":null}"); /* it is its default */
	created(&f, "ann", "Book", "c", "{\"title\":\"T\",\"start\":\"two\"}");
	update_fails(&f, "ann", "Book", "c", "{\"start\":null}", PROBLEM_INVALID, "cannot change");
	app_fixture_close(&f);
}

/* ---- versions ---- */

static bool update_if(struct app_fixture *f, const char *entity, const char *body, const char *version,
		      enum problem_type *problem, struct value *full)
{
	struct run *r = app_fixture_run(f, "ann");
	struct write_options o = { .if_match = slice_str(version) };
	struct write_result out = { 0 };
	bool done = try_update(r, entity, "s", body, &o, &out);

	*problem = r->problem.type;
	*full = out.full;
	return done;
}

static void two_writes_of_one_second_have_two_versions(void **state)
{
	enum problem_type problem;
	struct app_fixture f;
	struct value v;

	(void)state;
	books(&f);
	created(&f, "ann", "Stamp", "s", NULL);
	assert_true(update_if(&f, "Stamp", "{\"text\":\"one\"}", "\"1768473000\"", &problem, &v));
	assert_int_equal(number(v, "at"), 1768473001);
	assert_false(update_if(&f, "Stamp", "{\"other\":\"two\"}", "\"1768473000\"", &problem, &v));
	assert_int_equal(problem, PROBLEM_CHANGED);
	assert_true(update_if(&f, "Stamp", "{\"other\":\"two\"}", "\"1768473001\"", &problem, &v));
	assert_false(update_if(&f, "Stamp", "{\"text\":\"three\"}", "\"1768473001\"", &problem, &v));

	created(&f, "ann", "Book", "s", "{\"title\":\"T\"}");
	assert_true(update_if(&f, "Book", "{\"plain\":\"one\"}", "\"2026-01-15T10:30:00Z\"", &problem, &v));
	assert_text(v, "changed", "2026-01-15T10:30:01Z");
	assert_false(update_if(&f, "Book", "{\"title\":\"two\"}", "\"2026-01-15T10:30:00Z\"", &problem, &v));
	assert_int_equal(problem, PROBLEM_CHANGED);
	/* what changes nothing is not a write */
	assert_text(updated(&f, "ann", "Book", "s", "{\"plain\":\"one\"}"), "changed", "2026-01-15T10:30:01Z");
	app_fixture_close(&f);
}

static void a_time_that_came_from_elsewhere_is_not_followed(void **state)
{
	struct app_fixture f;

	(void)state;
	books(&f);
	created(&f, "!", "Stamp", "s", "{\"at\":1999999999}");
	assert_int_equal(number(updated(&f, "ann", "Stamp", "s", "{\"text\":\"x\"}"), "at"), 1768473000);
	app_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_puts_the_default_back),
		cmocka_unit_test(defaults_are_made_of_what_is_given),
		cmocka_unit_test(without_a_default_null_removes_and_required_stays),
		cmocka_unit_test(two_writes_of_one_second_have_two_versions),
		cmocka_unit_test(a_time_that_came_from_elsewhere_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
