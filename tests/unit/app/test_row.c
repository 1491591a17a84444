/* A row without slots: names and values of an item in the making.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dyn_helper.h"

static void the_last_value_set_is_there_once(void **state)
{
	struct row f;

	row_init(&f, r->arena, NULL);
	row_put(&f, SLICE("a"), s("1"));
	row_put(&f, SLICE("b"), s("2"));
	row_put(&f, SLICE("a"), s("3"));
	assert_int_equal(f.other_count, 2);
	assert_true(slice_is(value_bytes(row_find(&f, SLICE("a"))), "3"));
	assert_item(row_item(&f), "{'a':{'S':'3'},'b':{'S':'2'}}");
	assert_false(value_present(row_find(&f, SLICE("c"))));
	assert_false(row_has_text(&f, SLICE("c")));
}

static void an_absent_value_says_to_be_removed(void **state)
{
	struct row f;

	row_init(&f, r->arena, NULL);
	row_put(&f, SLICE("a"), VALUE_ABSENT);
	row_put(&f, SLICE("b"), s("2"));
	assert_true(row_has_text(&f, SLICE("a")));
	assert_false(value_present(row_find(&f, SLICE("a"))));
	assert_item(row_item(&f), "{'b':{'S':'2'}}");
}

static void dropping_leaves_no_entry_and_keeps_the_order(void **state)
{
	struct row f;

	row_from(&f, r->arena, NULL, item("{'a':{'S':'1'},'b':{'S':'2'},'c':{'S':'3'}}"));
	row_take(&f, SLICE("a"));
	row_take(&f, SLICE("nothing"));
	assert_int_equal(f.other_count, 2);
	assert_true(slice_is(f.others[0].name, "b"));
	assert_true(slice_is(f.others[1].name, "c"));
	assert_false(row_has_text(&f, SLICE("a")));
	row_take(&f, SLICE("c"));
	assert_item(row_item(&f), "{'b':{'S':'2'}}");
}

static void an_absent_item_has_no_fields(void **state)
{
	struct row f;

	row_from(&f, r->arena, NULL, VALUE_ABSENT);
	assert_int_equal(f.other_count, 0);
	assert_item(row_item(&f), "{}");
}

static void hundreds_of_fields_come_and_go(void **state)
{
	struct value v;
	struct row f, again;

	row_init(&f, r->arena, NULL);
	for (int i = 0; i < 500; i++)
		row_put(&f, arena_printf(r->arena, "name%d", i), n(i));
	v = row_item(&f);
	assert_int_equal(value_count(v), 500);
	row_from(&again, r->arena, NULL, v);
	row_put(&again, SLICE("one more"), n(500));
	assert_int_equal(again.other_count, 501);
	assert_true(value_equal(row_find(&again, SLICE("name499")), n(499)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_last_value_set_is_there_once),
		TEST(an_absent_value_says_to_be_removed),
		TEST(dropping_leaves_no_entry_and_keeps_the_order),
		TEST(an_absent_item_has_no_fields),
		TEST(hundreds_of_fields_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
