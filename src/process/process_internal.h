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
#include "app/run/passed_over.h"
#include "process/checkpoint.h"
#include "process/lease.h"
#include "process/process.h"
#include "process/relay/relay.h"
#include "process/send/send_run.h"
#include "process/tail/shards.h"
#include "process/tail/tail.h"

#define PAGES           2       /* one at the end of the shard, one for those behind */
#define SAVE_US         1000000 /* how long a position may be behind what has been done (R1) */
#define TURN_US         100000  /* of a track, before the next one has its turn */
#define EFFECT_TURN_US  1000000 /* of one effect: it goes on where it was (R3) */
#define RETRY_FIRST_MS  50
#define RETRY_MOST_MS   30000
#define RETRIES         8
#define RETRIES_LASTING 3
#define RETRIES_ALL     1000                   /* of a change that comes further with every try and still fails */
#define CONFIRM_MS      (3600 * INT64_C(1000)) /* a position at the end says so from time to time (tail_has_missed()) */

struct station {
	const struct processor *processor; /* NULL: the keeper */
	struct slice name;
	struct send_runner *sender; /* NULL: it writes to the table, and has tracks */
	bool asks_indexes;          /* which may be late: its changes wait for them (app/db/late.h) */
	atomic_bool paused;
	atomic_uint told;  /* how often it was paused or resumed here */
	atomic_uint epoch; /* the positions were changed from outside */
	_Atomic uint64_t done, retries, lost;
	_Atomic int64_t parked; /* but for those that a sender has counted */
	char problem[256];      /* the last one; under the process' lock, as what follows */
	int64_t problem_ms;
	char passed_text[PASSED_OVER_TEXT]; /* the last change or row that was passed over and is told */
	int64_t passed_ms;
	int64_t passed_logged_us; /* when the log last heard of one */
	uint64_t passed_unlogged; /* since then */
	_Atomic uint64_t passed_over[PASSED_OVER_REASONS];
};

/* what follows a place */
struct page {
	struct arena arena;
	bool used;
	struct spot after;
	struct tail_cursor behind; /* at its last change; of none: at `after` */
	const struct change *list;
	size_t count;
	bool trimmed;    /* there were changes before its first that are gone */
	uint64_t turn;   /* when it was last wanted */
	int64_t read_ms; /* when it had been read: what it tells was written before */
};

struct track {
	struct reader *reader;
	struct station *station;
	bool loaded, ended;
	unsigned epoch;
	struct spot done;   /* up to and with */
	struct spot stored; /* in the table: where `done` was at most SAVE_US ago */
	char *progress;     /* in the table; NULL: none */
	bool is_stored;
	int64_t replay_ms;    /* passes over what is older; 0: nothing */
	struct spot seen;     /* keeper: before a replay it had come this far; empty: there was none */
	int64_t dirty_us;     /* since when `done` is ahead; 0: it is not */
	int64_t current_ms;   /* the clock when it was last known to have missed nothing; 0: never */
	int64_t confirmed_ms; /* what the table says of that */
	struct spot failing;  /* the change that `tries` is about; empty: none */
	int tries;            /* since it last came further */
	int all_tries;
	struct passed_over passed_over; /* of the change at hand */
	int64_t next_us;                /* not before */
	bool one_by_one;                /* keeper: a page has failed */
	_Atomic int64_t oldest_ms;      /* when the next change was made; 0: none is known */
	_Atomic int64_t since_ms;       /* what is older does not slow writers */
	_Atomic uint64_t waiting;       /* changes known to */
	atomic_bool is_retrying;   /* a change has failed, and nothing has been done since: it waits, or was parked */
	_Atomic int64_t worked_us; /* when it last did something, or came further inside a change */
	_Atomic uint64_t latest;   /* of the stream when it had done everything before; 0: it has not */
};

struct reader {
	struct seat seat; /* first */
	struct process *process;
	struct tail tail;
	pthread_t thread;
	bool started;
	atomic_bool leave;         /* the shard is another server's now */
	atomic_bool give_way;      /* the effect that is being done is to be interrupted */
	_Atomic int64_t effect_us; /* when that is; 0: none is being done */
	int64_t turn_us;           /* how long it has got: more when it has come nowhere */
	struct backend *backend;
	struct arena arena; /* of a step */
	struct page pages[PAGES];
	uint64_t turns;
	struct track *tracks;
	size_t track_count;
};

static inline struct reader *reader_of(struct seat *s)
{
	return (struct reader *)s;
}

struct process {
	struct app *app;
	const struct design *design;
	struct database *database;
	struct leases *leases; /* NULL: no other server is at the table */
	struct relay *relay;   /* NULL: the same */
	bool has_peers;        /* other servers ask this one */
	struct station *stations;
	size_t station_count;
	bool has_tracks;
	struct backend *backend; /* the watcher's */
	struct arena arena;      /* its, too */
	pthread_t watcher;
	bool started;
	pthread_mutex_t lock;   /* of what follows, and of the seats of the readers for all but the watcher */
	pthread_cond_t changed; /* readers wait for it */
	pthread_cond_t stopped; /* the watcher */
	uint64_t turn;          /* there may be something to do */
	struct seats readers;
	bool listed;            /* each shard of ours has its reader, and none of them has ended since */
	uint64_t endings;       /* readers that are through */
	_Atomic uint64_t looks; /* how often it was asked whether anything is new (process_wait.c) */
	int64_t begin_every_us; /* how often that is tried again */
	int64_t sweep_us;       /* the watcher's: when it next removes what is kept of shards that are gone */
	char standstill[256];   /* why none of its stations runs; empty: they do */
	atomic_bool begun;      /* all that had to be read before they can run has been */
	atomic_bool stopping;
	_Atomic int64_t delay_ms;
	_Atomic uint64_t slowed;
};

/* ---- process.c ---- */
struct run process_run(struct process *p, struct backend *b, struct arena *a);
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

/* ---- process_fleet.c: of all servers of the table ---- */
/* a processor that has something to do at a shard */
struct fleet_row {
	struct slice shard; /* empty: of a sender, at any */
	struct slice processor;
	int64_t oldest_ms;
	uint64_t waiting;
	bool is_this; /* told by this server */
};
struct fleet {
	struct lease_view *view; /* until the arena is cleared; NULL: there are no other servers, or nothing is known yet */
	struct fleet_row *rows;
	size_t row_count;
	bool others_idle; /* as far as they have told; and every shard is read by a server */
};
/* With the next beat; the watcher's. */
void fleet_tell(struct process *p, struct run *r);
/* As of the last round. */
void fleet_look(struct process *p, struct run *r, struct fleet *out);
/* What the other servers have of a processor. */
void fleet_add_backlog(const struct fleet *f, struct slice processor, int64_t now_ms, int64_t *lag_ms,
		       uint64_t *waiting);
/* ,"servers":[…],"shards":[…]; nothing where there are no others. */
void fleet_put(const struct fleet *f, int64_t now_ms, struct buf *b);

/* ---- process_reader.c ---- */
struct reader *reader_new(struct process *p, struct slice stream, struct slice shard); /* NULL: memory */
bool reader_start(struct reader *r) MUST_CHECK;
void reader_free(struct reader *r); /* joins */

/* ---- process_page.c ---- */
/* FOUND: *page has at *index what follows the track's position. */
enum tail_found page_find(struct track *t, const struct page **page, size_t *index);
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
