/* Lists that are watched: one reader of a design's stream, and who is told what of it. docs/live.md is the manual.
 *
 * Watchers of the same list with the same parameters, who may be told the same, share a topic: a change is compared with
 * it and rendered for it once, however many they are. A watcher belongs to a target (an event loop), which gets each event
 * of a topic once and hands it on to its own.
 *
 *     live_watch()      on any thread: whether it may be watched, and what the stream begins with
 *     live_adopt()      on the target's thread, which from now on is given events of the watcher's topic
 *     live_leave()      on the target's thread
 *
 * Invariants
 *   L1  Events are made in the order of the changes, and told in that order. An event's sequence is a position: whoever
 *       has seen it has seen everything before it that concerned him.
 *   L2  A watcher is told every change behind watcher.from that concerns him, once, or he is cut off.
 *   L3  Rules are asked for every event, for the caller as it was when it came; what the caller may not see it is not told, not
 *       even that it has changed. When the caller's session has ended, or its roles are others, its watchers are cut off, at once:
 *       the account's partition is one of the topic's.
 *   L4  Memory is bounded: what waits for targets counts, and while it is too much (LIVE_POSTS_MOST, LIVE_POSTS_BYTES)
 *       nothing more is told; the rest waits in the stream. So who reads as fast as he can is not given more at once than
 *       he could take.
 *   L5  The stream is read only while somebody watches.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LIVE_H
#define THORPE_PROCESS_LIVE_H

#include "app/app.h"
#include "process/live/live_bytes.h"

#define LIVE_POSTS_MOST       1024         /* events on their way to targets */
#define LIVE_POSTS_BYTES      (64 * 1024)  /* those of them */
#define LIVE_PENDING_BYTES    (256 * 1024) /* that wait for a watcher who is not adopted yet */
#define LIVE_CATCH_UP_BYTES   (256 * 1024) /* of events that were missed; who has missed more reads the list again */
#define LIVE_CATCH_UP_CHANGES 20000        /* of the whole table, that are looked at for that */
#define LIVE_TYPE             "text/event-stream"

struct live; /* of one app */
struct live_topic;

struct relay;
/* `relay`: where records of a table elsewhere come from; NULL: from its stream. Both outlive it. NULL: memory. */
struct live *live_new(struct app *app, struct relay *relay);
/* Nobody watches any more. NULL is fine. */
void live_free(struct live *l);

/* ---- targets ---- */
/* the watchers of one topic at one target */
struct live_place {
	struct live_place *next;
	struct live_topic *topic;
	struct live_target *target;
	size_t watchers;
	void *first; /* the target's own: its list of them */
};

struct live_event {
	struct live_place *place; /* stays until live_posted(), as do the bytes */
	uint64_t sequence;        /* of the change: watchers with from >= it have seen it */
	struct live_bytes *bytes; /* NULL: none */
	bool end;                 /* the watchers are to go: they may not watch any more */
};

struct live_target {
	/* Any thread; must neither wait nor call anything of this header. False: it could not be taken, and the target cuts
	 * off all its watchers. */
	bool (*post)(struct live_target *t, const struct live_event *e);
};
/* The target has done with an event it was given. */
void live_posted(const struct live_event *e);

/* ---- watchers ---- */
struct live_pending;
/* zero to begin with; whoever has it also keeps it in its place's list */
struct live_watcher {
	struct live_topic *topic; /* NULL: does not watch */
	struct live_place *place; /* adopted */
	uint64_t from;            /* what is behind it concerns him */
	/* inside: */
	struct live_target *target;
	struct live_watcher *next, **at; /* of the topic's that are not adopted yet */
	struct live_pending *first, **last;
	size_t pending_bytes;
	bool cut;
};

struct live_ask {
	const struct access *access;
	const struct row *params;
	struct slice last_event_id; /* empty: from now on; longer than LIVE_ID_ROOM: no position of ours */
	struct live_target *target;
};
/* Fills the watcher and appends what the stream begins with. Problems: as for reading the list; INVALID when it cannot
 * be watched; BUSY. May wait a little, for the reader to start. When it fails, or memory runs out in it, live_leave() is
 * due as well. */
bool live_watch(struct live *l, struct run *r, const struct live_ask *ask, struct live_watcher *w,
		struct buf *out) MUST_CHECK;
/* Calls take() for what has come since. False: cut off. */
bool live_adopt(struct live_watcher *w, void (*take)(void *ctx, uint64_t sequence, struct live_bytes *b),
		void *ctx) MUST_CHECK;
void live_leave(struct live_watcher *w); /* one that does not watch is fine */

/* Everything up to it has been given to the targets: a position, as an event's id, for those who have heard nothing for long.
 * Gives its length; 0: there is none at the moment. */
#define LIVE_ID_ROOM 2400
size_t live_position(const struct live_watcher *w, char text[LIVE_ID_ROOM]);

/* For tests: whether everything written before has been told. */
bool live_is_idle(struct live *l);

#endif
