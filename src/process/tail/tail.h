/* The one reader of streams. Its consumers are processors and the keeper, `send`, and live lists; none of them
 * requests shards, iterators or records itself.
 *
 *   change.h   a change, decoded; the three operations that DynamoDB has for streams
 *   spot.h     a position in a shard
 *   mark.h     a position in all shards, as a text
 *   shards.h   which shards a consumer reads: parents before children, splits, merges, shards that go
 *   tail.h     a shard from a position on: iterators, retries, loss, when to look
 *
 * A tail is a shard as one thread reads it; a cursor is a position in it and the iterator that continues from there.
 * A thread with one position has one cursor; a thread with several (the tracks of a shard) has a cursor for each page
 * it keeps, all on one tail.
 *
 * Invariants
 *   S1  In order, once: tail_read() hands out the records after cursor.at, by sequence number, and moves cursor.at to
 *       the last of them. Records that the stream repeats at the head of a page are skipped. The consumer keeps its
 *       own position.
 *   S2  A failed read moves nothing: it is repeated after 50 ms, doubling to 5 s. An expired iterator is not a
 *       failure: a new one is taken after cursor.at, at once.
 *   S3  If the stream has forgotten what follows a position, reading continues at the oldest record, and page.trimmed
 *       says so. Whether that means loss depends on when the consumer was last at the end: tail_has_missed().
 *   S4  A stream is not read while nothing has been written since its end was seen (database.latest), except now and
 *       then where other programs write too (database_poll_us()).
 *   S5  A shard without news while others have some is read again after 4 ms, doubling to 100 ms, unless the tail is
 *       eager.
 *   S6  A shard is read after its parents (shards.h), so the changes of an item come in order.
 *   S7  A tail with a source asks it first. Records that the source lacks are read from the stream, after cursor.at as
 *       always: a source may fail at any page without a gap or a repetition. A cursor that knows only that it began at
 *       the end has no position that another server understands: it reads from the stream until it has one.
 *
 * Memory: the changes live in the run's arena. If memory runs out there, control leaves tail_read(), and nothing has
 * moved.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_TAIL_TAIL_H
#define THORPE_PROCESS_TAIL_TAIL_H

#include "app/app.h"
#include "process/tail/change.h"
#include "process/tail/spot.h"

#define TAIL_ITERATOR_ROOM 2560 /* DynamoDB's have 2048 at most */
#define TAIL_PAGE_MOST     1000 /* changes */

/* Another server that has read the shard already (relay/relay.h). */
struct tail_ask {
	struct slice stream, shard;
	struct slice after; /* a sequence number; empty: from the oldest record on */
	bool look;          /* something was written since the last time: worth looking for at once */
};
struct tail_page {
	struct reply_record *list; /* the records after it, in order, without a gap */
	size_t count;
	bool ended;   /* nothing follows them */
	bool trimmed; /* page.trimmed */
	int wait_ms;  /* TAIL_ANSWER_LATER */
};
enum tail_answer { TAIL_ANSWER_PAGE, TAIL_ANSWER_LATER, TAIL_ANSWER_NONE /* read the stream */ };
struct tail_source {
	enum tail_answer (*read)(struct tail_source *s, struct run *r, const struct tail_ask *ask,
				 struct tail_page *out);
};

struct tail {
	struct database *database;
	char *stream, *shard;
	const _Atomic uint64_t *looks; /* rises when the consumer wants a look although no write is known; NULL: never */
	struct tail_source *source;    /* S7; NULL: none. May change between two reads */
	bool eager;                    /* S5 */
	bool gone;                     /* the stream or the shard is */
	/* inside: */
	int failures;     /* failed reads in a row */
	int64_t next_us;  /* no read before */
	int empty;        /* empty reads in a row */
	int64_t quiet_us; /* no look before */
	int64_t poll_us;  /* from then on it looks although no write is known */
	uint64_t asked;   /* latest_of() when the source was last asked */
};

/* zero: at the oldest record */
struct tail_cursor {
	struct spot at;
	bool from_end;                     /* with an empty position: only what comes after the first read */
	bool ended;                        /* nothing will follow */
	uint64_t latest;                   /* the stream's number when nothing followed; 0: unknown */
	char iterator[TAIL_ITERATOR_ROOM]; /* empty: to be taken after `at` */
};

/* False: memory; call tail_release() all the same. */
bool tail_init(struct tail *t, struct database *d, struct slice stream, struct slice shard) MUST_CHECK;
void tail_release(struct tail *t); /* a zeroed one is fine */

/* Moves it to another position. */
void cursor_set(struct tail_cursor *c, struct slice sequence);

enum tail_found {
	TAIL_FOUND, /* the page has what follows */
	TAIL_END,   /* nothing follows at the moment */
	TAIL_LATER, /* too early (tail_next_us()), or the read failed: run->problem, and the log has it */
	TAIL_ENDED, /* nothing will follow */
	TAIL_GONE,  /* the stream or the shard is gone: list the shards again */
};
/* Whether a read is worthwhile: FOUND, or what tail_read() would return without asking. `c` NULL: at a position that
 * was not read yet. */
enum tail_found tail_look(const struct tail *t, const struct tail_cursor *c);
enum tail_found tail_read(struct tail *t, struct tail_cursor *c, struct run *r, struct change_page *out);
/* Takes the iterator now: for a cursor at the end, so that nothing written from here on is missed. */
bool tail_begin(struct tail *t, struct tail_cursor *c, struct run *r) MUST_CHECK;
/* By the monotonic clock. `c` may be NULL here too. */
int64_t tail_next_us(const struct tail *t, const struct tail_cursor *c);
/* Reports that something a read needs has failed: waits as after a failed read. */
void tail_failed(struct tail *t, const char *what, struct slice detail);

/* Whether the stream may have forgotten changes that a consumer has not seen. `current_ms`: when it had missed
 * nothing, which is when it was last at the end of the shard, or when the last change that it has done was made; 0:
 * never. */
bool tail_has_missed(int64_t current_ms, int64_t now_ms);

#endif
