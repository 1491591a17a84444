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
#include "store/journal/journal.h"
#include "store/store.h"

#define STORE_WALK_KINDS 64

struct hot;
struct watch;

struct store {
	rocksdb_t *db;
	rocksdb_column_family_handle_t *families[STORE_FAMILIES];
	rocksdb_env_t *env;     /* the RAM a database in memory lives in; NULL on disk */
	rocksdb_cache_t *cache; /* blocks, filters and block indexes of all families */
	struct hot *hot;        /* ranges of ITEMS and INDEX that are read again and again */
	rocksdb_readoptions_t *latest;
	rocksdb_readoptions_t *on_disk;   /* reads what is in files, and nothing else */
	rocksdb_writeoptions_t *logged;   /* in RocksDB's own log, and synced; on disk only */
	rocksdb_writeoptions_t *unlogged; /* does not wait for flushes: apply.c */
	rocksdb_writeoptions_t *slowed;   /* the same, but waits */
	struct journal *journal;          /* NULL in memory, and if only read */
	char *dir;                        /* NULL: in memory */
	char *shadow_of;                  /* dir is a copy of this directory, and goes at close; NULL: it is none */
	int dir_fd;                       /* of dir, to ask about it, and locked; -1 in memory */
	struct journal_posix journal_io;
	uint8_t identity[JOURNAL_IDENTITY]; /* of the database, so that its journal can name it */
	bool read_only;
	bool is_new;              /* the database is being made */
	_Atomic uint64_t reserve; /* bytes of disk that writes leave free (room.c) */
	atomic_long fail_in;      /* store_fail_after() */
	/* health.c */
	atomic_int refusal; /* enum trouble: why writes are refused */
	_Atomic uint64_t corruptions;
	_Atomic int64_t corruption_logged_ms;
	atomic_bool read_failed; /* said in the log once */
	/* room.c, ballast.c, watch.c */
	struct watch *watch; /* its thread runs only with a journal */
	pthread_mutex_t ballast_lock;
	uint64_t disk_bytes; /* of the whole disk, at opening; 0: not known, or no disk */
	bool is_swollen; /* opened on a full disk: memtables have no limit until there is room. Of the opener, then of the watch alone */
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
/* `only_look`: RocksDB is to read, and to change nothing. */
void store_tuning_init(struct store_tuning *t, struct store *s, bool only_look);
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
#define STORE_FLUSHES     1
#define STORE_COMPACTIONS 2

/* cache.c */
size_t store_default_cache_bytes(void);
/* Of what is kept in memory for reading, the part for hot ranges (hot.h); the rest is for blocks. */
#define STORE_HOT_PART 8

/* dir.c: makes `dir` and its parents, each on disk in its parent. False: *r says why. */
bool store_make_dir(const char *dir, struct reason *r) MUST_CHECK;

/* maintain.c: all memtables to files, together. Nobody writes meanwhile (journal_pause). Whether it worked store_journal_on_disk() tells. */
void store_flush_together(struct store *s);
/* apply.c: writes the batch to RocksDB, unlogged. Waits for flushes that do not keep up, but not for a disk that is full. False: *r says why. */
bool store_apply(struct store *s, rocksdb_writebatch_t *batch, struct reason *r) MUST_CHECK;
/* Whether *r says no more than that RocksDB would have waited. */
bool store_is_stall(const struct reason *r);
/* write.c: the journal's last record that RocksDB's files have (0: none), and whether that could be read. */
bool store_journal_on_disk(struct store *s, struct journal_point *last) MUST_CHECK;
/* In META: that record's number and run, 8 bytes each, big-endian. Before format 3 the number alone. */
#define STORE_JOURNAL_KEY   SLICE("journal")
#define STORE_JOURNAL_BYTES 16
/* Reads such a value. False: it is none. */
bool store_journal_parse(struct slice value, struct journal_point *last);

/* open.c: a store that is not open yet; and RocksDB opened for it, nothing else. NULL: out of memory. */
struct store *store_new(const char *dir);
bool store_open_rocksdb(struct store *s, struct reason *r) MUST_CHECK;
/* open.c: what the journal is told of the store, but for what RocksDB's files have. */
void store_journal_options(struct store *s, struct journal_options *o);
/* In META: 4 bytes, big-endian; 16 random bytes, made with the database. */
#define STORE_FORMAT_KEY   SLICE("format")
#define STORE_IDENTITY_KEY SLICE("identity")

/* inspect.c: what is in a directory before RocksDB opens it for writing. RocksDB believes the newest files it can make sense of, and removes what they do
 * not name: so everything is looked at first, and nothing is changed. */
enum store_contents {
	STORE_NOTHING, /* no database; one can be made */
	STORE_DATABASE,
	STORE_REMAINS, /* files of a database that cannot be opened; the reason names them */
	STORE_NO_LOOK, /* the directory cannot be read; the reason says why */
};
enum store_contents store_contents(int dir_fd, const char *dir, struct reason *r);
/* While a new database is made, there is a file of this name: what a kill leaves then may be made anew. */
#define STORE_CREATING "creating"
/* False: *r says why. */
bool store_begin_creating(int dir_fd, struct reason *r) MUST_CHECK;
bool store_end_creating(int dir_fd, struct reason *r) MUST_CHECK;

/* What META says, as far as it says anything. */
struct store_meta {
	bool has_format, has_identity;
	uint32_t format;
	uint8_t identity[JOURNAL_IDENTITY];
	struct journal_point journal;
	bool unknown_families; /* there are families that this version does not know */
};
/* Reads it from RocksDB's files, all of which are there and as long as they were. False: *r says why. */
bool store_read_meta(struct store *s, struct store_meta *m, struct reason *r) MUST_CHECK;

/* room.c: whether so many bytes can be written and the reserve is still there, and room to flush. */
bool store_has_room(struct store *s, size_t bytes);
#define STORE_RESERVE ((uint64_t)32 << 20)

/* RocksDB compares and copies by pointer: an empty slice must still point somewhere. */
static inline const char *store_bytes(struct slice s)
{
	return s.n ? s.p : "";
}

#endif
