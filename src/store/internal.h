/* What the files of store/ share: the open store, and how a RocksDB error leaves it.
 *
 * Invariants
 *   I1  A RocksDB object is registered with the arena (or owned by struct store) before the next
 *       arena allocation, because that may leave by longjmp.
 *   I2  A RocksDB error string never leaves the function that received it: it is copied into a
 *       struct reason, freed, and only then is anything allocated.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_INTERNAL_H
#define THORPE_STORE_INTERNAL_H

#include <pthread.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include "store/store.h"

#define STORE_WALK_KINDS 64

struct hot;
struct journal;
struct watch;

struct store {
	rocksdb_t *db;
	rocksdb_column_family_handle_t *families[STORE_FAMILIES];
	rocksdb_env_t *env;     /* the RAM a database in memory lives in; NULL on disk */
	rocksdb_cache_t *cache; /* blocks, filters and block indexes of all families */
	struct hot *hot;        /* ranges of ITEMS and INDEX that are read again and again */
	rocksdb_readoptions_t *latest;
	rocksdb_readoptions_t *on_disk;    /* reads what is in files, and nothing else */
	rocksdb_writeoptions_t *logged;    /* in RocksDB's own log, and synced; on disk only */
	rocksdb_writeoptions_t *unlogged;
	struct journal *journal; /* NULL in memory, and if only read */
	char *dir;              /* NULL: in memory */
	int dir_fd;             /* of dir, to ask about it; -1 in memory */
	bool read_only;
	uint64_t reserve;       /* bytes of disk that writes leave free (room.c) */
	atomic_long fail_in;    /* store_fail_after() */
	/* health.c */
	atomic_int refusal;     /* enum trouble: why writes are refused */
	_Atomic uint64_t corruptions;
	_Atomic int64_t corruption_logged_ms;
	atomic_bool read_failed; /* said in the log once */
	/* room.c, ballast.c, watch.c */
	struct watch *watch;    /* its thread runs only with a journal */
	pthread_mutex_t ballast_lock;
	uint64_t disk_bytes;    /* of the whole disk, at opening; 0: not known, or no disk */
	bool is_swollen;        /* opened on a full disk: memtables have no limit until there is room. Of the opener, then of the watch alone */
	atomic_int compactions; /* that run */
	_Atomic uint64_t freed; /* batches that made the database smaller */
	uint64_t freed_seen;    /* of freed; of the thread that calls store_make_room() */
	_Atomic uint64_t live;  /* bytes of items and index entries, as far as known */
	atomic_bool is_closing; /* work that takes long ends early */
	/* Of each id (by its last bits): how many walks backwards shall not begin at the front, and how many will not
	 * when the next one that does was wrong to (iter.c). */
	struct {
		atomic_uint left, next;
	} straight[STORE_WALK_KINDS];
};

struct store_view {
	struct store *store;
	const rocksdb_snapshot_t *snapshot; /* NULL once released */
	rocksdb_readoptions_t *options;
	bool in_arena;
};

/* Why RocksDB could not do it. */
struct reason {
	bool failed;
	char text[400];
};

/* Empties *err into *r and frees it (I2); returns r->failed. */
bool store_take_reason(char **err, struct reason *r);
/* Counts one call for store_fail_after(); true: this one fails, and *r says so. */
bool store_fault(struct store *s, struct reason *r);

/* RocksDB counts for each thread what it does, at every step, unless the thread says that nobody will ask. */
static inline void store_count_nothing(void)
{
	static _Thread_local bool said;

	if (!said)
		rocksdb_set_perf_level(rocksdb_disable);
	said = true;
}

/* options.c: everything RocksDB is told when it opens. Each family's options also carry the
 * database-wide ones, as RocksDB's C API wants it; those of META are used for the database. */
struct store_tuning {
	rocksdb_options_t *families[STORE_FAMILIES];
};
void store_tuning_init(struct store_tuning *t, struct store *s);
void store_tuning_release(struct store_tuning *t);
extern const char *const store_family_names[STORE_FAMILIES];
/* What a family collects in memory before it becomes a file. */
size_t store_memtable_bytes(const struct store *s, enum store_family f);
/* Whether it grows with the data. */
bool store_is_large(enum store_family f);
/* Whether its memtables have a filter. */
bool store_is_walked(enum store_family f);
/* Of a memtable, for its filter: ten bits for each of its items, and for each partition. */
#define STORE_MEMTABLE_FILTER 0.01
/* Bytes that the keys of one partition share, in ITEMS and INDEX: an id and a hash. Files and memtables
 * know which of them they hold; a walk within one passes over those that do not (read.c). */
#define STORE_PREFIX 12

/* background.c: starts the threads that flush and compact, once for the process, so that they stand back behind those that answer.
 * As many as RocksDB makes of as many jobs: a quarter of them flush, one at least. */
void store_background_start(void);
#define STORE_FLUSHES 1
#define STORE_COMPACTIONS 2

/* cache.c */
size_t store_default_cache_bytes(void);
/* Of what is kept in memory for reading, the part for hot ranges (hot.h); the rest is for blocks. */
#define STORE_HOT_PART 8

/* dir.c: makes `dir` and its parents, each on disk in its parent. False: *r says why. */
bool store_make_dir(const char *dir, struct reason *r) MUST_CHECK;

/* maintain.c: all memtables to files, together. Nobody writes meanwhile (journal_pause). Whether it worked store_journal_on_disk() tells. */
void store_flush_together(struct store *s);
/* write.c: the journal's last record that RocksDB's files have (0: none), and whether that could be read. */
bool store_journal_on_disk(struct store *s, uint64_t *number) MUST_CHECK;
#define STORE_JOURNAL_KEY SLICE("journal") /* in META: that number, 8 bytes, big-endian */

/* room.c: whether so many bytes can be written and the reserve is still there, and room to flush. */
bool store_has_room(struct store *s, size_t bytes);
#define STORE_RESERVE ((uint64_t)32 << 20)

/* Numbers on disk are big-endian; read_be64() and read_be32() read them back. */
static inline void store_put_be64(char *to, uint64_t v)
{
	for (int i = 7; i >= 0; i--, v >>= 8)
		to[i] = (char)v;
}

static inline void store_put_be32(char *to, uint32_t v)
{
	for (int i = 3; i >= 0; i--, v >>= 8)
		to[i] = (char)v;
}

/* RocksDB compares and copies by pointer: an empty slice must still point somewhere. */
static inline const char *store_bytes(struct slice s)
{
	return s.n ? s.p : "";
}

#endif
