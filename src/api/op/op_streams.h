/* What the operations of the Streams API share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_OP_STREAMS_H
#define THORPE_API_OP_OP_STREAMS_H

#include "api/op.h"
#include "api/op/stream_token.h"

/* The stream with this ARN and its table; NULL with VALIDATION (no stream ARN) or NOT_FOUND. */
const struct stream *op_stream(struct op_state *s, struct slice arn, const struct table **t, struct error *e);

/* GetRecords, of which emit() makes what it likes: what an iterator says, checked; the records at it; and the iterator that
 * follows, empty where the shard has ended. */
struct records_place {
	struct shard_iterator it;
	const struct table *table;
	const struct stream *stream;
	struct shard_facts facts;
};
bool records_at(struct op_state *s, struct slice iterator, struct records_place *p, struct error *e) MUST_CHECK;
bool records_read(struct op_state *s, struct records_place *p, int64_t limit,
		  void (*emit)(void *ctx, const struct stream_record *r), void *ctx, struct slice *next,
		  struct error *e) MUST_CHECK;

#endif
