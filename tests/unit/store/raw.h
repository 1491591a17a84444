/* RocksDB as the store sets it up (options.c), without the store: no journal, no format number.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_STORE_RAW_H
#define THORPE_TESTS_STORE_RAW_H

#include "child.h"

#define RAW_PERSISTED_TIER 2 /* as in open.c */

struct raw {
	rocksdb_t *db;
	rocksdb_column_family_handle_t *families[STORE_FAMILIES];
	rocksdb_cache_t *cache;
	rocksdb_readoptions_t *latest, *on_disk;
	rocksdb_writeoptions_t *logged, *unlogged, *hasty; /* hasty: unlogged, and does not wait */
	struct reason reason;                              /* of what failed last */
};

static inline void raw_close(struct raw *r)
{
	if (r->db) {
		for (int f = 0; f < STORE_FAMILIES; f++)
			rocksdb_column_family_handle_destroy(r->families[f]);
		rocksdb_close(r->db);
	}
	rocksdb_writeoptions_destroy(r->logged);
	rocksdb_writeoptions_destroy(r->unlogged);
	rocksdb_writeoptions_destroy(r->hasty);
	rocksdb_readoptions_destroy(r->latest);
	rocksdb_readoptions_destroy(r->on_disk);
	rocksdb_cache_destroy(r->cache);
	*r = (struct raw){ 0 };
}

/* memtable: of ITEMS, in bytes; 0: as the store has it. False: r->reason says why, and there is nothing to close. */
static inline bool raw_try_open(struct raw *r, const char *dir, size_t memtable)
{
	struct store shell = { .is_new = access(dir, F_OK) != 0 };
	struct store_tuning t;
	struct reason reason = { 0 };
	char *err = NULL;

	*r = (struct raw){ 0 };
	shell.cache = r->cache = rocksdb_cache_create_lru(8 << 20);
	r->latest = rocksdb_readoptions_create();
	r->on_disk = rocksdb_readoptions_create();
	rocksdb_readoptions_set_read_tier(r->on_disk, RAW_PERSISTED_TIER);
	r->logged = rocksdb_writeoptions_create();
	rocksdb_writeoptions_set_sync(r->logged, 1);
	r->unlogged = rocksdb_writeoptions_create();
	rocksdb_writeoptions_disable_WAL(r->unlogged, 1);
	r->hasty = rocksdb_writeoptions_create();
	rocksdb_writeoptions_disable_WAL(r->hasty, 1);
	rocksdb_writeoptions_set_no_slowdown(r->hasty, 1);
	store_tuning_init(&t, &shell, false);
	if (memtable)
		rocksdb_options_set_write_buffer_size(t.families[STORE_ITEMS], memtable);
	r->db = rocksdb_open_column_families(t.families[STORE_META], dir, STORE_FAMILIES, store_family_names,
					     (const rocksdb_options_t *const *)t.families, r->families, &err);
	store_tuning_release(&t);
	if (!store_take_reason(&err, &reason))
		return true;
	raw_close(r);
	r->reason = reason;
	return false;
}

/* Opens it as inspect.c does to look at it, and closes it. False: *reason says why it could not. */
static inline bool raw_look(const char *dir, struct reason *reason)
{
	rocksdb_column_family_handle_t *families[STORE_FAMILIES] = { 0 };
	struct store shell = { .cache = rocksdb_cache_create_lru(8 << 20) };
	struct store_tuning t;
	char *err = NULL;
	rocksdb_t *db;

	store_tuning_init(&t, &shell, true);
	db = rocksdb_open_for_read_only_column_families(t.families[STORE_META], dir, STORE_FAMILIES, store_family_names,
							(const rocksdb_options_t *const *)t.families, families, 0, &err);
	store_tuning_release(&t);
	for (int f = 0; db && f < STORE_FAMILIES; f++)
		rocksdb_column_family_handle_destroy(families[f]);
	if (db)
		rocksdb_close(db);
	rocksdb_cache_destroy(shell.cache);
	return !store_take_reason(&err, reason);
}

static inline bool raw_put(struct raw *r, const rocksdb_writeoptions_t *o, enum store_family f, const char *key,
			   const char *value)
{
	char *err = NULL;

	rocksdb_put_cf(r->db, o, r->families[f], key, strlen(key), value, strlen(value), &err);
	return !store_take_reason(&err, &r->reason);
}

static inline bool raw_write(struct raw *r, const rocksdb_writeoptions_t *o, rocksdb_writebatch_t *batch)
{
	char *err = NULL;

	rocksdb_write(r->db, o, batch, &err);
	return !store_take_reason(&err, &r->reason);
}

/* What is there, in `value` of n bytes; false: nothing, or r->reason has failed. */
static inline bool raw_get(struct raw *r, const rocksdb_readoptions_t *o, enum store_family f, const char *key,
			   char *value, size_t n)
{
	char *err = NULL, *got;
	size_t len = 0;

	got = rocksdb_get_cf(r->db, o, r->families[f], key, strlen(key), &len, &err);
	if (store_take_reason(&err, &r->reason) || !got)
		return false;
	snprintf(value, n, "%.*s", (int)len, got);
	rocksdb_free(got);
	return true;
}

static inline bool raw_has(struct raw *r, const rocksdb_readoptions_t *o, enum store_family f, const char *key,
			   const char *value)
{
	char got[64];

	return raw_get(r, o, f, key, got, sizeof(got)) && strcmp(got, value) == 0;
}

/* One batch with the same key in every family. */
static inline bool raw_put_everywhere(struct raw *r, const rocksdb_writeoptions_t *o, const char *key, const char *value)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	bool ok;

	for (int f = 0; f < STORE_FAMILIES; f++)
		rocksdb_writebatch_put_cf(batch, r->families[f], key, strlen(key), value, strlen(value));
	ok = raw_write(r, o, batch);
	rocksdb_writebatch_destroy(batch);
	return ok;
}

/* In how many families the key has that value. */
static inline int raw_count(struct raw *r, const rocksdb_readoptions_t *o, const char *key, const char *value)
{
	int n = 0;

	for (int f = 0; f < STORE_FAMILIES; f++)
		n += raw_has(r, o, (enum store_family)f, key, value);
	return n;
}

/* What store_flush_together() (maintain.c) does. */
static inline void raw_flush_together(struct raw *r)
{
	struct store shell = { .db = r->db };

	memcpy(shell.families, r->families, sizeof(shell.families));
	store_flush_together(&shell);
}

#endif
