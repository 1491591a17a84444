/* What processors remember, in a table beside the design's: <table>.thorpe, as the Kinesis Client Library keeps its
 * leases.
 *
 *   PK                      SK             holds
 *   POSITION#<processor>    <shard id>     sequence (the last change done), progress (inside the next one: opaque), time,
 *                                          ended (the whole shard is done: its children may begin)
 *   POSITION#<processor>    retry#<seq>    the same for a parked change that is being retried; removed with it
 *   POSITION#keeper         seen#<shard>   the keeper's position before a replay: it does not count twice before that
 *   PARKED#<processor>      <sequence>     shard, reason, tries, parked_at, event, old, new (images as maps), key,
 *                                          progress
 *   PROCESSOR               <processor>    paused, replay_from, replayed (another text with every replay)
 *
 * The position moves in the same transaction as an effect (run.h: rider), on the condition that it is still where it
 * was. So an effect happens exactly once, and of two servers at one shard one stops.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_CHECKPOINT_H
#define THORPE_PROCESS_CHECKPOINT_H

#include "process/tail/change.h"

/* Creates the table if it does not exist. */
bool checkpoint_provision(struct run *r) MUST_CHECK;

struct position {
	struct slice processor, shard;
	struct slice sequence; /* empty: nothing done yet */
	struct slice progress; /* empty: between changes; otherwise how far a later change, which it names, has come (effect_rows.c), or the start of a replay (checkpoint_since()) */
	bool stored;           /* the item exists */
	bool ended;            /* the shard has been read to its end, and all of it is done */
	int64_t time_ms;       /* when the processor had missed nothing, to the second; 0 when writing: now */
};
bool checkpoint_load(struct run *r, struct slice processor, struct slice shard, struct position *out) MUST_CHECK;
/* The action that moves the position from `was` to `now`; for run->riders, or alone. */
struct dyn_write *checkpoint_move(struct run *r, const struct position *was, const struct position *now);
/* By itself: for changes without effect. CONFLICT: another server has moved it. */
bool checkpoint_save(struct run *r, const struct position *was, const struct position *now) MUST_CHECK;

/* Unconditionally, for replays. Without sequence and progress: nothing is done yet. */
bool checkpoint_force(struct run *r, const struct position *now) MUST_CHECK;

/* The progress of a position from which a replay begins ("since <ms>"), and back; 0: it is none. */
#define CHECKPOINT_SINCE_ROOM 32
struct slice checkpoint_since(struct arena *a, int64_t ms);
int64_t checkpoint_since_ms(struct slice progress);

/* Whether the processor has done all of the shard. */
bool checkpoint_has_ended(struct run *r, struct slice processor, struct slice shard, bool *out) MUST_CHECK;
/* All positions of a processor. False: of tell(), or run->problem. */
bool checkpoint_positions(struct run *r, struct slice processor, bool (*tell)(void *ctx, const struct position *at),
			  void *ctx) MUST_CHECK;

/* Looks at a processor's positions in shards that are gone: the stream lists neither them nor their children.
 *   - The processor had not done all of it, and the stream may have forgotten the rest (tail_has_missed()): that is
 *     counted as lost, once whichever server finds it, and the position is an end from then on.
 *   - Nothing has been written there for CHECKPOINT_SWEEP_MS, twice what the stream keeps: the position is removed. So
 *     a shard whose children have not begun keeps its end, and one that a list omitted by mistake keeps its
 *     position. */
#define CHECKPOINT_SWEEP_MS (48 * 3600 * INT64_C(1000))
struct checkpoint_swept {
	size_t removed, lost;
};
bool checkpoint_sweep(struct run *r, const struct shard_list *shards, struct slice processor,
		      struct checkpoint_swept *out) MUST_CHECK;

/* ---- parked changes ---- */
struct parked {
	struct slice processor, shard, sequence, reason;
	struct slice progress; /* how far it had come; empty: not begun */
	int64_t tries, parked_at_ms;
	bool cut; /* its images were too large to keep: it cannot be retried from here */
	struct change change;
};
/* The action that parks it (with the position's move in one transaction). */
struct dyn_write *checkpoint_park(struct run *r, const struct parked *p);
struct parked_page {
	struct parked *list;
	size_t count;
	struct slice next; /* the sequence to continue after; empty: this is the last page */
};
/* At most `limit` of a processor, in order, after that sequence unless it is empty. */
bool checkpoint_parked(struct run *r, struct slice processor, struct slice after, int limit,
		       struct parked_page *out) MUST_CHECK;
/* Already gone is fine. */
bool checkpoint_unpark(struct run *r, struct slice processor, struct slice sequence) MUST_CHECK;
/* NOT_FOUND if it does not exist. */
bool checkpoint_parked_one(struct run *r, struct slice processor, struct slice sequence, struct parked *out) MUST_CHECK;
bool checkpoint_parked_count(struct run *r, struct slice processor, int64_t *out) MUST_CHECK;

/* ---- switches ---- */
struct processor_switch {
	bool paused;
	int64_t replay_from_ms; /* 0: none; the reader clears it when it begins */
	struct slice replayed; /* another text after every replay: positions are to be read again; empty: there was none */
};
bool checkpoint_switch(struct run *r, struct slice processor, struct processor_switch *out) MUST_CHECK;
/* Of all processors that have one, with one request: tell(ctx, processor, switch) for each. */
bool checkpoint_switches(struct run *r,
			 void (*tell)(void *ctx, struct slice processor, const struct processor_switch *w),
			 void *ctx) MUST_CHECK;
bool checkpoint_set_switch(struct run *r, struct slice processor, const struct processor_switch *in) MUST_CHECK;
/* Another text each time, for processor_switch.replayed; and one of them as a number. */
struct slice checkpoint_replayed(struct run *r);
uint64_t checkpoint_replay_number(struct slice replayed);

#endif
