/* The journal: writes that are not in RocksDB's files yet, on disk before they are acknowledged.
 *
 * RocksDB's own log is not used for two reasons. It appends to a file and finally deletes it, and for a file system
 * an append is more than its data: it must record the used blocks and the file's new length, and a sync waits for
 * both, with a kernel thread in between. And it cannot tell a torn tail from damage: a bad record in the middle
 * either ends the replay silently or refuses every start after a power loss. The journal overwrites blocks that
 * were written before, past the page cache where the system can, so a sync is a single request to the disk.
 *
 * Each batch is a record, numbered from 1 without gaps. It also writes its number into META, and RocksDB flushes
 * all families together (atomic_flush), so its files show the last record they contain. Opening replays the records
 * after it. Each opening of a database is a run, identified by a random number.
 *
 * Records are stored in segments, files named journal.1, journal.2 …, one of which is written at a time:
 *     OFFSET  SIZE  MEANING (numbers are big-endian)
 *     0       16    "thorpe journal 3"
 *     16      8     run
 *     24      8     number of its first record
 *     32      8     run of the record before that one; 0: not known
 *     40      16    identity of the database
 *     56      8     XXH3 of the 56 bytes before
 *     2048    64    the same once more
 *     4096          records, one right after the other:
 *         0   8     XXH3 of the rest of the record, with the run as its seed
 *         8   8     number
 *         16  4     bytes that follow
 *         20  4     how many records right before it were not known to be on disk when it was written
 *         24  8     XXH3 of the record before it, as that says itself; 0: not known
 *         32  4     last bytes of the XXH3 of the 24 before, with the same seed: a search for records hashes no long
 *         ones in vain
 *         36        the batch, as RocksDB writes it
 * Bytes after the last record are left from an earlier use of the segment and have lower numbers. The seed is
 * secret, known only in the data directory: no client can write an item that looks like a record.
 *
 * The file `acknowledged` holds the number of the last record on disk that was acknowledged, so that damage to the
 * last records is detected too. It is written after each sync but not synced itself: after a kill it is exact,
 * after a power loss it may be older. It stays when the database is closed.
 *     0       16    "thorpe durable\n" and a 0
 *     16      16    identity of the database
 *     32      8     number
 *     40      8     XXH3 of the 40 bytes before
 *
 * A segment of the previous version has "thorpe journal\n" and a 0, a salt (the seed), the first number, and the
 * XXH3 of those 32 bytes; its records have a 0 at 20 and the batch at 24. It is read but never written.
 *
 * Assumptions about a disk and its file system
 *   A1  Data written and synced stays, unless the disk is damaged. A write that syncs in the same call is synced
 *       when it returns.
 *   A2  Data written but not synced may survive a power loss fully, partly or not at all; a later write may survive
 *       when an earlier one does not.
 *   A3  A sector of 512 bytes, at a multiple of 512, is written whole or not at all. So a block that holds the end
 *       of an acknowledged record can be overwritten together with the next record: its sectors hold the old bytes
 *       or the new ones, and the acknowledged record is the same in both (power-safe overwrite).
 *   A4  Bytes of a file that were never written are zero or absent. Syncing a file also brings its size to disk.
 *   A5  Until its directory is synced, a created, renamed or removed file may reappear under its old name or be
 *       gone. A rename is atomic.
 *   A6  A damaged disk returns an error, or other bytes than were written. Such bytes match the XXH3 only by
 *       chance.
 *
 * Invariants
 *   J1  Once journal_append() with sync returns true, its record and all before it are on disk.
 *   J2  Replay covers a sequence of records without a gap, each written after the one before it, that begins after
 *       the last one in RocksDB's files.
 *   J3  A segment is reused or removed only when RocksDB's files have all of its records.
 *   J4  A record that was not kept (journal_end) is undone. If that fails, the next record overwrites it, or a new
 *       segment begins with its number and replay continues there. So it can return only as the last record, and
 *       only if nothing was acknowledged after it.
 *   J5  If a record is missing although a later record or `acknowledged` shows that it was on disk, that is damage:
 *       nothing is replayed and nothing is changed. If no such witness exists, it was never acknowledged: a torn
 *       tail.
 *   J6  A file of the journal that is not empty is removed only if J3 allows it. Other unusable files are renamed
 *       to NAME.lost.
 *
 * Threads: any; a write holds the journal exclusively from journal_begin() to journal_end().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_JOURNAL_H
#define THORPE_STORE_JOURNAL_H

#include "base/error.h"
#include "base/slice.h"
#include "store/journal/io.h"
#include "store/reason.h"

#define JOURNAL_IDENTITY 16

struct journal;

/* A record, and the run that wrote it. */
struct journal_point {
	uint64_t number; /* 0: before the first */
	uint64_t run;    /* 0: not known */
};

/* Passes a record to the database. False: *r says why. */
typedef bool journal_apply(void *owner, struct slice record, struct reason *r);

struct journal_options {
	struct journal_io *io;
	const char *dir; /* for messages */
	uint8_t identity[JOURNAL_IDENTITY];
	struct journal_point after; /* the last record that RocksDB's files have */
	bool is_new;                /* the database never had a journal of this version: `acknowledged` may be absent */
	bool no_flush;              /* the disk is full: what is replayed stays in the journal and in memory for now */
	bool by_hand;               /* for tests: starts no thread; call journal_tend() instead */
	uint64_t segment_first, segment_bytes; /* for tests; 0: the usual sizes */

	void *owner; /* passed to the functions below */
	journal_apply *apply;
	/* The last record that RocksDB's files have; false: unknown. */
	bool (*on_disk)(void *owner, uint64_t *number);
	/* Whether that many bytes can be written while RocksDB still has room to flush. */
	bool (*has_room)(void *owner, uint64_t bytes);
	/* Flushes RocksDB's memory to its files. No write is under way. */
	void (*flush)(void *owner);
};

/* ---- before opening: looking, without changing anything ---- */

enum journal_state {
	JOURNAL_SOUND,      /* it can be replayed */
	JOURNAL_DAMAGED,    /* J5 */
	JOURNAL_FOREIGN,    /* one of its files belongs to another database, or to another copy of this one */
	JOURNAL_UNREADABLE, /* the system reports a read error */
};

struct journal_look {
	enum journal_state state;
	uint64_t count, bytes; /* records that would be replayed */
	uint64_t last;         /* number of the last of them, or of what RocksDB's files have */
	uint64_t lost;         /* J5: the first record that is missing */
	uint64_t witnessed;    /* J5: this record and all before it were on disk */
	uint64_t stranded;     /* intact records after the missing one */
	bool has_files;        /* there is a segment that is not empty */
};
/* For every state except SOUND, *r is a sentence that names the file and the offset. */
void journal_look(const struct journal_options *o, struct journal_look *look, struct reason *r);

/* Passes each readable record after o->after to apply(), in order of their numbers, skipping damage. Calls tell()
 * with a sentence for each loss. *last is the highest number seen anywhere. False: it gave up, and *r says why. */
typedef void journal_tell(void *ctx, const char *sentence);
struct journal_salvaged {
	uint64_t applied, lost, last;
};
bool journal_salvage(const struct journal_options *o, bool stop_at_damage, struct journal_salvaged *s,
		     journal_tell *tell, void *ctx, struct reason *r) MUST_CHECK;

/* ---- an open journal ---- */

/* Replays, prepares the journal for writing, and starts its thread. Replayed records were passed to flush() and are
 * in RocksDB's files, or they stay on disk in the journal. False: *r says why, and nothing was changed unless *r
 * says so. */
bool journal_open(const struct journal_options *o, struct journal **out, struct reason *r) MUST_CHECK;
/* `done`: RocksDB's files have everything, and the segments are removed; otherwise they stay, synced. NULL is fine. */
void journal_close(struct journal *j, bool done);

/* The number of the last record kept; 0: none yet. */
uint64_t journal_last(struct journal *j);

/* After a flush that was made to free room: removes the files that are no longer needed, except one to write next. */
void journal_trim(struct journal *j);

/* Waits until no other write holds the journal; returns the number and run of the new record. */
struct journal_point journal_begin(struct journal *j);
/* Writes the record. False: *r says why. After a full disk the next write is tried again; after other failures the
 * state on disk is unknown, and all writes are refused until the database is reopened. */
bool journal_append(struct journal *j, struct slice record, bool sync, struct reason *r) MUST_CHECK;
/* `keep`: the record is valid. Otherwise it is undone, and the next record gets its number and place. */
void journal_end(struct journal *j, bool keep);

/* Syncs records that were written without sync. Writes go on meanwhile. */
bool journal_sync(struct journal *j, struct reason *r) MUST_CHECK;

/* journal_pause() waits for the current write and lets no other begin until journal_go_on(). A flush of RocksDB during
 * the pause includes all families; during a write it would include only those that had data when it began. For
 * tests. */
void journal_pause(struct journal *j);
void journal_go_on(struct journal *j);
/* One round of the journal's thread. For tests (by_hand). */
void journal_tend(struct journal *j);
/* Makes the next system call that writes or syncs fail with this errno. For tests. */
void journal_fail_next(struct journal *j, int error);

#endif
