/* A thread that watches the disk: every second, and when woken.
 *
 * It detects room that became free, flushes what a start on a full disk left in memory, begins flushes while there is
 * still room for them, grows the ballast again, and detects errors of RocksDB's own threads.
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
/* Less than this is not worth a flush. */
#define FLUSH_LEAST (2 * ROOM_MB)
#define NO_LIMIT    ((size_t)4 << 30)

struct watch {
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* guards the two flags */
	pthread_cond_t changed;
	bool stopping, woken;
	/* Used only by the thread. */
	uint64_t background_errors;
	bool is_off[STORE_FAMILIES]; /* compactions */
};

/* ---- errors of RocksDB's threads ---- */

/* RocksDB reports only to writers why it stopped; this write is empty. */
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
	} else if (!store_is_stall(&r)) { /* otherwise the next look checks again */
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

/* A memtable allocates memory in chunks. If a chunk were larger than the memtable's limit, RocksDB would flush an
 * empty memtable, which fails an assertion. A memtable with a filter cannot exceed its original size, so unlimited
 * ones have no filter. */
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

/* Writes nothing: RocksDB checks its memtables at every write. */
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

/* An oversized memtable makes RocksDB flush all families together, without stopping writers. Every write has an entry
 * in META. One write detects the size, the next one starts the flush. */
void watch_flush_soon(struct store *s)
{
	set_buffer(s, STORE_META, 64 << 10); /* RocksDB's minimum */
	nudge(s);
	set_buffer(s, STORE_META, store_memtable_bytes(s, STORE_META));
	nudge(s);
}

/* After a start on a full disk: gives memtables their usual sizes and flushes larger ones. */
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
	/* RocksDB ran out of disk, and needs much room before it retries. */
	if (r.failed || (!is_back && is_stopped(s, &r)))
		ballast_give(s, UINT32_MAX);
}

/* The room a compaction of a family may need above the reserve. The amount of remaining items is known from
 * store_make_room(). */
static uint64_t compaction_need(struct store *s, enum store_family f)
{
	uint64_t need = 0, live = atomic_load(&s->refusal) == TROUBLE_ROOM ? atomic_load(&s->live) : UINT64_MAX;

	if (rocksdb_property_int_cf(s->db, s->families[f], "rocksdb.total-sst-files-size", &need) != 0)
		return 0;
	if ((f == STORE_ITEMS || f == STORE_INDEX) && need > live)
		need = live;
	return need < ROOM_MB ? 0 : need < ROOM_TO_COMPACT ? need : ROOM_TO_COMPACT;
}

/* A compaction writes its output before it deletes its inputs, without checking for room. So when the disk is nearly
 * full, compactions that might not fit are disabled. */
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

		/* Compactions that free room may use the reserve. */
		if (r.free > ROOM_MB && need < (r.free - ROOM_MB) / 2)
			above = r.free;
		/* RocksDB writes changed options to disk, so this changes them rarely. */
		if (w->is_off[f] ? above < need + need / 4 + ROOM_MB : above >= need)
			continue;
		w->is_off[f] = !w->is_off[f];
		value = w->is_off[f] ? "true" : "false";
		log_debug("store: compactions of %s are %s", store_family_names[f],
			  w->is_off[f] ? "postponed: the disk is nearly full" : "made again");
		set_options(s, (enum store_family)f, 1, &name, &value);
	}
}

static void look_once(struct store *s)
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
	atomic_store(&s->live, UINT64_MAX); /* otherwise it does not match the files */
	watch_wake(s);
}

/* ---- the thread ---- */

/* False: woken earlier. */
static bool wait_until(struct watch *w, const struct timespec *until)
{
	bool in_time = true;

	pthread_mutex_lock(&w->lock);
	while (!w->stopping && !w->woken && in_time)
		in_time = pthread_cond_timedwait(&w->changed, &w->lock, until) == 0;
	pthread_mutex_unlock(&w->lock);
	return !in_time;
}

/* A compaction that drops everything writes only at its end; in 7.8 with assertions it ends the process if that
 * fails. If another program takes all room meanwhile, frees some of the ballast for it. */
static void look_after_compactions(struct store *s)
{
	struct room r;

	if (atomic_load(&s->compactions) > 0 && s->reserve && room_look(s, &r) && r.free < ROOM_MB)
		ballast_give(s, ROOM_MB);
}

/* Waits at most LOOK_MS; checks running compactions more often. False: the thread must end. */
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
		look_once(s);
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
		s->watch->is_off[f] = s->is_swollen && store_is_large((enum store_family)f); /* as at opening */
	/* Detects a full disk before the first request, and restores the room for opening before another program takes
	 * it.
	 *  */
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
