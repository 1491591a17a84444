/* The threads of one `send` processor: one manages it (switches, shards), and each shard has one.
 *
 * It shares nothing with writers: it reads the stream, moves its positions about once a second, and may lag as far as
 * the stream keeps. At least once: after a crash it sends again what it sent since the position was last written; an
 * orderly stop writes the position. A change that was not taken is tried again after 1, 2, 4 … 300 s, 12 times, then
 * parked; one that the stream will soon forget (20 h of the server's running time old) is tried once.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_SEND_RUN_H
#define THORPE_PROCESS_SEND_RUN_H

#include "app/app.h"
#include "process/lease.h"
#include "process/ledger.h"
#include "process/send/send.h"

#define SEND_TRIES     12
#define SEND_WAIT_MOST 300 /* seconds */
/* For tests: how many milliseconds a second of waiting for the next try is. */
#define SEND_RETRY_ENV "THORPE_RETRY_MS"

struct send_runner;
/* Of a processor that send_is_needed(). `leases` NULL: no other server is at the table. `ledger` gets its numbers and
 * problems. All four outlive it. NULL: memory. */
struct send_runner *send_runner_new(struct app *app, const struct processor *p, struct leases *leases,
				    struct ledger *ledger);
/* The table of positions must exist (checkpoint_provision()). False: no threads or memory. */
bool send_runner_start(struct send_runner *s) MUST_CHECK;
/* Returns within about a second. NULL, and one that was not started, are fine. */
void send_runner_stop(struct send_runner *s);
void send_runner_free(struct send_runner *s); /* stopped; NULL is fine */
/* At once: nothing written after the call returns is sent. The switch in the table must say the same already. Any
 * thread. */
void send_runner_pause(struct send_runner *s, bool paused);
/* The stream may have something new, or a switch was set. Any thread, quick; it also looks by itself. */
void send_runner_wake(struct send_runner *s);

/* The age of the oldest change that is known to wait; 0: none does. Any thread. */
int64_t send_runner_lag_ms(struct send_runner *s);
bool send_runner_is_paused(struct send_runner *s); /* for tests */

/* How long to wait after that many tries (1 …), in seconds. */
int64_t send_backoff(int tries, int64_t retry_after);
int64_t send_second_ms(void); /* SEND_RETRY_ENV */

#endif
