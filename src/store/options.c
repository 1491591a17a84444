/* RocksDB's tuning: durable first, then small when idle, quick to open, quick to load.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/internal.h"
#include "store/rocks_events.h"
#include "store/rocks_log.h"

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)

/* RocksDB's own log holds only the format number and the identity, or what a Thorpe before format 2 wrote. A record
 * cut short ends the replay; any other unreadable record is damage. */
#define WAL_RECOVERY rocksdb_tolerate_corrupted_tail_records_recovery

/* All memtables together: beyond seven eighths of it, all are flushed. The journal holds the same data, so replay
 * after a kill reads about this much (a second). */
#define MEMTABLE_BYTES (80 * MB)
/* Few enough to stay clear of the common limit of 1024 descriptors beside the clients' sockets, and
 * enough for 30 GB of files: opening one for a read costs more than the read.
 * A limit also keeps RocksDB from opening every file at start. */
#define OPEN_FILES 512
#define FILE_BYTES (64 * MB)
#define BLOOM_BITS 10
/* A memtable keeps every version of a key until it is flushed. A backward walk meets the oldest first; after this
 * many versions it looks up the newest instead of stepping. With RocksDB's 8, listing posts with likes took twice as
 * long. */
#define VERSIONS_STEPPED_OVER 2
/* A walk reads ahead from its 16th block. RocksDB's default is two blocks, with a system call each time even if the
 * blocks are cached: a query of 20 items paid for a useless call. Block indexes are small and stay uncompressed, so
 * loading one is cheaper. */
#define LARGE_IN_WORDS "block_based_table_factory={num_file_reads_for_auto_readahead=16;enable_index_compression=false}"

/* A flush or compaction writes faster than the disk, and a synced write would wait for all of its data in the
 * system's queue: 16 ms were measured. So it writes back little at a time, waiting for the previous part. */
#define WRITEBACK_BYTES (256 * KB)
/* At close we flush ourselves, if there is room. */
#define DATABASE_IN_WORDS "strict_bytes_per_sync=true;avoid_flush_during_shutdown=true"

/* How a family is used.
 *   memtable  bytes collected in memory before a flush
 *   block     bytes read and decompressed at once: few for single keys, more for ranges
 *   bloom     read by whole key, often for missing keys
 *   walked    by partition: STORE_PREFIX bytes
 *   large     grows with the data, and so do its block indexes: they are partitioned, so that a read loads one part
 *             instead of a file's whole index. Filters are not partitioned: a read checks every file's filter but
 *             only one index, and finding a filter's part costs four times as much as checking it
 *   queue     entries are deleted soon after they are written, and walked from the front: files full of tombstones
 *             are compacted early, or each walk would step over them */
static const struct {
	size_t memtable, block;
	bool bloom, walked, large, queue;
} usage[STORE_FAMILIES] = {
	[STORE_META] = { 16 * MB, 4 * KB }, /* every batch changes counters, and memtables keep all versions */
	[STORE_CATALOG] = { 2 * MB, 4 * KB },
	[STORE_ITEMS] = { 32 * MB, 4 * KB, .bloom = true, .walked = true, .large = true },
	[STORE_INDEX] = { 32 * MB, 8 * KB, .walked = true, .large = true, .queue = true },
	[STORE_STREAM] = { 16 * MB, 8 * KB, .large = true },
	[STORE_TTL] = { 8 * MB, 4 * KB, .queue = true },
	[STORE_TOKENS] = { 8 * MB, 4 * KB, .bloom = true, .queue = true },
	[STORE_STATS] = { 8 * MB, 4 * KB, .bloom = true },
};

const char *const store_family_names[STORE_FAMILIES] = {
#define X(id, name) [STORE_##id] = name,
	STORE_FAMILY_MAP(X)
#undef X
};

bool store_is_large(enum store_family f)
{
	return usage[f].large;
}

bool store_is_walked(enum store_family f)
{
	return usage[f].walked;
}

/* A small disk has small memtables: the journal holds each one too, and flushing takes as much room again. After a
 * flush that failed for lack of room, RocksDB retries only when the size of the largest memtable is free. */
size_t store_memtable_bytes(const struct store *s, enum store_family f)
{
	size_t most = s->disk_bytes / 32 > MB ? (size_t)(s->disk_bytes / 32) : MB;

	return !s->disk_bytes || usage[f].memtable < most ? usage[f].memtable : most;
}

static size_t memtables_bytes(const struct store *s)
{
	return !s->disk_bytes || s->disk_bytes / 8 > MEMTABLE_BYTES ? MEMTABLE_BYTES
	       : s->disk_bytes / 8 > 4 * MB                         ? (size_t)(s->disk_bytes / 8)
								    : 4 * MB;
}

static void set_filter(rocksdb_block_based_table_options_t *t, enum store_family f)
{
	if (!usage[f].bloom && !usage[f].walked)
		return;
	/* The filter policy belongs to the table options from here on. */
	rocksdb_block_based_options_set_filter_policy(t, rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS));
	rocksdb_block_based_options_set_whole_key_filtering(t, usage[f].bloom);
}

static void set_table_format(rocksdb_options_t *o, const struct store *s, enum store_family f)
{
	rocksdb_block_based_table_options_t *t = rocksdb_block_based_options_create();

	rocksdb_block_based_options_set_block_cache(t, s->cache);
	rocksdb_block_based_options_set_block_size(t, usage[f].block);
	rocksdb_block_based_options_set_format_version(t, 5);
	/* Filters and indexes live in the cache too, so that its size bounds the memory of reading. */
	rocksdb_block_based_options_set_cache_index_and_filter_blocks(t, 1);
	rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(t, 1);
	rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(t, 1);
	rocksdb_block_based_options_set_pin_top_level_index_and_filter(t, 1);
	if (usage[f].large)
		rocksdb_block_based_options_set_index_type(t,
							   rocksdb_block_based_table_index_type_two_level_index_search);
	set_filter(t, f);
	rocksdb_options_set_block_based_table_factory(o, t);
	rocksdb_block_based_options_destroy(t);
}

/* Sets options that the C API offers only as text. An older RocksDB that does not know them works without. */
static rocksdb_options_t *with_words(rocksdb_options_t *o, const char *words)
{
	rocksdb_options_t *with = rocksdb_options_create();
	struct reason ignored;
	char *err = NULL;

	rocksdb_get_options_from_string(o, words, with, &err);
	if (store_take_reason(&err, &ignored)) {
		rocksdb_options_destroy(with);
		return o;
	}
	rocksdb_options_destroy(o);
	return with;
}

static rocksdb_options_t *family_options(const struct store *s, enum store_family f)
{
	rocksdb_options_t *o = rocksdb_options_create();

	rocksdb_options_set_write_buffer_size(o, store_memtable_bytes(s, f));
	rocksdb_options_set_max_write_buffer_number(o, 4);
	rocksdb_options_set_max_sequential_skip_in_iterations(o, VERSIONS_STEPPED_OVER);
	rocksdb_options_set_target_file_size_base(o, FILE_BYTES);
	rocksdb_options_set_max_bytes_for_level_base(o, 128 * MB);
	/* Keeps nine tenths of the data in the last level, where the first compaction frees the room of range
	 * deletions and overwrites. */
	rocksdb_options_set_level_compaction_dynamic_level_bytes(o, 1);
	rocksdb_options_set_compression(o, rocksdb_lz4_compression);
	/* A copy that is only inspected needs no compaction. On a full disk watch.c decides when there is room for
	 * it. */
	rocksdb_options_set_disable_auto_compactions(o, s->shadow_of || (s->is_swollen && usage[f].large));
	if (usage[f].queue)
		rocksdb_options_add_compact_on_deletion_collector_factory(o, 1024, 512);
	if (usage[f].walked) {
		/* The extractor belongs to the options from here on. */
		rocksdb_options_set_prefix_extractor(o, rocksdb_slicetransform_create_fixed_prefix(STORE_PREFIX));
		rocksdb_options_set_memtable_prefix_bloom_size_ratio(o, s->is_swollen ? 0 : STORE_MEMTABLE_FILTER);
		rocksdb_options_set_memtable_whole_key_filtering(o, usage[f].bloom);
	}
	set_table_format(o, s, f);
	return usage[f].large ? with_words(o, LARGE_IN_WORDS) : o;
}

/* Opens every file, so that an inspection finds missing and short ones. */
static void set_to_look(rocksdb_options_t *o)
{
	rocksdb_options_set_create_if_missing(o, 0);
	rocksdb_options_set_create_missing_column_families(o, 0);
	rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(o, 0);
}

static void set_database_wide(rocksdb_options_t *o, const struct store *s)
{
	if (s->env)
		rocksdb_options_set_env(o, s->env);
	/* Only in an empty directory: store_contents(). */
	rocksdb_options_set_create_if_missing(o, s->is_new);
	rocksdb_options_set_create_missing_column_families(o, 1);
	/* Failed flushes must be reported. */
	rocksdb_options_set_paranoid_checks(o, 1);
	rocksdb_options_set_wal_recovery_mode(o, WAL_RECOVERY);
	/* The journal replays whole batches, starting after the last one whose number is in META: either all
	 * families have a batch on disk or none. */
	rocksdb_options_set_atomic_flush(o, 1);
	rocksdb_options_set_db_write_buffer_size(o, s->is_swollen ? 0 : memtables_bytes(s));
	rocksdb_options_set_max_background_jobs(o, STORE_FLUSHES + STORE_COMPACTIONS);
	rocksdb_options_set_bytes_per_sync(o, WRITEBACK_BYTES);
	rocksdb_options_set_max_open_files(o, OPEN_FILES);
	/* RocksDB would start sixteen threads per family to open a handful of files. */
	rocksdb_options_set_max_file_opening_threads(o, 1);
	rocksdb_options_set_skip_stats_update_on_db_open(o, 1);
	rocksdb_options_set_skip_checking_sst_file_sizes_on_db_open(o, 1);
	rocksdb_options_set_manifest_preallocation_size(o, 64 << 10);
	rocksdb_options_set_max_manifest_file_size(o, 16 * MB);
	rocksdb_options_set_stats_dump_period_sec(o, 0);
	rocksdb_options_set_stats_persist_period_sec(o, 0);
	if (!s->env) /* a database in memory has RocksDB's own log in memory too */
		rocks_log_attach(o);
	rocksdb_options_set_info_log_level(o, 2);
}

void store_tuning_init(struct store_tuning *t, struct store *s, bool only_look)
{
	store_background_start();
	for (int f = 0; f < STORE_FAMILIES; f++)
		t->families[f] = family_options(s, (enum store_family)f);
	set_database_wide(t->families[STORE_META], s);
	if (only_look)
		set_to_look(t->families[STORE_META]);
	t->families[STORE_META] = with_words(t->families[STORE_META], DATABASE_IN_WORDS);
	if (s->dir && !only_look && !rocks_events_attach(t->families[STORE_META], s))
		log_warn("Thorpe does not know this RocksDB: compactions on a full disk may stop it until a restart");
}

void store_tuning_release(struct store_tuning *t)
{
	for (int f = 0; f < STORE_FAMILIES; f++)
		rocksdb_options_destroy(t->families[f]);
}
