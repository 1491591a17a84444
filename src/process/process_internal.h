/* Inside process.h: stations, readers and their tracks. For process*.c only.
 *
 *     station   a processor of the design, or the keeper, over all shards: switches and numbers
 *     reader    a shard, its thread, the pages it has read
 *     track     a station at a reader: its position there, and what it waits for
 *
 * Threads: tracks and pages belong to their reader's thread, except atomic members. The watcher checks the stream for
 * news, starts and ends readers, and interrupts effects that take long.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_PROCESS_INTERNAL_H
#define THORPE_PROCESS_PROCESS_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "process/checkpoint.h"
#include "process/lease.h"
#include "process/ledger.h"
#include "process/process.h"
#include "process/relay/relay.h"
#include "process/send/send_run.h"
#include "process/tail/shards.h"
#include "process/tail/tail.h"

#define PAGES           2       /* one at the end of the shard, one for tracks that lag */
#define SAVE_US         1000000 /* how long a stored position may lag (R1) */
#define TURN_US         100000  /* of a track, before the next one has its turn */
#define EFFECT_TURN_US  1000000 /* of one effect; it continues in the next turn (R3) */
#define RETRY_FIRST_MS  50
#define RETRY_MOST_MS   30000
#define RETRIES         8
#define RETRIES_LASTING 3
#define RETRIES_ALL     1000 /* of a change that progresses with every try, or that nothing is known of, for hours */
#define CONFIRM_MS      (3600 * INT64_C(1000)) /* a position at the end is rewritten from time to time (tail_has_missed()) */

struct station {
	const struct processor *processor; /* NULL: the keeper */
	struct slice name;
	struct send_runner *sender; /* NULL: it writes to the table, and has tracks */
	bool asks_indexes;          /* its changes wait until indexes have caught up (app/db/late.h) */
	atomic_bool paused;
	atomic_uint told;          /* how often it was paused or resumed on this server */
	atomic_uint epoch;         /* rises when positions were changed from outside (a replay) */
	_Atomic uint64_t replayed; /* the last replay that is known: a hash (processor_switch) */
	struct ledger ledger;
	/* of one that runs on a schedule (process_schedule.c): */
	atomic_bool run_now;    /* an operator asks for a run */
	_Atomic int64_t due_ms; /* of the run under way; 0: none */
	_Atomic int64_t ran_ms; /* the last run, as far as this server knows; 0: none */
};

static inline bool station_is_scheduled(const struct station *s)
{
	return s->processor && s->processor->every_seconds;
}

/* Whether it has tracks: it reads the stream, and writes to the table. */
static inline bool station_has_tracks(const struct station *s)
{
	return !s->sender && !station_is_scheduled(s);
}

/* the changes after a position */
struct page {
	struct arena arena;
	bool used;
	struct spot after;
	struct tail_cursor behind; /* after its last change; without changes: at `after` */
	const struct change *list;
	size_t count;
	bool trimmed;    /* the stream has forgotten changes before its first */
	uint64_t turn;   /* when it was last used */
	int64_t read_ms; /* when it was read: its changes were written before */
};

struct track {
	struct reader *reader;
	struct station *station;
	bool loaded;
	bool waits;        /* not loaded, because the processor is not done with the parent of the shard */
	bool waits_paused; /* and it was paused when that was looked at */
	atomic_bool look;  /* the processor is done with the parent, at this server */
	bool over;         /* nothing follows `done` */
	atomic_bool ended; /* and the stored position says so */
	atomic_uint epoch;
	struct spot done;   /* the last change that is done */
	struct spot stored; /* in the table; lags `done` by SAVE_US at most */
	char *progress;     /* in the table; NULL: none */
	bool is_stored;
	int64_t replay_ms;    /* older changes are skipped; 0: none */
	struct spot seen;     /* keeper: its position before a replay; empty: there was none */
	int64_t dirty_us;     /* since when `done` is ahead; 0: it is not */
	int64_t current_ms;   /* the clock when it was last known to have missed nothing; 0: never */
	int64_t confirmed_ms; /* the same in the table */
	struct spot failing;  /* the change that `tries` is about; empty: none */
	int tries;            /* since it last made progress */
	int judged;           /* of these: the database was there, and it failed all the same */
	atomic_bool unserved; /* in this try the database was not there, or had no time: run_note_unserved() */
	int all_tries;
	struct passed_over passed_over; /* of the change at hand */
	int64_t next_us;                /* not before */
	bool one_by_one;                /* keeper: a page has failed */
	_Atomic int64_t oldest_ms;      /* when the next change was made; 0: none is known */
	_Atomic int64_t since_ms;       /* older changes do not slow writers */
	_Atomic uint64_t waiting;       /* changes known to wait */
	atomic_bool is_retrying;        /* the last change failed: it waits, or was parked */
	_Atomic int64_t worked_us;      /* when it last made progress */
	_Atomic uint64_t latest;        /* the stream's number when this track was at its end; 0: it is not */
};

/* Whether it has ended, and no replay has begun since. Any thread. */
static inline bool track_has_ended(const struct track *t)
{
	return atomic_load(&t->ended) && atomic_load(&t->epoch) == atomic_load(&t->station->epoch);
}

struct reader {
	struct seat seat; /* first */
	struct process *process;
	struct tail tail;
	char *parent;            /* of the shard, as long as the stream lists it (R4); NULL: it has none */
	atomic_bool parent_gone; /* it does not any more */
	bool is_known;           /* the watcher's: tracks of the parent find it */
	bool was_closed;         /* the shard, when it was listed: so its children were listed with it */
	pthread_t thread;
	bool started;
	atomic_bool leave;         /* another server owns the shard now */
	atomic_bool give_way;      /* interrupts the effect that is running */
	_Atomic int64_t effect_us; /* when to do that; 0: no effect is running */
	int64_t turn_us;           /* time for an effect; doubles while it makes no progress */
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

struct keeper_roles;
struct timetable;

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
	bool has_schedules;
	struct timetable *timetable;      /* the watcher's; NULL: not started, or nothing has a schedule */
	struct backend *backend;          /* the watcher's */
	struct arena arena;               /* the watcher's */
	struct arena memory;              /* of what lives as long as the process */
	const struct keeper_roles *roles; /* NULL: no keeper is needed */
	pthread_t watcher;
	bool started;
	pthread_mutex_t lock;   /* of what follows; the watcher alone may walk the readers without it */
	pthread_cond_t changed; /* readers wait for it */
	pthread_cond_t stopped; /* the watcher waits for it */
	uint64_t turn;          /* there may be something to do */
	struct seats readers;
	bool listed;            /* each shard of ours has its reader, and none has ended since */
	uint64_t endings;       /* of tracks and readers, that ask for a new list */
	_Atomic uint64_t looks; /* questions whether anything is new (process_wait.c) */
	int64_t begin_every_us; /* between two tries to start */
	int64_t sweep_us;       /* the watcher's: when it next removes positions of shards that are gone */
	char standstill[256];   /* why no station runs; empty: they run */
	atomic_uint waiters;    /* requests that wait until it is idle */
	atomic_bool begun;      /* switches and parked changes have been read: stations may run */
	atomic_bool stopping;
	_Atomic int64_t delay_ms;
	_Atomic uint64_t slowed;
};

/* ---- process.c ---- */
struct run process_run(struct process *p, struct backend *b, struct arena *a);
/* Now, by the clock that dates the stream's records: their age is how much this is later. */
int64_t process_stream_ms(const struct process *p);
/* There may be something to do. */
void process_wake(struct process *p);
/* Learns of pauses and replays at other servers. Any thread; the watcher does so with each round. */
bool process_follow_switches(struct process *p, struct run *r) MUST_CHECK;
struct station *process_station(struct process *p, struct slice name);
/* How long a write should wait; for the watcher. */
int64_t process_find_delay_ms(struct process *p);
/* Logs a problem and keeps it in the ledger. */
void station_problem(struct process *p, struct station *s, const char *what, struct slice detail);
/* The processor is replayed: its positions have been moved back. */
void station_replayed(struct process *p, struct station *s, struct slice replayed);
/* How far behind: the age of the oldest change not done, and how many are known to wait. */
void station_backlog(struct process *p, struct station *s, int64_t *lag_ms, uint64_t *waiting);

/* ---- process_fleet.c: of all servers of the table ---- */
/* a processor with work at a shard */
struct fleet_row {
	struct slice shard; /* empty: a sender, over all shards */
	struct slice processor;
	int64_t oldest_ms;
	uint64_t waiting;
	bool is_this; /* reported by this server */
};
struct fleet {
	struct lease_view *view; /* until the arena is cleared; NULL: no other servers, or nothing is known yet */
	struct fleet_row *rows;
	size_t row_count;
	bool others_idle; /* as far as they report; and a server reads every shard */
};
/* Reports this server's backlog with the next beat; for the watcher. */
void fleet_tell(struct process *p, struct run *r);
/* As of the last round. */
void fleet_look(struct process *p, struct run *r, struct fleet *out);
/* Adds the backlog that other servers report for a processor. */
void fleet_add_backlog(const struct fleet *f, struct slice processor, int64_t now_ms, int64_t *lag_ms,
		       uint64_t *waiting);
/* The members "servers" and "shards"; nothing where there are no other servers. */
void fleet_put(const struct fleet *f, int64_t now_ms, struct buf *b);

/* ---- process_reader.c ---- */
struct reader *reader_new(struct process *p, struct slice stream, const struct shard *shard); /* NULL: memory */
bool reader_start(struct reader *r) MUST_CHECK;
void reader_free(struct reader *r); /* joins */
/* The shard has ended for a station (NULL: for all, or this server reads it no longer): tells its children, of which
 * some may wait for it (R4).
 * `wants_list`: the shards are to be listed again. */
void reader_ended(struct reader *r, const struct station *s, bool wants_list);
/* Whether this server reads the shard. */
bool reader_is_here(struct process *p, const char *shard);

/* ---- process_page.c ---- */
/* FOUND: the change after the track's position is at *index of *page. */
enum tail_found page_find(struct track *t, const struct page **page, size_t *index);
void pages_release(struct reader *r);

/* ---- process_track.c ---- */
/* Takes a turn. Returns whether it did anything. */
bool track_step(struct track *t);
/* Writes the positions that are due, or all that differ. */
bool tracks_save(struct reader *r, bool all);
/* When a position is due next; INT64_MAX: none is. */
int64_t tracks_due_us(const struct reader *r);
/* Writes the position before it is forgotten, so that changes without effect are not looked at again. */
void track_save_passed(struct track *t, struct run *r);
/* The position will be read again. */
void track_forget(struct track *t);
/* The change is done, and the stored position says so. */
void track_moved(struct track *t, const struct change *c);

/* ---- process_retry.c ---- */
/* A change has failed: schedules the next try, or parks it. */
void track_failed(struct track *t, struct run *r, const struct change *c);
/* How often to try, and how long to wait after so many tries. */
int track_most_tries(enum problem_type t);
int64_t track_wait_ms(int tries);
/* This change is done. If it is at or after the failing one, the tries are over. */
void track_went_past(struct track *t, struct slice sequence);

/* ---- process_schedule.c ---- */
/* Positions of schedules are in this "shard"; with a remote table it has an owner, as shards have. */
#define SCHEDULE_SHARD "schedule"
/* The last time at which it was due, at or before `now_ms`. */
int64_t schedule_due_ms(const struct processor *p, int64_t now_ms);
/* The time of a run, from its sequence. */
int64_t schedule_ms(struct slice sequence);
bool schedule_start(struct process *p) MUST_CHECK;
void schedule_wake(struct process *p); /* any thread */
void schedule_stop(struct process *p);

/* ---- process_control.c, process_parked.c ---- */
void control_put_time(struct buf *b, const char *name, int64_t ms);
/* Of a parameter: 0 to `most`; -1: it is not such a number. */
int control_number(struct slice text, int most);
bool process_replay(struct process *p, struct run *r, struct station *s, int64_t from_ms) MUST_CHECK;
bool parked_list(struct process *p, struct run *r, struct station *s, struct slice query, struct buf *out) MUST_CHECK;
bool parked_retry(struct process *p, struct run *r, struct station *s, struct slice sequence) MUST_CHECK;
bool parked_drop(struct process *p, struct run *r, struct station *s, struct slice sequence) MUST_CHECK;
/* The "shard" under which the keeper's position before a replay is stored (checkpoint.h). */
struct slice seen_shard(struct run *r, struct slice shard);

#endif
