/* The stream of a design's table: the operations that DynamoDB has for it (DescribeStream, GetShardIterator,
 * GetRecords), one request each. process/tail/ reads streams with these, and handles failures.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DB_DYN_STREAM_H
#define THORPE_APP_DB_DYN_STREAM_H

#include "app/run/run.h"

struct shard {
	struct slice id;
	struct slice parent; /* empty: none */
	bool closed;         /* gets no more records */
};

struct shard_list {
	struct slice stream_arn;
	struct shard *list;
	size_t count, room;
};
const struct shard *shard_list_find(const struct shard_list *l, struct slice id); /* NULL: not listed */

/* The shards of the design's stream now. NOT_FOUND: the table has none. */
bool dyn_list_shards(struct run *r, struct shard_list *out) MUST_CHECK;

/* Where in a shard: after a sequence number, at the oldest record there is, at the end, or at a time (replay). */
struct shard_position {
	enum { AT_OLDEST, AT_LATEST, AFTER_SEQUENCE, AT_TIME } where;
	struct slice sequence;
	int64_t time_ms;
};

/* *iterator empty: the start was trimmed; use AT_OLDEST. AT_TIME returns the position of AT_OLDEST, because a stream
 * has no lookup by time: the caller skips older records. NOT_FOUND: the stream or the shard is gone. */
bool dyn_take_iterator(struct run *r, struct slice stream_arn, struct slice shard, const struct shard_position *at,
		       struct slice *iterator) MUST_CHECK;

struct dyn_records {
	struct reply_record *list;
	size_t count;
	struct slice iterator; /* to continue with; empty: the shard has ended */
	bool trimmed;          /* the requested records were trimmed, and there are no others */
};

/* At most `limit` (1..1000). An expired iterator is BUSY: take a new one from the last sequence. NOT_FOUND as above. */
bool dyn_read_records(struct run *r, struct slice iterator, int limit, struct dyn_records *out) MUST_CHECK;

#endif
