/* Checks the contents of a directory before RocksDB opens it for writing.
 *
 * RocksDB makes the best of what it finds: without CURRENT it creates a new database, without the end of MANIFEST
 * it returns to an earlier state, and then it removes every file that state does not name. So everything is checked
 * first, without changing anything.
 * SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "store/copy.h"
#include "store/internal.h"

/* ---- names ---- */

/* Files that hold data, or are created after the database. */
static bool is_of_value(const char *name)
{
	return name_ends(name, ".sst") || name_ends(name, ".blob") || name_starts(name, "journal.") ||
	       strcmp(name, "acknowledged") == 0 || strcmp(name, "token-secret") == 0;
}

/* Files that RocksDB creates before there is a database. */
static bool is_scaffold(const char *name)
{
	return name_starts(name, "MANIFEST-") || name_starts(name, "OPTIONS-") || name_ends(name, ".log");
}

enum store_contents store_contents(int dir_fd, const char *dir, struct reason *r)
{
	bool has_current = false, has_value = false, has_scaffold = false, creating = false;
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char example[256] = "";
	struct dirent *entry;

	if (!d) {
		reason_set(r, "cannot read the directory %s: %m", dir);
		if (fd >= 0)
			close(fd);
		return STORE_NO_LOOK;
	}
	while ((errno = 0, entry = readdir(d))) {
		bool value = is_of_value(entry->d_name), scaffold = is_scaffold(entry->d_name);

		has_current |= strcmp(entry->d_name, "CURRENT") == 0;
		creating |= strcmp(entry->d_name, STORE_CREATING) == 0;
		if ((value && !has_value) || (scaffold && !has_value && !has_scaffold))
			snprintf(example, sizeof(example), "%s", entry->d_name);
		has_value |= value;
		has_scaffold |= scaffold;
	}
	if (errno)
		reason_set(r, "cannot read the directory %s: %m", dir);
	closedir(d);
	if (r->failed)
		return STORE_NO_LOOK;
	if (has_current)
		return STORE_DATABASE;
	if (!has_value && (!has_scaffold || creating))
		return STORE_NOTHING;
	reason_set(r, "the file CURRENT is missing, but other files of a database exist (%s)", example);
	return STORE_REMAINS;
}

/* ---- while creating a database ---- */

static bool sync_dir(int dir_fd, struct reason *r)
{
	return fsync(dir_fd) == 0 || errno == EINVAL || reason_set(r, "the data directory cannot be synced: %m");
}

bool store_begin_creating(int dir_fd, struct reason *r)
{
	int fd = openat(dir_fd, STORE_CREATING, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return reason_set(r, "cannot write to the data directory: %m");
	close(fd);
	return sync_dir(dir_fd, r);
}

bool store_end_creating(int dir_fd, struct reason *r)
{
	if (unlinkat(dir_fd, STORE_CREATING, 0) < 0)
		return errno == ENOENT || reason_set(r, "cannot remove " STORE_CREATING " from the data directory: %m");
	return sync_dir(dir_fd, r);
}

/* ---- META ---- */

/* An open database, to be read only. */
struct glance {
	rocksdb_t *db;
	rocksdb_column_family_handle_t *families[STORE_FAMILIES];
	int n, meta; /* meta: which of them */
	const rocksdb_readoptions_t *options;
};

static int family_named(const char *name)
{
	for (int f = 0; f < STORE_FAMILIES; f++) {
		if (strcmp(name, store_family_names[f]) == 0)
			return f;
	}
	return -1;
}

/* Opens all families that we know. */
static bool glance_open(struct glance *g, struct store *s, const struct store_tuning *t, struct store_meta *m,
			struct reason *r)
{
	const rocksdb_options_t *all = t->families[STORE_META], *options[STORE_FAMILIES];
	const char *names[STORE_FAMILIES];
	char *err = NULL;
	size_t n = 0;
	char **listed = rocksdb_list_column_families(all, s->dir, &n, &err);

	(void)store_take_reason(&err, r);
	for (size_t i = 0; i < n; i++) {
		int f = family_named(listed[i]);

		m->unknown_families |= f < 0;
		if (f < 0)
			continue;
		if (f == STORE_META)
			g->meta = g->n;
		names[g->n] = store_family_names[f];
		options[g->n++] = t->families[f];
	}
	rocksdb_list_column_families_destroy(listed, n);
	if (r->failed)
		return false;
	g->db = rocksdb_open_for_read_only_column_families(all, s->dir, g->n, names, options, g->families, 0, &err);
	return !store_take_reason(&err, r);
}

static void glance_close(struct glance *g)
{
	if (!g->db)
		return;
	for (int i = 0; i < g->n; i++)
		rocksdb_column_family_handle_destroy(g->families[i]);
	rocksdb_close(g->db);
}

/* Up to `room` bytes; *n: the value's size, 0 if the key does not exist. */
static bool get_meta(struct glance *g, struct slice key, char *to, size_t room, size_t *n, struct reason *r)
{
	char *err = NULL;
	rocksdb_pinnableslice_t *pin =
		rocksdb_get_pinned_cf(g->db, g->options, g->families[g->meta], key.p, key.n, &err);
	const char *p;

	*n = 0;
	if (store_take_reason(&err, r))
		return false;
	if (!pin)
		return true;
	p = rocksdb_pinnableslice_value(pin, n);
	memcpy(to, p, *n < room ? *n : room);
	rocksdb_pinnableslice_destroy(pin);
	return true;
}

static bool read_values(struct glance *g, struct store_meta *m, struct reason *r)
{
	char value[JOURNAL_IDENTITY];
	size_t n;

	if (!get_meta(g, STORE_FORMAT_KEY, value, sizeof(value), &n, r))
		return false;
	m->has_format = n == sizeof(m->format);
	if (m->has_format)
		m->format = read_be32(value);
	if (!get_meta(g, STORE_IDENTITY_KEY, value, sizeof(value), &n, r))
		return false;
	m->has_identity = n == sizeof(m->identity);
	if (m->has_identity)
		memcpy(m->identity, value, sizeof(m->identity));
	if (!get_meta(g, STORE_JOURNAL_KEY, value, sizeof(value), &n, r))
		return false;
	return !n || store_journal_parse(slice_make(value, n), &m->journal) ||
	       reason_set(r, "Corruption: the rest of its journal cannot be determined");
}

bool store_read_meta(struct store *s, struct store_meta *m, struct reason *r)
{
	struct glance g = { 0 };
	struct store_tuning t;
	bool ok;

	*m = (struct store_meta){ 0 };
	store_tuning_init(&t, s, true);
	g.options = s->latest;
	ok = glance_open(&g, s, &t, m, r) && read_values(&g, m, r);
	glance_close(&g);
	store_tuning_release(&t);
	return ok;
}
