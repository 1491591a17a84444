/* Shared by the files of store/: the open store, and how RocksDB's errors are handled.
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
	rocksdb_env_t *env;     /* the RAM of a database in memory; NULL on disk */
	rocksdb_cache_t *cache; /* blocks, filters and block indexes of all families */
	struct hot *hot;        /* ranges of ITEMS and INDEX that are read often */
	rocksdb_readoptions_t *latest;
	rocksdb_readoptions_t *on_disk;   /* reads only what is in files */
	rocksdb_writeoptions_t *logged;   /* in RocksDB's own log, and synced; on disk only */
	rocksdb_writeoptions_t *unlogged; /* fails instead of waiting for flushes: apply.c */
	rocksdb_writeoptions_t *slowed;   /* the same, but waits */
	struct journal *journal;          /* NULL in memory and if read-only */
	char *dir;                        /* NULL: in memory */
	char *shadow_of; /* dir is a copy of this directory, removed at close; NULL: it is not a copy */
	int dir_fd;      /* of dir, for statvfs() and the lock; -1 in memory */
	struct journal_posix journal_io;
	uint8_t identity[JOURNAL_IDENTITY]; /* of the database; its journal carries it too */
	bool read_only;
	bool is_new;              /* the database is being created */
	_Atomic uint64_t reserve; /* bytes of disk that writes leave free (room.c) */
	atomic_long fail_in;      /* store_fail_after() */
	/* health.c */
	atomic_int refusal; /* enum trouble: why writes are refused */
	_Atomic uint64_t corruptions;
	_Atomic int64_t corruption_logged_ms;
	atomic_bool read_failed; /* logged once */
	/* room.c, ballast.c, watch.c */
	struct watch *watch; /* its thread runs only with a journal */
	pthread_mutex_t ballast_lock;
	uint64_t disk_bytes;    /* of the whole disk, at opening; 0: unknown, or no disk */
	bool is_swollen;        /* opened on a full disk: memtables have no limit until there is room */
	atomic_int compactions; /* running now */
	_Atomic uint64_t freed; /* batches that made the database smaller */
	uint64_t freed_seen;    /* last seen value of freed; for the thread that calls store_make_room() */
	_Atomic uint64_t live;  /* bytes of items and index entries, if known */
	atomic_bool is_closing; /* makes long-running work end early */
	/* For each id (by its last bits): the number of backward walks that must not start at the front, and the
	 * number after the next failed attempt (iter.c). */
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

/* Moves *err into *r and frees it (I2); returns r->failed. */
bool store_take_reason(char **err, struct reason *r);
/* Counts one call for store_fail_after(); true: this call fails, and *r says so. */
bool store_fault(struct store *s, struct reason *r);

/* RocksDB keeps per-thread counters at every step, unless the thread disables them. */
static inline void store_count_nothing(void)
{
	static _Thread_local bool said;

	if (!said)
		rocksdb_set_perf_level(rocksdb_disable);
	said = true;
}

/* options.c: RocksDB's options at opening. Each family's options also carry the database-wide ones, as RocksDB's C
 * API requires; those of META are used for the database. */
struct store_tuning {
	rocksdb_options_t *families[STORE_FAMILIES];
};
/* `only_look`: open RocksDB read-only. */
void store_tuning_init(struct store_tuning *t, struct store *s, bool only_look);
void store_tuning_release(struct store_tuning *t);
extern const char *const store_family_names[STORE_FAMILIES];
/* The bytes a family collects in memory before a flush. */
size_t store_memtable_bytes(const struct store *s, enum store_family f);
/* Whether the family grows with the data. */
bool store_is_large(enum store_family f);
/* Whether the family's memtables have a filter. */
bool store_is_walked(enum store_family f);
/* The fraction of a memtable used for its filter: ten bits for each item and each partition. */
#define STORE_MEMTABLE_FILTER 0.01
/* The bytes that all keys of one partition share, in ITEMS and INDEX: an id and a hash. Files and memtables know
 * which of these prefixes they hold; a walk within one partition skips those that do not have it (read.c). */
#define STORE_PREFIX 12

/* background.c: starts the threads that flush and compact, once per process, with lower priority than threads that
 * answer requests. As many as RocksDB derives from that many jobs: a quarter of them flush, at least one. */
void store_background_start(void);
#define STORE_FLUSHES     1
#define STORE_COMPACTIONS 2

/* cache.c */
size_t store_default_cache_bytes(void);
/* The part of the read cache used for hot ranges (hot.h), as a divisor; the rest is for blocks. */
#define STORE_HOT_PART 8

/* dir.c: creates `dir` and its parents, and syncs each in its parent. False: *r says why. */
bool store_make_dir(const char *dir, struct reason *r) MUST_CHECK;

/* maintain.c: flushes all memtables together. No writes meanwhile (journal_pause). store_journal_on_disk() tells
 * whether it worked. */
void store_flush_together(struct store *s);
/* apply.c: writes the batch to RocksDB, unlogged. Waits for flushes that fall behind, but not for a full disk.
 * False: *r says why. */
bool store_apply(struct store *s, rocksdb_writebatch_t *batch, struct reason *r) MUST_CHECK;
/* Whether *r only says that RocksDB would have waited. */
bool store_is_stall(const struct reason *r);
/* write.c: the journal's last record that RocksDB's files contain (0: none). False: it could not be read. */
bool store_journal_on_disk(struct store *s, struct journal_point *last) MUST_CHECK;
/* In META: that record's number and run, 8 bytes each, big-endian. Before format 3 the number alone. */
#define STORE_JOURNAL_KEY   SLICE("journal")
#define STORE_JOURNAL_BYTES 16
/* Parses such a value. False: not one. */
bool store_journal_parse(struct slice value, struct journal_point *last);

/* open.c: store_new() allocates a store that is not open yet (NULL: out of memory); store_open_rocksdb() opens
 * RocksDB for it, nothing else. */
struct store *store_new(const char *dir);
bool store_open_rocksdb(struct store *s, struct reason *r) MUST_CHECK;
/* open.c: fills the journal's options for the store, except what RocksDB's files contain. */
void store_journal_options(struct store *s, struct journal_options *o);
/* In META: 4 bytes, big-endian; 16 random bytes, made with the database. */
#define STORE_FORMAT_KEY   SLICE("format")
#define STORE_IDENTITY_KEY SLICE("identity")

/* inspect.c: checks the contents of a directory before RocksDB opens it for writing. RocksDB trusts the newest
 * files that make sense to it and removes files they do not name. So everything is checked first, without changing
 * anything. */
enum store_contents {
	STORE_NOTHING, /* no database; one can be created */
	STORE_DATABASE,
	STORE_REMAINS, /* files of a database that cannot be opened; the reason names them */
	STORE_NO_LOOK, /* the directory cannot be read; the reason says why */
};
enum store_contents store_contents(int dir_fd, const char *dir, struct reason *r);
/* A file of this name exists while a new database is being created. If a kill interrupts that, the next start may
 * create it again. */
#define STORE_CREATING "creating"
/* False: *r says why. */
bool store_begin_creating(int dir_fd, struct reason *r) MUST_CHECK;
bool store_end_creating(int dir_fd, struct reason *r) MUST_CHECK;

/* The contents of META, as far as present. */
struct store_meta {
	bool has_format, has_identity;
	uint32_t format;
	uint8_t identity[JOURNAL_IDENTITY];
	struct journal_point journal;
	bool unknown_families; /* has families that this version does not know */
};
/* Reads it from RocksDB's files, all of which exist with their full length. False: *r says why. */
bool store_read_meta(struct store *s, struct store_meta *m, struct reason *r) MUST_CHECK;

/* room.c: whether that many bytes can be written without using the reserve and the room to flush. */
bool store_has_room(struct store *s, size_t bytes);
#define STORE_RESERVE ((uint64_t)32 << 20)

/* RocksDB compares and copies by pointer: even an empty slice must point somewhere. */
static inline const char *store_bytes(struct slice s)
{
	return s.n ? s.p : "";
}

#endif
