/* What names in terms and templates stand for, and what asking for other items does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app_fixture.h"
#include "app/db/dyn.h"
#include "app/entity/entity.h"

static const char design[] =
	"entities:\n"
	"  User:\n"
	"    path: /users/<user>\n"
	"    attributes:\n      user: string, required, lower\n      open: boolean\n      rank: integer\n"
	"    keys: {PK: USER#<user>, SK: PROFILE}\n"
	"    allow: {read: open = true or user = caller}\n"
	"  Post:\n"
	"    path: /posts/<post>\n"
	"    attributes:\n      post: string, required\n      author: string\n"
	"    keys: {PK: POST#<post>, SK: POST}\n"
	"    allow: {read: visible User(author)}\n"
	"  Loop:\n"
	"    path: /loops/<a>\n"
	"    attributes:\n      a: string, required\n      b: string\n"
	"    keys: {PK: LOOP#<a>, SK: LOOP}\n"
	"    allow: {read: visible Loop(b)}\n";

static struct value text(struct run *r, const char *s)
{
	return value_make_s(r->arena, slice_str(s));
}

/* As the loader does. */
static void resolve(void *ctx, const struct term *t)
{
	const struct design *d = ctx;
	struct term *own = (struct term *)(uintptr_t)t;

	own->at = design_named(d, t->attribute);
	own->entity = design_entity(d, t->name);
}

static const struct term *term(struct run *r, const char *s)
{
	struct findings f;
	const struct term *t;

	findings_init(&f, r->arena);
	t = term_parse(r->arena, slice_str(s), (struct place){ 0 }, &f);
	assert_non_null(t);
	term_walk(t, resolve, (void *)(uintptr_t)r->design);
	return t;
}

static const struct template *template(struct run *r, const char *s)
{
	struct findings f;
	const struct template *t;

	findings_init(&f, r->arena);
	t = template_parse(r->arena, slice_str(s), (struct place){ 0 }, &f);
	assert_non_null(t);
	return t;
}

static void assert_text(struct value v, const char *s)
{
	assert_int_equal(value_type(v), VALUE_S);
	if (!slice_is(value_bytes(v), s))
		fail_msg("'%.*s' instead of '%s'", SLICE_ARG(value_bytes(v)), s);
}

static struct value value_of(struct scope *s, const char *t)
{
	struct value v;

	assert_true(scope_value(s, term(s->run, t), &v));
	return v;
}

static bool holds(struct scope *s, const char *t)
{
	bool out;

	assert_true(scope_holds(s, term(s->run, t), &out));
	return out;
}

/* Completes an item of these names and values and puts it into the table. */
static void store(struct run *r, const char *entity, const struct value_member *list, size_t n)
{
	const struct entity *e = design_entity(r->design, slice_str(entity));
	struct dyn_refusal refusal;
	struct row f;

	row_init(&f, r->arena, NULL);
	for (size_t i = 0; i < n; i++)
		row_put(&f, list[i].name, list[i].value);
	assert_true(entity_complete(r, e, &f, VALUE_ABSENT));
	assert_int_equal(dyn_write(r, &(struct dyn_write){ .kind = DYN_PUT, .item = entity_stored(r, e, &f) }, 1,
				   SLICE(""), &refusal),
			 DYN_DONE);
}

static int open_fixture(void **state)
{
	static struct app_fixture f;

	app_fixture_open(&f, design);
	*state = &f;
	return 0;
}

static int close_fixture(void **state)
{
	app_fixture_close(*state);
	return 0;
}

static void a_name_is_a_variable_then_an_attribute_then_a_parameter(void **state)
{
	struct run *r = app_fixture_run(*state, "alice");
	struct row item, input, before;
	struct value_member inner = { SLICE("city"), text(r, "Bonn") };
	struct value map = value_make_map(r->arena, &inner, 1);
	struct value_member old = { SLICE("a"), text(r, "before") };
	struct term_variable variables[] = { { NULL, SLICE("v"), map }, { NULL, SLICE("b"), text(r, "variable") } };
	struct scope s = { .run = r, .item = &item, .input = &input, .variables = variables, .variable_count = 2 };

	row_init(&item, r->arena, NULL);
	row_init(&input, r->arena, NULL);
	row_put(&item, SLICE("a"), text(r, "item"));
	row_put(&item, SLICE("b"), text(r, "item"));
	row_put(&item, SLICE("m"), map);
	row_put(&input, SLICE("a"), text(r, "parameter"));
	row_put(&input, SLICE("p"), text(r, "parameter"));
	before = row_of(value_make_map(r->arena, &old, 1));
	s.before = &before;
	assert_text(value_of(&s, "a"), "item");
	assert_text(value_of(&s, "b"), "variable");
	assert_text(value_of(&s, "p"), "parameter");
	assert_text(value_of(&s, "old.a"), "before");
	assert_text(value_of(&s, "input.a"), "parameter");
	assert_text(value_of(&s, "v.city"), "Bonn");
	assert_text(value_of(&s, "m.city"), "Bonn");
	assert_text(value_of(&s, "caller"), "alice");
	assert_false(value_present(value_of(&s, "old.p")));
	assert_false(value_present(value_of(&s, "a.city")));
	assert_false(value_present(value_of(&s, "nothing")));
	assert_true(holds(&s, "caller is user"));
}

static void a_scope_without_anything_knows_no_name(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct scope s = { .run = r };
	bool out = false;

	assert_false(value_present(value_of(&s, "a")));
	assert_false(value_present(value_of(&s, "old.a")));
	assert_false(value_present(value_of(&s, "input.a")));
	assert_false(holds(&s, "caller is user"));
	assert_true(scope_holds(&s, NULL, &out));
	assert_true(out);
}

static void an_error_of_a_term_is_an_invalid_request(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct scope s = { .run = r };
	struct value v;
	bool out;

	assert_false(scope_value(&s, term(r, "'a' * 2"), &v));
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
	assert_int_equal(r->problem.part_count, 0);
	r->problem = (struct problem){ 0 };
	assert_false(scope_value_for(&s, term(r, "'a' * 2"), SLICE("total"), &v));
	assert_int_equal(r->problem.part_count, 1);
	assert_true(slice_is(r->problem.parts[0].attribute, "total"));
	assert_false(scope_holds(&s, term(r, "'a' + 1 = 2"), &out));
}

static void a_template_is_filled_and_what_does_not_fit_is_named(void **state)
{
	struct run *r = app_fixture_run(*state, NULL);
	struct row item;
	struct scope s = { .run = r, .item = &item };
	struct value v;

	row_init(&item, r->arena, NULL);
	row_put(&item, SLICE("a"), text(r, "x"));
	row_put(&item, SLICE("bad"), text(r, "x#y"));
	assert_true(scope_fill(&s, template(r, "A#<a>"), true, &v));
	assert_text(v, "A#x");
	assert_true(scope_fill(&s, template(r, "A#<missing>"), true, &v));
	assert_false(value_present(v));
	assert_true(scope_fill(&s, template(r, "A#<bad>"), false, &v));
	assert_text(v, "A#x#y");
	assert_int_equal(scope_try_fill(&s, template(r, "A#<bad>"), true, &v), TEMPLATE_BAD);
	assert_false(value_present(v));
	assert_int_equal(r->problem.type, PROBLEM_NONE);
	assert_false(scope_fill(&s, template(r, "A#<bad>"), true, &v));
	assert_int_equal(r->problem.type, PROBLEM_INVALID);
	assert_int_equal(r->problem.part_count, 1);
	assert_true(slice_is(r->problem.parts[0].attribute, "bad"));
}

static void arguments_are_evaluated_and_may_be_absent(void **state)
{
	struct run *r = app_fixture_run(*state, "alice");
	const struct term *terms[] = { term(r, "caller"), term(r, "nothing"), term(r, "1 + 1") };
	struct scope s = { .run = r };
	struct value *args;

	assert_true(scope_args(&s, terms, 3, &args));
	assert_text(args[0], "alice");
	assert_false(value_present(args[1]));
	assert_true(value_equal(args[2], value_make_i64(r->arena, 2)));
}

static void other_items_are_read_and_seen_as_their_rules_say(void **state)
{
	struct run *r = app_fixture_run(*state, "carol");
	struct scope s = { .run = r };
	struct value_member alice[] = { { SLICE("user"), text(r, "alice") },
					{ SLICE("open"), value_make_bool(r->arena, false) },
					{ SLICE("rank"), value_make_i64(r->arena, 3) } };
	struct value_member post[] = { { SLICE("post"), text(r, "p1") }, { SLICE("author"), text(r, "alice") } };

	store(r, "User", alice, 3);
	store(r, "Post", post, 2);
	assert_true(holds(&s, "exists User('alice')"));
	assert_true(holds(&s, "exists User(' ALICE')")); /* as `lower` says */
	assert_true(holds(&s, "User('alice').rank = 3"));
	assert_false(holds(&s, "exists User('bob')"));
	assert_false(holds(&s, "exists User('a#b')")); /* what cannot be a key is not an error */
	assert_false(holds(&s, "exists User(nothing)"));
	assert_true(holds(&s, "exists Post('p1')"));
	assert_false(holds(&s, "visible Post('p1')"));
	r->caller.subject = SLICE("alice");
	assert_true(holds(&s, "visible Post('p1')"));
	r->caller.subject = SLICE("");
	r->caller.operator_ = true;
	assert_true(holds(&s, "visible Post('p1')"));
}

static void rules_that_ask_for_one_another_end(void **state)
{
	struct run *r = app_fixture_run(*state, "alice");
	struct scope s = { .run = r };
	struct value_member loop[] = { { SLICE("a"), text(r, "l") }, { SLICE("b"), text(r, "l") } };
	bool out;

	store(r, "Loop", loop, 2);
	assert_false(scope_holds(&s, term(r, "visible Loop('l')"), &out));
	assert_int_equal(r->problem.type, PROBLEM_INTERNAL);
	assert_int_equal(r->depth, 0);
}

static void a_circle_through_no_item_is_none(void **state)
{
	struct run *r = app_fixture_run(*state, "alice");
	struct scope s = { .run = r };
	struct value_member loop[] = { { SLICE("a"), text(r, "m") }, { SLICE("b"), text(r, "gone") } };

	store(r, "Loop", loop, 2);
	assert_false(holds(&s, "visible Loop('m')"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_a_variable_then_an_attribute_then_a_parameter),
		cmocka_unit_test(a_scope_without_anything_knows_no_name),
		cmocka_unit_test(an_error_of_a_term_is_an_invalid_request),
		cmocka_unit_test(a_template_is_filled_and_what_does_not_fit_is_named),
		cmocka_unit_test(arguments_are_evaluated_and_may_be_absent),
		cmocka_unit_test(other_items_are_read_and_seen_as_their_rules_say),
		cmocka_unit_test(rules_that_ask_for_one_another_end),
		cmocka_unit_test(a_circle_through_no_item_is_none),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
