/* Moves a table, or the table of a design and the one beside it, from one database to another. docs/moving.md is the manual.
 *
 *     struct copy_options o = { .from = …, .to = …, .table = SLICE("Orders"), .mode = COPY_FOLLOW, .stop = &stop };
 *     switch (copy_run(&o, &report)) …
 *
 * What happens, in this order: the shards of the source's stream and a position in each are noted; every item is copied by a parallel
 * Scan; then the changes since those positions are applied, and further ones as they come; in the end (COPY_SWITCH) the table beside
 * the design's is brought over, and the target gets its stream and its TTL.
 *
 * Invariants
 *   C1  Positions are taken before the first item is read, and no change is applied before the last item was. So, once all changes up to
 *       some moment are applied, the target is what the source was then: an item that changed after the positions were taken has its last
 *       change applied last (changes of an item are in one shard, or in a shard and those made from it, and are applied in that
 *       order); an item that did not was read, consistently, in the state that it still has.
 *   C2  What is done again changes nothing: a page of items is read anew, changes are applied from an earlier position, and C1
 *       holds for that as well. So the state need not be exact, only never ahead of what was written.
 *   C3  Only the copy whose `owner` is in the state writes (state.c). Another one that finds it alive refuses, and takes over when the
 *       state has not moved for COPY_EXPIRE_MS. A writer that has been replaced finds that out with its next save.
 *   C4  While it is being filled the target has neither stream nor TTL. So no processor there ever sees a copied item as a change, now or
 *       in a replay, and no item expires without being seen. Both are turned on at the switch, when all is there.
 *   C5  The switch needs the source's processors to have done everything that the stream has (undone.c): what is not done there
 *       would be done nowhere. Positions of processors are of a stream, and are left behind with it.
 *   C6  A target with items is left alone unless the state says that they are this copy's, or `replace` that they may go. After the
 *       switch the target has a life of its own: the state says so, and nothing goes on from there.
 *   C7  A stream keeps 24 hours. A copy that may have missed something because of that begins again, and then removes what the
 *       source no longer has.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_COPY_COPY_H
#define THORPE_COPY_COPY_H

#include <stdatomic.h>
#include "app/auth/caller.h"
#include "request/database.h"
#include "design/design.h"

#define COPY_EXPIRE_MS     6000
#define COPY_SEGMENTS_MOST 64
#define COPY_PARALLEL_MOST 64

struct copy_side {
	struct database *database;
	const char *name;  /* as it was given: for sentences */
	bool is_directory; /* nobody else can have it open */
	bool is_far;       /* not on this machine: a design's table is made as `thorpe deploy` makes it */
	bool is_amazon;
	/* A sentence about an error, with what to do; NULL: its own words. */
	struct slice (*explain)(void *ctx, struct arena *a, const struct backend_reply *r);
	void *ctx;
};

enum copy_mode {
	COPY_ONCE,   /* until it has caught up */
	COPY_FOLLOW, /* until it is stopped */
	COPY_SWITCH, /* nobody writes to the source any more: until everything is there, and then the end */
};

enum copy_phase {
	COPY_BEGINNING,
	COPY_SCANNING,
	COPY_SWEEPING,
	COPY_FOLLOWING,
	COPY_SWITCHING,
	COPY_SWITCHED,
	COPY_COMPARING
};

struct copy_progress {
	struct slice table;
	enum copy_phase phase;
	uint64_t items, about; /* read and written; there are about so many at the source (0: not known) */
	uint64_t bytes;
	uint64_t changes; /* of the stream, applied */
	uint64_t removed; /* by the sweep */
	int64_t lag_ms;   /* age of the newest change that was applied while more follow; 0: at the end */
	int64_t quiet_ms; /* since the last change */
	bool is_throttled;
};

struct copy_options {
	struct copy_side from, to;
	struct slice table;
	const struct design *design; /* whose table it is; NULL: just a table */
	enum copy_mode mode;
	unsigned parallel;   /* 0: 8 */
	unsigned segments;   /* 0: 16 */
	double units;        /* write units a second; 0: as fast as it goes */
	bool replace;        /* items of the target may go */
	bool enable_stream;  /* at the source, when it has none */
	bool settle;         /* runs the source's processors until they are through */
	bool drop_undone;    /* what they have not done is not done */
	int64_t patience_ms; /* with a database that does not answer; 0: a minute */
	int64_t quiet_ms; /* the source must have been quiet for so long before the switch; 0: two seconds, five if it is far */
	int64_t expire_ms; /* C3; 0: COPY_EXPIRE_MS */
	bool has_secret;   /* of the source's tokens; for the table beside the target's */
	uint8_t secret[CALLER_SECRET_BYTES];
	const atomic_bool *stop;                                    /* once true it ends soon, and can go on later */
	void (*say)(void *ctx, struct slice line);                  /* any thread */
	void (*progress)(void *ctx, const struct copy_progress *p); /* once a second or so */
	void *ctx;
};

enum copy_end {
	COPY_DONE,      /* the switch: the target is in charge */
	COPY_CAUGHT_UP, /* it has all that the source had a moment ago */
	COPY_STOPPED,
	COPY_UNDONE,  /* not switched: the source's processors are not through; why */
	COPY_DIFFERS, /* copy_compare(), or the check before the switch: why */
	COPY_FAILED,  /* why */
};

struct copy_report {
	struct copy_progress last;
	char why[1024]; /* a sentence */
};
enum copy_end copy_run(const struct copy_options *o, struct copy_report *out) MUST_CHECK;

/* Compares both tables item by item; of the table beside a design's nothing. tell() is told each difference: "differs", "missing" (at
 * the target), "extra" (there only), and the key as JSON. Items whose TTL is past may be on one side only. When the source is being
 * written to, what differs is looked at again a few times. COPY_DONE: no difference. */
enum copy_end copy_compare(const struct copy_options *o, void (*tell)(void *ctx, const char *what, struct slice key),
			   struct copy_report *out) MUST_CHECK;

/* ---- the plan ---- */
struct copy_plan {
	bool source_has_stream;
	struct slice view;    /* of it: NEW_AND_OLD_IMAGES */
	int64_t items, bytes; /* at the source, as it counts them (Amazon every six hours) */
	bool target_exists, target_has_items;
	bool target_has_stream, target_has_ttl;
	enum copy_phase phase; /* of a copy that was begun; COPY_BEGINNING: none */
	bool is_ours;          /* what was begun is of this source table */
	struct slice differs;  /* why the target cannot take it: a sentence; empty: it can */
};
/* Reads only. COPY_DONE, or why not. Slices live in the arena. */
enum copy_end copy_look(const struct copy_options *o, struct arena *a, struct copy_plan *plan,
			struct copy_report *out) MUST_CHECK;

#endif
