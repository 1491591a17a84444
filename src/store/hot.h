/* Hot ranges: what a walk found is kept for the next walk of the same range, until something is written to its partition.
 *
 * The first page of a profile's posts is read far more often than it changes. RocksDB finds its rows anew each time: a search in
 * every memtable and file that may have some, then row by row past every version that has not been compacted away yet.
 *
 * Invariants
 *   H1  hot_find() gives what a walk that began at that moment would find. Partitions share slots, each with two counts: of writes
 *       begun, raised before RocksDB is given one, and of writes ended, raised after. A run carries the count at which it was read,
 *       with none under way, and is good for as long as no other write has begun.
 *   H2  All runs together, but for those that somebody still holds, are not larger than hot_new() was told, whatever is asked for; the
 *       longest unused go first.
 *   H3  A run never changes, and lives until the last one who holds it has let go.
 *
 * A short range (STORE_SHORT_ENTRIES, STORE_SHORT_BYTES), or the beginning of a longer one when no more is wanted, is kept when it has been asked
 * for a second time: walks over everything there is leave nothing behind.
 * Threads: all of it may be called by any. Errors: none; without memory nothing is kept.
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
	bool whole; /* there is no more in the range */
};

/* A walk that asks. `from` and `to` must share their first STORE_PREFIX bytes. */
struct hot_walk {
	enum store_family family;
	bool backwards;
	struct slice from, to;
	/* set by hot_find(): */
	uint64_t name, stamp;
	bool wanted; /* what this walk finds is worth keeping */
};

struct hot *hot_new(size_t bytes); /* NULL when memory is out */
void hot_free(struct hot *h);      /* runs that are held stay until they are let go; NULL is fine */

/* The first entries of the range: at least `most` of them, or all there are. NULL: not known. To be let go with hot_let_go(). */
const struct hot_run *hot_find(struct hot *h, struct hot_walk *w, size_t most);
void hot_let_go(const struct hot_run *r);
/* What the walk found after hot_find() gave NULL with w->wanted; copied. Too late, when its partition has been written to meanwhile. */
void hot_keep(struct hot *h, const struct hot_walk *w, const struct hot_entry *entries, size_t n, bool whole);

/* A number that belongs to the partition of a key while nothing is written to it: whoever reads something after asking for it, and later
 * gets the same number, would read the same again. 0: something is being written just now. */
uint64_t hot_version(struct hot *h, struct slice key);

/* ---- for whoever writes: what it touches, before and after RocksDB has it, also when RocksDB refuses ---- */
struct hot_touched {
	uint32_t *slots;
	size_t n, cap;
	bool all; /* memory was out, or a range was deleted: everything */
};
void hot_touch(struct hot_touched *t, struct slice key);
void hot_touched_clear(struct hot_touched *t);
void hot_touched_release(struct hot_touched *t);
void hot_write_begins(struct hot *h, const struct hot_touched *t);
void hot_write_ended(struct hot *h, const struct hot_touched *t);

#endif
