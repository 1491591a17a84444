/* Moves a table, or the table of a design and the one beside it, from one database to another. docs/moving.md is the
 * manual.
 *
 *     struct copy_options o = { .from = …, .to = …, .table = SLICE("Orders"), .mode = COPY_FOLLOW, .stop = &stop };
 *     switch (copy_run(&o, &report)) …
 *
 * A copy has four steps. It notes the shards of the source's stream and a position in each. It copies every item by
 * a parallel Scan. It applies the changes since those positions, and further ones as they come. Finally
 * (COPY_SWITCH) it copies the table beside the design's, and turns on the target's stream and TTL.
 *
 * Invariants
 *   C1  Positions are taken before the first item is read, and no change is applied before the last item is read.
 *       So, once all changes up to some moment are applied, the target is what the source was then: an item that
 *       changed after the positions were taken has its last change applied last (changes of an item are in one
 *       shard, or in a shard and those made from it, and are applied in that order); an item that did not was read,
 *       consistently, in the state that it still has.
 *   C2  Repeating a step changes nothing: a page of items is read again, changes are applied from an earlier
 *       position, and C1 still holds. So the state need not be exact, only never ahead of what was written.
 *   C3  Only the copy whose `owner` is in the state writes (state.c). Another one that finds it alive refuses, and
 *       takes over when the state has not moved for COPY_EXPIRE_MS. A writer that has been replaced finds that out
 *       with its next save.
 *   C4  While it is being filled the target has neither stream nor TTL. So no processor there ever sees a copied
 *       item as a change, now or in a replay, and no item expires without being seen. Both are turned on at the
 *       switch, when everything has been copied.
 *   C5  The switch needs the source's processors to have done everything that the stream has (undone.c): work not
 *       done there would never be done. Processors' positions belong to a stream and are not copied.
 *   C6  A target with items is not touched unless the state says that they come from this copy, or `replace` allows
 *       removing them. After the switch the target is independent: the state records that, and no copy continues
 *       from there.
 *   C7  A stream keeps 24 hours. A copy that may have missed changes because of that starts over, and then removes
 *       items that the source no longer has.
 *   C8  From the moment a switch begins (COPY_SWITCH) servers of the source's design refuse writes; when it ends
 *       without having switched they take them again. A switch that was killed leaves them closed, for running it
 *       again, or copy_reopen(). If copy_reopen() comes before its last step, it does not switch.
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
	const char *name;  /* as given by the user: for messages */
	bool is_directory; /* no other process can have it open */
	bool is_far;       /* not on this machine: a design's table is created as `thorpe deploy` does */
	bool is_amazon;
	/* A sentence that explains an error and what to do; NULL: use the error's own text. */
	struct slice (*explain)(void *ctx, struct arena *a, const struct backend_reply *r);
	void *ctx;
};

enum copy_mode {
	COPY_ONCE,   /* until it has caught up */
	COPY_FOLLOW, /* until it is stopped */
	COPY_SWITCH, /* the source's servers refuse writes (C8): copy everything, then end */
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
	uint64_t items, about; /* read and written; about how many the source has (0: unknown) */
	uint64_t bytes;
	uint64_t changes; /* applied from the stream */
	uint64_t removed; /* by the sweep */
	int64_t lag_ms;   /* age of the newest applied change while more follow; 0: at the end */
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
	double units;        /* write units a second; 0: no limit */
	bool replace;        /* items of the target may be removed */
	bool enable_stream;  /* at the source, if it has none */
	bool settle;         /* run the source's processors until they are done */
	bool drop_undone;    /* give up what they have not done */
	int64_t patience_ms; /* with a database that does not answer; 0: a minute */
	int64_t quiet_ms;  /* how long the source must be quiet before the switch; 0: two seconds, five if it is far */
	int64_t expire_ms; /* C3; 0: COPY_EXPIRE_MS */
	bool has_secret;   /* the source's token secret is known; for the table beside the target's */
	uint8_t secret[CALLER_SECRET_BYTES];
	const atomic_bool *stop;                   /* once true, the copy ends soon; it can be resumed */
	void (*say)(void *ctx, struct slice line); /* any thread */
	void (*progress)(void *ctx, const struct copy_progress *p); /* once a second or so */
	void *ctx;
};

enum copy_end {
	COPY_DONE,      /* switched: the target is in charge */
	COPY_CAUGHT_UP, /* the target has everything the source had a moment ago */
	COPY_STOPPED,
	COPY_UNDONE,  /* not switched: the source's processors are not done; see why */
	COPY_DIFFERS, /* copy_compare(), or the check before the switch: see why */
	COPY_FAILED,  /* see why */
};

struct copy_report {
	struct copy_progress last;
	char why[1024]; /* a sentence */
};
enum copy_end copy_run(const struct copy_options *o, struct copy_report *out) MUST_CHECK;

/* Makes the source's servers of the design accept writes again after a switch was begun. Uses only `from` and the
 * design. */
enum copy_end copy_reopen(const struct copy_options *o, struct copy_report *out) MUST_CHECK;

/* Compares both tables item by item, but not the table beside a design's. Calls tell() for each difference:
 * "differs", "missing" (at the target), "extra" (there only), and the key as JSON. Items whose TTL is past may be
 * on one side only. If the source is being written to, differences are checked again a few times. COPY_DONE: no
 * difference. */
enum copy_end copy_compare(const struct copy_options *o, void (*tell)(void *ctx, const char *what, struct slice key),
			   struct copy_report *out) MUST_CHECK;

/* ---- the plan ---- */
struct copy_plan {
	bool source_has_stream;
	struct slice view;    /* of the stream: NEW_AND_OLD_IMAGES */
	int64_t items, bytes; /* at the source, as reported (Amazon counts every six hours) */
	bool target_exists, target_has_items;
	bool target_has_stream, target_has_ttl;
	enum copy_phase phase; /* of an earlier copy; COPY_BEGINNING: none */
	bool is_ours;          /* the earlier copy has the same source table */
	struct slice differs;  /* why the target cannot take the items: a sentence; empty: it can */
};
/* Reads only. COPY_DONE, or why not. Slices live in the arena. */
enum copy_end copy_look(const struct copy_options *o, struct arena *a, struct copy_plan *plan,
			struct copy_report *out) MUST_CHECK;

#endif
