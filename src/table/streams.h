/* Reading change streams: shards, iterators, records.
 *
 * A stream has a fixed number of shards; an item's shard is chosen by its partition key, so the
 * changes of one item are in order. A sequence number is (milliseconds << 22 | counter), rising with
 * every commit (T5). On the wire it is a decimal string of 21 digits, zero-padded, as DynamoDB's are
 * at least 21 characters.
 *
 * A sequence number is an order, not a date: after the clock is set back, numbers continue from the later time by
 * counting. The record holds the time of the change (created_ms, from the wall clock). The timekeeper (timekeeper.h)
 * decides when a record expires: it notes which numbers existed at which time. So trimming deletes a key range,
 * however the clock was set.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_STREAMS_H
#define THORPE_TABLE_STREAMS_H

#include "request/request.h"
#include "table/db.h"

#define STREAM_SEQUENCE_SHIFT 22                     /* the milliseconds are above the counter */
#define STREAM_LAST_MS        INT64_C(4102444800000) /* 2100: past it numbers only count up, with 2^60 left */

struct stream_record {
	uint64_t sequence;
	enum stream_event event;
	bool by_ttl; /* userIdentity {Type: Service, PrincipalId: dynamodb.amazonaws.com} */
	int64_t created_ms;
	struct value keys, old_image, new_image; /* images according to the view type, else absent */
	size_t size_bytes;
};

/* The stream with this ARN, enabled or closed; NULL: no such stream (any more). */
const struct stream *catalog_stream(const struct catalog *c, struct slice arn, const struct table **table);

struct stream_read {
	const struct stream *stream;
	uint32_t shard;
	uint64_t from;                                          /* the first sequence */
	int64_t limit;                                          /* 0: 1000 */
	void (*emit)(void *ctx, const struct stream_record *r); /* the record is valid during the call */
	void *ctx;
};
/* Records of one shard with sequence >= from, oldest first, at most `limit` and 1 MB in total. Skips records below
 * the horizon. *next is the position to continue from; at the end of a closed stream's shard it is greater than
 * closed_sequence: no record will ever follow. Errors: INTERNAL (disk). */
bool db_stream_read(struct db *db, const struct stream_read *q, struct arena *a, uint64_t *next,
		    struct error *e) MUST_CHECK;
/* The lowest sequence number the next commit can have: LATEST. */
uint64_t db_stream_latest(struct db *db);
/* Records up to this number have reached 5/6 of the retention time (20 of 24 hours), in the database's own time. 0:
 * none, or not known yet (for a second after opening). */
uint64_t db_stream_aging(struct db *db);
/* The oldest sequence a record can still have: TRIM_HORIZON. An iterator below it is trimmed. */
uint64_t db_stream_horizon(struct db *db, const struct stream *s);
/* The shard of an item with this partition key, 0 … s->shards - 1. */
uint32_t stream_shard_of(const struct stream *s, struct slice pk);
/* The same if each shard is reported as 2^depth shards: shard i becomes i·2^depth … (i+1)·2^depth - 1. */
uint32_t stream_part_of(const struct stream *s, uint32_t depth, struct slice pk);

#endif
