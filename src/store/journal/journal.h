/* The journal: what has been written and RocksDB's files do not have yet, on disk before anyone is told.
 *
 * Why not RocksDB's own log: it appends to a file and deletes it in the end, and to a file system an append is more than its data. Blocks
 * have to be noted as used, the file as longer; a sync waits for both, with a thread of the kernel in between. The journal writes over
 * blocks that have been written before, past the page cache where the system can: a sync is one request to the disk and nothing else.
 *
 * A batch is a record, numbered from 1 on without gaps. Each also puts its number into META, and RocksDB brings all families to disk together
 * (atomic_flush), so its files say themselves which record is the last that they have. Opening replays those that follow.
 *
 * Records are in segments, files named journal.1, journal.2 … of which one is written at a time:
 *     OFFSET  SIZE  MEANING (numbers are big-endian)
 *     0       16    "thorpe journal\n" and a 0
 *     16      8     salt: random, anew each time the segment is begun
 *     24      8     number of its first record
 *     32      8     XXH3 of the 32 bytes before
 *     4096          records, one right behind the other:
 *         0   8     XXH3 of the rest of the record, with the salt as its seed
 *         8   8     number
 *         16  4     bytes that follow
 *         20  4     0
 *         24        the batch, as RocksDB writes it
 * What is behind the last record was left by an earlier use of the segment, has another salt, and is no record any more.
 *
 * Invariants
 *   J1  When journal_append() with sync has returned true, its record and all before it are on disk.
 *   J2  What is replayed is a run of records without a gap, and begins behind the last one that RocksDB's files have.
 *   J3  A segment is begun anew only when RocksDB's files have all of its records.
 *   J4  A record that was not kept (journal_end) is taken back. Where that failed, it is written over by the next one, or left behind by
 *       a segment that begins with its number: replay goes on there. So it can come back only when nothing was written after it.
 *
 * Threads: any; a write has the journal for itself from journal_begin() to journal_end().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_JOURNAL_H
#define THORPE_STORE_JOURNAL_H

#include "store/internal.h"

struct journal;

/* Makes the journal of an open database and starts its thread, after giving each record behind `after` to apply(), in order.
 * False: *r says why. */
typedef bool journal_apply(struct store *s, struct slice record, struct reason *r);
bool journal_open(struct store *s, uint64_t after, journal_apply *apply, struct journal **out, struct reason *r) MUST_CHECK;
/* `done`: RocksDB's files have everything, and the segments are removed; otherwise they stay, as they are on disk. NULL is fine. */
void journal_close(struct journal *j, bool done);

/* How many records there are behind `after`, which would have to be replayed. False: *r says why that cannot be told. */
bool journal_count(const char *dir, uint64_t after, uint64_t *count, struct reason *r) MUST_CHECK;

/* The number of the last record that was kept; 0: there was none yet. */
uint64_t journal_last(struct journal *j);

/* No write begins or is under way from here on; and from there on again. What RocksDB is asked to flush meanwhile it has of all families: asked
 * beside a write, it would take those that had something when it was asked. */
void journal_pause(struct journal *j);
void journal_go_on(struct journal *j);

/* Files that RocksDB's files have made superfluous go, but for one to write next: after a flush that was made to give room back. */
void journal_trim(struct journal *j);

/* Waits until no other write has the journal; returns the number that the record will have. */
uint64_t journal_begin(struct journal *j);
/* Writes the record. False: *r says why. After a full disk the next one is tried again; after other failures nobody knows what is on disk, and
 * all are refused until the database is opened anew. */
bool journal_append(struct journal *j, struct slice record, bool sync, struct reason *r) MUST_CHECK;
/* `keep`: the record holds. Otherwise it is taken back, and its number and place are the next one's. */
void journal_end(struct journal *j, bool keep);

/* Brings records that were written without sync to disk. Writes go on meanwhile. */
bool journal_sync(struct journal *j, struct reason *r) MUST_CHECK;

/* The next call of the system that writes or syncs fails with this errno. For tests. */
void journal_fail_next(struct journal *j, int error);

/* One segment, read from its beginning. */
struct journal_reader {
	int fd;
	uint64_t size, at;    /* of the file; where the next record is */
	uint64_t salt, first; /* of the segment */
	uint64_t next;        /* number that the next record must have */
	char *buf;
	size_t room;
};
enum journal_read { JOURNAL_RECORD, JOURNAL_END, JOURNAL_FAILED };
/* JOURNAL_RECORD: it has a head, and there may be records. JOURNAL_END: it has none. JOURNAL_FAILED: *r says why that cannot be told. */
enum journal_read journal_reader_start(struct journal_reader *rd, int fd, struct reason *r);
/* JOURNAL_RECORD: *record is valid until the next call. JOURNAL_END: no record follows. JOURNAL_FAILED: *r says why that cannot be told. */
enum journal_read journal_reader_next(struct journal_reader *rd, struct slice *record, struct reason *r);
/* fd stays open. */
void journal_reader_end(struct journal_reader *rd);

#endif
