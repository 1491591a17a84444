/* How the store is, and what anyone is told about it.
 *
 * RocksDB and the system say why something failed, with the paths of files. That is for the log. Clients get a sentence of ours, which
 * has no path in it. A failed write says what to expect: room may return by itself; a broken disk needs a restart.
 *
 * Invariants
 *   H1  No text of RocksDB or of the system reaches a struct error. Its messages are the literals of health.c.
 *   H2  Corruption stays on record until the store is closed: what was damaged once needs a person.
 *   H3  Each kind of trouble is a line in the log when it begins. Corruption is one at most every LOG_EVERY_MS, with a count.
 *
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_HEALTH_H
#define THORPE_STORE_HEALTH_H

#include "store/internal.h"

/* What a reason means. */
enum trouble {
	TROUBLE_NONE,
	TROUBLE_ROOM,       /* the disk is full, or the quota is used up */
	TROUBLE_CORRUPTION, /* a checksum or a structure is wrong */
	TROUBLE_DISK,       /* the disk, or the system, failed */
	TROUBLE_OTHER,      /* of this call alone: too large, out of memory */
};
enum trouble trouble_of(const struct reason *r);

/* A read failed. Counts and logs corruption; fills *e and returns false. */
bool health_read_failed(struct store *s, const struct reason *r, struct arena *a, struct error *e);
/* What became of a write: the next answer of store_health(), and a line in the log when that changes. `frees`: it made the database
 * smaller, and says nothing about room for others. */
void health_wrote(struct store *s, const struct reason *r, bool frees);
/* The same, met by a thread of RocksDB: no caller hears of it. */
void health_background_failed(struct store *s, const struct reason *r);
/* Whether there is room for writes that grow. Logs a change. */
void health_room(struct store *s, bool has_room);
/* For the client whose write was refused. Fills *e and returns false. */
bool health_write_refused(const struct reason *r, struct error *e);

#endif
