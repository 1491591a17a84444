/* A disk that loses power: the journal's calls (store/journal/io.h) on files in memory, where what was not synced is
 * kept apart.
 *
 *     power_init(&d, seed);  d.die_at = n;       the n-th call that changes something is the last
 *     journal_open({ .io = &d.io, … }) …         after that call all fail, and nothing reaches the disk
 *     power_lose(&d, how);                       what is on disk then, as journal.h assumes (A1 to A5); calls work again
 *
 * A sector has the version that is on disk, and those that were written since and not synced: after a power loss it
 * has any one of them (A2, A3). So writes are dropped, kept, torn between sectors, and reordered. Names are made,
 * changed and removed, or not, one by one (A5). SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_STORE_POWER_H
#define THORPE_TESTS_STORE_POWER_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "store/journal/io.h"

#define POWER_SECTOR  512
#define POWER_SECTORS 4096 /* of a file, at most */
#define POWER_FILES   400
#define POWER_OPEN    64
#define POWER_OPS     400

enum power_loss { POWER_DROPS, POWER_KEEPS, POWER_MIXES, POWER_TEARS, POWER_REORDERS, POWER_LOSSES };

struct power_sector {
	char disk[POWER_SECTOR], now[POWER_SECTOR];
	char *versions; /* written and not synced, the oldest first */
	long *calls;    /* which wrote them */
	size_t count;
};

struct power_file {
	struct power_sector *sectors[POWER_SECTORS];
	uint64_t size, disk_size;
};

struct power_name {
	char name[64];
	int file; /* -1: no such name */
};

enum power_op_kind { POWER_SET, POWER_REMOVE, POWER_RENAME };
struct power_op {
	enum power_op_kind kind;
	char name[64], to[64];
	int file;
};

struct power_disk {
	struct journal_io io;
	uint64_t random, order; /* order: of one loss, for POWER_REORDERS */
	struct power_file *files[POWER_FILES];
	int file_count;
	struct power_name now[POWER_FILES], disk[POWER_FILES];
	int now_count, disk_count;
	struct power_op ops[POWER_OPS]; /* since the directory was synced */
	int op_count;
	int open[POWER_OPEN];
	long calls, die_at, fail_at; /* fail_at: that call fails, once, with fail_with */
	int fail_with;
	bool dead, direct; /* direct: there are writes with the sync in the same call */
};

static inline uint64_t power_random(struct power_disk *d)
{
	d->random ^= d->random << 13;
	d->random ^= d->random >> 7;
	d->random ^= d->random << 17;
	return d->random;
}

static inline struct power_disk *power_of(struct journal_io *io)
{
	return (struct power_disk *)io;
}

/* ---- names ---- */

static inline int *power_find(struct power_name *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i].name, name) == 0)
			return &names[i].file;
	return NULL;
}

static inline void power_set(struct power_name *names, int *count, const char *name, int file)
{
	int *at = power_find(names, *count, name);

	if (!at) {
		if (*count == POWER_FILES)
			abort();
		snprintf(names[*count].name, sizeof(names->name), "%s", name);
		at = &names[(*count)++].file;
	}
	*at = file;
}

static inline void power_apply(struct power_name *names, int *count, const struct power_op *op)
{
	int *at = power_find(names, *count, op->name);

	switch (op->kind) {
	case POWER_SET: power_set(names, count, op->name, op->file); break;
	case POWER_REMOVE:
		if (at)
			*at = -1;
		break;
	case POWER_RENAME:
		if (at && *at >= 0) {
			int file = *at;

			*at = -1;
			power_set(names, count, op->to, file);
		}
		break;
	}
}

static inline void power_do(struct power_disk *d, struct power_op op)
{
	if (d->op_count == POWER_OPS)
		abort();
	d->ops[d->op_count++] = op;
	power_apply(d->now, &d->now_count, &op);
}

/* ---- files ---- */

static inline struct power_sector *power_sector(struct power_file *f, uint64_t i)
{
	if (i >= POWER_SECTORS)
		abort();
	if (!f->sectors[i])
		f->sectors[i] = calloc(1, sizeof(*f->sectors[i]));
	return f->sectors[i];
}

static inline void power_forget(struct power_sector *s)
{
	free(s->versions);
	free(s->calls);
	s->versions = NULL;
	s->calls = NULL;
	s->count = 0;
}

static inline void power_settle(struct power_sector *s)
{
	memcpy(s->disk, s->now, POWER_SECTOR);
	power_forget(s);
}

static inline void power_write_sectors(struct power_file *f, const char *p, size_t n, uint64_t at, long call)
{
	while (n) {
		struct power_sector *s = power_sector(f, at / POWER_SECTOR);
		size_t from = at % POWER_SECTOR, some = POWER_SECTOR - from < n ? POWER_SECTOR - from : n;

		memcpy(s->now + from, p, some);
		s->versions = realloc(s->versions, (s->count + 1) * POWER_SECTOR);
		s->calls = realloc(s->calls, (s->count + 1) * sizeof(*s->calls));
		s->calls[s->count] = call;
		memcpy(s->versions + s->count++ * POWER_SECTOR, s->now, POWER_SECTOR);
		p += some;
		n -= some;
		at += some;
	}
	if (f->size < at)
		f->size = at;
}

/* ---- calls ---- */

enum power_turn { POWER_GOES_ON, POWER_DIES, POWER_FAILS };

/* Of a call that changes something. */
static inline enum power_turn power_turn(struct power_disk *d)
{
	d->calls++;
	if (d->dead)
		return POWER_FAILS;
	if (d->calls == d->die_at) {
		d->dead = true;
		return POWER_DIES;
	}
	return d->calls == d->fail_at ? POWER_FAILS : POWER_GOES_ON;
}

static inline int power_error(const struct power_disk *d)
{
	return d->dead || !d->fail_with ? EIO : d->fail_with;
}

static inline struct power_file *power_open_file(struct power_disk *d, const struct journal_file *f)
{
	return d->files[d->open[f->fd]];
}

static inline int power_io_open(struct journal_io *io, const char *name, enum journal_open_mode mode,
				struct journal_file *f)
{
	struct power_disk *d = power_of(io);
	int *at = power_find(d->now, d->now_count, name), fd = 0;
	struct power_op op = { .kind = POWER_SET };

	*f = JOURNAL_FILE_CLOSED;
	if (d->dead)
		return EIO;
	if (mode == JOURNAL_CREATE) {
		enum power_turn turn = power_turn(d);

		if (turn == POWER_FAILS)
			return power_error(d);
		if (d->file_count == POWER_FILES)
			abort();
		d->files[d->file_count] = calloc(1, sizeof(struct power_file));
		snprintf(op.name, sizeof(op.name), "%s", name);
		op.file = d->file_count++;
		power_do(d, op);
		if (turn == POWER_DIES)
			return EIO;
		at = power_find(d->now, d->now_count, name);
	}
	if (!at || *at < 0)
		return ENOENT;
	while (fd < POWER_OPEN && d->open[fd] >= 0)
		fd++;
	if (fd == POWER_OPEN)
		return EMFILE;
	d->open[fd] = *at;
	f->fd = fd;
	f->size = d->files[*at]->size;
	f->direct = d->direct && mode != JOURNAL_READ ? fd : -1;
	return 0;
}

static inline void power_io_close(struct journal_io *io, struct journal_file *f)
{
	if (f->fd >= 0)
		power_of(io)->open[f->fd] = -1;
	f->fd = f->direct = -1;
}

static inline int power_io_read(struct journal_io *io, struct journal_file *f, void *to, size_t n, uint64_t at,
				size_t *got)
{
	struct power_file *file = power_open_file(power_of(io), f);
	char *p = to;

	*got = at >= file->size ? 0 : n < file->size - at ? n : (size_t)(file->size - at);
	for (size_t i = 0; i < *got; i++) {
		const struct power_sector *s = file->sectors[(at + i) / POWER_SECTOR];

		p[i] = s ? s->now[(at + i) % POWER_SECTOR] : 0;
	}
	return 0;
}

static inline int power_io_write(struct journal_io *io, struct journal_file *f, const void *p, size_t n, uint64_t at,
				 bool *durable)
{
	struct power_disk *d = power_of(io);
	struct power_file *file = power_open_file(d, f);
	enum power_turn turn = power_turn(d);

	*durable = *durable && f->direct >= 0;
	if (d->dead && turn == POWER_FAILS)
		return EIO;
	/* Of a write that fails some may have been written. */
	if (turn == POWER_FAILS && power_random(d) % 2)
		n = power_random(d) % (n / POWER_SECTOR + 1) * POWER_SECTOR;
	power_write_sectors(file, p, n, at, d->calls);
	if (turn != POWER_GOES_ON)
		return power_error(d);
	if (*durable) {
		for (uint64_t i = at / POWER_SECTOR; i * POWER_SECTOR < at + n; i++)
			power_settle(power_sector(file, i));
		if (file->disk_size < at + n)
			file->disk_size = at + n;
	}
	return 0;
}

static inline int power_io_sync(struct journal_io *io, struct journal_file *f)
{
	struct power_disk *d = power_of(io);
	struct power_file *file = power_open_file(d, f);

	if (power_turn(d) != POWER_GOES_ON)
		return power_error(d);
	for (size_t i = 0; i < POWER_SECTORS; i++)
		if (file->sectors[i])
			power_settle(file->sectors[i]);
	file->disk_size = file->size;
	return 0;
}

static inline void power_io_forget(struct journal_io *io, struct journal_file *f)
{
	(void)io, (void)f;
}

static inline int power_io_sync_dir(struct journal_io *io)
{
	struct power_disk *d = power_of(io);

	if (power_turn(d) != POWER_GOES_ON)
		return power_error(d);
	memcpy(d->disk, d->now, sizeof(d->now));
	d->disk_count = d->now_count;
	d->op_count = 0;
	return 0;
}

static inline int power_io_change(struct power_disk *d, enum power_op_kind kind, const char *name, const char *to)
{
	int *at = power_find(d->now, d->now_count, name);
	struct power_op op = { .kind = kind };
	enum power_turn turn = power_turn(d);

	if (turn == POWER_FAILS)
		return power_error(d);
	if (!at || *at < 0)
		return ENOENT;
	snprintf(op.name, sizeof(op.name), "%s", name);
	snprintf(op.to, sizeof(op.to), "%s", to);
	power_do(d, op);
	return turn == POWER_DIES ? EIO : 0;
}

static inline int power_io_rename(struct journal_io *io, const char *from, const char *to)
{
	return power_io_change(power_of(io), POWER_RENAME, from, to);
}

static inline int power_io_unlink(struct journal_io *io, const char *name)
{
	return power_io_change(power_of(io), POWER_REMOVE, name, "");
}

static inline int power_io_list(struct journal_io *io, const char *prefix, bool (*each)(void *ctx, const char *name),
				void *ctx)
{
	struct power_disk *d = power_of(io);

	if (d->dead)
		return EIO;
	for (int i = 0; i < d->now_count; i++)
		if (d->now[i].file >= 0 && strncmp(d->now[i].name, prefix, strlen(prefix)) == 0 &&
		    !each(ctx, d->now[i].name))
			break;
	return 0;
}

static const struct journal_io_calls power_calls = {
	.open = power_io_open,
	.close = power_io_close,
	.read = power_io_read,
	.write = power_io_write,
	.sync = power_io_sync,
	.forget = power_io_forget,
	.sync_dir = power_io_sync_dir,
	.rename = power_io_rename,
	.unlink = power_io_unlink,
	.list = power_io_list,
};

static inline void power_init(struct power_disk *d, uint64_t seed, bool direct)
{
	memset(d, 0, sizeof(*d));
	d->io.calls = &power_calls;
	d->random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
	d->direct = direct;
	d->die_at = d->fail_at = -1;
	for (int i = 0; i < POWER_OPEN; i++)
		d->open[i] = -1;
}

static inline void power_free_file(struct power_file *f)
{
	for (size_t i = 0; f && i < POWER_SECTORS; i++) {
		if (f->sectors[i])
			power_forget(f->sectors[i]);
		free(f->sectors[i]);
	}
	free(f);
}

static inline void power_release(struct power_disk *d)
{
	for (int i = 0; i < d->file_count; i++)
		power_free_file(d->files[i]);
	d->file_count = 0;
}

/* ---- losing power ---- */

static inline void power_lose_sector(struct power_disk *d, struct power_sector *s, enum power_loss how)
{
	size_t version = 0; /* 0: what is on disk */

	if (how == POWER_KEEPS)
		version = s->count;
	else if (how == POWER_MIXES)
		version = power_random(d) % (s->count + 1);
	else if (how == POWER_TEARS) /* most are there, some are not */
		version = power_random(d) % 8 ? s->count : 0;
	else if (how == POWER_REORDERS) /* each write is there or not, as a whole */
		for (size_t i = 0; i < s->count; i++)
			if ((d->order ^ (uint64_t)s->calls[i] * UINT64_C(0x9E3779B97F4A7C15)) >> 61 < 5)
				version = i + 1;
	if (version)
		memcpy(s->disk, s->versions + (version - 1) * POWER_SECTOR, POWER_SECTOR);
	memcpy(s->now, s->disk, POWER_SECTOR);
	power_forget(s);
}

static inline void power_lose_file(struct power_disk *d, struct power_file *f, enum power_loss how)
{
	bool longer = how == POWER_KEEPS || (how != POWER_DROPS && power_random(d) % 2);

	f->size = f->disk_size = longer ? f->size : f->disk_size;
	for (uint64_t i = 0; i < POWER_SECTORS; i++) {
		struct power_sector *s = f->sectors[i];

		if (!s)
			continue;
		power_lose_sector(d, s, how);
		/* Past its end a file has nothing (A4). */
		if (i * POWER_SECTOR >= f->size)
			memset(s->disk, 0, POWER_SECTOR), memset(s->now, 0, POWER_SECTOR);
	}
}

static inline void power_lose(struct power_disk *d, enum power_loss how)
{
	d->order = power_random(d) * UINT64_C(0xD1B54A32D192ED03);
	for (int i = 0; i < d->file_count; i++)
		power_lose_file(d, d->files[i], how);
	for (int i = 0; i < d->op_count; i++)
		if (how == POWER_KEEPS || (how != POWER_DROPS && power_random(d) % 2))
			power_apply(d->disk, &d->disk_count, &d->ops[i]);
	memcpy(d->now, d->disk, sizeof(d->now));
	d->now_count = d->disk_count;
	d->op_count = 0;
	d->dead = false;
	d->die_at = d->fail_at = -1;
	d->calls = 0;
	for (int i = 0; i < POWER_OPEN; i++)
		d->open[i] = -1;
}

/* The process is killed, and the system goes on: everything written is there. */
static inline void power_kill(struct power_disk *d)
{
	d->dead = false;
	d->die_at = d->fail_at = -1;
	d->calls = 0;
	for (int i = 0; i < POWER_OPEN; i++)
		d->open[i] = -1;
}

#endif
