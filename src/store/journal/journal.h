/* The journal: what has been written and RocksDB's files do not have yet, on disk before a write is acknowledged.
 *
 * Why RocksDB's own log is not used: it appends to a file and deletes it in the end, and to a file system an append is more than its
 * data. Blocks have to be noted as used and the file as longer; a sync waits for both, with a thread of the kernel in between. And
 * it cannot tell a torn tail from damage: a bad record in its middle either ends the replay in silence or refuses
 * every start after a power loss. The journal writes over blocks that have been written before, past the page cache where the
 * system can: a sync is one request to the disk and nothing else.
 *
 * A batch is a record, numbered from 1 on without gaps. Each also puts its number into META, and RocksDB brings all families to
 * disk together (atomic_flush), so its files say themselves which record is the last that they have. Opening replays those that
 * follow. One opening of a database is a run, with a random number of its own.
 *
 * Records are in segments, files named journal.1, journal.2 …, one of which is written at a time:
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
 *         32  4     last bytes of the XXH3 of the 24 before, with the same seed: a search for records hashes no long ones in vain
 *         36        the batch, as RocksDB writes it
 * What follows the last record was left by an earlier use of the segment, and has lower numbers. The seed is a secret of the data
 * directory: no client can write an item that looks like a record.
 *
 * The file `acknowledged` has the number of the last record that is on disk and was acknowledged, so that damage to the last
 * records is seen, too. It is written after each sync and not synced itself: after a kill it is exact, after a power loss
 * it may be older. It stays when the database is closed.
 *     0       16    "thorpe durable\n" and a 0
 *     16      16    identity of the database
 *     32      8     number
 *     40      8     XXH3 of the 40 bytes before
 *
 * A segment of the version before has "thorpe journal\n" and a 0, a salt (the seed), the first number, and the XXH3 of those 32 bytes;
 * its records have a 0 at 20 and the batch at 24. It is read, and never written.
 *
 * What is assumed of a disk and its file system
 *   A1  What was written and synced stays, unless the disk is damaged. A write with the sync in the same call is synced when it returns.
 *   A2  What was written and not synced may be there after a power loss, or not, or in part; what was written later may be there
 *       when what was written earlier is not.
 *   A3  A sector of 512 bytes, at a multiple of 512, is written whole or not at all. So a block that holds the end of an acknowledged
 *       record can be written over together with the next record: its sectors have the old bytes or the new ones, and that record has
 *       the same bytes in both (power-safe overwrite).
 *   A4  Bytes of a file that were never written to are zeros or not there. A sync of a file also brings its size to disk.
 *   A5  A file that was made, renamed or removed may be back under its old name, or gone, until its directory is synced. A rename is
 *       whole or not at all.
 *   A6  A disk that is damaged returns an error, or other bytes than were written. Other bytes have the same XXH3 as rarely
 *       as chance allows.
 *
 * Invariants
 *   J1  When journal_append() with sync has returned true, its record and all before it are on disk.
 *   J2  What is replayed is a run of records without a gap, each written after the one before it, that begins after the last one that
 *       RocksDB's files have.
 *   J3  A segment is begun anew or removed only when RocksDB's files have all of its records.
 *   J4  A record that was not kept (journal_end) is taken back. Where that failed, it is written over by the next one, or left in
 *       place by a segment that begins with its number: replay goes on there. So it can come back only as the last one, and when
 *       nothing was acknowledged after it.
 *   J5  A record that is missing, when a record after it or `acknowledged` says that it once was on disk, is damage:
 *       nothing is replayed and nothing is changed. Missing without such a witness it was never acknowledged: a torn tail.
 *   J6  A file of the journal that is not empty is removed only when J3 allows it. What else cannot be used is renamed to NAME.lost.
 *
 * Threads: any; a write has the journal for itself from journal_begin() to journal_end().
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

/* Gives a record to the database. False: *r says why. */
typedef bool journal_apply(void *owner, struct slice record, struct reason *r);

struct journal_options {
	struct journal_io *io;
	const char *dir; /* for messages */
	uint8_t identity[JOURNAL_IDENTITY];
	struct journal_point after; /* the last record that RocksDB's files have */
	bool is_new;   /* the database has never had a journal of this version: there may be no `acknowledged` */
	bool no_flush; /* the disk is full: what is replayed stays in the journal and in memory for now */
	bool by_hand;  /* for tests: no thread is started, journal_tend() is called instead */
	uint64_t segment_first, segment_bytes; /* for tests; 0: the usual sizes */

	void *owner; /* what the calls below are given */
	journal_apply *apply;
	/* The last record that RocksDB's files have; false: that cannot be told. */
	bool (*on_disk)(void *owner, uint64_t *number);
	/* Whether so many bytes can be written and RocksDB still has room to flush. */
	bool (*has_room)(void *owner, uint64_t bytes);
	/* Brings what RocksDB has in memory to its files. No write is under way. */
	void (*flush)(void *owner);
};

/* ---- before anything is opened: looking, without changing anything ---- */

enum journal_state {
	JOURNAL_SOUND,      /* it can be replayed */
	JOURNAL_DAMAGED,    /* J5 */
	JOURNAL_FOREIGN,    /* a file of it belongs to another database, or to another copy of this one */
	JOURNAL_UNREADABLE, /* the system says so */
};

struct journal_look {
	enum journal_state state;
	uint64_t count, bytes; /* records that would be replayed */
	uint64_t last;         /* number of the last of them, or of what RocksDB's files have */
	uint64_t lost;         /* J5: the first record that is missing */
	uint64_t witnessed;    /* J5: this one and all before it once were on disk */
	uint64_t stranded;     /* records after the missing one that are whole */
	bool has_files;        /* there is a segment that holds something */
};
/* Of all but SOUND *r is a sentence that names the file and the place. */
void journal_look(const struct journal_options *o, struct journal_look *look, struct reason *r);

/* Gives each record after o->after that can be read to apply(), in the order of their numbers, past damage. tell() is told what was lost,
 * a sentence each. *last is the highest number seen anywhere. False: *r says why it was given up. */
typedef void journal_tell(void *ctx, const char *sentence);
struct journal_salvaged {
	uint64_t applied, lost, last;
};
bool journal_salvage(const struct journal_options *o, bool stop_at_damage, struct journal_salvaged *s,
		     journal_tell *tell, void *ctx, struct reason *r) MUST_CHECK;

/* ---- a journal at work ---- */

/* Replays, makes the journal ready to be written, and starts its thread. What was replayed has been given to flush() and is in RocksDB's files, or
 * is on disk in the journal and stays there. False: *r says why, and nothing was changed unless *r says so. */
bool journal_open(const struct journal_options *o, struct journal **out, struct reason *r) MUST_CHECK;
/* `done`: RocksDB's files have everything, and the segments are removed; otherwise they stay, as they are on disk. NULL is fine. */
void journal_close(struct journal *j, bool done);

/* The number of the last record that was kept; 0: there was none yet. */
uint64_t journal_last(struct journal *j);

/* No write begins or is under way from here on; and from there on again. What RocksDB is asked to flush meanwhile it has of all
 * families: asked during a write, it would take those that had something when it was asked. */
void journal_pause(struct journal *j);
void journal_go_on(struct journal *j);

/* Files that RocksDB's files have made superfluous go, but for one to write next: after a flush that was made to give room back. */
void journal_trim(struct journal *j);

/* Waits until no other write has the journal; returns what the record will be. */
struct journal_point journal_begin(struct journal *j);
/* Writes the record. False: *r says why. After a full disk the next one is tried again; after other failures what is on disk is
 * not known, and all are refused until the database is opened anew. */
bool journal_append(struct journal *j, struct slice record, bool sync, struct reason *r) MUST_CHECK;
/* `keep`: the record holds. Otherwise it is taken back, and its number and place are the next one's. */
void journal_end(struct journal *j, bool keep);

/* Brings records that were written without sync to disk. Writes go on meanwhile. */
bool journal_sync(struct journal *j, struct reason *r) MUST_CHECK;

/* One turn of the journal's thread. For tests (by_hand). */
void journal_tend(struct journal *j);
/* The next call of the system that writes or syncs fails with this errno. For tests. */
void journal_fail_next(struct journal *j, int error);

#endif
