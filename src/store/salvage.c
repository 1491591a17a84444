/* Copies a damaged data directory and recovers everything possible in the copy.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "store/copy.h"
#include "store/internal.h"

struct rescue {
	const char *from, *to;
	int from_fd;
	struct store *s; /* of the copy, open or not */
	struct store_salvaged *result;
	store_tell *tell;
	void *ctx;
};

__attribute__((format(printf, 2, 3))) static void say(struct rescue *v, const char *fmt, ...)
{
	char text[700];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	v->tell(v->ctx, text);
}

static void journal_says(void *ctx, const char *sentence)
{
	say(ctx, "%s", sentence);
}

/* ---- RocksDB's files ---- */

/* CURRENT names the newest MANIFEST. If it is missing, find that MANIFEST. */
static bool put_current(struct rescue *v)
{
	unsigned long newest = 0;
	char path[4352];
	struct stat st;
	struct dirent *e;
	DIR *d;
	FILE *f;

	snprintf(path, sizeof(path), "%s/CURRENT", v->to);
	d = stat(path, &st) == 0 ? NULL : opendir(v->to);
	if (!d)
		return false;
	while ((e = readdir(d))) {
		unsigned long number = strncmp(e->d_name, "MANIFEST-", 9) == 0 ? strtoul(e->d_name + 9, NULL, 10) : 0;

		if (number > newest)
			newest = number;
	}
	closedir(d);
	f = newest ? fopen(path, "w") : NULL;
	if (!f)
		return false;
	say(v, "CURRENT was missing; using the newest, MANIFEST-%06lu", newest);
	fprintf(f, "MANIFEST-%06lu\n", newest);
	return fclose(f) == 0;
}

static bool try_open(struct rescue *v, struct reason *r)
{
	*r = (struct reason){ 0 };
	v->s = store_new(v->to);
	if (!v->s)
		return reason_set(r, "out of memory");
	v->s->dir_fd = open(v->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return store_open_rocksdb(v->s, r);
}

static void close_copy(struct rescue *v)
{
	store_close(v->s);
	v->s = NULL;
}

static bool repair(struct rescue *v, struct reason *r)
{
	struct store_tuning t;
	struct store *s = store_new(v->to);
	char *err = NULL;

	if (!s)
		return reason_set(r, "out of memory");
	store_tuning_init(&t, s, false);
	rocksdb_repair_db(t.families[STORE_META], v->to, &err);
	store_tuning_release(&t);
	store_close(s);
	return !store_take_reason(&err, r);
}

static bool fresh_copy(struct rescue *v, struct reason *r)
{
	copy_remove(v->to);
	if (mkdir(v->to, 0700) < 0)
		return reason_set(r, "cannot make the directory %s: %m", v->to);
	return copy_dir(v->from, v->to, COPY_AS_LINKS, false, r);
}

/* Rebuilds MANIFEST from the table files alone. */
static bool open_repaired(struct rescue *v, struct reason *r)
{
	close_copy(v);
	if (!fresh_copy(v, r) || !repair(v, r))
		return false;
	v->result->is_repaired = true;
	return try_open(v, r);
}

static bool number_of(struct rescue *v, struct journal_point *last, struct reason *r)
{
	return store_journal_on_disk(v->s, last) || reason_set(r, "META cannot be read");
}

static bool read_identity(struct rescue *v, struct reason *r)
{
	struct slice key = STORE_IDENTITY_KEY;
	char *err = NULL;
	size_t n = 0;
	char *value = rocksdb_get_cf(v->s->db, v->s->latest, v->s->families[STORE_META], key.p, key.n, &n, &err);

	if (store_take_reason(&err, r))
		return false;
	if (value && n == sizeof(v->s->identity))
		memcpy(v->s->identity, value, n);
	rocksdb_free(value);
	return true;
}

static void journal_of(struct rescue *v, struct journal_posix *posix, struct journal_options *o)
{
	*posix = journal_posix(v->from_fd);
	store_journal_options(v->s, o);
	o->io = &posix->io;
	o->dir = v->from;
}

/* Whether there is a gap between RocksDB's files and the journal. Then they may be older than they should be: the end
 * of MANIFEST is lost. */
static bool is_older_than_journal(struct rescue *v)
{
	struct journal_options o;
	struct journal_posix posix;
	struct journal_look look;
	struct reason r = { 0 };

	journal_of(v, &posix, &o);
	if (!store_journal_on_disk(v->s, &o.after))
		return true;
	journal_look(&o, &look, &r);
	/* FOREIGN: they are older than the database's identity. */
	return look.state == JOURNAL_FOREIGN || (look.state == JOURNAL_DAMAGED && look.lost == o.after.number + 1);
}

static bool open_copy(struct rescue *v, struct reason *r)
{
	struct journal_point was = { 0 }, is = { 0 };
	struct reason why = { 0 };

	(void)put_current(v);
	if (!try_open(v, &why)) {
		say(v, "RocksDB cannot open it (%s); rebuilding it from its table files", why.text);
		return open_repaired(v, r) && read_identity(v, r);
	}
	if (!read_identity(v, r) || !number_of(v, &was, r))
		return false;
	if (!is_older_than_journal(v))
		return true;
	say(v, "MANIFEST does not reach the journal; rebuilding from the table files, which may have more");
	if (open_repaired(v, &why) && number_of(v, &is, &why) && is.number > was.number)
		return read_identity(v, r);
	/* It did not help. */
	v->result->is_repaired = false;
	close_copy(v);
	if (!fresh_copy(v, r))
		return false;
	(void)put_current(v);
	return try_open(v, r) && read_identity(v, r);
}

/* ---- the journal ---- */

/* Removes the identity: the next opening makes a new one, since this is now a different database. */
static bool finish(struct rescue *v, struct reason *r)
{
	struct slice number = STORE_JOURNAL_KEY, identity = STORE_IDENTITY_KEY;
	struct journal_point on_disk = { 0 };
	char be[STORE_JOURNAL_BYTES] = { 0 };
	rocksdb_writebatch_t *b = rocksdb_writebatch_create();
	bool ok;

	store_put_be64(be, v->result->last);
	rocksdb_writebatch_put_cf(b, v->s->families[STORE_META], number.p, number.n, be, sizeof(be));
	rocksdb_writebatch_delete_cf(b, v->s->families[STORE_META], identity.p, identity.n);
	ok = store_apply(v->s, b, r);
	rocksdb_writebatch_destroy(b);
	if (!ok)
		return false;
	store_flush_together(v->s);
	return (store_journal_on_disk(v->s, &on_disk) && on_disk.number == v->result->last) ||
	       reason_set(r, "cannot write the recovered data to %s", v->to);
}

static bool replay(struct rescue *v, bool stop_at_damage, struct reason *r)
{
	struct journal_salvaged did;
	struct journal_options o;
	struct journal_posix posix;
	bool ok;

	journal_of(v, &posix, &o);
	ok = number_of(v, &o.after, r) && journal_salvage(&o, stop_at_damage, &did, journal_says, v, r);
	if (!ok)
		return false;
	v->result->in_files = o.after.number;
	v->result->applied = did.applied;
	v->result->lost = did.lost;
	v->result->last = did.last;
	return finish(v, r);
}

static bool lock(struct rescue *v, struct reason *r)
{
	v->from_fd = open(v->from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (v->from_fd < 0)
		return reason_set(r, "cannot open %s: %m", v->from);
	if (flock(v->from_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return reason_set(r, "%s is in use by another process; stop that one first", v->from);
	return true;
}

bool store_salvage(const struct store_salvage *o, struct store_salvaged *result, char *why, size_t n)
{
	struct rescue v = {
		.from = o->from, .to = o->to, .from_fd = -1, .result = result, .tell = o->tell, .ctx = o->ctx
	};
	struct reason r = { 0 };
	bool ok, made = false;

	*result = (struct store_salvaged){ 0 };
	ok = lock(&v, &r);
	if (ok)
		ok = made = mkdir(o->to, 0700) == 0 || reason_set(&r, "cannot make the directory %s: %m", o->to);
	ok = ok && copy_dir(o->from, o->to, COPY_AS_LINKS, false, &r) && open_copy(&v, &r) &&
	     replay(&v, o->stop_at_damage, &r);
	close_copy(&v);
	if (v.from_fd >= 0)
		close(v.from_fd);
	if (!ok && made)
		copy_remove(o->to);
	if (!ok)
		snprintf(why, n, "%s", r.text);
	return ok;
}
