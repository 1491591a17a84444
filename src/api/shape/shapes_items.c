/* Shapes of the operations on items.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/shape/shape_words.h"
#include "value/limits.h"

#define EXPRESSION_NAMES  OPTIONAL("ExpressionAttributeNames", shape_attribute_names)
#define EXPRESSION_VALUES OPTIONAL("ExpressionAttributeValues", shape_item)
#define ON_FAILURE        OPTIONAL("ReturnValuesOnConditionCheckFailure", shape_return_on_failure)

static const struct shape_member put_item[] = {
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	REQUIRED("TableName", shape_table_name),
	REQUIRED("Item", shape_item),
	OPTIONAL("ConditionalOperator", shape_conditional_operator),
	OPTIONAL("Expected", shape_expected),
	OPTIONAL("ReturnValues", shape_return_values),
	OPTIONAL("ReturnItemCollectionMetrics", shape_return_metrics),
	OPTIONAL("ConditionExpression", shape_string),
	EXPRESSION_VALUES,
	EXPRESSION_NAMES,
	ON_FAILURE,
	END,
};
OPERATION(put_item, put_item);

static const struct shape_member get_item[] = {
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	OPTIONAL("AttributesToGet", shape_attributes_to_get),
	REQUIRED("TableName", shape_table_name),
	REQUIRED("Key", shape_item),
	OPTIONAL("ConsistentRead", shape_boolean),
	OPTIONAL("ProjectionExpression", shape_string),
	EXPRESSION_NAMES,
	END,
};
OPERATION(get_item, get_item);

static const struct shape_member attribute_update[] = {
	OPTIONAL("Action", shape_string),
	OPTIONAL("Value", shape_attribute_value),
	END,
};
STRUCT(attribute_update_shape, attribute_update, "AttributeValueUpdate");
static const struct shape attribute_updates = { .type = SHAPE_MAP,
						.element = &attribute_update_shape,
						.key = &shape_attribute_name };

static const struct shape_member update_item[] = {
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	REQUIRED("TableName", shape_table_name),
	OPTIONAL("ReturnItemCollectionMetrics", shape_return_metrics),
	OPTIONAL("ReturnValues", shape_return_values),
	REQUIRED("Key", shape_item),
	OPTIONAL("ConditionalOperator", shape_conditional_operator),
	OPTIONAL("Expected", shape_expected),
	OPTIONAL("AttributeUpdates", attribute_updates),
	OPTIONAL("ConditionExpression", shape_string),
	OPTIONAL("UpdateExpression", shape_string),
	EXPRESSION_VALUES,
	EXPRESSION_NAMES,
	ON_FAILURE,
	END,
};
OPERATION(update_item, update_item);

static const struct shape_member delete_item[] = {
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	REQUIRED("TableName", shape_table_name),
	OPTIONAL("ReturnItemCollectionMetrics", shape_return_metrics),
	OPTIONAL("ReturnValues", shape_return_values),
	REQUIRED("Key", shape_item),
	OPTIONAL("ConditionalOperator", shape_conditional_operator),
	OPTIONAL("Expected", shape_expected),
	OPTIONAL("ConditionExpression", shape_string),
	EXPRESSION_VALUES,
	EXPRESSION_NAMES,
	ON_FAILURE,
	END,
};
OPERATION(delete_item, delete_item);

static const struct shape query_limit = { .type = SHAPE_INTEGER, .has_min = true, .min = 1, .terse = true };

static const struct shape_member query[] = {
	OPTIONAL("Select", shape_select),
	OPTIONAL("IndexName", shape_index_name),
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	OPTIONAL("QueryFilter", shape_conditions),
	REQUIRED("TableName", shape_table_name),
	OPTIONAL("ConditionalOperator", shape_conditional_operator),
	OPTIONAL("AttributesToGet", shape_attributes_to_get),
	OPTIONAL("Limit", query_limit),
	OPTIONAL("KeyConditions", shape_conditions),
	OPTIONAL("ExclusiveStartKey", shape_item),
	OPTIONAL("ConsistentRead", shape_boolean),
	OPTIONAL("ScanIndexForward", shape_boolean),
	OPTIONAL("KeyConditionExpression", shape_string),
	OPTIONAL("FilterExpression", shape_string),
	OPTIONAL("ProjectionExpression", shape_string),
	EXPRESSION_VALUES,
	EXPRESSION_NAMES,
	END,
};
OPERATION(query, query);

static const struct shape segment = { .type = SHAPE_INTEGER, .has_min = true, .min = 0, .has_max = true, .max = 999999 };
static const struct shape total_segments = {
	.type = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 1000000
};

static const struct shape_member scan[] = {
	OPTIONAL("Select", shape_select),
	OPTIONAL("IndexName", shape_index_name),
	OPTIONAL("TotalSegments", total_segments),
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	REQUIRED("TableName", shape_table_name),
	OPTIONAL("ConditionalOperator", shape_conditional_operator),
	OPTIONAL("ScanFilter", shape_conditions),
	OPTIONAL("Segment", segment),
	OPTIONAL("Limit", shape_limit),
	OPTIONAL("AttributesToGet", shape_attributes_to_get),
	OPTIONAL("ExclusiveStartKey", shape_item),
	OPTIONAL("ConsistentRead", shape_boolean),
	OPTIONAL("FilterExpression", shape_string),
	OPTIONAL("ProjectionExpression", shape_string),
	EXPRESSION_VALUES,
	EXPRESSION_NAMES,
	END,
};
OPERATION(scan, scan);

/* ---- batches ---- */

static const struct shape keys = { .type = SHAPE_LIST,
				   .element = &shape_key_map,
				   .has_min = true,
				   .min = 1,
				   .has_max = true,
				   .max = BATCH_GETS_MAX,
				   .terse = true };
static const struct shape_member keys_and_attributes[] = {
	REQUIRED("Keys", keys),
	OPTIONAL("AttributesToGet", shape_attributes_to_get),
	OPTIONAL("ConsistentRead", shape_boolean),
	OPTIONAL("ProjectionExpression", shape_string),
	EXPRESSION_NAMES,
	END,
};
STRUCT(keys_and_attributes_shape, keys_and_attributes, "KeysAndAttributes");
/* A missing or empty RequestItems has a message of its own, which the handlers give. */
static const struct shape get_requests = { .type = SHAPE_MAP,
					   .element = &keys_and_attributes_shape,
					   .key = &shape_table_name };

static const struct shape_member batch_get_item[] = {
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	OPTIONAL("RequestItems", get_requests),
	END,
};
OPERATION(batch_get_item, batch_get_item);

static const struct shape_member delete_request[] = { REQUIRED("Key", shape_item), END };
static const struct shape_member put_request[] = { REQUIRED("Item", shape_item), END };
STRUCT(delete_request_shape, delete_request, "DeleteRequest");
STRUCT(put_request_shape, put_request, "PutRequest");
static const struct shape_member write_request[] = {
	OPTIONAL("DeleteRequest", delete_request_shape),
	OPTIONAL("PutRequest", put_request_shape),
	END,
};
STRUCT(write_request_shape, write_request, "WriteRequest");
static const struct shape write_requests = { .type = SHAPE_LIST,
					     .element = &write_request_shape,
					     .has_min = true,
					     .min = 1,
					     .has_max = true,
					     .max = BATCH_WRITES_MAX,
					     .parameterized = true };
static const struct shape requests_by_table = {
	.type = SHAPE_MAP, .element = &write_requests, .key = &shape_table_name, .checks_values = true
};

static const struct shape_member batch_write_item[] = {
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	OPTIONAL("ReturnItemCollectionMetrics", shape_return_metrics),
	OPTIONAL("RequestItems", requests_by_table),
	END,
};
OPERATION(batch_write_item, batch_write_item);

/* ---- transactions ---- */

static const struct shape_member transact_get[] = {
	REQUIRED("Key", shape_item),
	REQUIRED("TableName", shape_table_name),
	OPTIONAL("ProjectionExpression", shape_string),
	EXPRESSION_NAMES,
	END,
};
STRUCT(transact_get_shape, transact_get, "Get");
static const struct shape_member transact_get_item[] = { REQUIRED("Get", transact_get_shape), END };
STRUCT(transact_get_item_shape, transact_get_item, "TransactGetItem");
static const struct shape transact_gets = { .type = SHAPE_LIST,
					    .element = &transact_get_item_shape,
					    .has_min = true,
					    .min = 1,
					    .has_max = true,
					    .max = TRANSACTION_ACTIONS_MAX };
static const struct shape_member transact_get_items[] = {
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	REQUIRED("TransactItems", transact_gets),
	END,
};
OPERATION(transact_get_items, transact_get_items);

/* clang-format off */
static const struct shape_member condition_check[] = {
	REQUIRED("Key", shape_item),
	REQUIRED("TableName", shape_table_name),
	REQUIRED("ConditionExpression", shape_string),
	EXPRESSION_NAMES, EXPRESSION_VALUES, ON_FAILURE, END,
};
/* clang-format on */
/* clang-format off */
static const struct shape_member transact_put[] = {
	REQUIRED("Item", shape_item),
	REQUIRED("TableName", shape_table_name),
	OPTIONAL("ConditionExpression", shape_string),
	EXPRESSION_NAMES, EXPRESSION_VALUES, ON_FAILURE, END,
};
/* clang-format on */
/* clang-format off */
static const struct shape_member transact_delete[] = {
	REQUIRED("Key", shape_item),
	REQUIRED("TableName", shape_table_name),
	OPTIONAL("ConditionExpression", shape_string),
	EXPRESSION_NAMES, EXPRESSION_VALUES, ON_FAILURE, END,
};
/* clang-format on */
/* clang-format off */
static const struct shape_member transact_update[] = {
	REQUIRED("Key", shape_item),
	REQUIRED("UpdateExpression", shape_string),
	REQUIRED("TableName", shape_table_name),
	OPTIONAL("ConditionExpression", shape_string),
	EXPRESSION_NAMES, EXPRESSION_VALUES, ON_FAILURE, END,
};
/* clang-format on */
STRUCT(condition_check_shape, condition_check, "ConditionCheck");
STRUCT(transact_put_shape, transact_put, "Put");
STRUCT(transact_delete_shape, transact_delete, "Delete");
STRUCT(transact_update_shape, transact_update, "Update");
static const struct shape_member transact_write_item[] = {
	OPTIONAL("ConditionCheck", condition_check_shape),
	OPTIONAL("Put", transact_put_shape),
	OPTIONAL("Delete", transact_delete_shape),
	OPTIONAL("Update", transact_update_shape),
	END,
};
STRUCT(transact_write_item_shape, transact_write_item, "TransactWriteItem");
static const struct shape transact_writes = { .type = SHAPE_LIST,
					      .element = &transact_write_item_shape,
					      .has_min = true,
					      .min = 1,
					      .has_max = true,
					      .max = TRANSACTION_ACTIONS_MAX };
static const struct shape token = { .type = SHAPE_STRING, .has_min = true, .min = 1, .has_max = true, .max = 36 };
static const struct shape_member transact_write_items[] = {
	OPTIONAL("ReturnConsumedCapacity", shape_return_capacity),
	OPTIONAL("ReturnItemCollectionMetrics", shape_return_metrics),
	OPTIONAL("ClientRequestToken", token),
	REQUIRED("TransactItems", transact_writes),
	END,
};
OPERATION(transact_write_items, transact_write_items);
