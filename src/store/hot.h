/* Hot ranges: caches what a walk found for the next walk over the same range, until its partition is written to.
 *
 * The first page of a profile's posts is read far more often than it changes. RocksDB finds its rows again each
 * time: it searches every memtable and file that may have some, then steps row by row over every version not yet
 * compacted away.
 *
 * Invariants
 *   H1  hot_find() returns what a walk starting at that moment would find. Partitions share slots. Each slot counts
 *       the writes begun, before RocksDB gets them, and the writes ended, afterwards. A run is kept only if no
 *       write was under way when it was read; it carries the count at that time and is valid until another write
 *       begins.
 *   H2  All runs together, except those still held by callers, take no more than the limit given to hot_new(); the
 *       least recently used are dropped first.
 *   H3  A run never changes and lives until its last holder releases it.
 *
 * A short range (STORE_SHORT_ENTRIES, STORE_SHORT_BYTES), or the beginning of a longer one if the walk wants no
 * more, is kept when it is requested a second time. So walks over a whole table keep nothing. Threads: any. Errors:
 * none; without memory nothing is kept.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_STORE_HOT_H
#define THORPE_STORE_HOT_H

#include "store/store.h"

struct hot;

struct hot_entry {
	struct slice key, value;
};

/* What a walk found, in its order. */
struct hot_run {
	const struct hot_entry *entries;
	size_t count;
	bool whole; /* the range has no more entries */
};

/* A walk to look up. `from` and `to` must share their first STORE_PREFIX bytes. */
struct hot_walk {
	enum store_family family;
	bool backwards;
	struct slice from, to;
	/* set by hot_find(): */
	uint64_t name, stamp;
	bool wanted; /* the result of this walk is worth keeping */
};

struct hot *hot_new(size_t bytes); /* NULL: out of memory */
void hot_free(struct hot *h);      /* runs that are held stay until released; NULL is fine */

/* The first entries of the range: at least `most` of them, or all. NULL: not cached. Release it with hot_let_go(). */
const struct hot_run *hot_find(struct hot *h, struct hot_walk *w, size_t most);
void hot_let_go(const struct hot_run *r);
/* Keeps a copy of what the walk found, after hot_find() returned NULL with w->wanted. Does nothing if the partition
 * was written to in the meantime. */
void hot_keep(struct hot *h, const struct hot_walk *w, const struct hot_entry *entries, size_t n, bool whole);

/* A number for the current state of the key's partition. If a caller gets the same number again later, everything
 * it read from the partition after the first call is still current. 0: a write is under way. */
uint64_t hot_version(struct hot *h, struct slice key);

/* ---- for writers: the slots a write touches; called before and after RocksDB gets it, also if RocksDB refuses
 * ---- */
struct hot_touched {
	uint32_t *slots;
	size_t n, cap;
	bool all; /* out of memory, or a range was deleted: every slot */
};
void hot_touch(struct hot_touched *t, struct slice key);
void hot_touched_clear(struct hot_touched *t);
void hot_touched_release(struct hot_touched *t);
void hot_write_begins(struct hot *h, const struct hot_touched *t);
void hot_write_ended(struct hot *h, const struct hot_touched *t);

#endif
