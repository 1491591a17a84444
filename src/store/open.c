/* Opening and closing: the directory, its lock, its format number, its families.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/log.h"
#include "store/hot.h"
#include "store/internal.h"
#include "store/journal/journal.h"
#include "store/room.h"

/* The format of everything Thorpe keeps in the store. Raise it when an older Thorpe would misread
 * what this one writes. In META:
 *     KEY        OFFSET  SIZE  MEANING
 *     "format"   0       4     this number, big-endian */
#define FORMAT 2u /* 1: no journal (journal.h), which an older Thorpe would not replay */
#define FORMAT_KEY SLICE("format")

/* A 400 KB item makes a block of its own: each shard of the cache must have room for some. */
#define CACHE_SHARD_BITS 3
/* RocksDB's kPersistedTier, for which its interface in C has no name. */
#define PERSISTED_TIER 2
/* A name for RocksDB inside its own RAM; no such directory is touched. */
#define MEMORY_NAME "/thorpe"

/* What store_open() carries from step to step. */
struct opening {
	const struct store_options *options;
	struct store *store;
	struct reason reason; /* of RocksDB, or of the system */
	char *why;
	size_t why_size;
};

__attribute__((format(printf, 3, 4)))
static enum store_open_result refuse(struct opening *op, enum store_open_result result,
				     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(op->why, op->why_size, fmt, ap);
	va_end(ap);
	return result;
}

static const char *place(const struct opening *op)
{
	return op->options->dir ? op->options->dir : "memory";
}

/* RocksDB tells these apart only by their text. */
static enum store_open_result refuse_with_reason(struct opening *op)
{
	const char *text = op->reason.text;

	if (strstr(text, "lock hold by current process"))
		return refuse(op, STORE_HELD, "The data directory %s is already open in this process.",
			      place(op));
	if (strstr(text, "While lock file") &&
	    (strstr(text, "Resource temporarily unavailable") || strstr(text, "Permission denied")))
		return refuse(op, STORE_HELD,
			      "The data directory %s is in use by another process; stop that one "
			      "first or choose another directory.", place(op));
	if (strstr(text, "No space left") || strstr(text, "no space left"))
		return refuse(op, STORE_FAILED, "Cannot open the data directory %s: no space is left on its disk. A megabyte is enough to serve reads.", place(op));
	if (strncmp(text, "Corruption", 10) == 0)
		return refuse(op, STORE_DAMAGED, "The data in %s is damaged: %s.", place(op), text);
	return refuse(op, STORE_FAILED, "Cannot open the data directory %s: %s.", place(op), text);
}

static bool is_known_family(const char *name)
{
	for (int f = 0; f < STORE_FAMILIES; f++) {
		if (strcmp(name, store_family_names[f]) == 0)
			return true;
	}
	return false;
}

/* False when there is no format number. */
static bool read_format(rocksdb_t *db, const rocksdb_readoptions_t *options,
			rocksdb_column_family_handle_t *meta, uint32_t *format, struct reason *r)
{
	rocksdb_pinnableslice_t *pin;
	char *err = NULL;
	const char *p;
	size_t n = 0;

	pin = rocksdb_get_pinned_cf(db, options, meta, FORMAT_KEY.p, FORMAT_KEY.n, &err);
	if (store_take_reason(&err, r) || !pin)
		return false;
	p = rocksdb_pinnableslice_value(pin, &n);
	if (n == sizeof(*format))
		*format = read_be32(p);
	rocksdb_pinnableslice_destroy(pin);
	return n == sizeof(*format);
}

static enum store_open_result refuse_newer(struct opening *op, uint32_t format)
{
	return refuse(op, STORE_NEWER,
		      "The data in %s was written by a newer version of Thorpe (format %u; this "
		      "version knows formats up to %u).", place(op), format, FORMAT);
}

/* There are families we do not know: of a newer Thorpe, or not Thorpe's at all. RocksDB would
 * open them only by name, so the format number is read by a look that changes nothing. */
static enum store_open_result refuse_unknown_families(struct opening *op,
						      const rocksdb_options_t *options)
{
	rocksdb_column_family_handle_t *meta = NULL;
	const char *name = store_family_names[STORE_META];
	uint32_t format = 0;
	char *err = NULL;
	rocksdb_t *db;

	db = rocksdb_open_for_read_only_column_families(options, op->options->dir, 1, &name,
							&options, &meta, 0, &err);
	if (store_take_reason(&err, &op->reason))
		return refuse_with_reason(op);
	if (!read_format(db, op->store->latest, meta, &format, &op->reason))
		format = 0;
	rocksdb_column_family_handle_destroy(meta);
	rocksdb_close(db);
	if (format > FORMAT)
		return refuse_newer(op, format);
	return refuse(op, STORE_FAILED, "%s holds a RocksDB database that is not Thorpe's.",
		      place(op));
}

static enum store_open_result check_families(struct opening *op, const rocksdb_options_t *options)
{
	bool unknown = false;
	char *err = NULL;
	size_t n = 0;
	char **names = rocksdb_list_column_families(options, op->options->dir, &n, &err);

	for (size_t i = 0; i < n; i++)
		unknown = unknown || !is_known_family(names[i]);
	rocksdb_list_column_families_destroy(names, n);
	/* An error, and no names: there is no database yet, or opening it will say what is wrong. */
	(void)store_take_reason(&err, &op->reason);
	return unknown ? refuse_unknown_families(op, options) : STORE_OPENED;
}

static enum store_open_result open_database(struct opening *op)
{
	struct store *s = op->store;
	const char *name = s->dir ? s->dir : MEMORY_NAME;
	enum store_open_result result = STORE_OPENED;
	struct store_tuning t;
	char *err = NULL;

	store_tuning_init(&t, s);
	if (s->dir)
		result = check_families(op, t.families[STORE_META]);
	if (result == STORE_OPENED) {
		const rocksdb_options_t *all = t.families[STORE_META];
		const rocksdb_options_t *const *each = (const rocksdb_options_t *const *)t.families;

		s->db = s->read_only ?
			rocksdb_open_for_read_only_column_families(all, name, STORE_FAMILIES,
				store_family_names, each, s->families, 0, &err) :
			rocksdb_open_column_families(all, name, STORE_FAMILIES,
				store_family_names, each, s->families, &err);
		if (store_take_reason(&err, &op->reason))
			result = refuse_with_reason(op);
	}
	store_tuning_release(&t);
	return result;
}

static bool is_empty(struct store *s, enum store_family f)
{
	rocksdb_iterator_t *it = rocksdb_create_iterator_cf(s->db, s->latest, s->families[f]);
	bool empty;

	rocksdb_iter_seek_to_first(it);
	empty = !rocksdb_iter_valid(it);
	rocksdb_iter_destroy(it);
	return empty;
}

/* In RocksDB's own log: on disk before the journal has anything that an older Thorpe would miss. */
static enum store_open_result write_format(struct opening *op)
{
	struct store *s = op->store;
	char *err = NULL;
	char be[4];

	if (s->read_only)
		return STORE_OPENED;
	store_put_be32(be, FORMAT);
	rocksdb_put_cf(s->db, s->logged, s->families[STORE_META], FORMAT_KEY.p, FORMAT_KEY.n, be,
		       sizeof(be), &err);
	return store_take_reason(&err, &op->reason) ? refuse_with_reason(op) : STORE_OPENED;
}

static enum store_open_result check_format(struct opening *op)
{
	struct store *s = op->store;
	uint32_t format = 0;

	if (read_format(s->db, s->latest, s->families[STORE_META], &format, &op->reason)) {
		if (format > FORMAT)
			return refuse_newer(op, format);
		return format < FORMAT ? write_format(op) : STORE_OPENED;
	}
	if (op->reason.failed)
		return refuse_with_reason(op);
	/* A new database, or one whose maker was killed before this line. */
	if (!is_empty(s, STORE_META) || !is_empty(s, STORE_CATALOG))
		return refuse(op, STORE_DAMAGED, "The data in %s is damaged: it has no format number.",
			      place(op));
	return write_format(op);
}

/* ---- the journal ---- */

static bool replay_batch(struct store *s, struct slice record, struct reason *r)
{
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create_from(record.p, record.n);
	char *err = NULL;

	rocksdb_write(s->db, s->unlogged, batch, &err);
	rocksdb_writebatch_destroy(batch);
	return !store_take_reason(&err, r);
}

/* What was replayed goes to files before anyone is answered: a disk that once failed to sync it may still have it in the page cache alone. */
static enum store_open_result replay_journal(struct opening *op, uint64_t after)
{
	struct store *s = op->store;

	if (!journal_open(s, after, replay_batch, &s->journal, &op->reason))
		return refuse_with_reason(op);
	if (journal_last(s->journal) != after && !s->is_swollen)
		store_flush_together(s);
	return STORE_OPENED;
}

static enum store_open_result open_journal(struct opening *op)
{
	struct store *s = op->store;
	uint64_t after, count = 0;

	if (!s->dir)
		return STORE_OPENED;
	if (s->is_swollen)
		watch_swell(s);
	if (!store_journal_on_disk(s, &after))
		return refuse(op, STORE_DAMAGED, "The data in %s is damaged: what its journal has to add cannot be told.", s->dir);
	if (!s->read_only)
		return replay_journal(op, after);
	if (!journal_count(s->dir, after, &count, &op->reason))
		return refuse_with_reason(op);
	return !count ? STORE_OPENED :
	       refuse(op, STORE_FAILED, "The data in %s was not closed: it has to be opened for writing once before it can be only read.", s->dir);
}

/* The directory, and what it takes to know its free space. */
static enum store_open_result open_dir(struct opening *op)
{
	struct store *s = op->store;
	const char *dir = op->options->dir;

	if (!dir)
		return STORE_OPENED;
	s->dir = mem_strndup(dir, strlen(dir));
	if (!s->dir)
		return refuse(op, STORE_FAILED, "Cannot open %s: out of memory.", dir);
	if (!s->read_only && !store_make_dir(dir, &op->reason))
		return refuse(op, STORE_FAILED, "Cannot open the data directory: %s.",
			      op->reason.text);
	s->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return refuse(op, STORE_FAILED, "Cannot open the data directory %s: %m.", dir);
	return STORE_OPENED;
}

static struct store *store_new(const struct store_options *o)
{
	struct store *s = mem_zalloc(sizeof(*s));
	size_t bytes = o->cache_bytes ? o->cache_bytes : store_default_cache_bytes();
	rocksdb_lru_cache_options_t *cache;

	if (!s)
		return NULL;
	s->hot = hot_new(bytes / STORE_HOT_PART);
	if (!s->hot) {
		mem_free(s);
		return NULL;
	}
	s->watch = watch_new();
	if (!s->watch) {
		hot_free(s->hot);
		mem_free(s);
		return NULL;
	}
	s->dir_fd = -1;
	s->read_only = o->read_only;
	s->reserve = STORE_RESERVE;
	atomic_init(&s->fail_in, -1);
	pthread_mutex_init(&s->ballast_lock, NULL);
	atomic_init(&s->live, UINT64_MAX);
	if (!o->dir)
		s->env = rocksdb_create_mem_env();
	cache = rocksdb_lru_cache_options_create();
	rocksdb_lru_cache_options_set_capacity(cache, bytes - bytes / STORE_HOT_PART);
	rocksdb_lru_cache_options_set_num_shard_bits(cache, CACHE_SHARD_BITS);
	s->cache = rocksdb_cache_create_lru_opts(cache);
	rocksdb_lru_cache_options_destroy(cache);
	s->latest = rocksdb_readoptions_create();
	s->on_disk = rocksdb_readoptions_create();
	rocksdb_readoptions_set_read_tier(s->on_disk, PERSISTED_TIER);
	s->unlogged = rocksdb_writeoptions_create();
	rocksdb_writeoptions_disable_WAL(s->unlogged, 1);
	s->logged = rocksdb_writeoptions_create();
	if (o->dir)
		rocksdb_writeoptions_set_sync(s->logged, 1);
	else
		rocksdb_writeoptions_disable_WAL(s->logged, 1);
	return s;
}

enum store_open_result store_open(const struct store_options *o, struct store **out, char *why,
				  size_t n)
{
	struct opening op = { .options = o, .why = why, .why_size = n };
	enum store_open_result result;

	*out = NULL;
	op.store = store_new(o);
	if (!op.store)
		return refuse(&op, STORE_FAILED, "Cannot open %s: out of memory.", place(&op));
	result = open_dir(&op);
	if (result == STORE_OPENED) {
		room_before_open(op.store);
		result = open_database(&op);
	}
	if (result == STORE_OPENED)
		result = check_format(&op);
	if (result == STORE_OPENED)
		result = open_journal(&op);
	if (result == STORE_OPENED && op.store->journal && !watch_start(op.store))
		result = refuse(&op, STORE_FAILED, "Cannot open %s: no thread can be started.", place(&op));
	if (result == STORE_OPENED)
		*out = op.store;
	else
		store_close(op.store);
	return result;
}

/* So that the next start has nothing to replay. Nobody writes any more. True: RocksDB's files have it all. */
static bool flush_all(struct store *s)
{
	uint64_t last = journal_last(s->journal), on_disk = 0;
	struct reason r = { 0 };

	if (store_journal_on_disk(s, &on_disk) && on_disk == last)
		return true;
	/* Without room RocksDB would only find out that there is none. */
	if (store_has_room(s, 0)) {
		if (atomic_load(&s->is_closing))
			rocksdb_enable_manual_compaction(s->db); /* store_stop_reclaiming() */
		store_flush_together(s);
	}
	if (store_journal_on_disk(s, &on_disk) && on_disk == last)
		return true;
	log_warn("store: could not flush at close; the next start takes what is missing from the journal");
	if (!journal_sync(s->journal, &r))
		log_error("store: could not sync the journal at close: %s", r.text);
	return false;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	watch_stop(s);
	if (s->db) {
		if (s->journal)
			journal_close(s->journal, flush_all(s));
		for (int f = 0; f < STORE_FAMILIES; f++)
			rocksdb_column_family_handle_destroy(s->families[f]);
		rocksdb_close(s->db);
	}
	rocksdb_writeoptions_destroy(s->unlogged);
	rocksdb_writeoptions_destroy(s->logged);
	rocksdb_readoptions_destroy(s->on_disk);
	rocksdb_readoptions_destroy(s->latest);
	rocksdb_cache_destroy(s->cache);
	hot_free(s->hot);
	if (s->env)
		rocksdb_env_destroy(s->env);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	pthread_mutex_destroy(&s->ballast_lock);
	watch_free(s->watch);
	mem_free(s->dir);
	mem_free(s);
}
