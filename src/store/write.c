/* Writing: atomic batches, synced or not.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "store/hot.h"
#include "store/internal.h"

struct store_batch {
	rocksdb_writebatch_t *batch;
	struct hot_touched touched;
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
}

/* Of these two families ranges are kept. */
static void touch(struct store_batch *b, enum store_family f, struct slice key)
{
	if (f == STORE_ITEMS || f == STORE_INDEX)
		hot_touch(&b->touched, key);
}

void store_batch_put(struct store_batch *b, struct store *s, enum store_family f, struct slice key,
		     struct slice value)
{
	rocksdb_writebatch_put_cf(b->batch, s->families[f], store_bytes(key), key.n,
				  store_bytes(value), value.n);
	touch(b, f, key);
}

void store_batch_delete(struct store_batch *b, struct store *s, enum store_family f,
			struct slice key)
{
	rocksdb_writebatch_delete_cf(b->batch, s->families[f], store_bytes(key), key.n);
	touch(b, f, key);
}

void store_batch_delete_range(struct store_batch *b, struct store *s, enum store_family f,
			      struct slice from, struct slice to)
{
	/* RocksDB fails the whole batch on a range that is upside down; it is only empty. */
	if (slice_cmp(from, to) >= 0)
		return;
	rocksdb_writebatch_delete_range_cf(b->batch, s->families[f], store_bytes(from), from.n,
					   to.p, to.n);
	b->touched.all |= f == STORE_ITEMS || f == STORE_INDEX;
}

size_t store_batch_count(const struct store_batch *b)
{
	return (size_t)rocksdb_writebatch_count(b->batch);
}

static size_t batch_bytes(const struct store_batch *b)
{
	size_t n;

	(void)rocksdb_writebatch_data(b->batch, &n);
	return n;
}

bool store_write(struct store *s, struct store_batch *b, bool sync, struct arena *a,
		 struct error *e)
{
	struct reason r = { 0 };
	char *err = NULL;

	if (!store_fault(s, &r) && store_may_write(s, batch_bytes(b), &r)) {
		hot_write_begins(s->hot, &b->touched);
		rocksdb_write(s->db, sync ? s->synced : s->unsynced, b->batch, &err);
		hot_write_ended(s->hot, &b->touched);
		(void)store_take_reason(&err, &r);
	}
	store_wrote(s, &r);
	return !r.failed ||
	       error_set(e, a, ERR_INTERNAL, "The write was not made: %s", r.text);
}

bool store_sync(struct store *s, struct arena *a, struct error *e)
{
	struct reason r = { 0 };
	char *err = NULL;

	if (!s->dir || s->read_only)
		return true; /* nothing can be waiting */
	if (store_may_sync(s, &r)) {
		rocksdb_flush_wal(s->db, 1, &err);
		(void)store_take_reason(&err, &r);
	}
	if (!r.failed)
		return true;
	store_wrote(s, &r);
	return error_set(e, a, ERR_INTERNAL, "Writes could not be synced: %s", r.text);
}
