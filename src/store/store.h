/* An ordered key-value store with atomic, durable batches. RocksDB, and nothing else knows RocksDB; and a journal (journal.h).
 *
 * Invariants
 *   S1  A batch is applied whole or not at all, also across kill -9 and power loss.
 *   S2  store_write() with sync returns true only when the batch is on disk.
 *   S3  After store_write() returned false nothing of the batch is visible, now or after a reopen;
 *       reads go on in any case. Only when the disk failed in the middle of a write, and nothing was
 *       written after it, may a reopen bring such a batch back, whole.
 *   S4  A view (store_view) and iterators see one moment; writes after it do not show.
 *
 * Threads: everything may be called by any thread, except that one batch, view or iterator belongs
 * to one thread at a time; a view may be read by several.
 * Memory: what RocksDB allocates is dealt with here. Values are handed out in the caller's arena.
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
	/* Opens a copy, made in TMPDIR, that goes at close: the directory itself is not changed in any way. It may have been left by a kill. Table
	 * files are not copied but pointed to. */
	bool shadow;
	size_t cache_bytes; /* for reading, all together; 0: a sensible default (idle memory of the process stays under 40 MB) */
};

/* What store_open() could not do. */
enum store_open_result {
	STORE_OPENED,
	STORE_HELD,    /* another process has the directory open */
	STORE_NEWER,   /* written by a newer version of Thorpe (format number in META) */
	STORE_DAMAGED, /* corruption RocksDB detects */
	STORE_FAILED,  /* anything else: permissions, disk, memory */
};

/* Creates the directory if need be. On failure `why` (of n bytes) holds a sentence for a person. */
enum store_open_result store_open(const struct store_options *o, struct store **out, char *why, size_t n) MUST_CHECK;
/* Flushes and closes. All views, iterators and batches must be gone. NULL is fine. */
void store_close(struct store *s);

/* Makes `to`, a new directory, a copy of a damaged one, `from`, with all that can be had from it: table files that can be read, and every whole
 * record of the journal, also those after damage, unless stop_at_damage. `from` is not changed; it must not be in use. tell() gets a sentence for
 * each thing that was found or lost. What was lost may leave indexes and counters that do not agree with their tables. False: why, and `to` is gone. */
typedef void store_tell(void *ctx, const char *sentence);
struct store_salvaged {
	bool is_repaired;  /* RocksDB's files had to be put together anew */
	uint64_t in_files; /* batches that its files have; of those after them: */
	uint64_t applied, lost, last;
};
struct store_salvage {
	const char *from, *to;
	bool stop_at_damage;
	store_tell *tell;
	void *ctx; /* of tell() */
};
bool store_salvage(const struct store_salvage *o, struct store_salvaged *result, char *why, size_t n) MUST_CHECK;

/* One moment of the database. Released by store_view_free() or, if an arena is given, with it. */
struct store_view *store_view(struct store *s, struct arena *defer_to);
void store_view_free(struct store_view *v);

/* Where to read. */
struct store_at {
	struct store *store;
	const struct store_view *view; /* NULL: the latest */
	enum store_family family;
};

/* Point read. *found tells whether it is there; the value is copied into the arena.
 * Errors: INTERNAL when the disk fails or data is damaged; the log says where. */
bool store_get(const struct store_at *at, struct slice key, struct arena *a, struct slice *value, bool *found,
	       struct error *e) MUST_CHECK;

/* The same for several keys, which costs less than one after the other; of one moment only with a view. values[i] is that of keys[i];
 * its p is NULL where there is none. */
bool store_get_many(const struct store_at *at, const struct slice *keys, size_t n, struct arena *a,
		    struct slice *values, struct error *e) MUST_CHECK;

/* Of a key of ITEMS or INDEX: a number that stays the same while nothing is written to the key's partition, so that what was read
 * after asking for it need not be read again. 0: not known at the moment. Any thread; quick (hot.h). */
uint64_t store_version(struct store *s, struct slice key);

struct store_walk {
	struct slice from, to; /* keys in [from, to); `to` empty: to the end of the family */
	bool backwards;
	size_t most; /* the caller takes no more entries than these, or SIZE_MAX if it cannot tell, and gains by saying so: what is often
		      * read of a partition is kept (hot.h), and many entries are found backwards more quickly. 0: not said */
};
/* Walks keys. The iterator belongs to the arena and is closed with it, or earlier by store_iter_close().
 *     while (store_iter_next(it)) use(store_iter_key(it), store_iter_value(it));
 *     if (!store_iter_ok(it, a, e)) …
 * Key and value are valid until the next call on the iterator. */
struct store_iter *store_iter(const struct store_at *at, const struct store_walk *w, struct arena *a);
bool store_iter_next(struct store_iter *it);
/* After a step: whether all that the walk will give is known to be at most STORE_SHORT_BYTES in at most STORE_SHORT_ENTRIES.
 * False: it may be more. */
bool store_iter_is_short(const struct store_iter *it);
#define STORE_SHORT_ENTRIES 64
#define STORE_SHORT_BYTES   ((size_t)64 << 10)
struct slice store_iter_key(const struct store_iter *it);
struct slice store_iter_value(const struct store_iter *it);
bool store_iter_ok(struct store_iter *it, struct arena *a, struct error *e) MUST_CHECK;
void store_iter_close(struct store_iter *it);

/* A batch copies keys and values. Reused after store_batch_clear(). NULL when memory is out. */
struct store_batch *store_batch_new(void);
void store_batch_free(struct store_batch *b);
void store_batch_clear(struct store_batch *b);
void store_batch_put(struct store_batch *b, struct store *s, enum store_family f, struct slice key, struct slice value);
void store_batch_delete(struct store_batch *b, struct store *s, enum store_family f, struct slice key);
/* Deletes [from, to). In ITEMS and INDEX all of an id, which must not be used again: walks within a partition do not look for
 * deleted ranges. */
void store_batch_delete_range(struct store_batch *b, struct store *s, enum store_family f, struct slice from,
			      struct slice to);
size_t store_batch_count(const struct store_batch *b);
/* Says that the batch makes the database smaller: on a full disk it may use room that is kept for such (room.h). Until the batch
 * is cleared. */
void store_batch_set_frees(struct store_batch *b);
/* Whether batches that grow the database are taken now; false on a full disk. Cheap while there is room. */
bool store_takes_growth(struct store *s);
/* Errors: INTERNAL, in words for clients; the log has the reason. Nothing was applied. A write that would leave less than 32 MB
 * (1/16 of a small disk) and room for a flush is refused as on a full disk; once there is room again the next one
 * works. After other disk errors all are refused, and reads go on, until the store is reopened. The message is a literal. */
bool store_write(struct store *s, struct store_batch *b, bool sync, struct arena *a, struct error *e) MUST_CHECK;
/* Brings unsynced writes to disk. */
bool store_sync(struct store *s, struct arena *a, struct error *e) MUST_CHECK;

/* A consistent copy of the whole database in a new directory (hard links where possible). Nobody writes meanwhile. */
bool store_checkpoint(struct store *s, const char *dir, struct arena *a, struct error *e) MUST_CHECK;
/* Gives back the room of what store_batch_delete_range() deleted in [from, to), where no write may go any more: without it the
 * room comes back when RocksDB next rewrites those files, which can be weeks. Files with nothing else are dropped at once, which works on
 * a full disk; the rest takes as long as rewriting the others. Where little can be had nothing is done. Writers are not held up. Call it from
 * a thread that may wait. False: it is not done, for lack of room or because the store is about to be closed; try again later. */
struct store_reclaim {
	enum store_family family;
	struct slice from, to;
	uint64_t expected; /* bytes that were there, if known: files do not tell of what is still in memory */
	uint64_t mark;     /* store_mark() after the deletion was written */
};
bool store_reclaim(struct store *s, const struct store_reclaim *range) MUST_CHECK;
/* A number that stands for everything written so far. */
uint64_t store_mark(struct store *s);
/* While the store is STORE_FULL: says how many bytes of items and index entries there are, counted since it is. After deletions their files are rewritten if what is left
 * of them fits into the room that there is. One thread at a time, which may wait for a flush. */
void store_make_room(struct store *s, uint64_t live);
/* The first step of it alone: drops files that have nothing but [from, to). */
void store_drop_files(struct store *s, enum store_family f, struct slice from, struct slice to);
/* A store_reclaim() that runs ends soon, and later ones at once: before store_close(). */
void store_stop_reclaiming(struct store *s);

/* How the store is: the worst that holds. Any thread; cheap. */
enum store_health {
	STORE_WELL,
	STORE_FULL,   /* no room: batches that grow are refused. Ends by itself */
	STORE_BROKEN, /* the disk failed: writes are refused until the store is opened anew */
	STORE_CORRUPT, /* a read or RocksDB's own threads met damaged data: an operator is needed. Until the store is closed */
};
enum store_health store_health(const struct store *s);
/* In words, without paths. */
const char *store_health_words(enum store_health h);
/* How often damaged data was met. */
uint64_t store_corruptions(const struct store *s);
/* Whether the last write failed, and the next one will probably, too: a full disk, or a broken one. Any thread. */
bool store_is_refusing(const struct store *s);
/* Bytes on disk, all families; in memory, the bytes there. */
uint64_t store_disk_bytes(struct store *s);

/* For tests: the n-th next call (0 = the next) of store_get, store_get_many, store_iter_ok or store_write, in any
 * thread, fails as a failing disk would; -1 never. All later ones fail too until reset. */
void store_fail_after(struct store *s, long calls);

#endif
