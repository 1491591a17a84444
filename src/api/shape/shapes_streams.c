/* Shapes of the Streams API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/shape/shape_words.h"

STRING(stream_arn_shape, 37, 1024);
STRING(shard_id, 28, 65);
STRING(sequence_number, 21, 40);
STRING(shard_iterator, 1, 2048);

static const struct shape page_limit = { .type = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 100 };

static const struct shape_member list_streams[] = {
	OPTIONAL("TableName", shape_new_table_name),
	OPTIONAL("Limit", page_limit),
	OPTIONAL("ExclusiveStartStreamArn", stream_arn_shape),
	END,
};
OPERATION(list_streams, list_streams);

ENUM(filter_type, "CHILD_SHARDS");
static const struct shape_member shard_filter_members[] = {
	REQUIRED("Type", filter_type),
	REQUIRED("ShardId", shard_id),
	END,
};
STRUCT(shard_filter, shard_filter_members, "ShardFilter");
static const struct shape_member describe_stream[] = {
	REQUIRED("StreamArn", stream_arn_shape),
	OPTIONAL("Limit", page_limit),
	OPTIONAL("ExclusiveStartShardId", shard_id),
	OPTIONAL("ShardFilter", shard_filter),
	END,
};
OPERATION(describe_stream, describe_stream);

ENUM(iterator_type, "AFTER_SEQUENCE_NUMBER", "LATEST", "AT_SEQUENCE_NUMBER", "TRIM_HORIZON");
static const struct shape_member get_shard_iterator[] = {
	REQUIRED("StreamArn", stream_arn_shape),
	REQUIRED("ShardId", shard_id),
	REQUIRED("ShardIteratorType", iterator_type),
	OPTIONAL("SequenceNumber", sequence_number),
	END,
};
OPERATION(get_shard_iterator, get_shard_iterator);

static const struct shape records_limit = {
	.type = SHAPE_INTEGER, .has_min = true, .min = 1, .has_max = true, .max = 1000
};
static const struct shape_member get_records[] = {
	REQUIRED("ShardIterator", shard_iterator),
	OPTIONAL("Limit", records_limit),
	END,
};
OPERATION(get_records, get_records);
