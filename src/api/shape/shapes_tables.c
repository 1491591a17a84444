/* Shapes of the operations on tables, tags and the service itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/shape/shape_words.h"

/* More than any table can use. Ours: DynamoDB's shapes have no such bound, but the checks on these lists compare each
 * element with all others. */
#define BOUNDED_LIST(name, element_) \
	static const struct shape name = { .type = SHAPE_LIST, .element = &(element_), .has_max = true, .max = 1000 }

/* ---- keys and indexes ---- */

STRING(key_name, 1, 255);
ENUM(attribute_type, "B", "N", "S");
ENUM(key_type, "HASH", "RANGE");
ENUM(projection_type, "ALL", "INCLUDE", "KEYS_ONLY");

static const struct shape_member definition_members[] = {
	REQUIRED("AttributeName", key_name),
	REQUIRED("AttributeType", attribute_type),
	END,
};
STRUCT(definition, definition_members, "AttributeDefinition");
BOUNDED_LIST(definitions, definition);

static const struct shape_member key_element_members[] = {
	REQUIRED("AttributeName", key_name),
	REQUIRED("KeyType", key_type),
	END,
};
STRUCT(key_element, key_element_members, "KeySchemaElement");
static const struct shape key_schema = {
	.type = SHAPE_LIST, .element = &key_element, .has_min = true, .min = 1, .has_max = true, .max = 2
};
/* Four attributes for each half of a global index's key. */
static const struct shape global_key_schema = {
	.type = SHAPE_LIST, .element = &key_element, .has_min = true, .min = 1, .has_max = true, .max = 8
};

STRING(non_key_name, 1, 255);
static const struct shape non_key_attributes = {
	.type = SHAPE_LIST, .element = &non_key_name, .has_min = true, .min = 1, .has_max = true, .max = 20
};
static const struct shape_member projection_members[] = {
	OPTIONAL("ProjectionType", projection_type),
	OPTIONAL("NonKeyAttributes", non_key_attributes),
	END,
};
STRUCT(projection, projection_members, "Projection");

/* ---- capacity ---- */

static const struct shape long_number = { .type = SHAPE_LONG };
static const struct shape units = { .type = SHAPE_LONG, .has_min = true, .min = 1 };
static const struct shape_member throughput_members[] = {
	REQUIRED("WriteCapacityUnits", units),
	REQUIRED("ReadCapacityUnits", units),
	END,
};
STRUCT(throughput, throughput_members, "ProvisionedThroughput");
static const struct shape_member on_demand_members[] = {
	OPTIONAL("MaxReadRequestUnits", long_number),
	OPTIONAL("MaxWriteRequestUnits", long_number),
	END,
};
STRUCT(on_demand, on_demand_members, "OnDemandThroughput");
static const struct shape_member warm_members[] = {
	OPTIONAL("ReadUnitsPerSecond", units),
	OPTIONAL("WriteUnitsPerSecond", units),
	END,
};
STRUCT(warm, warm_members, "WarmThroughput");
ENUM(billing_mode, "PROVISIONED", "PAY_PER_REQUEST");

static const struct shape_member local_index_members[] = {
	REQUIRED("IndexName", shape_index_name),
	REQUIRED("KeySchema", key_schema),
	REQUIRED("Projection", projection),
	END,
};
STRUCT(local_index, local_index_members, "LocalSecondaryIndex");
BOUNDED_LIST(local_indexes, local_index);

static const struct shape_member global_index_members[] = {
	REQUIRED("IndexName", shape_index_name),
	REQUIRED("KeySchema", global_key_schema),
	REQUIRED("Projection", projection),
	OPTIONAL("ProvisionedThroughput", throughput),
	OPTIONAL("OnDemandThroughput", on_demand),
	OPTIONAL("WarmThroughput", warm),
	END,
};
STRUCT(global_index, global_index_members, "GlobalSecondaryIndex");
BOUNDED_LIST(global_indexes, global_index);

/* ---- settings ---- */

ENUM(stream_view_type, "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY");
static const struct shape_member stream_members[] = {
	REQUIRED("StreamEnabled", shape_boolean),
	OPTIONAL("StreamViewType", stream_view_type),
	END,
};
STRUCT(stream, stream_members, "StreamSpecification");

ENUM(sse_type, "AES256", "KMS");
static const struct shape_member sse_members[] = {
	OPTIONAL("Enabled", shape_boolean),
	OPTIONAL("SSEType", sse_type),
	OPTIONAL("KMSMasterKeyId", shape_string),
	END,
};
STRUCT(sse, sse_members, "SSESpecification");
ENUM(table_class, "STANDARD", "STANDARD_INFREQUENT_ACCESS");

STRING(tag_key, 1, 128);
STRING(tag_value, 0, 256);
static const struct shape_member tag_members[] = {
	REQUIRED("Key", tag_key),
	REQUIRED("Value", tag_value),
	END,
};
STRUCT(tag, tag_members, "Tag");
LIST(tags, tag);

/* ---- tables ---- */

static const struct shape_member create_table[] = {
	OPTIONAL("OnDemandThroughput", on_demand),
	OPTIONAL("WarmThroughput", warm),
	REQUIRED("AttributeDefinitions", definitions),
	PARAMETER("TableName", shape_new_table_name),
	OPTIONAL("BillingMode", billing_mode),
	OPTIONAL("ProvisionedThroughput", throughput),
	REQUIRED("KeySchema", key_schema),
	OPTIONAL("LocalSecondaryIndexes", local_indexes),
	OPTIONAL("GlobalSecondaryIndexes", global_indexes),
	OPTIONAL("StreamSpecification", stream),
	OPTIONAL("SSESpecification", sse),
	OPTIONAL("Tags", tags),
	OPTIONAL("TableClass", table_class),
	OPTIONAL("DeletionProtectionEnabled", shape_boolean),
	OPTIONAL("ResourcePolicy", shape_string),
	END,
};
OPERATION(create_table, create_table);

static const struct shape_member only_table_name[] = {
	PARAMETER("TableName", shape_new_table_name),
	END,
};
OPERATION(describe_table, only_table_name);
OPERATION(delete_table, only_table_name);
OPERATION(describe_time_to_live, only_table_name);
OPERATION(describe_continuous_backups, only_table_name);

static const struct shape list_limit = { .type = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 100 };
static const struct shape start_table_name = { .type = SHAPE_STRING,
					       .pattern = NAME_PATTERN,
					       .matches = shape_is_name,
					       .has_min = true,
					       .min = 3,
					       .has_max = true,
					       .max = 255 };
static const struct shape_member list_tables[] = {
	OPTIONAL("ExclusiveStartTableName", start_table_name),
	OPTIONAL("Limit", list_limit),
	END,
};
OPERATION(list_tables, list_tables);

static const struct shape_member index_update_members[] = {
	REQUIRED("IndexName", shape_index_name),
	OPTIONAL("ProvisionedThroughput", throughput),
	OPTIONAL("OnDemandThroughput", on_demand),
	OPTIONAL("WarmThroughput", warm),
	END,
};
STRUCT(index_update, index_update_members, "UpdateGlobalSecondaryIndexAction");
static const struct shape_member index_create_members[] = {
	REQUIRED("Projection", projection),
	REQUIRED("IndexName", shape_index_name),
	OPTIONAL("ProvisionedThroughput", throughput),
	REQUIRED("KeySchema", global_key_schema),
	OPTIONAL("OnDemandThroughput", on_demand),
	OPTIONAL("WarmThroughput", warm),
	END,
};
STRUCT(index_create, index_create_members, "CreateGlobalSecondaryIndexAction");
static const struct shape_member index_delete_members[] = {
	REQUIRED("IndexName", shape_index_name),
	END,
};
STRUCT(index_delete, index_delete_members, "DeleteGlobalSecondaryIndexAction");
static const struct shape_member index_change_members[] = {
	OPTIONAL("Update", index_update),
	OPTIONAL("Create", index_create),
	OPTIONAL("Delete", index_delete),
	END,
};
STRUCT(index_change, index_change_members, "GlobalSecondaryIndexUpdate");
BOUNDED_LIST(index_changes, index_change);

static const struct shape_member update_table[] = {
	OPTIONAL("OnDemandThroughput", on_demand),
	OPTIONAL("WarmThroughput", warm),
	OPTIONAL("AttributeDefinitions", definitions),
	PARAMETER("TableName", shape_new_table_name),
	OPTIONAL("ProvisionedThroughput", throughput),
	OPTIONAL("BillingMode", billing_mode),
	OPTIONAL("GlobalSecondaryIndexUpdates", index_changes),
	OPTIONAL("StreamSpecification", stream),
	OPTIONAL("SSESpecification", sse),
	OPTIONAL("TableClass", table_class),
	OPTIONAL("DeletionProtectionEnabled", shape_boolean),
	END,
};
OPERATION(update_table, update_table);

static const struct shape_member ttl_members[] = {
	REQUIRED("Enabled", shape_boolean),
	REQUIRED("AttributeName", key_name),
	END,
};
STRUCT(ttl, ttl_members, "TimeToLiveSpecification");
static const struct shape_member update_time_to_live[] = {
	PARAMETER("TableName", shape_new_table_name),
	REQUIRED("TimeToLiveSpecification", ttl),
	END,
};
OPERATION(update_time_to_live, update_time_to_live);

/* ---- tags: the ARN is checked before the members, so the shape requires none ---- */

static const struct shape_member tag_resource[] = {
	OPTIONAL("ResourceArn", shape_string),
	OPTIONAL("Tags", tags),
	END,
};
OPERATION(tag_resource, tag_resource);

BOUNDED_LIST(tag_keys, tag_key);
static const struct shape_member untag_resource[] = {
	OPTIONAL("ResourceArn", shape_string),
	OPTIONAL("TagKeys", tag_keys),
	END,
};
OPERATION(untag_resource, untag_resource);

static const struct shape_member list_tags_of_resource[] = {
	OPTIONAL("ResourceArn", shape_string),
	OPTIONAL("NextToken", shape_string),
	END,
};
OPERATION(list_tags_of_resource, list_tags_of_resource);

/* ---- the service ---- */

static const struct shape_member nothing[] = { END };
OPERATION(describe_limits, nothing);
OPERATION(describe_endpoints, nothing);
