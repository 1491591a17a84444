/* How RocksDB is tuned: durable first, small when idle, quick to open, quick to load.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/internal.h"

#define MB ((size_t)1 << 20)

/* A log record that cannot be read ends the replay: what was written before it is kept, what comes
 * after is not.
 *
 * Why this guarantees every synced write: an fsync covers the log from its start, so all bytes of a
 * synced record, and of all before it, are on disk. Only the tail written after the last fsync can
 * be torn by a kill or a power loss, and nothing there has been acknowledged. The stricter mode
 * (tolerate_corrupted_tail) accepts a tail that ends too early but refuses to open when the torn
 * tail has its pages on disk out of order, which power loss does produce; the laxer one
 * (skip_any_corrupted) would apply records behind a hole. The price: a medium that rots in the
 * middle of the log looks like a torn tail. */
#define WAL_RECOVERY rocksdb_point_in_time_recovery

/* Replaying the log after a kill reads at most this much (about a second). */
#define WAL_BYTES (64 * MB)
/* All memtables together; beyond it the largest is flushed. */
#define MEMTABLE_BYTES (96 * MB)
/* Few enough to stay clear of the common limit of 1024 descriptors beside the clients' sockets.
 * A limit also keeps RocksDB from opening every file at start. */
#define OPEN_FILES 256
#define BLOOM_BITS 10

/* How a family is used.
 *   memtable  how much is collected in memory before it becomes a file
 *   bloom     read by whole key, often for keys that are not there
 *   queue     entries are deleted soon after they are written, and walked from the front: files
 *             full of tombstones are compacted early, or each walk would step over them */
static const struct {
	size_t memtable;
	bool bloom, queue;
} usage[STORE_FAMILIES] = {
	[STORE_META] = { 2 * MB, false, false },
	[STORE_CATALOG] = { 2 * MB, false, false },
	[STORE_ITEMS] = { 32 * MB, true, false },
	[STORE_INDEX] = { 32 * MB, false, true },
	[STORE_STREAM] = { 16 * MB, false, false },
	[STORE_TTL] = { 8 * MB, false, true },
	[STORE_TOKENS] = { 8 * MB, true, true },
	[STORE_STATS] = { 8 * MB, true, false },
};

const char *const store_family_names[STORE_FAMILIES] = {
#define X(id, name) [STORE_##id] = name,
	STORE_FAMILY_MAP(X)
#undef X
};

static void set_table_format(rocksdb_options_t *o, const struct store *s, bool bloom)
{
	rocksdb_block_based_table_options_t *t = rocksdb_block_based_options_create();

	rocksdb_block_based_options_set_block_cache(t, s->cache);
	rocksdb_block_based_options_set_format_version(t, 5);
	/* Filters and indexes live in the cache too, so that its size bounds the memory of reading. */
	rocksdb_block_based_options_set_cache_index_and_filter_blocks(t, 1);
	rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(t, 1);
	rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(t, 1);
	if (bloom) {
		/* The filter policy belongs to the table options from here on. */
		rocksdb_block_based_options_set_filter_policy(
			t, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS));
		rocksdb_block_based_options_set_whole_key_filtering(t, 1);
	}
	rocksdb_options_set_block_based_table_factory(o, t);
	rocksdb_block_based_options_destroy(t);
}

static rocksdb_options_t *family_options(const struct store *s, enum store_family f)
{
	rocksdb_options_t *o = rocksdb_options_create();

	rocksdb_options_set_write_buffer_size(o, usage[f].memtable);
	rocksdb_options_set_max_write_buffer_number(o, 4);
	rocksdb_options_set_target_file_size_base(o, 32 * MB);
	rocksdb_options_set_max_bytes_for_level_base(o, 128 * MB);
	/* Keeps nine tenths of the data in the last level, where a range delete or an overwrite
	 * gives its room back at the first compaction. */
	rocksdb_options_set_level_compaction_dynamic_level_bytes(o, 1);
	rocksdb_options_set_compression(o, rocksdb_lz4_compression);
	if (usage[f].queue)
		rocksdb_options_add_compact_on_deletion_collector_factory(o, 1024, 512);
	set_table_format(o, s, usage[f].bloom);
	return o;
}

static void set_database_wide(rocksdb_options_t *o, const struct store *s)
{
	if (s->env)
		rocksdb_options_set_env(o, s->env);
	rocksdb_options_set_create_if_missing(o, !s->read_only);
	rocksdb_options_set_create_missing_column_families(o, !s->read_only);
	/* S3 needs it: after a failed log write everything is refused until the log is sound. */
	rocksdb_options_set_paranoid_checks(o, 1);
	rocksdb_options_set_wal_recovery_mode(o, WAL_RECOVERY);
	rocksdb_options_set_max_total_wal_size(o, WAL_BYTES);
	rocksdb_options_set_db_write_buffer_size(o, MEMTABLE_BYTES);
	rocksdb_options_set_max_background_jobs(o, 3);
	rocksdb_options_set_bytes_per_sync(o, MB);
	rocksdb_options_set_max_open_files(o, OPEN_FILES);
	/* RocksDB would start sixteen threads per family to open a handful of files. */
	rocksdb_options_set_max_file_opening_threads(o, 1);
	rocksdb_options_set_skip_stats_update_on_db_open(o, 1);
	rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(o, 1);
	rocksdb_options_set_manifest_preallocation_size(o, 64 << 10);
	rocksdb_options_set_max_manifest_file_size(o, 16 * MB);
	rocksdb_options_set_stats_dump_period_sec(o, 0);
	rocksdb_options_set_stats_persist_period_sec(o, 0);
	/* RocksDB's own log: warnings only, at most two small files beside the data. */
	rocksdb_options_set_info_log_level(o, 2);
	rocksdb_options_set_max_log_file_size(o, MB);
	rocksdb_options_set_keep_log_file_num(o, 2);
}

void store_tuning_init(struct store_tuning *t, const struct store *s)
{
	for (int f = 0; f < STORE_FAMILIES; f++)
		t->families[f] = family_options(s, (enum store_family)f);
	set_database_wide(t->families[STORE_META], s);
}

void store_tuning_release(struct store_tuning *t)
{
	for (int f = 0; f < STORE_FAMILIES; f++)
		rocksdb_options_destroy(t->families[f]);
}
