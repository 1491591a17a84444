/* The state of the store, and what the log and clients learn about it.
 *
 * Errors from RocksDB and the system contain the paths of files; they go to the log. Clients get one of our
 * sentences, without a path. The error of a failed write says what to expect: a full disk may recover by itself; a
 * broken disk needs a restart.
 *
 * Invariants
 *   H1  No text from RocksDB or the system reaches a struct error. Its messages are the literals of health.c.
 *   H2  Corruption stays on record until the store is closed: damaged data needs an operator.
 *   H3  Each kind of trouble is logged when it begins. Corruption is logged at most once every LOG_EVERY_MS, with a
 *       count.
 *
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_HEALTH_H
#define THORPE_STORE_HEALTH_H

#include "store/internal.h"

/* The kind of a failure. */
enum trouble {
	TROUBLE_NONE,
	TROUBLE_ROOM,       /* the disk is full, or the quota is used up */
	TROUBLE_CORRUPTION, /* a checksum or a structure is wrong */
	TROUBLE_DISK,       /* the disk, or the system, failed */
	TROUBLE_OTHER,      /* concerns this call only: too large, out of memory */
};
enum trouble trouble_of(const struct reason *r);

/* For a failed read. Counts and logs corruption; fills *e and returns false. */
bool health_read_failed(struct store *s, const struct reason *r, struct arena *a, struct error *e);
/* Records the outcome of a write: sets the next answer of store_health(), and logs a change. `frees`: the write
 * made the database smaller, so its outcome says nothing about room for others. */
void health_wrote(struct store *s, const struct reason *r, bool frees);
/* The same for a failure in a thread of RocksDB, which no caller learns of. */
void health_background_failed(struct store *s, const struct reason *r);
/* Records whether there is room for writes that grow. Logs a change. */
void health_room(struct store *s, bool has_room);
/* For a refused write: fills *e for the client and returns false. */
bool health_write_refused(const struct reason *r, struct error *e);

#endif
