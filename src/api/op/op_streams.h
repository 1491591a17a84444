/* What the operations of the Streams API share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_OP_STREAMS_H
#define THORPE_API_OP_OP_STREAMS_H

#include "api/op.h"
#include "api/op/stream_token.h"

/* The stream with this ARN and its table; NULL with VALIDATION (no stream ARN) or NOT_FOUND. */
const struct stream *op_stream(struct op_state *s, struct slice arn, const struct table **t, struct error *e);

/* GetRecords in two steps. records_at() checks an iterator; records_read() passes the records there to the sink and
 * sets *next to the following iterator: empty at the end of the shard.
 *
 * Where shards split (s->outside), the catalog must be as new as the records: one that does not show a split yet would
 * leave the records after it in the parent, and the children have them, too. So records_at() takes the catalog again,
 * after the sequence number up to which records are passed on: the writer publishes them in the other order. */
struct records_place {
	struct shard_iterator it;
	uint64_t visible; /* records before it are passed on */
	const struct table *table;
	const struct stream *stream;
	struct shard_facts facts;
};
bool records_at(struct op_state *s, struct slice iterator, struct records_place *p, struct error *e) MUST_CHECK;
struct records_sink {
	void (*emit)(void *ctx, const struct stream_record *r);
	void *ctx;
};
bool records_read(struct op_state *s, struct records_place *p, int64_t limit, struct records_sink sink,
		  struct slice *next, struct error *e) MUST_CHECK;

#endif
