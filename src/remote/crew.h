/* A crew of threads, for several calls at the same time while their caller waits.
 *
 * The calling thread does its first job itself, and then every job that no thread of the crew has begun. So all jobs
 * are done, one after the other, even if no thread can be started. Threads are started on demand, and stay. Threads:
 * any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_CREW_H
#define THORPE_REMOTE_CREW_H

#include <stdbool.h>
#include <stddef.h>

struct crew;
struct crew *crew_new(unsigned most); /* threads. NULL: memory */
void crew_free(struct crew *c);       /* no crew_do() may be running. NULL is fine */

struct crew_job {
	void (*work)(struct crew_job *j); /* returns: it never leaves by longjmp */
	/* the crew's */
	struct crew_job *next;
	enum { CREW_WAITING, CREW_BEGUN, CREW_DONE } state;
};
/* Returns when all are done. */
void crew_do(struct crew *c, struct crew_job **jobs, size_t n);

#endif
