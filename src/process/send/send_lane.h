/* One shard of a `send` processor: a thread that reads it and sends. For send_run.c and send_lane*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_LANE_H
#define THORPE_PROCESS_SEND_LANE_H

#include <pthread.h>
#include "process/send/send_run.h"
#include "process/tail/shards.h"
#include "process/tail/tail.h"

struct send_runner {
	struct app *app;
	struct database *database;
	const struct processor *p;
	struct leases *leases; /* NULL: no other server is at the table */
	struct ledger *ledger;
	int64_t second_ms; /* SEND_RETRY_ENV */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t news;        /* under the lock: counts wakes */
	uint64_t told;        /* under the lock: counts send_runner_pause() */
	struct seats lanes;   /* changed by the runner's own thread only */
	atomic_bool stopping; /* the threads end */
	atomic_bool leaving;  /* the lanes end, because a replay begins */
	uint64_t replayed;    /* the runner's own: the last replay that is known, a hash (processor_switch) */
	atomic_bool paused;
};

struct lane {
	struct seat seat; /* first */
	struct send_runner *runner;
	pthread_t thread;
	bool running;              /* the thread must be joined */
	_Atomic int64_t oldest_ms; /* when the oldest change that waits was made; 0: none does */
	/* the thread's own */
	struct tail tail;
	struct tail_cursor cursor; /* after the page */
	struct arena page_arena;
	struct change_page page; /* read, and not all done */
	struct backend *backend;
	struct sender *sender;
	struct arena arena;      /* of a step */
	struct arena try_arena;  /* of a request */
	struct spot done, saved; /* up to and with; what is in the table */
	char since[CHECKPOINT_SINCE_ROOM],
		saved_since[CHECKPOINT_SINCE_ROOM]; /* progress of a replay: older changes are skipped */
	bool loaded, stored;                        /* the position has been read; there is one */
	bool sent;                                  /* since the position was saved */
	int64_t saved_us;
	int64_t current_ms;             /* when it was last known to have missed nothing */
	struct passed_over passed_over; /* of a page */
};

/* NULL: memory. */
struct lane *lane_new(struct send_runner *s, struct slice stream, struct slice shard);
bool lane_start(struct lane *l) MUST_CHECK;
/* Whether this server reads the shard (lease.h). */
bool lane_is_ours(struct send_runner *s, struct slice shard);
void lane_free(struct lane *l); /* waits for its thread */

/* ---- waiting (send_run.c) ---- */
bool runner_leaves(struct send_runner *s);     /* stopping or leaving */
bool runner_interrupts(struct send_runner *s); /* or paused */
uint64_t runner_news(struct send_runner *s);
/* Waits until the time is over, or the runner leaves, is paused or resumed; or, unless `news` is NULL, until there is
 * more news than that. */
void runner_wait(struct send_runner *s, int64_t ms, const uint64_t *news);

struct run lane_run(struct send_runner *s, struct backend *b, struct arena *a);

/* ---- delivering (send_lane_deliver.c) ---- */
/* Sends the changes of lane->page that concern the processor and are not done, in order, moving lane->done along.
 * False: interrupted; a later call continues. */
bool lane_deliver(struct lane *l, struct run *r) MUST_CHECK;

#endif
