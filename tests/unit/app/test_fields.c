/* Names and values of an item in the making.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dyn_helper.h"

static void what_was_set_last_is_there_once(void **state)
{
	struct fields f;

	fields_init(&f, r->arena);
	fields_set(&f, SLICE("a"), s("1"));
	fields_set(&f, SLICE("b"), s("2"));
	fields_set(&f, SLICE("a"), s("3"));
	assert_int_equal(f.count, 2);
	assert_true(slice_is(value_bytes(fields_get(&f, SLICE("a"))), "3"));
	assert_item(fields_item(&f), "{'a':{'S':'3'},'b':{'S':'2'}}");
	assert_false(value_present(fields_get(&f, SLICE("c"))));
	assert_false(fields_has(&f, SLICE("c")));
}

static void an_absent_value_says_to_be_removed(void **state)
{
	struct fields f;

	fields_init(&f, r->arena);
	fields_set(&f, SLICE("a"), VALUE_ABSENT);
	fields_set(&f, SLICE("b"), s("2"));
	assert_true(fields_has(&f, SLICE("a")));
	assert_false(value_present(fields_get(&f, SLICE("a"))));
	assert_item(fields_item(&f), "{'b':{'S':'2'}}");
}

static void what_is_dropped_leaves_no_entry_and_the_order_as_it_was(void **state)
{
	struct fields f;

	fields_from_item(&f, r->arena, item("{'a':{'S':'1'},'b':{'S':'2'},'c':{'S':'3'}}"));
	fields_drop(&f, SLICE("a"));
	fields_drop(&f, SLICE("nothing"));
	assert_int_equal(f.count, 2);
	assert_true(slice_is(f.list[0].name, "b"));
	assert_true(slice_is(f.list[1].name, "c"));
	assert_false(fields_has(&f, SLICE("a")));
	fields_drop(&f, SLICE("c"));
	assert_item(fields_item(&f), "{'b':{'S':'2'}}");
}

static void an_absent_item_has_no_fields(void **state)
{
	struct fields f;

	fields_from_item(&f, r->arena, VALUE_ABSENT);
	assert_int_equal(f.count, 0);
	assert_item(fields_item(&f), "{}");
}

static void hundreds_of_fields_come_and_go(void **state)
{
	struct value v;
	struct fields f, again;

	fields_init(&f, r->arena);
	for (int i = 0; i < 500; i++)
		fields_set(&f, arena_printf(r->arena, "name%d", i), n(i));
	v = fields_item(&f);
	assert_int_equal(value_count(v), 500);
	fields_from_item(&again, r->arena, v);
	fields_set(&again, SLICE("one more"), n(500));
	assert_int_equal(again.count, 501);
	assert_true(value_equal(fields_get(&again, SLICE("name499")), n(499)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_set_last_is_there_once),
		TEST(an_absent_value_says_to_be_removed),
		TEST(what_is_dropped_leaves_no_entry_and_the_order_as_it_was),
		TEST(an_absent_item_has_no_fields),
		TEST(hundreds_of_fields_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
