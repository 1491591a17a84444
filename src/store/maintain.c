/* Work on the whole database: flushing it, and freeing the room of deleted ranges.
 * SPDX-License-Identifier: Apache-2.0 */
#include <time.h>
#include "base/log.h"
#include "store/room.h"

void store_flush_together(struct store *s)
{
	rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
	struct slice key = STORE_JOURNAL_KEY;

	/* RocksDB's C API can only flush single families, and an atomic flush of one family during another of all
	 * families ends the process (an assertion, in builds that have them). But before compacting a range that is in
	 * a memtable, RocksDB flushes all families. This range is small. */
	rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
	rocksdb_compact_range_cf_opt(s->db, s->families[STORE_META], options, key.p, key.n, key.p, key.n);
	rocksdb_compactoptions_destroy(options);
}

/* ---- freeing room ---- */

/* Rewriting files for less than this is not worth it. */
#define RECLAIM_LEAST ((uint64_t)1 << 20)
#define FLUSH_WAIT_MS 30000
#define FLUSH_LOOK_MS 50

void store_drop_files(struct store *s, enum store_family f, struct slice from, struct slice to)
{
	struct reason r = { 0 };
	char *err = NULL;

	if (s->read_only || slice_cmp(from, to) >= 0 || !room_for_a_note(s))
		return;
	rocksdb_delete_file_in_range_cf(s->db, s->families[f], store_bytes(from), from.n, to.p, to.n, &err);
	if (store_take_reason(&err, &r))
		log_warn("store: deleted files could not be dropped: %s", r.text);
}

void store_stop_reclaiming(struct store *s)
{
	atomic_store(&s->is_closing, true);
	rocksdb_disable_manual_compaction(s->db);
}

/* In files. */
static uint64_t size_of_range(struct store *s, enum store_family f, struct slice from, struct slice to)
{
	const char *begins = store_bytes(from), *ends = to.p;
	struct reason r = { 0 };
	char *err = NULL;
	uint64_t size = 0;

	rocksdb_approximate_sizes_cf(s->db, s->families[f], 1, &begins, &from.n, &ends, &to.n, &size, &err);
	return store_take_reason(&err, &r) ? UINT64_MAX : size;
}

static bool is_flushed(struct store *s, uint64_t upto)
{
	struct journal_point on_disk;

	return store_journal_on_disk(s, &on_disk) && on_disk.number >= upto;
}

uint64_t store_mark(struct store *s)
{
	return s->journal ? journal_last(s->journal) : 0;
}

static bool wait_for_flush(struct store *s, uint64_t mark)
{
	struct timespec pause = { .tv_nsec = FLUSH_LOOK_MS * 1000000 };

	for (int ms = 0; ms < FLUSH_WAIT_MS && !atomic_load(&s->is_closing); ms += FLUSH_LOOK_MS) {
		if (is_flushed(s, mark))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Waits until RocksDB's files have everything up to the mark. False: it took too long, or there is no room. */
static bool flush_and_wait(struct store *s, uint64_t mark)
{
	if (is_flushed(s, mark))
		return true;
	if (!store_has_room(s, 0))
		return false;
	watch_flush_soon(s);
	return wait_for_flush(s, mark);
}

#define LAST_KEY  64
#define LAST_TAIL 32

/* RocksDB includes the end of a range; `to` belongs to the next range and may be in a memtable. */
static size_t last_before(struct slice to, char last[LAST_KEY])
{
	size_t n = to.n < LAST_KEY - LAST_TAIL ? to.n : LAST_KEY - LAST_TAIL;

	memcpy(last, to.p, n);
	if (!last[n - 1])
		return n - 1;
	last[n - 1]--;
	memset(last + n, 0xff, LAST_TAIL);
	return n + LAST_TAIL;
}

/* No part of the range is in a memtable any more, so RocksDB flushes nothing before compacting: during a write it
 * would not flush all families. */
static void compact(struct store *s, enum store_family f, struct slice from, struct slice to)
{
	rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
	char last[LAST_KEY];
	size_t n = last_before(to, last);

	/* Runs concurrently with RocksDB's own compactions. */
	rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
	rocksdb_compact_range_cf_opt(s->db, s->families[f], options, store_bytes(from), from.n, last, n);
	rocksdb_compactoptions_destroy(options);
}

/* Marks files above the last level for compaction, so that deletions meet the deleted items. RocksDB's threads
 * compact them when allowed (watch.c), and without the flush of a manual compaction. */
static void suggest(struct store *s, enum store_family f)
{
	struct reason r = { 0 };
	char *err = NULL;

	rocksdb_suggest_compact_range_cf(s->db, s->families[f], NULL, 0, NULL, 0, &err);
	if (store_take_reason(&err, &r))
		log_debug("store: no compaction: %s", r.text);
}

void store_make_room(struct store *s, uint64_t live)
{
	uint64_t mark = store_mark(s); /* before requesting the flush, whose own write comes after the mark */
	struct room r;

	if (!s->journal || store_health(s) != STORE_FULL || atomic_load(&s->is_closing) || !room_look(s, &r))
		return;
	if (atomic_load(&s->freed) == s->freed_seen || r.free < live + room_unflushed(s) + ROOM_LEAST)
		return;
	watch_flush_soon(s);
	s->freed_seen = atomic_load(&s->freed); /* including that write */
	if (!wait_for_flush(s, mark))
		return;
	/* Only now: a compaction that did not see the deletions would keep the items. */
	atomic_store(&s->live, live);
	suggest(s, STORE_ITEMS);
	suggest(s, STORE_INDEX);
	journal_trim(s->journal);
	watch_wake(s);
}

bool store_reclaim(struct store *s, const struct store_reclaim *r)
{
	if (s->read_only || slice_cmp(r->from, r->to) >= 0)
		return true;
	if (atomic_load(&s->is_closing))
		return false;
	store_drop_files(s, r->family, r->from, r->to);
	if (r->expected < RECLAIM_LEAST && size_of_range(s, r->family, r->from, r->to) < RECLAIM_LEAST)
		return true;
	if (s->journal && !flush_and_wait(s, r->mark))
		return false;
	/* The flush may have left nothing to rewrite. */
	if (size_of_range(s, r->family, r->from, r->to) >= RECLAIM_LEAST || !s->journal) {
		if (!store_has_room(s, 0))
			return false;
		compact(s, r->family, r->from, r->to);
	}
	if (s->journal)
		journal_trim(s->journal);
	return !atomic_load(&s->is_closing);
}
