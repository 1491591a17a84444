/* Whole-database work: a copy, and giving back the room of deleted ranges.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/internal.h"

void store_flush_together(struct store *s)
{
	rocksdb_compactoptions_t *options = rocksdb_compactoptions_create();
	struct slice key = STORE_JOURNAL_KEY;

	/* RocksDB's interface in C can flush single families only, and an atomic flush of one beside another of all ends the process (an assertion,
	 * in builds that have them). But before it compacts a range that is in a memtable it flushes all. This one is small. */
	rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
	rocksdb_compact_range_cf_opt(s->db, s->families[STORE_META], options, key.p, key.n, key.p, key.n);
	rocksdb_compactoptions_destroy(options);
}

static bool copy_failed(const char *dir, const struct reason *r, struct arena *a, struct error *e)
{
	return error_set(e, a, ERR_INTERNAL, "The copy to %s was not made: %s", dir, r->text);
}

/* The parents of a path; RocksDB makes the last directory itself, and wants it not to exist. */
static bool make_parents(const char *dir, struct arena *a, struct reason *r)
{
	struct slice path = slice_str(dir);

	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	while (path.n && path.p[path.n - 1] != '/')
		path.n--;
	return path.n ? store_make_dir(arena_cstr(a, path), r) : true;
}

bool store_checkpoint(struct store *s, const char *dir, struct arena *a, struct error *e)
{
	rocksdb_checkpoint_t *checkpoint;
	struct reason r = { 0 };
	char *err = NULL;

	if (!s->dir)
		return error_set(e, a, ERR_INTERNAL,
				 "The copy to %s was not made: the database is in memory", dir);
	if (!make_parents(dir, a, &r))
		return copy_failed(dir, &r, a, e);
	checkpoint = rocksdb_checkpoint_object_create(s->db, &err);
	if (store_take_reason(&err, &r))
		return copy_failed(dir, &r, a, e);
	/* 0: flush first, all families together, so that the copy needs no journal. */
	if (s->journal)
		journal_pause(s->journal);
	rocksdb_checkpoint_create(checkpoint, dir, 0, &err);
	if (s->journal)
		journal_go_on(s->journal);
	rocksdb_checkpoint_object_destroy(checkpoint);
	return store_take_reason(&err, &r) ? copy_failed(dir, &r, a, e) : true;
}

/* RocksDB flushes before it compacts a range that is in a memtable, but beside a write it does not flush all families. So it is done before; then nothing of the
 * range is in a memtable, because nobody writes there. */
void store_reclaim(struct store *s, enum store_family f, struct slice from, struct slice to)
{
	rocksdb_compactoptions_t *options;

	if (s->read_only || slice_cmp(from, to) >= 0)
		return;
	if (s->journal) {
		journal_pause(s->journal);
		store_flush_together(s);
		journal_go_on(s->journal);
	}
	options = rocksdb_compactoptions_create();
	/* Beside RocksDB's own compactions, not instead of them. */
	rocksdb_compactoptions_set_exclusive_manual_compaction(options, 0);
	rocksdb_compact_range_cf_opt(s->db, s->families[f], options, store_bytes(from), from.n, to.p, to.n);
	rocksdb_compactoptions_destroy(options);
}
