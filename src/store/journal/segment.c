/* Segments: creating, opening and removing files of the journal.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/alloc.h"
#include "base/grow.h"
#include "store/journal/internal.h"

/* A new segment is filled in portions of this size: a synced write waits for at most one of them. */
#define FILL_BYTES ((size_t)256 << 10)

const char *journal_error(int error)
{
	static _Thread_local char text[128];

	return strerror_r(error, text, sizeof(text));
}

void segment_name(char name[JOURNAL_NAME_ROOM], unsigned file)
{
	snprintf(name, JOURNAL_NAME_ROOM, JOURNAL_NAME "%u", file);
}

struct segment *segment_new(unsigned file)
{
	struct segment *s = mem_zalloc(sizeof(*s));

	if (s) {
		s->file = file;
		s->f = JOURNAL_FILE_CLOSED;
	}
	return s;
}

static bool open_file(struct journal *j, struct segment *s, enum journal_open_mode mode, struct reason *r)
{
	char name[JOURNAL_NAME_ROOM];
	int error;

	segment_name(name, s->file);
	error = j->io->calls->open(j->io, name, mode, &s->f);
	if (error)
		return reason_set(r, "cannot open %s/%s: %s", j->dir, name, journal_error(error));
	s->size = s->f.size / JOURNAL_BLOCK * JOURNAL_BLOCK;
	return true;
}

bool segment_open(struct journal *j, struct segment *s, struct reason *r)
{
	return open_file(j, s, JOURNAL_WRITE, r);
}

void segment_close(struct journal *j, struct segment *s)
{
	j->io->calls->close(j->io, &s->f);
}

int segment_remove(struct journal_io *io, unsigned file)
{
	char name[JOURNAL_NAME_ROOM];
	int error;

	segment_name(name, file);
	error = io->calls->unlink(io, name);
	return error == ENOENT ? 0 : error;
}

static bool is_there(struct journal_io *io, const char *name)
{
	struct journal_file f;
	int error = io->calls->open(io, name, JOURNAL_READ, &f);

	io->calls->close(io, &f);
	return error != ENOENT;
}

int segment_set_aside(struct journal_io *io, unsigned file)
{
	char name[JOURNAL_NAME_ROOM], lost[JOURNAL_NAME_ROOM + 16];

	segment_name(name, file);
	snprintf(lost, sizeof(lost), "%s.lost", name);
	/* Keeps files set aside earlier. */
	for (unsigned i = 1; is_there(io, lost) && i < 1000; i++)
		snprintf(lost, sizeof(lost), "%s.lost.%u", name, i);
	return io->calls->rename(io, name, lost);
}

/* Writes zeros in portions, waiting for each, and drops them from the page cache: later writes bypass it. */
static int fill(struct journal *j, struct segment *s, uint64_t size)
{
	size_t n = FILL_BYTES < size ? FILL_BYTES : (size_t)size;
	int error = 0;
	char *zeros;

	if (!size)
		return 0;
	zeros = mem_zalloc(n);
	if (!zeros)
		return ENOMEM;
	while (s->size < size && !error) {
		bool durable = false;

		error = j->io->calls->write(j->io, &s->f, zeros, n, s->size, &durable);
		if (!error)
			error = j->io->calls->sync(j->io, &s->f);
		s->size += n;
	}
	mem_free(zeros);
	if (!error)
		j->io->calls->forget(j->io, &s->f);
	return error;
}

struct segment *segment_make(struct journal *j, unsigned file, uint64_t size, struct reason *r)
{
	struct segment *s = segment_new(file);
	int error;

	if (!s) {
		reason_set(r, "out of memory");
		return NULL;
	}
	s->limit = size ? size : j->o.segment_bytes;
	if (!open_file(j, s, JOURNAL_CREATE, r)) {
		segment_free(j, s, false);
		return NULL;
	}
	error = fill(j, s, size);
	/* A file is on disk once its directory is (A5). */
	if (!error)
		error = j->io->calls->sync_dir(j->io);
	if (!error)
		return s;
	reason_set(r, "cannot write " JOURNAL_NAME "%u in %s: %s", file, j->dir, journal_error(error));
	segment_free(j, s, true);
	return NULL;
}

void segment_free(struct journal *j, struct segment *s, bool remove)
{
	if (!s)
		return;
	if (remove)
		(void)(s->aside ? segment_set_aside(j->io, s->file) : segment_remove(j->io, s->file));
	segment_close(j, s);
	mem_free(s);
}

/* ---- listing ---- */

struct listing {
	unsigned *files;
	size_t n, room;
	bool failed;
};

static bool take_name(void *ctx, const char *name)
{
	struct listing *l = ctx;
	const char *digits = name + sizeof(JOURNAL_NAME) - 1;
	unsigned long number;
	char *end;

	if (*digits < '1' || *digits > '9')
		return true;
	number = strtoul(digits, &end, 10);
	if (*end || number > UINT32_MAX / 2)
		return true;
	l->failed = !GROW(l->files, l->n + 1, l->room, 16);
	if (l->failed)
		return false;
	l->files[l->n++] = (unsigned)number;
	return true;
}

static int by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

bool segment_files(struct journal_io *io, unsigned **files, size_t *n, struct reason *r)
{
	struct listing l = { 0 };
	int error = io->calls->list(io, JOURNAL_NAME, take_name, &l);

	if (!error && !l.failed) {
		if (l.n)
			qsort(l.files, l.n, sizeof(*l.files), by_number);
		*files = l.files;
		*n = l.n;
		return true;
	}
	mem_free(l.files);
	*files = NULL;
	*n = 0;
	return l.failed ? reason_set(r, "out of memory")
			: reason_set(r, "the directory cannot be read: %s", journal_error(error));
}
