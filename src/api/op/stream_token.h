/* Names of the Streams API: sequence numbers, shard iterators. (Shard ids: shards.h)
 *
 * A shard iterator encodes in base64 its stream and shard, the sequence number to read from, and when it was
 * issued; only this server interprets it. It is valid for 15 minutes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_STREAM_TOKEN_H
#define THORPE_API_OP_STREAM_TOKEN_H

#include "api/op/shards.h"

#define ITERATOR_LIFETIME_MS (15 * 60 * 1000)

struct shard_iterator {
	struct slice arn;
	struct shard shard;
	uint64_t before;   /* where the last non-empty page began; 0: none */
	uint64_t sequence; /* 0: from the oldest record at the time of use */
	bool at_end;       /* at the shard's end when issued: trimming cannot skip a record */
	int64_t issued_ms; /* db_time_ms() */
};

struct slice shard_iterator_text(const struct shard_iterator *it, struct arena *a);
/* False: not one of ours. */
bool shard_iterator_parse(struct slice text, struct arena *a, struct shard_iterator *out) MUST_CHECK;

/* 21 digits. */
struct slice sequence_text(uint64_t sequence, struct arena *a);
/* False: not a sequence number. */
bool sequence_parse(struct slice text, uint64_t *out) MUST_CHECK;

#endif
