/* The processors of a design, running: threads that read its stream, and their controls. docs/processors.md is the manual.
 *
 * One thread for each shard feeds all processors that write to the table, and the keeper; `send` processors have threads of
 * their own (send_run.h). A change that fails is tried again: 50 ms, doubling to 30 s, eight times (problems that cannot go
 * away, INVALID and the like, three times), then parked, and the next is taken. A paused processor stands still; the others go
 * on.
 *
 * Backlog: the age of the oldest change not yet done and how many are known to wait. Beyond PROCESS_SLOW_MS behind, writers are
 * slowed (process_delay_ms()): a delay that grows with the lag up to one second, told in the metrics. Only work that can be
 * done counts for that: not what was there already when a processor started, was resumed or replayed, not the work of a
 * processor that is paused or waits for its next try, nor of one that has come no further for five seconds.
 *
 * What is not done, and why, is counted by reason (app/run/passed_over.h).
 *
 * Invariants
 *   R1  A change takes effect exactly once: the effect and the position are one transaction. Positions of changes without
 *       effect follow within a second.
 *   R2  Nothing is read while nothing is written.
 *   R3  A processor that is behind, fails or takes long holds up the others of its shard for a second at most at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_PROCESS_H
#define THORPE_PROCESS_PROCESS_H

#include "app/app.h"
#include "app/run/passed_over.h"

#define PROCESS_SLOW_MS 10000

struct process_options {
	struct app *app; /* outlives the process */
	/* Of a table elsewhere: HOST:PORT where other servers of the table ask this one for records (relay/relay.h); NULL: they
	 * do not, and read the shards of this server themselves. */
	const char *peer_address;
};

struct relay;
struct process; /* of one app */
struct process *process_new(
	const struct process_options *o); /* NULL: memory. With nothing to do: still one, that does nothing */
/* The table is there. False: `why` is a sentence. From here on, and until it is stopped, the app leaves to the keeper what is
 * the keeper's, and has /processors for operators. If positions and switches cannot be read (a damaged block) it stands still:
 * the log and /processors say why, the app itself sees to what is the keeper's, and it is tried again every 30 seconds. */
bool process_start(struct process *p, char *why, size_t n) MUST_CHECK;
/* Finishes the transaction each thread is in. NULL, and one that was not started, are fine. */
void process_stop(struct process *p);
void process_free(struct process *p); /* stopped; NULL is fine */

/* Hands on records from server to server; as long as the process. NULL: the table is in this process, and has no other server. */
struct relay *process_relay(struct process *p);

/* How long a write to the design's table should wait now; 0 nearly always. Any thread, quick. Whoever asks and gets something
 * else waits: it is counted. */
int64_t process_delay_ms(struct process *p);
/* Whether everything that this server had written when it was called has been processed (`send` aside), as far as it is this
 * server's to process: for tests and orderly ends. */
bool process_is_idle(struct process *p);
/* Waits until everything that anyone had written when it was called has been processed, by all servers of the table (`send` and
 * what is paused aside), for so long at most. `r`: of this thread, with a backend that waits. */
bool process_wait_idle(struct process *p, struct run *r, int64_t wait_ms);

/* ---- operators: GET /processors, POST /processors/<name>/pause|resume|replay, GET …/parked, POST
 * …/parked/<sequence>/retry|drop ---- */
/* A request below /api/<design>/processors; the caller is known to be an operator. */
void process_handle(struct process *p, struct backend *b, struct arena *a, const struct app_request *q,
		    struct app_reply *reply);
/* What an operator sees of the i-th of its processors (the keeper is one, where there is something to keep). Any thread. */
struct process_reading {
	struct slice design, name;
	int64_t lag_ms;               /* the age of the oldest change not yet done */
	uint64_t backlog;             /* changes known to wait */
	uint64_t done, retries, lost; /* since the start */
	int64_t parked;
	bool paused;
	bool stands_still; /* what it needs to begin could not be read */
	uint64_t passed_over[PASSED_OVER_REASONS];
};
size_t process_reading_count(const struct process *p);
struct process_reading process_reading(struct process *p, size_t i);
/* Prometheus, of all of them together: thorpe_processor_lag_seconds, _backlog, _done_total, _retries_total, _parked, _paused,
 * _lost_total, _passed_over_total (by reason); thorpe_writers_slowed_total, thorpe_writers_delay_seconds;
 * thorpe_relay_pages_taken_total, _pages_given_total, _refused_total, _fallbacks_total where a design has a table elsewhere. */
void process_metrics(struct process *const *list, size_t n, struct buf *out);

#endif
