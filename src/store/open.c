/* Opening and closing: the directory, its lock, its format number, its families.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/log.h"
#include "store/copy.h"
#include "store/hot.h"
#include "store/internal.h"
#include "store/room.h"

/* The format of everything Thorpe keeps in the store: STORE_FORMAT_KEY in META. Raise it when an older Thorpe would
 * misread what this one writes. 1: without a journal (older versions would not replay one); 2: a journal that does not
 * name its database. */
#define FORMAT 3u

/* A 400 KB item is a block of its own: each shard of the cache must have room for several. */
#define CACHE_SHARD_BITS 3
/* RocksDB's kPersistedTier, for which its interface in C has no name. */
#define PERSISTED_TIER 2
/* A name for RocksDB inside its own RAM; no such directory is touched. */
#define MEMORY_NAME "/thorpe"

/* The state passed between the steps of store_open(). */
struct opening {
	const struct store_options *options;
	struct store *store;
	struct reason reason; /* from RocksDB or the system */
	char *why;
	size_t why_size;
};

__attribute__((format(printf, 3, 4))) static enum store_open_result refuse(struct opening *op,
									   enum store_open_result result,
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

static enum store_open_result damaged(struct opening *op)
{
	return refuse(
		op, STORE_DAMAGED,
		"The data in %s is damaged: %s. Nothing was changed. 'thorpe salvage %s' copies the directory and recovers what can be.",
		place(op), op->reason.text, place(op));
}

/* RocksDB tells these apart only by their text. */
static enum store_open_result refuse_with_reason(struct opening *op)
{
	const char *text = op->reason.text;

	if (strstr(text, "lock hold by current process"))
		return refuse(op, STORE_HELD, "The data directory %s is already open in this process.", place(op));
	if (strstr(text, "While lock file") &&
	    (strstr(text, "Resource temporarily unavailable") || strstr(text, "Permission denied")))
		return refuse(op, STORE_HELD,
			      "The data directory %s is in use by another process; stop that one "
			      "first or choose another directory.",
			      place(op));
	if (strstr(text, "No space left") || strstr(text, "no space left"))
		return refuse(
			op, STORE_FAILED,
			"Cannot open the data directory %s: no space is left on its disk. A megabyte is enough to serve reads.",
			place(op));
	if (strncmp(text, "Corruption", 10) == 0 || strstr(text, "No such file or directory"))
		return damaged(op);
	return refuse(op, STORE_FAILED, "Cannot open the data directory %s: %s.", place(op), text);
}

static enum store_open_result refuse_newer(struct opening *op, uint32_t format)
{
	return refuse(op, STORE_NEWER,
		      "The data in %s was written by a newer version of Thorpe (format %u; this "
		      "version knows formats up to %u).",
		      place(op), format, FORMAT);
}

/* ---- inspecting the directory ---- */

/* Every check possible before changing anything: families, format, and whether the journal can be replayed. */
static enum store_open_result look_at_database(struct opening *op)
{
	struct journal_options o = { 0 };
	struct store *s = op->store;
	struct journal_look look;
	struct store_meta m;

	if (!store_read_meta(s, &m, &op->reason))
		return refuse_with_reason(op);
	if (m.has_format && m.format > FORMAT)
		return refuse_newer(op, m.format);
	if (m.unknown_families)
		return refuse(op, STORE_FAILED, "%s holds a RocksDB database that is not Thorpe's.", place(op));
	memcpy(s->identity, m.identity, sizeof(s->identity));
	store_journal_options(s, &o);
	o.after = m.journal;
	journal_look(&o, &look, &op->reason);
	if (look.state != JOURNAL_SOUND)
		return refuse(op, look.state == JOURNAL_UNREADABLE ? STORE_FAILED : STORE_DAMAGED, "%s.",
			      op->reason.text);
	if (s->read_only && look.count)
		return refuse(op, STORE_FAILED,
			      "The data in %s was not closed: open it for writing once before opening it read-only.",
			      s->dir);
	return STORE_OPENED;
}

static enum store_open_result look_first(struct opening *op)
{
	struct store *s = op->store;

	s->is_new = !s->dir;
	if (!s->dir)
		return STORE_OPENED;
	switch (store_contents(s->dir_fd, s->dir, &op->reason)) {
	case STORE_DATABASE: return look_at_database(op);
	case STORE_REMAINS: return damaged(op);
	case STORE_NO_LOOK: return refuse_with_reason(op);
	case STORE_NOTHING: break;
	}
	if (s->read_only)
		return refuse(op, STORE_FAILED, "There is no database in %s.", s->dir);
	s->is_new = true;
	return store_begin_creating(s->dir_fd, &op->reason) ? STORE_OPENED : refuse_with_reason(op);
}

bool store_open_rocksdb(struct store *s, struct reason *r)
{
	const char *name = s->dir ? s->dir : MEMORY_NAME;
	const rocksdb_options_t *const *each;
	struct store_tuning t;
	char *err = NULL;

	store_tuning_init(&t, s, s->read_only);
	each = (const rocksdb_options_t *const *)t.families;
	s->db = s->read_only ? rocksdb_open_for_read_only_column_families(each[STORE_META], name, STORE_FAMILIES,
									  store_family_names, each, s->families, 0, &err)
			     : rocksdb_open_column_families(each[STORE_META], name, STORE_FAMILIES, store_family_names,
							    each, s->families, &err);
	store_tuning_release(&t);
	return !store_take_reason(&err, r);
}

static enum store_open_result open_database(struct opening *op)
{
	return store_open_rocksdb(op->store, &op->reason) ? STORE_OPENED : refuse_with_reason(op);
}

/* ---- format and identity ---- */

static bool is_empty(struct store *s, enum store_family f)
{
	rocksdb_iterator_t *it = rocksdb_create_iterator_cf(s->db, s->latest, s->families[f]);
	bool empty;

	rocksdb_iter_seek_to_first(it);
	empty = !rocksdb_iter_valid(it);
	rocksdb_iter_destroy(it);
	return empty;
}

static bool read_meta(struct store *s, struct slice key, void *to, size_t n, bool *found, struct reason *r)
{
	rocksdb_pinnableslice_t *pin;
	char *err = NULL;
	size_t size = 0;
	const char *p;

	*found = false;
	pin = rocksdb_get_pinned_cf(s->db, s->latest, s->families[STORE_META], key.p, key.n, &err);
	if (store_take_reason(&err, r) || !pin)
		return !r->failed;
	p = rocksdb_pinnableslice_value(pin, &size);
	*found = size == n;
	if (*found)
		memcpy(to, p, n);
	rocksdb_pinnableslice_destroy(pin);
	return true;
}

/* Uses RocksDB's own log: the format is on disk before the journal holds anything that an older Thorpe would miss. */
static enum store_open_result write_format(struct opening *op, bool has_identity)
{
	struct store *s = op->store;
	rocksdb_writebatch_t *b;
	char *err = NULL;
	char be[4];

	if (s->read_only)
		return STORE_OPENED;
	if (!has_identity && getrandom(s->identity, sizeof(s->identity), 0) != (ssize_t)sizeof(s->identity))
		return refuse(op, STORE_FAILED, "Cannot open %s: the system has no random numbers: %m.", place(op));
	store_put_be32(be, FORMAT);
	b = rocksdb_writebatch_create();
	rocksdb_writebatch_put_cf(b, s->families[STORE_META], STORE_FORMAT_KEY.p, STORE_FORMAT_KEY.n, be, sizeof(be));
	rocksdb_writebatch_put_cf(b, s->families[STORE_META], STORE_IDENTITY_KEY.p, STORE_IDENTITY_KEY.n,
				  (const char *)s->identity, sizeof(s->identity));
	rocksdb_write(s->db, s->logged, b, &err);
	rocksdb_writebatch_destroy(b);
	return store_take_reason(&err, &op->reason) ? refuse_with_reason(op) : STORE_OPENED;
}

static enum store_open_result check_format(struct opening *op, bool *has_identity)
{
	struct store *s = op->store;
	uint32_t format = 0;
	bool found = false;
	char be[4];

	*has_identity = false;
	if (!read_meta(s, STORE_FORMAT_KEY, be, sizeof(be), &found, &op->reason) ||
	    !read_meta(s, STORE_IDENTITY_KEY, s->identity, sizeof(s->identity), has_identity, &op->reason))
		return refuse_with_reason(op);
	if (found) {
		format = read_be32(be);
		if (format > FORMAT)
			return refuse_newer(op, format);
		return format < FORMAT || !*has_identity ? write_format(op, *has_identity) : STORE_OPENED;
	}
	/* A new database, or one whose creation a kill interrupted. */
	if (!is_empty(s, STORE_META) || !is_empty(s, STORE_CATALOG))
		return reason_set(&op->reason, "it has no format number") ? STORE_FAILED : damaged(op);
	return write_format(op, *has_identity);
}

/* ---- the journal ---- */

static bool replay_batch(void *owner, struct slice record, struct reason *r)
{
	struct store *s = owner;
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create_from(record.p, record.n);
	bool ok = store_apply(s, batch, r);

	rocksdb_writebatch_destroy(batch);
	return ok;
}

static bool number_on_disk(void *owner, uint64_t *number)
{
	struct journal_point last;
	bool ok = store_journal_on_disk(owner, &last);

	*number = last.number;
	return ok;
}

static bool has_room(void *owner, uint64_t bytes)
{
	return store_has_room(owner, bytes);
}

static void flush(void *owner)
{
	store_flush_together(owner);
}

void store_journal_options(struct store *s, struct journal_options *o)
{
	*o = (struct journal_options){
		.io = &s->journal_io.io,
		.dir = s->shadow_of ? s->shadow_of : s->dir,
		.owner = s,
		.apply = replay_batch,
		.on_disk = number_on_disk,
		.has_room = has_room,
		.flush = flush,
	};
	memcpy(o->identity, s->identity, sizeof(o->identity));
}

static enum store_open_result open_journal(struct opening *op, bool is_new)
{
	struct journal_options o;
	struct store *s = op->store;

	if (!s->dir || s->read_only)
		return STORE_OPENED;
	if (!store_end_creating(s->dir_fd, &op->reason))
		return refuse_with_reason(op);
	if (s->is_swollen)
		watch_swell(s);
	store_journal_options(s, &o);
	o.is_new = is_new;
	o.no_flush = s->is_swollen;
	if (!store_journal_on_disk(s, &o.after))
		return refuse(op, STORE_DAMAGED,
			      "The data in %s is damaged: the rest of its journal cannot be determined.", s->dir);
	return journal_open(&o, &s->journal, &op->reason) ? STORE_OPENED : refuse_with_reason(op);
}

/* RocksDB has a lock of its own, but takes it only when it opens for writing. Some file systems have no such locks. */
static enum store_open_result lock_dir(struct opening *op, int fd, bool shared)
{
	if (flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return refuse(op, STORE_HELD,
			      "The data directory %s is in use by another process, or open twice in this one; stop that one "
			      "first or choose another directory.",
			      place(op));
	return STORE_OPENED;
}

/* Makes s->dir a copy, removed when the store is closed. */
static enum store_open_result make_shadow(struct opening *op)
{
	const char *tmp = getenv("TMPDIR"), *dir = op->options->dir;
	enum store_open_result result = STORE_OPENED;
	struct store *s = op->store;
	char path[4096];
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return refuse(op, STORE_FAILED, "Cannot open the data directory %s: %m.", dir);
	result = lock_dir(op, fd, true);
	if (result == STORE_OPENED && store_contents(fd, dir, &op->reason) != STORE_DATABASE)
		result = op->reason.failed ? damaged(op) : refuse(op, STORE_FAILED, "There is no database in %s.", dir);
	snprintf(path, sizeof(path), "%s/thorpe-look-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (result == STORE_OPENED && !mkdtemp(path))
		result = refuse(op, STORE_FAILED, "Cannot make a directory in %s: %m.", tmp && *tmp ? tmp : "/tmp");
	if (result == STORE_OPENED) {
		s->dir = mem_strndup(path, strlen(path));
		s->shadow_of = mem_strndup(dir, strlen(dir));
		if (!s->dir || !s->shadow_of)
			result = refuse(op, STORE_FAILED, "Cannot open %s: out of memory.", dir);
		else if (!copy_dir(dir, path, COPY_AS_SYMLINKS, true, &op->reason))
			result = refuse_with_reason(op);
	}
	close(fd);
	return result;
}

/* Opens the directory, for its lock and its free space. */
static enum store_open_result open_dir(struct opening *op)
{
	struct store *s = op->store;
	const char *dir = op->options->dir;

	if (!dir)
		return STORE_OPENED;
	if (op->options->shadow) {
		enum store_open_result result = make_shadow(op);

		if (result != STORE_OPENED)
			return result;
		dir = s->dir;
	} else {
		s->dir = mem_strndup(dir, strlen(dir));
	}
	if (!s->dir)
		return refuse(op, STORE_FAILED, "Cannot open %s: out of memory.", dir);
	if (!s->read_only && !store_make_dir(dir, &op->reason))
		return refuse(op, STORE_FAILED, "Cannot open the data directory: %s.", op->reason.text);
	s->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir_fd < 0)
		return refuse(op, STORE_FAILED, "Cannot open the data directory %s: %m.", dir);
	s->journal_io = journal_posix(s->dir_fd);
	return lock_dir(op, s->dir_fd, s->read_only);
}

static struct store *make_store(const struct store_options *o)
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
	rocksdb_writeoptions_set_no_slowdown(s->unlogged, 1);
	s->slowed = rocksdb_writeoptions_create();
	rocksdb_writeoptions_disable_WAL(s->slowed, 1);
	s->logged = rocksdb_writeoptions_create();
	if (o->dir)
		rocksdb_writeoptions_set_sync(s->logged, 1);
	else
		rocksdb_writeoptions_disable_WAL(s->logged, 1);
	return s;
}

struct store *store_new(const char *dir)
{
	struct store *s = make_store(&(struct store_options){ .dir = dir });

	if (!s)
		return NULL;
	s->dir = mem_strndup(dir, strlen(dir));
	if (s->dir)
		return s;
	store_close(s);
	return NULL;
}

enum store_open_result store_open(const struct store_options *o, struct store **out, char *why, size_t n)
{
	struct opening op = { .options = o, .why = why, .why_size = n };
	enum store_open_result result;
	bool has_identity = false;

	*out = NULL;
	op.store = make_store(o);
	if (!op.store)
		return refuse(&op, STORE_FAILED, "Cannot open %s: out of memory.", place(&op));
	result = open_dir(&op);
	if (result == STORE_OPENED)
		result = look_first(&op);
	if (result == STORE_OPENED) {
		room_before_open(op.store);
		result = open_database(&op);
	}
	if (result == STORE_OPENED)
		result = check_format(&op, &has_identity);
	if (result == STORE_OPENED)
		result = open_journal(&op, !has_identity);
	if (result == STORE_OPENED && op.store->journal && !watch_start(op.store))
		result = refuse(&op, STORE_FAILED, "Cannot open %s: no thread can be started.", place(&op));
	if (result == STORE_OPENED)
		*out = op.store;
	else
		store_close(op.store);
	return result;
}

/* True: RocksDB's files have everything written. */
static bool has_all(struct store *s)
{
	struct journal_point on_disk;

	return store_journal_on_disk(s, &on_disk) && on_disk.number == journal_last(s->journal);
}

/* Leaves the next start nothing to replay. There are no more writes. */
static bool flush_all(struct store *s)
{
	struct reason r = { 0 };

	if (has_all(s))
		return true;
	/* Without room the flush would fail. */
	if (store_has_room(s, 0)) {
		if (atomic_load(&s->is_closing))
			rocksdb_enable_manual_compaction(s->db); /* store_stop_reclaiming() */
		store_flush_together(s);
	}
	if (has_all(s))
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
	rocksdb_writeoptions_destroy(s->slowed);
	rocksdb_writeoptions_destroy(s->logged);
	rocksdb_readoptions_destroy(s->on_disk);
	rocksdb_readoptions_destroy(s->latest);
	rocksdb_cache_destroy(s->cache);
	hot_free(s->hot);
	if (s->env)
		rocksdb_env_destroy(s->env);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	if (s->shadow_of && s->dir)
		copy_remove(s->dir);
	mem_free(s->shadow_of);
	pthread_mutex_destroy(&s->ballast_lock);
	watch_free(s->watch);
	mem_free(s->dir);
	mem_free(s);
}
