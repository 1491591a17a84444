/* All shards of a stream as one, for live lists: each round has the changes since the last. For live*.c only.
 *
 * Local table: sequence numbers rise over all shards (table/db.h T5), and the last commit is known. Changes come in
 * the order of the commits, under their sequence numbers, and one number is a position. Such a stream is called
 * ordered.
 *
 * Remote table: sequence numbers of different shards cannot be compared, and the last commit is unknown. Each shard
 * is read on its own, and this server numbers changes as it reads them. Changes of one item keep their order; changes
 * of different items may swap (those of one round are sorted by sequence number). The position is a mark
 * (tail/mark.h).
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
	uint64_t upto; /* the round has all changes up to here */
	bool trimmed;  /* some are lost */
	bool is_last;  /* of a stream that is read up to `before`: nothing follows */
};

struct live_stream {
	struct database *database;
	struct tail_source *source; /* not ordered: asked before the stream is; NULL: none */
	bool is_ordered;
	struct mark mark; /* where it is, of a stream that is not ordered */
	/* inside: */
	struct seats shards;
	uint64_t from;                     /* ordered: where shards begin */
	bool begins;                       /* not ordered: existing shards are read from their end on */
	const struct mark *after, *before; /* not ordered: what is read lies between them; NULL: there is no end */
	bool failed, lost;
	bool has_ended_some; /* since the shards were listed */
	int64_t listed_us;
};

/* Starts at `from`; an unordered stream at this moment. False: run->problem. Call live_stream_stop() in any case; it
 * may be started again. */
bool live_stream_start(struct live_stream *s, struct run *r, uint64_t from) MUST_CHECK;
/* Not ordered: starts a reading of the changes after one mark and up to the other. */
bool live_stream_start_between(struct live_stream *s, struct run *r, const struct mark *after,
			       const struct mark *before) MUST_CHECK;
void live_stream_stop(struct live_stream *s); /* a zeroed one is fine */

/* Not ordered: whether there may be something to read. */
bool live_stream_is_due(const struct live_stream *s);
/* Reads the changes after `from`, the last round's `upto`. Ordered: up to `upto`, which has been committed, or less
 * far. Unordered: the changes there are, numbered from `from` + 1 on; the mark stays until the caller moves its
 * parts. In the run's arena. False: run->problem; start again, because changes may have been missed. */
bool live_stream_read(struct live_stream *s, struct run *r, uint64_t from, uint64_t upto,
		      struct live_round *out) MUST_CHECK;
/* Call when the change has been delivered: moves the mark. */
void live_stream_told(const struct live_change *c);

/* For read_live_change.before; ctx: a NULL-terminated array of rounds. */
struct value live_round_before(void *ctx, struct value key);

#endif
