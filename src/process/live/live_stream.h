/* All shards of a stream as one, for live lists: each round has the changes since the last. For live*.c only.
 *
 * Of the database in this process sequence numbers rise over all shards (table/db.h T5), and what was committed last is known: changes
 * come in the order of the commits, under their sequence numbers, and one number is a position. Such a stream is called ordered.
 *
 * Elsewhere sequence numbers cannot be compared across shards, and the last commit is unknown. So each shard is read on its own,
 * and a change gets a number of this server's when it is read. Changes of one item keep their order; changes of different items
 * may swap (those of one round are sorted by sequence number). The position is a mark (tail/mark.h).
 *
 * One thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LIVE_LIVE_STREAM_H
#define THORPE_PROCESS_LIVE_LIVE_STREAM_H

#include "process/tail/mark.h"
#include "process/tail/shards.h"
#include "process/tail/tail.h"

struct live_change {
	uint64_t sequence;
	const struct change *change;
	struct mark_part *part; /* of the stream's mark: moves with the change; NULL: the stream is ordered, or has too many shards */
};
struct live_round {
	struct live_change *list; /* by sequence */
	size_t count;
	uint64_t upto; /* that is all up to there */
	bool trimmed;  /* some are lost */
	bool is_last;  /* of a stream with an end: there are no more */
};

struct live_stream {
	struct database *database;
	struct tail_source *source; /* not ordered: asked before the stream is; NULL: none */
	bool is_ordered;
	struct mark mark; /* where it is, of a stream that is not ordered */
	/* inside: */
	struct seats shards;
	uint64_t from;                     /* ordered: where shards begin */
	bool begins;                       /* not ordered: shards that are there now are read from their end on */
	const struct mark *after, *before; /* not ordered: what is read lies between them; NULL: there is no end */
	bool failed, lost;
	bool has_ended_some; /* since the shards were listed */
	int64_t listed_us;
};

/* From `from` on; of a stream that is not ordered: from now on. False: run->problem. live_stream_stop() is due all the same; it
 * may be started again. */
bool live_stream_start(struct live_stream *s, struct run *r, uint64_t from) MUST_CHECK;
/* Not ordered: what is after one mark and not after the other. */
bool live_stream_start_between(struct live_stream *s, struct run *r, const struct mark *after,
			       const struct mark *before) MUST_CHECK;
void live_stream_stop(struct live_stream *s); /* a zeroed one is fine */

/* Not ordered: whether there may be something to read. */
bool live_stream_is_due(const struct live_stream *s);
/* What follows `from`, the last round's `upto`. Ordered: up to `upto`, which has been committed, or less far. Else: whatever has
 * come, numbered from `from` + 1 on; the mark stays where it was until the caller moves its parts. In the run's arena. False:
 * run->problem; start again, for something may have been missed. */
bool live_stream_read(struct live_stream *s, struct run *r, uint64_t from, uint64_t upto,
		      struct live_round *out) MUST_CHECK;
/* The change has been told. */
void live_stream_told(const struct live_change *c);

/* For read_live_change.before; ctx: a NULL-terminated array of rounds. */
struct value live_round_before(void *ctx, struct value key);

#endif
