/* Watched lists: one reader per design turns changes of its stream into events. docs/live.md is the manual.
 *
 * Watchers of the same list with the same parameters and the same view of it share a topic: a change is compared with
 * the topic and rendered once, however many watchers it has. A watcher belongs to a target (an event loop). The target
 * gets each event of a topic once and distributes it.
 *
 *     live_watch()      any thread: checks that the list may be watched, and writes the start of the stream
 *     live_adopt()      the target's thread, which gets the events of the watcher's topic from here on
 *     live_leave()      the target's thread
 *
 * Invariants
 *   L1  Events are made and delivered in the order of the changes. An event's sequence is a position: a watcher that
 *       has it has every earlier event that concerns it.
 *   L2  A watcher gets every change after watcher.from that concerns it, once, or it is disconnected.
 *   L3  Rules are evaluated for every event, for the caller as it was at the start. A watcher learns nothing about
 *       items that its caller may not see. When the caller's session ends or its roles change, its watchers are
 *       disconnected at once: the account's partition is one of the topic's.
 *   L4  Memory is bounded: undelivered events count, and above LIVE_POSTS_MOST or LIVE_POSTS_BYTES the reader pauses;
 *       the rest waits in the stream. So a watcher that reads at full speed never gets more at once than it can take.
 *   L5  The stream is read only while there are watchers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LIVE_H
#define THORPE_PROCESS_LIVE_H

#include "app/app.h"
#include "process/live/live_bytes.h"

#define LIVE_POSTS_MOST       1024         /* undelivered events */
#define LIVE_POSTS_BYTES      (64 * 1024)  /* of undelivered events */
#define LIVE_PENDING_BYTES    (256 * 1024) /* of events for a watcher that is not adopted yet */
#define LIVE_CATCH_UP_BYTES   (256 * 1024) /* of missed events; above that the watcher gets `reset` */
#define LIVE_CATCH_UP_CHANGES 20000        /* of the whole table, read to find them */
#define LIVE_TYPE             "text/event-stream"

struct live; /* of one app */
struct live_topic;

struct relay;
/* `relay`: the source of a remote table's records; NULL: its stream. Both outlive it. NULL: memory. */
struct live *live_new(struct app *app, struct relay *relay);
/* Call when there are no watchers left. NULL is fine. */
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
	bool end;                 /* the watchers must be disconnected: they may not watch any more */
};

struct live_target {
	/* Takes an event. Called on any thread; must neither wait nor call anything of this header. False: it could
	 * not take the event; the target then disconnects all its watchers. */
	bool (*post)(struct live_target *t, const struct live_event *e);
};
/* Call when the target has finished with an event. */
void live_posted(const struct live_event *e);

/* ---- watchers ---- */
struct live_pending;
/* zeroed at first; the owner also keeps it in its place's list */
struct live_watcher {
	struct live_topic *topic; /* NULL: does not watch */
	struct live_place *place; /* adopted */
	uint64_t from;            /* later events are for this watcher */
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
 * be watched; BUSY. May wait a little, for the reader to start. When it fails, or memory runs out in it, live_leave()
 * is due as well. */
bool live_watch(struct live *l, struct run *r, const struct live_ask *ask, struct live_watcher *w,
		struct buf *out) MUST_CHECK;
/* Hands the watcher to its target: calls take() for events since live_watch(). False: the watcher must be
 * disconnected. */
bool live_adopt(struct live_watcher *w, void (*take)(void *ctx, uint64_t sequence, struct live_bytes *b),
		void *ctx) MUST_CHECK;
void live_leave(struct live_watcher *w); /* one that does not watch is fine */

/* The id of a position up to which all events have been given to the targets, for watchers without events for long.
 * Returns its length; 0: none at the moment. */
#define LIVE_ID_ROOM 2400
size_t live_position(const struct live_watcher *w, char text[LIVE_ID_ROOM]);

/* For tests: whether all events of earlier writes have been delivered. */
bool live_is_idle(struct live *l);

#endif
