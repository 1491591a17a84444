/* Writing: atomic batches, synced or not.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "base/alloc.h"
#include "base/crashpoint.h"
#include "store/health.h"
#include "store/hot.h"
#include "store/internal.h"
#include "store/room.h"

struct store_batch {
	rocksdb_writebatch_t *batch;
	struct hot_touched touched;
	bool frees; /* makes the database smaller */
};

struct store_batch *store_batch_new(void)
{
	struct store_batch *b = mem_zalloc(sizeof(*b));

	if (b)
		b->batch = rocksdb_writebatch_create();
	return b;
}

void store_batch_free(struct store_batch *b)
{
	if (!b)
		return;
	rocksdb_writebatch_destroy(b->batch);
	hot_touched_release(&b->touched);
	mem_free(b);
}

void store_batch_clear(struct store_batch *b)
{
	rocksdb_writebatch_clear(b->batch);
	hot_touched_clear(&b->touched);
	b->frees = false;
}

void store_batch_set_frees(struct store_batch *b)
{
	b->frees = true;
}

/* Hot ranges exist only in these two families. */
static void touch(struct store_batch *b, enum store_family f, struct slice key)
{
	if (f == STORE_ITEMS || f == STORE_INDEX)
		hot_touch(&b->touched, key);
}

void store_batch_put(struct store_batch *b, struct store *s, enum store_family f, struct slice key, struct slice value)
{
	rocksdb_writebatch_put_cf(b->batch, s->families[f], store_bytes(key), key.n, store_bytes(value), value.n);
	touch(b, f, key);
}

void store_batch_delete(struct store_batch *b, struct store *s, enum store_family f, struct slice key)
{
	rocksdb_writebatch_delete_cf(b->batch, s->families[f], store_bytes(key), key.n);
	touch(b, f, key);
}

void store_batch_delete_range(struct store_batch *b, struct store *s, enum store_family f, struct slice from,
			      struct slice to)
{
	/* RocksDB fails the whole batch on a reversed range; here it is just empty. */
	if (slice_cmp(from, to) >= 0)
		return;
	rocksdb_writebatch_delete_range_cf(b->batch, s->families[f], store_bytes(from), from.n, to.p, to.n);
	b->touched.all |= f == STORE_ITEMS || f == STORE_INDEX;
}

size_t store_batch_count(const struct store_batch *b)
{
	return (size_t)rocksdb_writebatch_count(b->batch);
}

/* ---- writing ---- */

bool store_journal_parse(struct slice value, struct journal_point *last)
{
	if (value.n != STORE_JOURNAL_BYTES && value.n != STORE_JOURNAL_BYTES / 2)
		return false;
	last->number = read_be64(value.p);
	last->run = value.n == STORE_JOURNAL_BYTES ? read_be64(value.p + 8) : 0;
	return true;
}

bool store_journal_on_disk(struct store *s, struct journal_point *last)
{
	rocksdb_pinnableslice_t *pin;
	struct reason r = { 0 };
	char *err = NULL;
	size_t n = 0;
	const char *p;
	bool ok;

	*last = (struct journal_point){ 0 };
	pin = rocksdb_get_pinned_cf(s->db, s->on_disk, s->families[STORE_META], STORE_JOURNAL_KEY.p,
				    STORE_JOURNAL_KEY.n, &err);
	if (store_take_reason(&err, &r))
		return false;
	if (!pin)
		return true;
	p = rocksdb_pinnableslice_value(pin, &n);
	ok = store_journal_parse(slice_make(p, n), last);
	rocksdb_pinnableslice_destroy(pin);
	return ok;
}

static bool apply(struct store *s, struct store_batch *b, struct reason *r)
{
	bool ok;

	hot_write_begins(s->hot, &b->touched);
	ok = store_apply(s, b->batch, r);
	hot_write_ended(s->hot, &b->touched);
	return ok;
}

/* The number is part of the batch, so RocksDB's files show their last record. */
static void put_number(struct store *s, struct store_batch *b, struct journal_point record)
{
	char be[STORE_JOURNAL_BYTES];

	store_put_be64(be, record.number);
	store_put_be64(be + 8, record.run);
	rocksdb_writebatch_put_cf(b->batch, s->families[STORE_META], STORE_JOURNAL_KEY.p, STORE_JOURNAL_KEY.n, be,
				  sizeof(be));
}

static struct slice data_of(const struct store_batch *b)
{
	size_t n;
	const char *p = rocksdb_writebatch_data(b->batch, &n);

	return slice_make(p, n);
}

/* First the journal, then RocksDB: readable data is as durable as its writer requested. */
static bool write_journaled(struct store *s, struct store_batch *b, bool sync, struct reason *r)
{
	bool ok;

	put_number(s, b, journal_begin(s->journal));
	ok = journal_append(s->journal, data_of(b), sync, r);
	crash_point("journaled");
	ok = ok && apply(s, b, r);
	journal_end(s->journal, ok);
	return ok;
}

static bool write_batch(struct store *s, struct store_batch *b, bool sync, struct reason *r)
{
	if (!store_batch_count(b) && !s->read_only)
		return true;
	if (!s->journal)
		return apply(s, b, r);
	if (b->frees)
		room_to_free(s, data_of(b).n);
	if (b->frees || room_wait(s, data_of(b).n))
		return write_journaled(s, b, sync, r);
	r->failed = true;
	snprintf(r->text, sizeof(r->text), "no space left on the disk of %s", s->dir);
	return false;
}

bool store_write(struct store *s, struct store_batch *b, bool sync, struct arena *a, struct error *e)
{
	struct reason r = { 0 };

	if (!store_fault(s, &r))
		(void)write_batch(s, b, sync, &r);
	(void)a;
	if (b->frees && !r.failed)
		atomic_fetch_add_explicit(&s->freed, 1, memory_order_relaxed);
	health_wrote(s, &r, b->frees);
	return !r.failed || health_write_refused(&r, e);
}

bool store_sync(struct store *s, struct arena *a, struct error *e)
{
	struct reason r = { 0 };

	if (!s->journal || journal_sync(s->journal, &r))
		return true;
	(void)a;
	health_wrote(s, &r, false);
	return health_write_refused(&r, e);
}
