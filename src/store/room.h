/* Room on the disk: how a full disk stays harmless.
 *
 * RocksDB needs room to flush its memory to files, and to rewrite files so that deleted data frees its room. If one
 * of its own writes fills the disk, RocksDB stops until much room is free again. So room is kept for it, at two
 * levels:
 *
 *   growing writes  are refused unless there is more room than the reserve (STORE_RESERVE, 1/16 of a small disk) plus
 *                   what RocksDB may be about to write: a flush of its memory, and running compactions. So when the
 *                   disk is nearly full, flushes begin early, which also frees the journal; compactions that might not
 *                   fit are postponed; and writes wait a little.
 *   freeing writes  (store_batch_set_frees) may use the reserve, and after it the ballast.
 *
 * The ballast is the file "reserve" in the data directory: room that other programs cannot take. It shrinks when a
 * freeing write or RocksDB needs room, and grows again when there is room. Its last part (BALLAST_TO_OPEN) is used
 * only to open the database: RocksDB cannot open one without writing some small files. The alternative, opening it
 * read-only, could not show what is only in the journal, and the store would have to be reopened under its readers
 * once there is room.
 *
 * A database opened on a full disk keeps what it replays from the journal in memory, however much that is, and
 * flushes it once there is room (watch.c). RocksDB's own message log is not kept (rocks_log.h): on a full disk the
 * second message would abort the process.
 *
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_ROOM_H
#define THORPE_STORE_ROOM_H

#include "store/internal.h"

#define ROOM_MB ((uint64_t)1 << 20)
/* Room for compactions, above the reserve. Larger compactions may fail; RocksDB recovers from that. */
#define ROOM_TO_COMPACT (160 * ROOM_MB)
/* With more than this above the reserve there is no need to ask RocksDB for sizes. */
#define ROOM_PLENTY (2 * ROOM_TO_COMPACT)
/* A file system with less counts as full. */
#define ROOM_LEAST (ROOM_MB / 4)

struct room {
	uint64_t free;    /* bytes that may be written */
	uint64_t total;   /* of the disk */
	uint64_t reserve; /* part of `free` kept for RocksDB and freeing writes */
};
/* False: unknown, or there is no disk. */
bool room_look(const struct store *s, struct room *r) MUST_CHECK;
/* The most that a flush of everything would write. */
uint64_t room_unflushed(struct store *s);
/* The most that running compactions may still write. */
uint64_t room_compacting(struct store *s);
/* The size of RocksDB's files. */
uint64_t room_data(struct store *s);
/* The part of room_unflushed() that is not being flushed already. */
uint64_t room_active(struct store *s);
/* Before opening the database: gives it the room it needs for that, and checks whether there is room to flush what
 * is in the journal. */
void room_before_open(struct store *s);
/* As store_has_room(), but waits a little for a running flush or compaction that would free the room. */
bool room_wait(struct store *s, size_t bytes);
/* Whether refused growing writes may resume. Requires a little more room than they need, so that they do not stop
 * again at once. */
bool room_is_back(struct store *s);
/* Frees room for a freeing write of that many bytes, from the ballast. If none is left the write is tried anyway:
 * the journal overwrites blocks it already has. */
void room_to_free(struct store *s, size_t bytes);

/* Whether RocksDB may record a change of its files; takes missing room from the ballast. RocksDB does not recover
 * from a failed record as well as from a failed file: where it drops the error, its own assertions fail later. */
bool room_for_a_note(struct store *s);

/* ---- ballast.c ---- */
#define BALLAST_NAME    "reserve"
#define BALLAST_TO_OPEN ROOM_MB
/* Before opening the database: if room is short, releases the ballast's part for opening. */
void ballast_for_opening(struct store *s);
/* Shrinks the ballast to free `bytes` more, or as many as it has beyond the part for opening. */
void ballast_give(struct store *s, uint64_t bytes);
/* Grows it to its target size. Takes nothing from the reserve, except the part for opening. */
void ballast_grow(struct store *s);

/* ---- watch.c: a thread that checks every second ---- */
struct watch *watch_new(void); /* NULL: out of memory */
void watch_free(struct watch *w);
/* After opening on a full disk, before replaying the journal: memtables may have any size. */
void watch_swell(struct store *s);
bool watch_start(struct store *s) MUST_CHECK;
void watch_stop(struct store *s); /* also if it was not started */
/* Makes it check now. */
void watch_wake(struct store *s);
/* Asks RocksDB to flush all families together; it begins with the next write and blocks no writer. */
void watch_flush_soon(struct store *s);

#endif
