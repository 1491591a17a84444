/* The threads of one `send` processor: one that looks after it (switches, shards), and one for each shard.
 *
 * Nothing of it is shared with those who write: it reads the stream, moves its positions about once a second, and may be as
 * far behind as the stream keeps. At least once: what was sent since the position was last written is sent again after a
 * crash; an orderly stop writes it. A change that was not taken is tried again after 1, 2, 4 … 300 s, 12 times, then parked;
 * one that is so old that the stream will soon forget it (20 h of the server's running time) is tried once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_RUN_H
#define THORPE_PROCESS_SEND_RUN_H

#include "app/app.h"
#include "app/run/passed_over.h"
#include "process/lease.h"
#include "process/send/send.h"

#define SEND_TRIES     12
#define SEND_WAIT_MOST 300 /* seconds */
/* For tests: how many milliseconds a second of waiting for the next try is. */
#define SEND_RETRY_ENV "THORPE_RETRY_MS"

struct send_runner;
/* Of a processor that send_is_needed(). NULL: memory. All three outlive it. */
/* `leases` NULL: no other server is at the table. */
struct send_runner *send_runner_new(struct app *app, const struct processor *p, struct leases *leases);
/* The table of positions is there (checkpoint_provision()). False: threads or memory are out. */
bool send_runner_start(struct send_runner *s) MUST_CHECK;
/* Within about a second. NULL, and one that was not started, are fine. */
void send_runner_stop(struct send_runner *s);
void send_runner_free(struct send_runner *s); /* stopped; NULL is fine */
/* At once: of what is written after it has returned nothing is sent. The switch in the table says the same already. Any thread. */
void send_runner_pause(struct send_runner *s, bool paused);
/* There may be something new in the stream, or a switch was set. Any thread, quick; it looks by itself, too. */
void send_runner_wake(struct send_runner *s);

struct send_status {
	int64_t lag_ms; /* the age of the oldest change that is known to wait; 0: none */
	uint64_t done;  /* taken, since the start; so the others: */
	uint64_t retries;
	uint64_t parked;
	uint64_t lost; /* times the stream had forgotten what was to be sent next */
	bool paused;
	char problem[256];              /* the last one, whole characters; empty: none */
	int64_t problem_ms;             /* when */
	struct passed_over passed_over; /* `when`, and what does not fit the design */
	int64_t passed_ms;              /* when the last one was that is told */
};
void send_runner_status(struct send_runner *s, struct send_status *out);

/* How long to wait after so many tries (1 …), in seconds. */
int64_t send_backoff(int tries, int64_t retry_after);

#endif
