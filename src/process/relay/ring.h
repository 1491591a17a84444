/* The newest records of shards, read once for all servers that ask for them.
 *
 * A ring begins at the position of its first request. A request at its end makes it read on: at once if the requester
 * knows of a write, otherwise if the last read is older than the database's poll_ms. Without requests nothing is read,
 * and a ring without requests for a minute is freed.
 *
 * Invariants
 *   G1  The entries of a ring are the records of its shard after `begin`, up to and with `end`: all of them, in their
 *       order.
 *   G2  A request for what follows a position before `begin` gets PAGE_LOST, never a page with a gap.
 *   G3  One thread at a time reads a ring; other requests at its end do not wait, but get PAGE_LATER.
 *   G4  Memory: a ring has RING_BYTES at most, all together RINGS_BYTES. What is too much goes at the beginning: a
 *       reader that is too slow gets PAGE_LOST.
 *
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_RELAY_RING_H
#define THORPE_PROCESS_RELAY_RING_H

#include <pthread.h>
#include "app/app.h"
#include "process/relay/page.h"

#define RING_BYTES   (4 * 1024 * 1024)
#define RINGS_BYTES  (64 * 1024 * 1024)
#define RING_PAGE    (1024 * 1024) /* of an answer; one record more fits */
#define RING_IDLE_US (60 * INT64_C(1000000))

struct ring;
struct rings {
	struct app *app;
	pthread_mutex_t lock;
	struct ring *first;           /* (lock), as all below */
	size_t bytes;                 /* of all entries */
	size_t ring_bytes, all_bytes; /* G4; set before the first is asked for */
};

void rings_init(struct rings *s, struct app *app);
void rings_release(struct rings *s); /* after the last request */

/* What follows, as bytes (page.h). May read the stream. */
struct slice rings_answer(struct rings *s, struct arena *a, const struct tail_ask *ask);
/* Now and then: frees rings without requests. */
void rings_sweep(struct rings *s, int64_t now_us);

#endif
