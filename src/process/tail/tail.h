/* The one reader of streams. Processors and the keeper, `send` and live lists are its consumers; none of them asks for a shard,
 * an iterator or a record by itself.
 *
 *     change.h   a change, decoded; the three operations that DynamoDB has for streams
 *     spot.h    where in a shard
 *     mark.h     where in all shards, as a text
 *     shards.h   which shards a consumer reads: parents before children, splits, merges, shards that go
 *     tail.h     a shard, from a place on: iterators, retries, loss, when to look
 *
 * A tail is a shard as one thread reads it; a cursor is a place in it with the iterator behind that place. A thread that serves
 * one position has one cursor; one that serves several (the tracks of a shard) has a cursor for each page it keeps, all on one tail.
 *
 * Invariants
 *   S1  In order, once: tail_read() hands out the records after cursor.at, in the order of their sequence numbers, and moves
 *       cursor.at to the last of them. What a stream repeats at the head of a page is passed over. What the consumer does with its
 *       own place is the consumer's.
 *   S2  A failed reading moves nothing: the same is read again, after 50 ms, then twice that, up to 5 s. An iterator that has
 *       expired is not a failure: a new one is taken after cursor.at, at once.
 *   S3  Where the stream no longer has what follows a place, reading goes on at the oldest record there is, and page.trimmed says
 *       so. Whether that means loss depends on when the consumer was last at the end: tail_has_missed().
 *   S4  Nothing is asked of a stream to which nothing has been written since its end was seen (database.latest), but for a look
 *       now and then where others write, too (database_poll_us()).
 *   S5  A shard that has nothing new while others have is looked at again after 4 ms, then twice that, up to 100 ms; not if the
 *       tail is eager.
 *   S6  A shard is read after those it was made from (shards.h), and each change of an item after the one before it.
 *   S7  A tail with a source asks it first. What the source does not have is read from the stream, after cursor.at as always: a
 *       source may fail at any page, and neither a gap nor a repetition follows from that. A cursor that knows only that it
 *       began at the end has no place that another could understand: it is read from the stream until it has one.
 *
 * Memory: the changes live in the run's arena. When memory runs out there, control leaves tail_read(), and nothing has moved.
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
	const _Atomic uint64_t *
		looks; /* rises when the consumer wants a look though nothing is known to have been written; NULL: never */
	struct tail_source *source; /* S7; NULL: none. May change between two readings */
	bool eager;                 /* S5 */
	bool gone;                  /* the stream or the shard is */
	/* inside: */
	int failures;     /* of reading, one after the other */
	int64_t next_us;  /* no reading before */
	int empty;        /* readings that found nothing, one after the other */
	int64_t quiet_us; /* no looking for more before */
	int64_t poll_us;  /* from then on it looks although nothing is known to have been written */
	uint64_t asked;   /* latest_of() when the source was last asked */
};

/* zero: at the oldest record */
struct tail_cursor {
	struct spot at;
	bool from_end;                     /* with an empty place: what comes from the first reading on */
	bool ended;                        /* nothing will follow */
	uint64_t latest;                   /* of the stream when nothing followed; 0: not seen */
	char iterator[TAIL_ITERATOR_ROOM]; /* empty: to be taken after `at` */
};

/* False: memory; tail_release() is due all the same. */
bool tail_init(struct tail *t, struct database *d, struct slice stream, struct slice shard) MUST_CHECK;
void tail_release(struct tail *t); /* a zeroed one is fine */

/* To another place. */
void cursor_set(struct tail_cursor *c, struct slice sequence);

enum tail_found {
	TAIL_FOUND, /* the page has what follows */
	TAIL_END,   /* nothing does, at the moment */
	TAIL_LATER, /* not to be looked for before tail_next_us(), or it failed: run->problem, and the log has it */
	TAIL_ENDED, /* nothing will */
	TAIL_GONE,  /* the stream or the shard is: list the shards again */
};
/* Whether it is worth reading: FOUND, or what tail_read() would say without asking. `c` NULL: at a place that was not looked at
 * yet. */
enum tail_found tail_look(const struct tail *t, const struct tail_cursor *c);
enum tail_found tail_read(struct tail *t, struct tail_cursor *c, struct run *r, struct change_page *out);
/* Takes the iterator now: for a cursor that begins at the end, so that nothing written from here on is missed. */
bool tail_begin(struct tail *t, struct tail_cursor *c, struct run *r) MUST_CHECK;
/* Of a clock that does not jump. `c` may be NULL here, too. */
int64_t tail_next_us(const struct tail *t, const struct tail_cursor *c);
/* Something that reading needs has failed: waits as after a failed reading. */
void tail_failed(struct tail *t, const char *what, struct slice detail);

/* Whether trimming has cost a consumer anything that was at `done`, and at the end of the shard last at `current_ms` (0: never). */
bool tail_has_missed(const struct spot *done, int64_t current_ms, int64_t now_ms);

#endif
