/* The shape of requests: what DynamoDB says of wrong types and of members that break a constraint.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "api/shape/shape.h"

static struct arena arena;

static int start(void **state)
{
	arena_init(&arena);
	return 0;
}

static int stop(void **state)
{
	arena_release(&arena);
	return 0;
}

static void check_refused(const struct shape *s, const char *body, enum err code, const char *message)
{
	const struct json *j = json_parse(&arena, slice_str(body));
	struct error e = { 0 };

	assert_non_null(j);
	assert_false(shape_check(s, j, &arena, &e));
	assert_string_equal(arena_cstr(&arena, e.message), message);
	assert_int_equal(e.code, code);
}

static void check_accepted(const struct shape *s, const char *body)
{
	const struct json *j = json_parse(&arena, slice_str(body));
	struct error e = { 0 };

	assert_non_null(j);
	assert_true(shape_check(s, j, &arena, &e));
}

#define INVALID(shape, body, message)       check_refused(&(shape), body, ERR_VALIDATION, message)
#define SERIALIZATION(shape, body, message) check_refused(&(shape), body, ERR_SERIALIZATION, message)

/* ---- types ---- */

static void a_string_takes_no_other_type(void **state)
{
	SERIALIZATION(shape_create_table, "{\"TableName\":23}", "NUMBER_VALUE cannot be converted to String");
	SERIALIZATION(shape_create_table, "{\"TableName\":2.5}", "DECIMAL_VALUE cannot be converted to String");
	SERIALIZATION(shape_create_table, "{\"TableName\":true}", "TRUE_VALUE cannot be converted to String");
	SERIALIZATION(shape_create_table, "{\"TableName\":false}", "FALSE_VALUE cannot be converted to String");
	SERIALIZATION(shape_create_table, "{\"TableName\":[]}", "Unrecognized collection type class java.lang.String");
	SERIALIZATION(shape_create_table, "{\"TableName\":{}}", "Start of structure or map found where not expected");
}

static void a_number_takes_no_other_type(void **state)
{
	SERIALIZATION(shape_list_tables, "{\"Limit\":\"1\"}", "STRING_VALUE cannot be converted to Integer");
	SERIALIZATION(shape_create_table, "{\"ProvisionedThroughput\":{\"ReadCapacityUnits\":true}}",
		      "TRUE_VALUE cannot be converted to Long");
	SERIALIZATION(shape_list_tables, "{\"Limit\":[]}", "Unrecognized collection type class java.lang.Integer");
}

static void a_boolean_takes_its_words_as_strings(void **state)
{
	check_accepted(&shape_get_item, "{\"TableName\":\"abc\",\"Key\":{},\"ConsistentRead\":\"Yes\"}");
	SERIALIZATION(shape_get_item, "{\"ConsistentRead\":\"maybe\"}", "Unexpected token received from parser");
	SERIALIZATION(shape_get_item, "{\"ConsistentRead\":1}", "NUMBER_VALUE cannot be converted to Boolean");
}

static void a_list_takes_no_other_type(void **state)
{
	SERIALIZATION(shape_create_table, "{\"KeySchema\":\"a\"}", "Unexpected field type");
	SERIALIZATION(shape_create_table, "{\"KeySchema\":{}}", "Start of structure or map found where not expected");
}

static void a_structure_says_where_it_stands(void **state)
{
	SERIALIZATION(shape_create_table, "{\"ProvisionedThroughput\":\"a\"}", "Unexpected field type");
	SERIALIZATION(shape_create_table, "{\"KeySchema\":[\"a\"]}", "Unexpected value type in payload");
	SERIALIZATION(shape_create_table, "{\"KeySchema\":[[]]}",
		      "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeySchemaElement");
}

static void types_come_before_constraints(void **state)
{
	SERIALIZATION(shape_create_table, "{\"TableName\":\"a\",\"Tags\":[{\"Key\":1}]}",
		      "NUMBER_VALUE cannot be converted to String");
}

/* ---- constraints ---- */

static void a_missing_table_name_is_reported_alone(void **state)
{
	INVALID(shape_create_table, "{\"KeySchema\":[]}",
		"The parameter 'TableName' is required but was not present in the request");
	INVALID(shape_describe_table, "{\"TableName\":null}",
		"The parameter 'TableName' is required but was not present in the request");
}

static void a_table_name_of_the_wrong_length_is_reported_alone(void **state)
{
	INVALID(shape_create_table, "{\"TableName\":\"a;\",\"KeySchema\":[]}",
		"1 validation error detected: Value 'a;' at 'tableName' failed to satisfy constraint: "
		"Member must have length greater than or equal to 3");
	INVALID(shape_create_table, "{\"TableName\":\"\"}",
		"1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: "
		"Member must have length greater than or equal to 3");
}

static void a_table_name_may_be_an_arn(void **state)
{
	check_accepted(&shape_describe_table, "{\"TableName\":\"arn:aws:dynamodb:us-east-1:000000000000:table/abc\"}");
}

static void all_failures_are_reported_together(void **state)
{
	INVALID(shape_create_table, "{\"TableName\":\"abc;\"}",
		"3 validation errors detected: "
		"Value null at 'attributeDefinitions' failed to satisfy constraint: Member must not be null; "
		"Value 'abc;' at 'tableName' failed to satisfy constraint: "
		"Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; "
		"Value null at 'keySchema' failed to satisfy constraint: Member must not be null");
	INVALID(shape_create_table,
		"{\"TableName\":\"abc\",\"AttributeDefinitions\":[],\"KeySchema\":[],\"BillingMode\":\"A\","
		"\"ProvisionedThroughput\":{\"ReadCapacityUnits\":-1,\"WriteCapacityUnits\":-1}}",
		"4 validation errors detected: "
		"Value 'A' at 'billingMode' failed to satisfy constraint: "
		"Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]; "
		"Value '-1' at 'provisionedThroughput.writeCapacityUnits' failed to satisfy constraint: "
		"Member must have value greater than or equal to 1; "
		"Value '-1' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: "
		"Member must have value greater than or equal to 1; "
		"Value '[]' at 'keySchema' failed to satisfy constraint: "
		"Member must have length greater than or equal to 1");
}

static void elements_are_numbered_from_one(void **state)
{
	INVALID(shape_create_table,
		"{\"TableName\":\"abc\",\"AttributeDefinitions\":[{\"AttributeName\":\"b\","
		"\"AttributeType\":\"SS\"}],\"KeySchema\":[{\"AttributeName\":\"b\",\"KeyType\":\"HASH\"},{}]}",
		"3 validation errors detected: "
		"Value 'SS' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: "
		"Member must satisfy enum value set: [B, N, S]; "
		"Value null at 'keySchema.2.member.attributeName' failed to satisfy constraint: "
		"Member must not be null; "
		"Value null at 'keySchema.2.member.keyType' failed to satisfy constraint: "
		"Member must not be null");
}

static void a_structure_is_printed_as_java_does(void **state)
{
	INVALID(shape_create_table,
		"{\"TableName\":\"abc\",\"AttributeDefinitions\":[],\"KeySchema\":["
		"{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"},"
		"{\"AttributeName\":\"c\",\"KeyType\":\"RANGE\"}]}",
		"1 validation error detected: Value '[KeySchemaElement(attributeName=a, keyType=HASH), "
		"KeySchemaElement(attributeName=b, keyType=RANGE), KeySchemaElement(attributeName=c, "
		"keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: "
		"Member must have length less than or equal to 2");
}

static void at_most_ten_failures_are_reported(void **state)
{
	const struct json *j = json_parse(&arena, SLICE("{\"TableName\":\"abc\",\"AttributeDefinitions\":"
							"[{},{},{},{},{},{}],\"KeySchema\":[]}"));
	struct error e = { 0 };

	assert_false(shape_check(&shape_create_table, j, &arena, &e));
	assert_true(slice_starts(e.message, SLICE("10 validation errors detected: ")));
}

static void null_is_no_element(void **state)
{
	INVALID(shape_untag_resource, "{\"TagKeys\":[\"a\",null]}",
		"1 validation error detected: Value null at 'tagKeys.2.member' failed to satisfy constraint: "
		"Member must not be null");
	INVALID(shape_batch_get_item, "{\"RequestItems\":{\"abc\":null}}",
		"1 validation error detected: Value null at 'requestItems.abc.member' failed to satisfy "
		"constraint: Member must not be null");
}

static void null_counts_as_absent(void **state)
{
	check_accepted(&shape_list_tables, "{\"Limit\":null,\"ExclusiveStartTableName\":null}");
}

static void unknown_members_are_ignored(void **state)
{
	check_accepted(&shape_describe_limits, "{\"Whatever\":{\"a\":[1]}}");
}

static void a_pattern_comes_before_lengths(void **state)
{
	INVALID(shape_list_tables, "{\"ExclusiveStartTableName\":\"a;\",\"Limit\":500}",
		"3 validation errors detected: "
		"Value 'a;' at 'exclusiveStartTableName' failed to satisfy constraint: "
		"Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; "
		"Value 'a;' at 'exclusiveStartTableName' failed to satisfy constraint: "
		"Member must have length greater than or equal to 3; "
		"Value '500' at 'limit' failed to satisfy constraint: "
		"Member must have value less than or equal to 100");
}

static void a_global_index_takes_eight_key_attributes(void **state)
{
#define ELEMENT "{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"}"
#define EIGHT   ELEMENT "," ELEMENT "," ELEMENT "," ELEMENT "," ELEMENT "," ELEMENT "," ELEMENT "," ELEMENT
#define TABLE(list, keys)                                                                        \
	"{\"TableName\":\"abc\",\"AttributeDefinitions\":[],\"KeySchema\":[" ELEMENT "],\"" list \
	"\":[{\"IndexName\":\"abc\",\"Projection\":{},\"KeySchema\":[" keys "]}]}"
	const struct json *nine = json_parse(&arena, SLICE(TABLE("GlobalSecondaryIndexes", EIGHT "," ELEMENT)));
	const struct json *local = json_parse(&arena, SLICE(TABLE("LocalSecondaryIndexes", EIGHT)));
	struct error e = { 0 };

	check_accepted(&shape_create_table, TABLE("GlobalSecondaryIndexes", EIGHT));
	assert_false(shape_check(&shape_create_table, nine, &arena, &e));
	assert_false(shape_check(&shape_create_table, local, &arena, &e));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_string_takes_no_other_type),
		TEST(a_number_takes_no_other_type),
		TEST(a_boolean_takes_its_words_as_strings),
		TEST(a_list_takes_no_other_type),
		TEST(a_structure_says_where_it_stands),
		TEST(types_come_before_constraints),
		TEST(a_missing_table_name_is_reported_alone),
		TEST(a_table_name_of_the_wrong_length_is_reported_alone),
		TEST(a_table_name_may_be_an_arn),
		TEST(all_failures_are_reported_together),
		TEST(elements_are_numbered_from_one),
		TEST(a_structure_is_printed_as_java_does),
		TEST(at_most_ten_failures_are_reported),
		TEST(null_is_no_element),
		TEST(null_counts_as_absent),
		TEST(unknown_members_are_ignored),
		TEST(a_pattern_comes_before_lengths),
		TEST(a_global_index_takes_eight_key_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
