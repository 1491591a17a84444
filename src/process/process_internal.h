/* Inside of process.h: stations, readers and their tracks. For process*.c only.
 *
 *     station   a processor (or the keeper) of the design, over all shards: its switches and numbers
 *     reader    a shard, its thread, the pages it has read
 *     track     a station at a reader: where it is there, and what it waits for
 *
 * Threads: a reader's tracks and pages are its thread's, but for what is atomic. The watcher looks whether there is something
 * new in the stream, starts and ends readers, and makes readers whose effect takes long give way.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_PROCESS_INTERNAL_H
#define THORPE_PROCESS_PROCESS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "app/passed_over.h"
#include "process/checkpoint.h"
#include "process/lease.h"
#include "process/process.h"
#include "process/send_run.h"

#define SEQUENCE_ROOM 64     /* DynamoDB's have 40 at most */
#define ITERATOR_ROOM 2560   /* 2048 */
#define PAGES 2              /* one at the end of the shard, one for those behind */
#define PAGE_MOST 1000       /* changes */
#define SAVE_US 1000000      /* how long a position may be behind what has been done (R1) */
#define TURN_US 100000       /* of a track, before the next one has its turn */
#define EFFECT_TURN_US 1000000 /* of one effect: it goes on where it was (R3) */
#define RETRY_FIRST_MS 50
#define RETRY_MOST_MS 30000
#define RETRIES 8
#define RETRIES_LASTING 3
#define RETRIES_ALL 1000      /* of a change that comes further with every try and still fails */
#define KEPT_MS (23 * 3600 * INT64_C(1000)) /* the stream keeps 24 hours: who has been at its end since has missed nothing */
#define CONFIRM_MS (3600 * INT64_C(1000))   /* so a position at the end says so from time to time */

struct station {
	const struct processor *processor; /* NULL: the keeper */
	struct slice name;
	struct send_runner *sender;        /* NULL: it writes to the table, and has tracks */
	bool asks_indexes;                 /* which may be late: its changes wait for them (app/late.h) */
	atomic_bool paused;
	atomic_uint told;                  /* how often it was paused or resumed here */
	atomic_uint epoch;                 /* the positions were changed from outside */
	_Atomic uint64_t done, retries, lost;
	_Atomic int64_t parked;            /* but for those that a sender has counted */
	char problem[256];                 /* the last one; under the process' lock, as what follows */
	int64_t problem_ms;
	char passed_text[PASSED_OVER_TEXT]; /* the last change or row that was passed over and is told */
	int64_t passed_ms;
	int64_t passed_logged_us;          /* when the log last heard of one */
	uint64_t passed_unlogged;          /* since then */
	_Atomic uint64_t passed_over[PASSED_OVER_REASONS];
};

struct page { /* what follows a sequence number */
	struct arena arena;
	bool used;
	char after[SEQUENCE_ROOM], last[SEQUENCE_ROOM]; /* last: of its changes; of none: after */
	const struct change *list;
	size_t count;
	char iterator[ITERATOR_ROOM]; /* to go on; empty: to be taken from `last` */
	bool trimmed;                 /* there were changes before its first that are gone */
	bool ended;                   /* the shard has nothing behind it, ever */
	uint64_t latest;              /* of the stream when there was nothing behind it; 0: not looked yet */
	uint64_t turn;                /* when it was last wanted */
};

struct track {
	struct reader *reader;
	struct station *station;
	bool loaded, ended;
	unsigned epoch;
	char done[SEQUENCE_ROOM];     /* up to and with */
	char stored[SEQUENCE_ROOM];   /* in the table: where `done` was at most SAVE_US ago */
	char *progress;               /* in the table; NULL: none */
	bool is_stored;
	int64_t replay_ms;            /* passes over what is older; 0: nothing */
	char seen[SEQUENCE_ROOM];     /* keeper: before a replay it had come this far; empty: there was none */
	int64_t dirty_us;             /* since when `done` is ahead; 0: it is not */
	int64_t current_ms;           /* the clock when it was last known to have missed nothing; 0: never */
	int64_t confirmed_ms;         /* what the table says of that */
	char failing[SEQUENCE_ROOM];  /* the change that `tries` is about; empty: none */
	int tries;                    /* since it last came further */
	int all_tries;
	struct passed_over passed_over; /* of the change at hand */
	int64_t next_us;              /* not before */
	bool one_by_one;              /* keeper: a page has failed */
	_Atomic int64_t oldest_ms;    /* when the next change was made; 0: none is known */
	_Atomic int64_t since_ms;     /* what is older does not slow writers */
	_Atomic uint64_t waiting;     /* changes known to */
	atomic_bool is_retrying;      /* a change has failed, and nothing has been done since: it waits, or was parked */
	_Atomic int64_t worked_us;    /* when it last did something, or came further inside a change */
	_Atomic uint64_t latest;      /* of the stream when it had done everything before; 0: it has not */
};

struct reader {
	struct reader *next;
	struct process *process;
	char *stream, *shard;
	pthread_t thread;
	bool started;
	atomic_bool finished, ended;  /* the thread is through; so is the shard */
	atomic_bool leave;            /* the shard is another server's now */
	atomic_bool give_way;         /* the effect that is being done is to be interrupted */
	_Atomic int64_t effect_us;    /* when that is; 0: none is being done */
	int64_t turn_us;              /* how long it has got: more when it has come nowhere */
	struct backend *backend;
	struct arena arena;           /* of a step */
	struct page pages[PAGES];
	uint64_t turns;
	struct track *tracks;
	size_t track_count;
	int failures;                 /* of reading, one after the other */
	int64_t next_us;              /* no reading before */
	int empty;                    /* readings that found nothing, one after the other */
	int64_t quiet_us;             /* no looking for more before */
	int64_t poll_us;              /* from then on it looks although nothing is known to have been written (database.poll_ms) */
	bool gone;                    /* the stream or the shard is */
};

struct process {
	struct app *app;
	const struct design *design;
	struct database *database;
	struct leases *leases;        /* NULL: no other server is at the table */
	struct station *stations;
	size_t station_count;
	bool has_tracks;
	struct backend *backend;      /* the watcher's */
	struct arena arena;           /* its, too */
	pthread_t watcher;
	bool started;
	pthread_mutex_t lock;         /* of what follows, and of the list of readers for all but the watcher */
	pthread_cond_t changed;       /* readers wait for it */
	pthread_cond_t stopped;       /* the watcher */
	uint64_t turn;                /* there may be something to do */
	struct reader *readers;
	bool listed;                  /* each shard of ours has its reader, and none of them has ended since */
	uint64_t endings;             /* readers that are through */
	_Atomic uint64_t looks;       /* how often it was asked whether anything is new (process_wait.c) */
	int64_t begin_every_us;       /* how often that is tried again */
	char standstill[256];         /* why none of its stations runs; empty: they do */
	atomic_bool begun;            /* all that had to be read before they can run has been */
	atomic_bool stopping;
	_Atomic int64_t delay_ms;
	_Atomic uint64_t slowed;
};

/* ---- process.c ---- */
struct run process_run(struct process *p, struct backend *b, struct arena *a);
/* Another number than before: a stream may have something new. It rises. */
uint64_t process_latest(struct process *p);
/* There may be something to do. */
void process_wake(struct process *p);
struct station *process_station(struct process *p, struct slice name);
/* How long a write should wait, as the watcher works it out. */
int64_t process_find_delay_ms(struct process *p);
/* Remembers and logs what went wrong. */
void station_problem(struct process *p, struct station *s, const char *what, struct slice detail);
/* Adds what was passed over; the log hears of it now and then. */
void station_passed_over(struct process *p, struct station *s, const struct passed_over *what);
/* All of it since the start; when the last one was that is told, 0: none was. */
int64_t station_read_passed_over(struct process *p, struct station *s, struct passed_over *out);
/* So many are parked now. */
void station_set_parked(struct station *s, int64_t count);
/* How far behind: the age of the oldest change not done, and how many are known to wait. */
void station_backlog(struct process *p, struct station *s, int64_t *lag_ms, uint64_t *waiting);

/* ---- process_reader.c ---- */
struct reader *reader_new(struct process *p, struct slice stream, struct slice shard); /* NULL: memory */
bool reader_start(struct reader *r) MUST_CHECK;
void reader_free(struct reader *r); /* joins */
/* Nothing is read for a while; longer from time to time. */
void reader_failed(struct reader *r, const char *what, struct slice detail);

/* ---- process_page.c ---- */
enum page_found {
	PAGE_FOUND,  /* *page has at *index what follows the track's position */
	PAGE_END,    /* nothing does, at the moment */
	PAGE_LATER,  /* not to be looked for now, or it failed */
	PAGE_ENDED,  /* nothing will */
};
enum page_found page_find(struct track *t, const struct page **page, size_t *index);
void pages_release(struct reader *r);

/* ---- process_track.c ---- */
/* A turn. Whether anything was done. */
bool track_step(struct track *t);
/* Writes positions: those that are due, or all that differ. */
bool tracks_save(struct reader *r, bool all);
/* When a position is due next; INT64_MAX: none is. */
int64_t tracks_due_us(const struct reader *r);
/* Writes what was passed since the position was last written: before the position is forgotten. */
void track_save_passed(struct track *t, struct run *r);
/* The position is to be read again. */
void track_forget(struct track *t);
struct position track_position(const struct track *t);
/* The change has been done, and the table says so, too. */
void track_moved(struct track *t, struct slice sequence);

/* ---- process_retry.c ---- */
/* A change has failed: when to try again, or parks it. */
void track_failed(struct track *t, struct run *r, const struct change *c);
/* The change, or one behind the one that failed, is done: its tries are over. */
void track_went_past(struct track *t, struct slice sequence);

/* ---- process_control.c, process_parked.c ---- */
bool process_replay(struct process *p, struct run *r, struct station *s, int64_t from_ms) MUST_CHECK;
bool parked_list(struct process *p, struct run *r, struct station *s, struct slice query, struct buf *out) MUST_CHECK;
bool parked_retry(struct process *p, struct run *r, struct station *s, struct slice sequence) MUST_CHECK;
bool parked_drop(struct process *p, struct run *r, struct station *s, struct slice sequence) MUST_CHECK;
/* The shard of the position that says how far the keeper had come before a replay (checkpoint.h). */
struct slice seen_shard(struct run *r, struct slice shard);
/* The position of a replay (send_lane.h has the same). 0: it is none. */
int64_t replay_since(struct slice progress);

#endif
