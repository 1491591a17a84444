/* The processors of a running design: the threads that read its stream, and their controls. docs/processors.md is the
 * manual.
 *
 * One thread per shard feeds the keeper and all processors that write to the table; `send` processors have their own
 * threads (send_run.h). A change that fails is tried again after 50 ms, doubling to 30 s, eight times (three times if
 * the problem cannot go away, such as INVALID). Then it is parked, and the next change is taken. A paused processor
 * stands still; the others go on.
 *
 * Backlog: the age of the oldest change not yet done, and how many are known to wait. More than PROCESS_SLOW_MS
 * behind, writers are slowed (process_delay_ms()): by a delay that grows with the lag, up to one second, and shows in
 * the metrics. Only work that can be done counts: not changes that were there when a processor started, was resumed or
 * replayed; not the work of a processor that is paused, waits for its next try, or has made no progress for five
 * seconds.
 *
 * Changes without effect are counted by reason (app/run/passed_over.h).
 *
 * Invariants
 *   R1  A change takes effect exactly once: the effect and the position are one transaction. Positions of changes
 *       without effect follow within a second.
 *   R2  Nothing is read while nothing is written.
 *   R3  A processor that lags, fails or takes long delays the others of its shard by a second at most at a time.
 *   R4  A processor begins a shard when it is done with the parent, or the stream no longer lists the parent. It waits
 *       for itself alone: each position says whether the shard has ended for its processor, so this holds also at
 *       another server, after a restart, in a replay, and for a processor that was paused meanwhile or is new.
 *   R5  Changes that the stream has forgotten before a processor came to them are reported: when it comes to the
 *       place, or, if the shard is gone by then, by the server that sweeps the positions (checkpoint.h).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_PROCESS_H
#define THORPE_PROCESS_PROCESS_H

#include "app/app.h"
#include "app/run/passed_over.h"

#define PROCESS_SLOW_MS 10000

struct process_options {
	struct app *app; /* outlives the process */
	/* For a remote table: HOST:PORT where other servers of the table ask this one for records (relay/relay.h);
	 * NULL: they do not, and read the shards of this server themselves. */
	const char *peer_address;
};

struct relay;
struct process; /* of one app */
/* NULL: memory. A design without processors gets one that does nothing. */
struct process *process_new(const struct process_options *o);
/* The table must exist. False: `why` is a sentence. Until it is stopped, the app leaves the keeper's work to the
 * keeper, and serves /processors to operators. If positions and switches cannot be read (a damaged block) the
 * processors stand still: the log and /processors say why, the app does the keeper's work, and the start is tried
 * again every 30 s. */
bool process_start(struct process *p, char *why, size_t n) MUST_CHECK;
/* Each thread finishes its transaction. NULL, and one that was not started, are fine. */
void process_stop(struct process *p);
void process_free(struct process *p); /* stopped; NULL is fine */

/* Hands on records from server to server; lives as long as the process. NULL: the table is in this process, and has no
 * other server. */
struct relay *process_relay(struct process *p);

/* How long a write to the design's table should wait now; 0 nearly always. The caller must wait that long: it is
 * counted. Any thread, quick. */
int64_t process_delay_ms(struct process *p);
/* Whether everything that this server had written before the call has been processed, except by `send`, as far as this
 * server owns the shards: for tests and orderly stops. */
bool process_is_idle(struct process *p);
/* Waits, for `wait_ms` at most, until all servers of the table have processed everything that was written before the
 * call, except by `send` and by paused processors. `r`: of this thread, with a backend that waits. */
bool process_wait_idle(struct process *p, struct run *r, int64_t wait_ms);

/* ---- operators: GET /processors, POST /processors/<name>/pause|resume|replay, GET …/parked, POST
 * …/parked/<sequence>/retry|drop ---- */
/* A request below /api/<design>/processors; the caller is known to be an operator. */
void process_handle(struct process *p, struct backend *b, struct arena *a, const struct app_request *q,
		    struct app_reply *reply);
/* The numbers of the i-th processor; the keeper counts as one where the design needs it. Any thread. */
struct process_reading {
	struct slice design, name;
	int64_t lag_ms;               /* the age of the oldest change not yet done */
	uint64_t backlog;             /* changes known to wait */
	uint64_t done, retries, lost; /* since the start */
	int64_t parked;
	bool paused;
	bool scheduled;    /* it runs at times, and has no changes to replay */
	bool stands_still; /* positions or switches could not be read at the start */
	uint64_t passed_over[PASSED_OVER_REASONS];
};
size_t process_reading_count(const struct process *p);
struct process_reading process_reading(struct process *p, size_t i);
/* Prometheus text for all of them: thorpe_processor_lag_seconds, _backlog, _done_total, _retries_total, _parked,
 * _paused, _stands_still, _lost_total, _passed_over_total (by reason); thorpe_writers_slowed_total,
 * thorpe_writers_delay_seconds; thorpe_relay_pages_taken_total, _pages_given_total, _refused_total, _fallbacks_total
 * where a design has a table elsewhere. */
void process_metrics(struct process *const *list, size_t n, struct buf *out);

#endif
