/* Frees the room of dropped tables, indexes and streams, and on a full disk that of deleted items.
 *
 * Dropping one deletes a range; RocksDB records that, but does not free the room for a long time. So the same batch
 * leaves a note in META for each range, and a separate thread has the room freed and then deletes the note: rewriting
 * files may take minutes, and other background work does not wait for it. Notes survive a crash.
 *     KEY                        OFFSET  SIZE  MEANING
 *     "reclaim" family id        0       8     its size by the counters when it was dropped; big-endian
 *               1      4
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/control/reclaim.h"

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "base/log.h"
#include "base/waker.h"
#include "table/background.h"
#include "table/batch.h"
#include "table/control/control_internal.h"
#include "table/layout.h"

#define NOTE       "reclaim"
#define NOTE_BYTES (sizeof(NOTE) - 1 + 1 + 4)
#define LOOK_MS    5000 /* retries failed work; and the disk may have become full */
#define SOME       64   /* notes at a time */

struct reclaim {
	struct db *db;
	pthread_t thread;
	bool has_thread;
	struct waker waker;
};

/* ---- notes ---- */

void stage_drop_id(struct stage *s, enum store_family f, uint32_t id, int64_t bytes)
{
	struct buf key;

	stage_delete_prefix(s, f, layout_id(s->arena, id));
	buf_init(&key, s->arena);
	buf_lit(&key, NOTE);
	buf_byte(&key, (char)f);
	buf_be32(&key, id);
	stage_put(s, STORE_META, buf_slice(&key), layout_u64_record(s->arena, bytes > 0 ? (uint64_t)bytes : 0));
	s->wake = true;
}

struct note {
	struct slice key;
	enum store_family family;
	struct slice id;
	uint64_t bytes;
};

static bool read_note(struct slice key, struct slice value, struct arena *a, struct note *n)
{
	if (key.n != NOTE_BYTES || !layout_read_u64_record(value, &n->bytes))
		return false;
	n->key = arena_copy(a, key);
	n->family = (enum store_family)(unsigned char)key.p[sizeof(NOTE) - 1];
	n->id = slice_make(n->key.p + sizeof(NOTE), 4);
	return n->family < STORE_FAMILIES;
}

static size_t find_notes(struct db *db, struct note notes[SOME], struct arena *a)
{
	struct slice from = SLICE(NOTE);
	struct store_iter *it = store_iter(&(struct store_at){ db_store(db), NULL, STORE_META },
					   &(struct store_walk){ from, layout_after_prefix(a, from) }, a);
	struct error e;
	size_t n = 0;

	while (n < SOME && store_iter_next(it))
		n += read_note(store_iter_key(it), store_iter_value(it), a, &notes[n]);
	if (!store_iter_ok(it, a, &e))
		n = 0;
	store_iter_close(it);
	return n;
}

bool control_reclaimed(struct stage *s, struct control *c)
{
	stage_delete(s, STORE_META, c->note);
	return true;
}

/* ---- work ---- */

static bool reclaim_note(struct db *db, const struct note *n, uint64_t mark, struct arena *a)
{
	struct control done = { .kind = CONTROL_RECLAIMED, .note = n->key };
	struct store_reclaim range = {
		.family = n->family,
		.from = n->id,
		.to = layout_after_prefix(a, n->id),
		.expected = n->bytes,
		.mark = mark,
	};

	crash_point("reclaim-found");
	return store_reclaim(db_store(db), &range) && background_control(db, &done, a);
}

/* First deletes files that hold nothing else: on a full disk that makes room for the rest. */
static void drop_files(struct db *db, const struct note *notes, size_t n, struct arena *a)
{
	for (size_t i = 0; i < n; i++)
		store_drop_files(db_store(db), notes[i].family, notes[i].id, layout_after_prefix(a, notes[i].id));
}

/* Of all tables and indexes. */
static uint64_t live_bytes(struct db *db, struct arena *a)
{
	const struct catalog *c = db_catalog(db, a);
	int64_t sum = 0;

	for (size_t i = 0; i < catalog_count(c); i++) {
		const struct table *t = catalog_at(c, i);

		sum += atomic_load(&t->stats->bytes);
		for (size_t k = 0; k < t->index_count; k++)
			sum += atomic_load(&t->indexes[k].stats->bytes);
	}
	return sum > 0 ? (uint64_t)sum : 0;
}

/* False: some work failed and is left. */
static bool reclaim_some(struct db *db, struct arena *a, bool *worked)
{
	struct note *notes = arena_array(a, struct note, SOME);
	size_t n = find_notes(db, notes, a);
	uint64_t mark = store_mark(db_store(db)); /* later than the deletions found */
	bool ok = true;

	*worked = n > 0;
	drop_files(db, notes, n, a);
	for (size_t i = 0; i < n; i++)
		ok &= reclaim_note(db, &notes[i], mark, a);
	if (store_health(db_store(db)) == STORE_FULL)
		store_make_room(db_store(db), live_bytes(db, a));
	return ok;
}

bool reclaim_step(struct db *db, bool *worked)
{
	volatile bool ok = false;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, { ok = reclaim_some(db, &a, worked);
	}, { log_warn("freeing room postponed: out of memory");
	});
	arena_release(&a);
	return ok;
}

/* ---- the thread ---- */

static void *reclaim_main(void *arg)
{
	struct reclaim *r = arg;
	bool worked, ok;

	do {
		worked = false;
		ok = reclaim_step(r->db, &worked);
	} while ((ok && worked) || waker_wait(&r->waker, LOOK_MS));
	return NULL;
}

struct reclaim *reclaim_start(struct db *db)
{
	struct reclaim *r = mem_zalloc(sizeof(*r));

	if (!r)
		return NULL;
	r->db = db;
	waker_init(&r->waker);
	r->has_thread = pthread_create(&r->thread, NULL, reclaim_main, r) == 0;
	if (r->has_thread)
		return r;
	reclaim_stop(r);
	return NULL;
}

void reclaim_wake(struct reclaim *r)
{
	if (r)
		waker_wake(&r->waker);
}

void reclaim_stop(struct reclaim *r)
{
	if (!r)
		return;
	waker_stop(&r->waker);
	store_stop_reclaiming(db_store(r->db));
	if (r->has_thread)
		pthread_join(r->thread, NULL);
	waker_release(&r->waker);
	mem_free(r);
}
