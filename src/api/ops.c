/* The table of operations: one row each. A new operation is a row here, a shape and a handler.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/op.h"

/* clang-format off */
static const struct op ops[] = {
	/* items */
	{ { "GetItem", OP_READ }, &shape_get_item, op_get_item },
	{ { "PutItem", OP_WRITE }, &shape_put_item, op_put_item },
	{ { "UpdateItem", OP_WRITE }, &shape_update_item, op_update_item },
	{ { "DeleteItem", OP_WRITE }, &shape_delete_item, op_delete_item },
	{ { "Query", OP_READ }, &shape_query, op_query },
	{ { "Scan", OP_READ }, &shape_scan, op_scan },
	{ { "BatchGetItem", OP_READ }, &shape_batch_get_item, op_batch_get_item },
	{ { "BatchWriteItem", OP_WRITE }, &shape_batch_write_item, op_batch_write_item },
	{ { "TransactGetItems", OP_READ }, &shape_transact_get_items, op_transact_get_items },
	{ { "TransactWriteItems", OP_WRITE }, &shape_transact_write_items, op_transact_write_items },
	/* tables */
	{ { "CreateTable", OP_WRITE | OP_CONTROL }, &shape_create_table, op_create_table },
	{ { "DescribeTable", OP_READ | OP_CONTROL }, &shape_describe_table, op_describe_table },
	{ { "ListTables", OP_READ | OP_CONTROL }, &shape_list_tables, op_list_tables },
	{ { "DeleteTable", OP_WRITE | OP_CONTROL }, &shape_delete_table, op_delete_table },
	{ { "UpdateTable", OP_WRITE | OP_CONTROL }, &shape_update_table, op_update_table },
	{ { "UpdateTimeToLive", OP_WRITE | OP_CONTROL }, &shape_update_time_to_live, op_update_time_to_live },
	{ { "DescribeTimeToLive", OP_READ | OP_CONTROL }, &shape_describe_time_to_live,
	  op_describe_time_to_live },
	{ { "DescribeLimits", OP_READ | OP_CONTROL }, &shape_describe_limits, op_describe_limits },
	{ { "DescribeEndpoints", OP_READ | OP_CONTROL }, &shape_describe_endpoints, op_describe_endpoints },
	{ { "DescribeContinuousBackups", OP_READ | OP_CONTROL }, &shape_describe_continuous_backups,
	  op_describe_continuous_backups },
	{ { "TagResource", OP_WRITE | OP_CONTROL }, &shape_tag_resource, op_tag_resource },
	{ { "UntagResource", OP_WRITE | OP_CONTROL }, &shape_untag_resource, op_untag_resource },
	{ { "ListTagsOfResource", OP_READ | OP_CONTROL }, &shape_list_tags_of_resource,
	  op_list_tags_of_resource },
	/* streams */
	{ { "ListStreams", OP_READ | OP_STREAMS }, &shape_list_streams, op_list_streams },
	{ { "DescribeStream", OP_READ | OP_STREAMS }, &shape_describe_stream, op_describe_stream },
	{ { "GetShardIterator", OP_READ | OP_STREAMS }, &shape_get_shard_iterator, op_get_shard_iterator },
	{ { "GetRecords", OP_READ | OP_STREAMS }, &shape_get_records, op_get_records },
};
/* clang-format on */

#define OPS (sizeof(ops) / sizeof(ops[0]))

size_t op_count(void)
{
	return OPS;
}

const struct op *op_at(size_t i)
{
	return &ops[i];
}

const struct op *op_find(struct slice target)
{
	static const struct slice tables = SLICE("DynamoDB_20120810.");
	static const struct slice streams = SLICE("DynamoDBStreams_20120810.");
	struct slice prefix = slice_starts(target, tables) ? tables : streams;

	if (!slice_starts(target, prefix))
		return NULL;
	struct slice name = { target.p + prefix.n, target.n - prefix.n };

	for (size_t i = 0; i < OPS; i++) {
		bool of_streams = ops[i].facts.flags & OP_STREAMS;

		if (of_streams == (prefix.p == streams.p) && slice_is(name, ops[i].facts.name))
			return &ops[i];
	}
	return NULL;
}

const struct api_operation *api_operation(struct slice target)
{
	const struct op *op = op_find(target);

	return op ? &op->facts : NULL;
}

const struct api_operation *api_operation_named(const char *name)
{
	for (size_t i = 0; i < OPS; i++)
		if (!strcmp(ops[i].facts.name, name))
			return &ops[i].facts;
	return NULL;
}
