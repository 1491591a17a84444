/* The shards of a stream as clients see them.
 *
 * Records lie in a fixed number of shards (table/streams.h). If a stream was split (table/schema.h), clients see
 * the closed shards and their children. An *era* lasts from one split to the next; in each, the records of one
 * fixed shard appear as 1, 2 or 4 shards, by the hash of the partition key. Every record is in exactly one shard of
 * one era, and the changes of an item are in a line of parents and children, in order.
 *
 * Callers in this process see the fixed shards, whatever was split: `outside` false.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_SHARDS_H
#define THORPE_API_OP_SHARDS_H

#include "table/streams.h"

struct shard {
	uint64_t era;    /* the sequence number its era began with; 0: the stream's first era */
	uint32_t number; /* within the era */
};

struct shard_facts {
	uint32_t fixed; /* the fixed shard its records lie in */
	uint32_t depth; /* it is the part with its number, of 2^depth parts */
	uint64_t first; /* sequence numbers from here on */
	uint64_t end;   /* up to and excluding this one; UINT64_MAX: open */
	bool has_parent;
	struct shard parent;
};
/* False if the stream has no such shard (any more). */
bool shard_find(const struct stream *s, bool outside, struct shard shard, struct shard_facts *out);

/* All shards of a stream, oldest era first, in the order of their ids. */
size_t shards_count(const struct stream *s, bool outside);
struct shard shards_at(const struct stream *s, bool outside, size_t i);

struct slice shard_id_text(const struct stream *s, struct shard shard, struct arena *a);
/* False if the stream has no such shard. */
bool shard_id_parse(const struct stream *s, bool outside, struct slice id, struct shard *out) MUST_CHECK;

#endif
