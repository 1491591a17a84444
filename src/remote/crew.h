/* Threads that work beside the one that waits: several calls at the same time.
 *
 * A thread that has several jobs does the first itself, and each of the others that no thread of the crew has begun by then. So
 * jobs are done even when no thread can be had, one after the other. Threads are started when they are wanted, and stay.
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_CREW_H
#define THORPE_REMOTE_CREW_H

#include <stdbool.h>
#include <stddef.h>

struct crew;
struct crew *crew_new(unsigned most); /* threads. NULL: memory */
void crew_free(struct crew *c);       /* nothing is under way. NULL is fine */

struct crew_job {
	void (*work)(struct crew_job *j); /* returns: it never leaves by longjmp */
	/* the crew's */
	struct crew_job *next;
	enum { CREW_WAITING, CREW_BEGUN, CREW_DONE } state;
};
/* Returns when all are done. */
void crew_do(struct crew *c, struct crew_job **jobs, size_t n);

#endif
