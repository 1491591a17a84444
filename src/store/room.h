/* Room on the disk: what keeps a full one harmless.
 *
 * RocksDB needs room to bring what it has in memory to files, and to rewrite files so that deleted data gives its room back. A write of
 * its own that meets the end of the disk stops it until much room has returned. So room is kept for it, at two levels:
 *
 *   growing writes  are refused when less than the reserve (STORE_RESERVE, 1/16 of a small disk) and what RocksDB may be about to write
 *                   is free: a flush of what it has in memory, and compactions that run. Near the end of the disk a flush is therefore
 *                   begun early, which also frees the journal; compactions that might not fit are put off; and a write waits a little.
 *   freeing writes  (store_batch_set_frees) may use the reserve, and after it the ballast.
 *
 * The ballast is the file "reserve" in the data directory: room that other programs cannot take either. It shrinks when a freeing write or
 * RocksDB needs it, and grows again when there is room. Its last part (BALLAST_TO_OPEN) is for opening the database alone: RocksDB cannot
 * open one without writing some small files. Opening it read-only was the other way: but then what the journal has to add could not be
 * shown, and the store would have to be opened again under its readers when room returns.
 *
 * A database that is opened on a full disk keeps what it replays from the journal in memory, however much that is, and brings it to files
 * when there is room (watch.c). RocksDB's own log of messages is not kept (rocks_log.h): a full disk would end the process at the second message.
 *
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_ROOM_H
#define THORPE_STORE_ROOM_H

#include "store/internal.h"

#define ROOM_MB ((uint64_t)1 << 20)
/* Above the reserve, for compactions. Larger ones take their chance: RocksDB gets over it. */
#define ROOM_TO_COMPACT (160 * ROOM_MB)
/* RocksDB is asked only when it matters: not while there is more than this above the reserve. */
#define ROOM_PLENTY (2 * ROOM_TO_COMPACT)
/* With less a file system is as good as full. */
#define ROOM_LEAST (ROOM_MB / 4)

struct room {
	uint64_t free;    /* bytes that may be written */
	uint64_t total;   /* of the disk */
	uint64_t reserve; /* of these, for RocksDB and for freeing writes */
};
/* False: it cannot be told, or there is no disk. */
bool room_look(const struct store *s, struct room *r) MUST_CHECK;
/* What a flush of everything would write at most. */
uint64_t room_unflushed(struct store *s);
/* What compactions that run now may write at most. */
uint64_t room_compacting(struct store *s);
/* What RocksDB's files take. */
uint64_t room_data(struct store *s);
/* Of what a flush would write, what is not being flushed already. */
uint64_t room_active(struct store *s);
/* Before the database is opened: gives it what it needs for that, and sees whether there is room to flush what the journal has. */
void room_before_open(struct store *s);
/* As store_has_room(), but waits a little for a flush or compaction that is under way and would make the room. */
bool room_wait(struct store *s, size_t bytes);
/* Whether growing writes that were refused may go on; a little more than what they need, so that they do not stop again at once. */
bool room_is_back(struct store *s);
/* Makes room for a freeing write of so many bytes, of the ballast. Where there is none left the write is tried all the same: the journal writes over
 * blocks that it has. */
void room_to_free(struct store *s, size_t bytes);

/* Whether RocksDB may note a change of its files; takes from the ballast what is lacking. It does not get over a note that it could not write as well as over a
 * file: where an error is passed to no one it meets its own assertions later. */
bool room_for_a_note(struct store *s);

/* ---- ballast.c ---- */
#define BALLAST_NAME    "reserve"
#define BALLAST_TO_OPEN ROOM_MB
/* Before the database is opened: if room is short, the part of the ballast that is for it. */
void ballast_for_opening(struct store *s);
/* Shrinks the ballast so that `bytes` more are free, or as many as it has beyond the part for opening. */
void ballast_give(struct store *s, uint64_t bytes);
/* Lets it grow to what it should be. It takes nothing of the reserve, except for opening. */
void ballast_grow(struct store *s);

/* ---- watch.c: a thread that looks every second ---- */
struct watch *watch_new(void); /* NULL when memory is out */
void watch_free(struct watch *w);
/* After opening on a full disk, before the journal is replayed: memtables may be of any size. */
void watch_swell(struct store *s);
bool watch_start(struct store *s) MUST_CHECK;
void watch_stop(struct store *s); /* also if it was not started */
/* It looks now. */
void watch_wake(struct store *s);
/* Asks RocksDB to bring what is in memory to files, all families together; it begins with the next write and stops no writer. */
void watch_flush_soon(struct store *s);

#endif
