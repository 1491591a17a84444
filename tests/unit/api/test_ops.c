/* What the rows say of operations: servers and clients ask them instead of knowing names.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "api/op.h"

static void exactly_five_operations_change_items(void **state)
{
	static const char *const names[] = { "PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem",
					     "TransactWriteItems" };
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < op_count(); i++)
		n += api_changes_items(&op_at(i)->facts);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < 5; i++)
		assert_true(api_changes_items(api_operation_named(names[i])));
	assert_false(api_changes_items(NULL));
}

static void exactly_six_operations_change_tables(void **state)
{
	static const char *const names[] = { "CreateTable",      "DeleteTable", "UpdateTable",
					     "UpdateTimeToLive", "TagResource", "UntagResource" };
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < op_count(); i++)
		n += api_changes_tables(&op_at(i)->facts);
	assert_int_equal(n, 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(api_changes_tables(api_operation_named(names[i])));
	assert_false(api_changes_tables(NULL));
}

static void an_operation_is_found_by_its_target_and_by_its_name(void **state)
{
	(void)state;
	assert_string_equal(api_operation(SLICE("DynamoDB_20120810.GetItem"))->name, "GetItem");
	assert_string_equal(api_operation(SLICE("DynamoDBStreams_20120810.GetRecords"))->name, "GetRecords");
	assert_null(api_operation(SLICE("DynamoDB_20120810.GetRecords"))); /* each under its own prefix */
	assert_null(api_operation(SLICE("DynamoDBStreams_20120810.GetItem")));
	assert_null(api_operation(SLICE("GetItem")));
	assert_null(api_operation(SLICE("")));
	assert_null(api_operation_named("GetItems"));
	for (size_t i = 0; i < op_count(); i++)
		assert_ptr_equal(api_operation_named(op_at(i)->facts.name), &op_at(i)->facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_five_operations_change_items),
		cmocka_unit_test(exactly_six_operations_change_tables),
		cmocka_unit_test(an_operation_is_found_by_its_target_and_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
