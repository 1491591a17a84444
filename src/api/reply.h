/* Pieces that several replies share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_REPLY_H
#define THORPE_API_REPLY_H

#include "api/op.h"

enum return_capacity { CAPACITY_NONE, CAPACITY_TOTAL, CAPACITY_INDEXES };
enum return_capacity reply_capacity_wanted(const struct json *in); /* ReturnConsumedCapacity */

/* One ConsumedCapacity object. `rw_split`: also Read-/WriteCapacityUnits, as transactions show. */
void reply_capacity(struct buf *b, const struct table *t, const struct capacity *c, enum return_capacity how,
		    bool rw_split);
/* TableDescription as CreateTable, DescribeTable, UpdateTable and DeleteTable show it; `shown` is the
 * TableStatus to show. */
void reply_table(struct buf *b, const struct table *t, enum resource_status shown, struct arena *a);
/* The member KeySchema. */
void reply_key_schema(struct buf *b, const struct key_schema *k);
/* ItemCollectionMetrics of one collection: {"ItemCollectionKey":…,"SizeEstimateRangeGB":[lo,hi]} */
void reply_collection(struct buf *b, const struct table *t, struct value key_item, int64_t bytes, struct arena *a);
/* Seconds with milliseconds, as DynamoDB prints dates in JSON: 1763208000.123 */
void reply_time(struct buf *b, int64_t ms);

#endif
