/* An ordered key-value store with atomic, durable batches: RocksDB with a journal (journal.h). No other folder
 * knows RocksDB.
 *
 * Invariants
 *   S1  A batch is applied whole or not at all, even across kill -9 and power loss.
 *   S2  store_write() with sync returns true only once the batch is on disk.
 *   S3  After store_write() returned false, nothing of the batch is visible, now or after a reopen; reads always go
 *       on. One exception: if the disk failed in the middle of a write and nothing was written after it, a reopen
 *       may bring that batch back, whole.
 *   S4  Views (store_view) and iterators see one moment; later writes do not show.
 *
 * Threads: any thread may call everything, but one batch, view or iterator belongs to one thread at a time; several
 * may read a view. Memory: the store frees what RocksDB allocates. Values are returned in the caller's arena.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_STORE_H
#define THORPE_STORE_STORE_H

#include "base/buf.h"
#include "base/error.h"

/* One column family per kind of record. Names are on disk: append only. */
#define STORE_FAMILY_MAP(X)                                                           \
	X(META, "default")    /* "format" is the store's; table and index counters */ \
	X(CATALOG, "catalog") /* table definitions */                                 \
	X(ITEMS, "items")                                                             \
	X(INDEX, "index")   /* entries of secondary indexes */                        \
	X(STREAM, "stream") /* change records */                                      \
	X(TTL, "ttl")       /* items by expiry */                                     \
	X(TOKENS, "tokens") /* idempotency tokens of transactions */                  \
	X(STATS, "stats")   /* item counts and sizes; item collections' sizes */

enum store_family {
#define X(id, name) STORE_##id,
	STORE_FAMILY_MAP(X)
#undef X
		STORE_FAMILIES
};

struct store;
struct store_batch;
struct store_view;
struct store_iter;

struct store_options {
	const char *dir; /* NULL: in memory, gone at close */
	bool read_only;
	/* Opens a copy made in TMPDIR and removed at close: the directory itself is not changed in any way. It may
	 * be the remains of a kill. Table files are linked, not copied. */
	bool shadow;
	size_t cache_bytes; /* for all read caches together; 0: a default (an idle process stays under 40 MB) */
};

/* The outcome of store_open(). */
enum store_open_result {
	STORE_OPENED,
	STORE_HELD,    /* another process has the directory open */
	STORE_NEWER,   /* written by a newer version of Thorpe (format number in META) */
	STORE_DAMAGED, /* corruption RocksDB detects */
	STORE_FAILED,  /* anything else: permissions, disk, memory */
};

/* Creates the directory if needed. On failure `why` (of n bytes) holds a sentence for a person. */
enum store_open_result store_open(const struct store_options *o, struct store **out, char *why, size_t n) MUST_CHECK;
/* Flushes and closes. All views, iterators and batches must have been freed. NULL is fine. */
void store_close(struct store *s);

/* Makes `to`, a new directory, a copy of a damaged one with everything that can be recovered: readable table files
 * and every whole record of the journal, also those after damage unless stop_at_damage. `from` is not changed; it
 * must not be in use. Calls tell() with a sentence for each thing found or lost. After losses, indexes and counters
 * may disagree with their tables. False: `why` says why, and `to` has been removed. */
typedef void store_tell(void *ctx, const char *sentence);
struct store_salvaged {
	bool is_repaired;  /* RocksDB's files had to be rebuilt */
	uint64_t in_files; /* batches in its files; of the later ones: */
	uint64_t applied, lost, last;
};
struct store_salvage {
	const char *from, *to;
	bool stop_at_damage;
	store_tell *tell;
	void *ctx; /* of tell() */
};
bool store_salvage(const struct store_salvage *o, struct store_salvaged *result, char *why, size_t n) MUST_CHECK;

/* One moment of the database. Freed by store_view_free() or, if an arena is given, with it. */
struct store_view *store_view(struct store *s, struct arena *defer_to);
void store_view_free(struct store_view *v);

/* Where to read. */
struct store_at {
	struct store *store;
	const struct store_view *view; /* NULL: the latest */
	enum store_family family;
};

/* Point read. *found tells whether the key exists; the value is copied into the arena.
 * Errors: INTERNAL if the disk fails or data is damaged; the log says where. */
bool store_get(const struct store_at *at, struct slice key, struct arena *a, struct slice *value, bool *found,
	       struct error *e) MUST_CHECK;

/* The same for several keys, cheaper than one at a time; they are of one moment only with a view. values[i] is for
 * keys[i]; its p is NULL if the key does not exist. */
bool store_get_many(const struct store_at *at, const struct slice *keys, size_t n, struct arena *a,
		    struct slice *values, struct error *e) MUST_CHECK;

/* For a key of ITEMS or INDEX: a number that stays the same while the key's partition is not written to. Data read
 * after this call is current while it returns the same number. 0: unknown at the moment. Any thread; cheap (hot.h). */
uint64_t store_version(struct store *s, struct slice key);

struct store_walk {
	struct slice from, to; /* keys in [from, to); `to` empty: to the end of the family */
	bool backwards;
	/* The most entries the caller takes, SIZE_MAX if it cannot tell; 0: not given. Giving it is faster: often-read
	 * ranges of a partition are cached (hot.h), and backward walks find many entries more quickly. */
	size_t most;
};
/* Walks keys. The iterator belongs to the arena and is closed with it, or earlier by store_iter_close().
 *     while (store_iter_next(it)) use(store_iter_key(it), store_iter_value(it));
 *     if (!store_iter_ok(it, a, e)) …
 * Key and value are valid until the next call on the iterator. */
struct store_iter *store_iter(const struct store_at *at, const struct store_walk *w, struct arena *a);
bool store_iter_next(struct store_iter *it);
/* After a step: whether the rest of the walk is known to fit STORE_SHORT_BYTES and STORE_SHORT_ENTRIES, including
 * what it has returned already. False: it may be more. */
bool store_iter_is_short(const struct store_iter *it);
#define STORE_SHORT_ENTRIES 64
#define STORE_SHORT_BYTES   ((size_t)64 << 10)
struct slice store_iter_key(const struct store_iter *it);
struct slice store_iter_value(const struct store_iter *it);
bool store_iter_ok(struct store_iter *it, struct arena *a, struct error *e) MUST_CHECK;
void store_iter_close(struct store_iter *it);

/* A batch copies keys and values. Reusable after store_batch_clear(). NULL: out of memory. */
struct store_batch *store_batch_new(void);
void store_batch_free(struct store_batch *b);
void store_batch_clear(struct store_batch *b);
void store_batch_put(struct store_batch *b, struct store *s, enum store_family f, struct slice key, struct slice value);
void store_batch_delete(struct store_batch *b, struct store *s, enum store_family f, struct slice key);
/* Deletes [from, to). In ITEMS and INDEX only a whole id, which must not be used again: walks within a partition do
 * not check for deleted ranges. */
void store_batch_delete_range(struct store_batch *b, struct store *s, enum store_family f, struct slice from,
			      struct slice to);
size_t store_batch_count(const struct store_batch *b);
/* Marks the batch as one that makes the database smaller: on a full disk it may use the room kept for such batches
 * (room.h). Holds until the batch is cleared. */
void store_batch_set_frees(struct store_batch *b);
/* Whether batches that grow the database are accepted now; false on a full disk. Cheap while there is room. */
bool store_takes_growth(struct store *s);
/* Errors: INTERNAL, in words for clients; the log has the reason. Nothing was applied. A write that would leave
 * less than 32 MB (1/16 of a small disk) and room for a flush is refused as on a full disk; once there is room, the
 * next write works. After other disk errors all writes are refused, and reads go on, until the store is reopened.
 * The message is a literal. */
bool store_write(struct store *s, struct store_batch *b, bool sync, struct arena *a, struct error *e) MUST_CHECK;
/* Syncs unsynced writes to disk. */
bool store_sync(struct store *s, struct arena *a, struct error *e) MUST_CHECK;

/* Frees the room of what store_batch_delete_range() deleted in [from, to), which must never be written to again.
 * Without it the room is freed when RocksDB next rewrites those files, which can take weeks. Files that hold
 * nothing else are dropped at once, which works on a full disk; the others are rewritten. Does nothing if there is
 * little to gain. Does not block writers. Call it from a thread that may wait. False: not done, for lack of room or
 * because the store is closing; try again later. */
struct store_reclaim {
	enum store_family family;
	struct slice from, to;
	uint64_t expected; /* the range's size before deletion, if known: sizes of files exclude data still in memory */
	uint64_t mark;     /* store_mark() after the deletion was written */
};
bool store_reclaim(struct store *s, const struct store_reclaim *range) MUST_CHECK;
/* A number for everything written so far. */
uint64_t store_mark(struct store *s);
/* While the store is STORE_FULL: reports how many bytes of items and index entries there are, counted since it
 * became full. After deletions, rewrites their files if the remaining data fits the free room. One thread at a
 * time, which may wait for a flush. */
void store_make_room(struct store *s, uint64_t live);
/* Only the first step of store_reclaim(): drops files that hold nothing outside [from, to). */
void store_drop_files(struct store *s, enum store_family f, struct slice from, struct slice to);
/* Makes a running store_reclaim() end soon, and later ones at once; call before store_close(). */
void store_stop_reclaiming(struct store *s);

/* The state of the store: the worst that applies. Any thread; cheap. */
enum store_health {
	STORE_WELL,
	STORE_FULL,    /* no room: growing batches are refused. Ends by itself */
	STORE_BROKEN,  /* the disk failed: writes are refused until the store is reopened */
	STORE_CORRUPT, /* damaged data was found: an operator is needed. Lasts until the store is closed */
};
enum store_health store_health(const struct store *s);
/* As a sentence, without paths. */
const char *store_health_words(enum store_health h);
/* How often damaged data was found. */
uint64_t store_corruptions(const struct store *s);
/* Whether the last write failed and the next probably will too: a full or broken disk. Any thread. */
bool store_is_refusing(const struct store *s);
/* Bytes on disk of all families; for a database in memory, bytes there. */
uint64_t store_disk_bytes(struct store *s);

/* For tests: the n-th next call (0 = the next) of store_get, store_get_many, store_iter_ok or store_write, in any
 * thread, fails as a failing disk would; -1 never. All later ones fail too until reset. */
void store_fail_after(struct store *s, long calls);

#endif
