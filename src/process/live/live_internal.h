/* Inside of live.h. For live*.c only.
 *
 * Everything marked (lock) is under live->lock; nothing that is a run's, and may leave by longjmp, is called with the
 * lock held.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LIVE_INTERNAL_H
#define THORPE_PROCESS_LIVE_INTERNAL_H

#include <pthread.h>
#include "app/read/read_live.h"
#include "process/live/live.h"
#include "process/live/live_stream.h"

/* ---- tables of what is kept by a text (live_table.c) ---- */
/* the first member of what a table holds */
struct live_node {
	struct live_node *next, **at; /* at NULL: it is in no table */
	uint64_t hash;
	struct slice key;
	struct live_topic *topic;
};
struct live_table {
	struct live_node **slots;
	size_t mask, count;
};
bool live_table_init(struct live_table *t) MUST_CHECK;
void live_table_release(struct live_table *t);
void live_table_add(struct live_table *t, struct live_node *n);    /* key and topic are set; equal keys may be in it */
void live_table_remove(struct live_table *t, struct live_node *n); /* one that is in none is fine */
/* The first with that key, and the next after one. */
struct live_node *live_table_find(const struct live_table *t, struct slice key);
struct live_node *live_table_next(const struct live_node *n);

/* ---- topics (live_topic.c) ---- */
struct live_pending {
	struct live_pending *next;
	uint64_t sequence;
	struct live_bytes *bytes;
};

struct live_topic {
	struct live *live;
	struct live_node node;        /* (lock) in live->topics */
	size_t refs;                  /* (lock) watchers, events on their way, the reader at work on it */
	struct live_node *partitions; /* (lock) in live->partitions; one block with their keys */
	size_t partition_count;
	struct live_place *places;              /* (lock) */
	struct live_watcher *pending;           /* (lock) */
	struct live_topic *moving, **moving_at; /* (lock) of those whose partitions follow the clock; NULL: not one */
	uint64_t stamp;                         /* the reader's: the change it was last found for */
	struct caller caller;                   /* the reader moves its session.versions; nothing else changes */
	/* constant: */
	struct read_live list;
	_Alignas(struct slice) char room[];
};

/* a position */
struct live_at {
	uint64_t position;
	struct mark mark; /* of a stream that is not ordered (live_stream.h) */
};

struct live {
	struct app *app;
	struct database *database;
	struct backend *backend; /* the reader's */
	struct relay *relay;     /* NULL: none */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* wakes the reader, and threads that wait for it */
	pthread_t thread;
	bool started;               /* (lock) there is a thread */
	bool stopping;              /* (lock) */
	bool running;               /* (lock) positions are known */
	uint64_t failures;          /* (lock) failed starts, for threads that wait for one */
	size_t watchers;            /* (lock) */
	size_t posts, posted_bytes; /* (lock) L4 */
	struct live_at at;  /* (lock) changes up to it have been compared with the topics that were there then */
	uint64_t delivered; /* (lock) and their events given to the targets */
	uint64_t seen;      /* (lock) of a remote stream: database_latest() when it was last read */
	struct live_table topics, partitions; /* (lock) */
	struct live_topic *moving;            /* (lock) */
};

/* With the lock held. */
static inline bool live_is_full(const struct live *l)
{
	return l->posts >= LIVE_POSTS_MOST || l->posted_bytes >= LIVE_POSTS_BYTES;
}

/* The key of a topic: its list, and *caller: the caller as far as the list depends on it. */
struct slice live_topic_key(struct run *r, const struct read_live *list, struct caller *caller);
/* With the lock held. Finds or makes the topic, with one more reference for the caller; NULL: memory. */
struct live_topic *live_topic_get(struct live *l, struct slice key, const struct read_live *list,
				  const struct caller *caller, const struct slice *partitions, size_t n);
void live_topic_unref(struct live_topic *t); /* with the lock held */
/* With the lock held: gives it other partitions. False: memory; it keeps the old ones. */
bool live_topic_move(struct live_topic *t, const struct slice *partitions, size_t n) MUST_CHECK;
/* With the lock held: new watchers no longer find it. */
void live_topic_hide(struct live_topic *t);
/* With the lock held: sends the event to all its watchers; consumes the reference to the bytes. */
void live_topic_tell(struct live_topic *t, uint64_t sequence, struct live_bytes *bytes, bool end);

/* ---- positions ---- */
/* As an event's id. Gives its length. */
size_t live_id(const struct live *l, const struct live_at *at, char text[LIVE_ID_ROOM]);
/* The sequence of what was committed last; of an ordered stream. */
uint64_t live_last_sequence(const struct live *l);
bool live_is_ordered(const struct database *d);

/* ---- events as bytes (live_text.c) ---- */
void live_text_events(struct buf *b, const struct read_live_event *events, size_t n, struct slice id);
void live_text_plain(struct buf *b, const char *event, struct slice id); /* ready, reset */

/* ---- what was missed (live_catch_up.c) ---- */
/* a watcher that reconnects */
struct live_absence {
	const struct live *live;
	const struct read_live *list;
	const struct slice *partitions;
	size_t partition_count;
	struct slice id; /* its position */
	const struct live_at *upto;
};
/* Appends the events since then, and `ready`; or `reset` if they are not available. */
void live_catch_up(struct run *r, const struct live_absence *a, struct buf *out);

void *live_read_on(void *live); /* the reader's thread (live_reader.c) */

#endif
