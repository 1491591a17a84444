/* Shapes that several operations share. Orders are DynamoDB's: they show in messages.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/shape/shape_common.h"
#include "value/limits.h"

bool shape_is_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
		      c == '.' || c == '-'))
			return false;
	}
	return s.n > 0;
}

bool shape_is_name_or_arn(struct slice s)
{
	return slice_starts(s, SLICE("arn:")) || shape_is_name(s);
}

/* For names of one to three characters the pattern is not what fails. */
static bool name_or_empty(struct slice s)
{
	return s.n == 0 || shape_is_name_or_arn(s);
}

const struct shape shape_string = { .type = SHAPE_STRING };
const struct shape shape_boolean = { .type = SHAPE_BOOLEAN };
const struct shape shape_attribute_value = { .type = SHAPE_ATTRIBUTE_VALUE };
const struct shape shape_item = { .type = SHAPE_MAP, .element = &shape_attribute_value };
const struct shape shape_key_map = { .type = SHAPE_MAP, .element = &shape_attribute_value, .parameterized = true };
const struct shape shape_attribute_names = { .type = SHAPE_MAP, .element = &shape_string };
const struct shape shape_attribute_name = { .type = SHAPE_STRING, .has_max = true, .max = ATTRIBUTE_NAME_BYTES_MAX };
const struct shape shape_attributes_to_get = {
	.type = SHAPE_LIST, .element = &shape_attribute_name, .has_min = true, .min = 1, .has_max = true, .max = 255
};
const struct shape shape_table_name = { .type = SHAPE_STRING,
					.pattern = NAME_PATTERN,
					.matches = name_or_empty,
					.has_min = true,
					.min = 1,
					.has_max = true,
					.max = TABLE_NAME_LENGTH_MAX,
					.arn_ok = true };
const struct shape shape_new_table_name = { .type = SHAPE_STRING,
					    .pattern = NAME_PATTERN,
					    .matches = name_or_empty,
					    .has_min = true,
					    .min = TABLE_NAME_LENGTH_MIN,
					    .has_max = true,
					    .max = TABLE_NAME_LENGTH_MAX,
					    .arn_ok = true };
const struct shape shape_index_name = { .type = SHAPE_STRING,
					.pattern = NAME_PATTERN,
					.matches = shape_is_name,
					.has_min = true,
					.min = TABLE_NAME_LENGTH_MIN,
					.has_max = true,
					.max = TABLE_NAME_LENGTH_MAX };
const struct shape shape_limit = { .type = SHAPE_INTEGER, .has_min = true, .min = 1 };

#define ENUM(name, ...)                                                   \
	static const char *const name##_values[] = { __VA_ARGS__, NULL }; \
	const struct shape name = { .type = SHAPE_STRING, .values = name##_values }

ENUM(shape_return_capacity, "INDEXES", "TOTAL", "NONE");
ENUM(shape_return_metrics, "SIZE", "NONE");
ENUM(shape_return_values, "ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW");
ENUM(shape_return_on_failure, "ALL_OLD", "NONE");
ENUM(shape_conditional_operator, "OR", "AND");
ENUM(shape_select, "SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES");
ENUM(shape_comparison, "IN", "NULL", "BETWEEN", "LT", "NOT_CONTAINS", "EQ", "GT", "NOT_NULL", "NE", "LE", "BEGINS_WITH",
     "GE", "CONTAINS");

static const struct shape value_list = { .type = SHAPE_LIST, .element = &shape_attribute_value };

static const struct shape_member expected_members[] = {
	{ "AttributeValueList", &value_list, SHAPE_OPTIONAL },
	{ "ComparisonOperator", &shape_comparison, SHAPE_OPTIONAL },
	{ "Exists", &shape_boolean, SHAPE_OPTIONAL },
	{ "Value", &shape_attribute_value, SHAPE_OPTIONAL },
	{ 0 },
};
static const struct shape expected_value = { .type = SHAPE_STRUCT,
					     .members = expected_members,
					     .class_name = "ExpectedAttributeValue" };
const struct shape shape_expected = { .type = SHAPE_MAP, .element = &expected_value, .key = &shape_attribute_name };

static const struct shape_member condition_members[] = {
	{ "AttributeValueList", &value_list, SHAPE_OPTIONAL },
	{ "ComparisonOperator", &shape_comparison, SHAPE_REQUIRED },
	{ 0 },
};
static const struct shape condition_value = { .type = SHAPE_STRUCT,
					      .members = condition_members,
					      .class_name = "Condition" };
const struct shape shape_conditions = { .type = SHAPE_MAP, .element = &condition_value, .key = &shape_attribute_name };
