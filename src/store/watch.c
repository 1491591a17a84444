/* A thread that watches the disk: every second, and when woken.
 *
 * It notices room that became free without a write, flushes what a start on a full disk left in memory, begins a
 * flush before the room for it is gone, grows the ballast again, and notices errors of RocksDB's own threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <time.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/health.h"
#include "store/journal/journal.h"
#include "store/rocks_events.h"
#include "store/room.h"

#define LOOK_MS            1000
#define COMPACTION_LOOK_MS 20
/* Flushing less is not worth a file. */
#define FLUSH_LEAST (2 * ROOM_MB)
#define NO_LIMIT    ((size_t)4 << 30)

struct watch {
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards the two flags */
	pthread_cond_t changed;
	bool stopping, woken;
	/* Of the thread alone. */
	uint64_t background_errors;
	bool is_off[STORE_FAMILIES]; /* compactions */
};

/* ---- errors of RocksDB's threads ---- */

/* RocksDB reports what stopped it only to writers; this write is empty. */
static bool is_stopped(struct store *s, struct reason *r)
{
	rocksdb_writebatch_t *nothing = rocksdb_writebatch_create();
	char *err = NULL;

	rocksdb_write(s->db, s->unlogged, nothing, &err);
	rocksdb_writebatch_destroy(nothing);
	return store_take_reason(&err, r);
}

static void look_at_errors(struct store *s, struct watch *w)
{
	struct reason r = { 0 };
	uint64_t errors = 0;

	if (rocksdb_property_int_cf(s->db, s->families[STORE_META], "rocksdb.background-errors", &errors) != 0 ||
	    errors == w->background_errors)
		return;
	if (!is_stopped(s, &r)) {
		w->background_errors = errors;
	} else if (!store_is_stall(&r)) { /* else the next look asks again */
		w->background_errors = errors;
		health_background_failed(s, &r);
	}
}

/* ---- flushing ---- */

static void set_options(struct store *s, enum store_family f, int n, const char *const *names, const char *const *values)
{
	struct reason r = { 0 };
	char *err = NULL;

	rocksdb_set_options_cf(s->db, s->families[f], n, names, values, &err);
	if (store_take_reason(&err, &r))
		log_debug("store: an option could not be set: %s", r.text);
}

/* A memtable's memory comes in pieces. Were one more than the memtable should have, RocksDB would want to flush an empty one, and asserts that it does not.
 * One with a filter cannot be given more than it was made for, so without a limit there is none. */
static void set_buffer(struct store *s, enum store_family f, size_t bytes)
{
	static const char *const names[] = { "write_buffer_size", "arena_block_size",
					     "memtable_prefix_bloom_size_ratio" };
	size_t piece = bytes / 8 < ROOM_MB ? bytes / 8 : ROOM_MB;
	char size_text[32], piece_text[32], filter_text[32];
	const char *const values[] = { size_text, piece_text, filter_text };

	snprintf(size_text, sizeof(size_text), "%zu", bytes);
	snprintf(piece_text, sizeof(piece_text), "%zu", piece);
	snprintf(filter_text, sizeof(filter_text), "%g",
		 store_is_walked(f) && bytes != NO_LIMIT ? STORE_MEMTABLE_FILTER : 0.0);
	set_options(s, f, 3, names, values);
}

/* A write that changes nothing: RocksDB looks at its memtables when there is one. */
static void nudge(struct store *s)
{
	struct store_batch *b = store_batch_new();
	struct error ignored;
	struct arena a;

	if (!b)
		return;
	arena_init(&a);
	store_batch_delete(b, s, STORE_META, SLICE("nothing"));
	store_batch_set_frees(b);
	(void)!store_write(s, b, false, &a, &ignored);
	arena_release(&a);
	store_batch_free(b);
}

/* A memtable that is over its size makes RocksDB flush all families together, beside the writers. Every write has an entry in META. One write notices,
 * the next one begins. */
void watch_flush_soon(struct store *s)
{
	set_buffer(s, STORE_META, 64 << 10); /* the least that RocksDB takes */
	nudge(s);
	set_buffer(s, STORE_META, store_memtable_bytes(s, STORE_META));
	nudge(s);
}

/* After a start on a full disk: memtables get their usual sizes, and those that are over it are flushed. */
static void leave_memory(struct store *s)
{
	log_info("store: there is room again: writing data from the journal to files");
	s->is_swollen = false;
	for (int f = 0; f < STORE_FAMILIES; f++)
		set_buffer(s, (enum store_family)f, store_memtable_bytes(s, (enum store_family)f));
	watch_flush_soon(s);
}

void watch_swell(struct store *s)
{
	for (int f = 0; f < STORE_FAMILIES; f++)
		set_buffer(s, (enum store_family)f, NO_LIMIT);
}

static void flush_in_time(struct store *s)
{
	uint64_t unflushed = room_unflushed(s), above;
	struct room r;

	if (!s->reserve || !room_look(s, &r))
		return;
	above = r.free > r.reserve ? r.free - r.reserve : 0;
	if (s->is_swollen) {
		if (above >= unflushed)
			leave_memory(s);
	} else if (above < 2 * unflushed && r.free >= unflushed + ROOM_MB && room_active(s) >= FLUSH_LEAST) {
		watch_flush_soon(s);
	}
}

/* ---- room ---- */

static void look_at_room(struct store *s)
{
	struct reason r = { 0 };
	struct room room;
	bool is_back;

	if (!s->reserve || !room_look(s, &room))
		return;
	if (atomic_load(&s->refusal) != TROUBLE_ROOM) {
		if (room.free < room.reserve)
			health_room(s, false);
		return;
	}
	journal_trim(s->journal);
	is_back = room_is_back(s);
	if (is_back && !is_stopped(s, &r))
		health_room(s, true);
	/* RocksDB met the end of the disk, and wants much room before it tries again. */
	if (r.failed || (!is_back && is_stopped(s, &r)))
		ballast_give(s, UINT32_MAX);
}

/* What a compaction of a family may need above the reserve. Items that are left of those that were written are known (store_make_room). */
static uint64_t compaction_need(struct store *s, enum store_family f)
{
	uint64_t need = 0, live = atomic_load(&s->refusal) == TROUBLE_ROOM ? atomic_load(&s->live) : UINT64_MAX;

	if (rocksdb_property_int_cf(s->db, s->families[f], "rocksdb.total-sst-files-size", &need) != 0)
		return 0;
	if ((f == STORE_ITEMS || f == STORE_INDEX) && need > live)
		need = live;
	return need < ROOM_MB ? 0 : need < ROOM_TO_COMPACT ? need : ROOM_TO_COMPACT;
}

/* A compaction writes what is left of its files before it deletes them, and meets the end of the disk without looking first. So near the end of the disk
 * there are none that might not fit. */
static void guard_compactions(struct store *s, struct watch *w)
{
	static const char *const name = "disable_auto_compactions";
	struct room r;

	if (!s->reserve || !room_look(s, &r))
		return;
	for (int f = 0; f < STORE_FAMILIES; f++) {
		uint64_t need = compaction_need(s, (enum store_family)f),
			 above = r.free > r.reserve ? r.free - r.reserve : 0;
		const char *value;

		/* What makes room may use the reserve for it. */
		if (r.free > ROOM_MB && need < (r.free - ROOM_MB) / 2)
			above = r.free;
		/* RocksDB writes down what it is told. */
		if (w->is_off[f] ? above < need + need / 4 + ROOM_MB : above >= need)
			continue;
		w->is_off[f] = !w->is_off[f];
		value = w->is_off[f] ? "true" : "false";
		log_debug("store: compactions of %s are %s", store_family_names[f],
			  w->is_off[f] ? "put off: the disk is nearly full" : "made again");
		set_options(s, (enum store_family)f, 1, &name, &value);
	}
}

static void look(struct store *s)
{
	struct watch *w = s->watch;

	look_at_errors(s, w);
	look_at_room(s);
	flush_in_time(s);
	guard_compactions(s, w);
	if (!atomic_load(&s->corruptions))
		ballast_grow(s);
}

void watch_compaction_begins(struct store *s)
{
	if (atomic_fetch_add(&s->compactions, 1) == 0)
		watch_wake(s);
}

void watch_compaction_ended(struct store *s)
{
	atomic_fetch_sub(&s->compactions, 1);
}

void watch_compaction_had_no_room(struct store *s)
{
	atomic_store(&s->live, UINT64_MAX); /* or it was not what the files had */
	watch_wake(s);
}

/* ---- the thread ---- */

/* False: it was woken before. */
static bool wait_until(struct watch *w, const struct timespec *until)
{
	bool in_time = true;

	pthread_mutex_lock(&w->lock);
	while (!w->stopping && !w->woken && in_time)
		in_time = pthread_cond_timedwait(&w->changed, &w->lock, until) == 0;
	pthread_mutex_unlock(&w->lock);
	return !in_time;
}

/* A compaction that has dropped everything writes for the first time at its end, and one of 7.8 with assertions ends the process when it cannot. If another program
 * takes all room meanwhile, it gets some of the ballast. */
static void look_after_compactions(struct store *s)
{
	struct room r;

	if (atomic_load(&s->compactions) > 0 && s->reserve && room_look(s, &r) && r.free < ROOM_MB)
		ballast_give(s, ROOM_MB);
}

/* At least every LOOK_MS; while a compaction runs, it is looked after more often. False: the thread shall end. */
static bool wait_for_look(struct store *s)
{
	struct watch *w = s->watch;
	struct timespec until;
	bool go_on;
	long ms;

	for (int waited = 0; waited < LOOK_MS; waited += (int)ms) {
		ms = atomic_load(&s->compactions) > 0 ? COMPACTION_LOOK_MS : LOOK_MS - waited;
		look_after_compactions(s);
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += ms * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (!wait_until(w, &until))
			break;
	}
	pthread_mutex_lock(&w->lock);
	w->woken = false;
	go_on = !w->stopping;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void *watch_main(void *arg)
{
	struct store *s = arg;

	do
		look(s);
	while (wait_for_look(s));
	return NULL;
}

struct watch *watch_new(void)
{
	struct watch *w = mem_zalloc(sizeof(*w));
	pthread_condattr_t monotonic;

	if (!w)
		return NULL;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&w->lock, NULL);
	return w;
}

bool watch_start(struct store *s)
{
	for (int f = 0; f < STORE_FAMILIES; f++)
		s->watch->is_off[f] = s->is_swollen && store_is_large((enum store_family)f); /* as it was opened */
	/* Learn of a full disk before the first request. And save the room that opening used for the next time,
	 * before another program takes it. */
	look_at_room(s);
	ballast_grow(s);
	s->watch->has_thread = pthread_create(&s->watch->thread, NULL, watch_main, s) == 0;
	return s->watch->has_thread;
}

void watch_stop(struct store *s)
{
	struct watch *w = s->watch;

	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->has_thread)
		pthread_join(w->thread, NULL);
	w->has_thread = false;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	mem_free(w);
}

void watch_wake(struct store *s)
{
	struct watch *w = s->watch;

	pthread_mutex_lock(&w->lock);
	w->woken = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}
