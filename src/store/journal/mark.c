/* The file `acknowledged`: the last record on disk, so that damage to the last ones is detected too (journal.h, J5).
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <xxhash.h>
#include "base/log.h"
#include "store/journal/internal.h"

static const char magic[16] = "thorpe durable\n";
#define SUMMED     40
#define MARK_BYTES 48
#define NEW_NAME   JOURNAL_MARK ".new"

static void put_mark(char p[MARK_BYTES], const struct journal *j, uint64_t number)
{
	memcpy(p, magic, sizeof(magic));
	memcpy(p + 16, j->o.identity, JOURNAL_IDENTITY);
	store_put_be64(p + 32, number);
	store_put_be64(p + SUMMED, XXH3_64bits(p, SUMMED));
}

bool journal_mark_read(struct journal_io *io, struct journal_mark *m, struct reason *r)
{
	char p[MARK_BYTES] = { 0 };
	struct journal_file f;
	size_t n = 0;
	int error = io->calls->open(io, JOURNAL_MARK, JOURNAL_READ, &f);

	*m = (struct journal_mark){ 0 };
	if (error == ENOENT)
		return true;
	if (!error)
		error = io->calls->read(io, &f, p, sizeof(p), 0, &n);
	io->calls->close(io, &f);
	if (error)
		return reason_set(r, JOURNAL_MARK " cannot be read: %s", journal_error(error));
	m->exists = true;
	m->is_whole = n == sizeof(p) && memcmp(p, magic, sizeof(magic)) == 0 &&
		      read_be64(p + SUMMED) == XXH3_64bits(p, SUMMED);
	if (m->is_whole) {
		memcpy(m->identity, p + 16, JOURNAL_IDENTITY);
		m->number = read_be64(p + 32);
	}
	return true;
}

/* Written under another name first, so it is never partial. */
static int make_mark(struct journal *j)
{
	char p[MARK_BYTES];
	bool durable = false;
	int error = j->io->calls->open(j->io, NEW_NAME, JOURNAL_CREATE, &j->mark);

	put_mark(p, j, j->durable);
	if (!error)
		error = j->io->calls->write(j->io, &j->mark, p, sizeof(p), 0, &durable);
	if (!error)
		error = j->io->calls->sync(j->io, &j->mark);
	j->io->calls->close(j->io, &j->mark);
	if (!error)
		error = j->io->calls->rename(j->io, NEW_NAME, JOURNAL_MARK);
	if (!error)
		error = j->io->calls->sync_dir(j->io);
	if (error)
		(void)j->io->calls->unlink(j->io, NEW_NAME);
	return error;
}

bool journal_mark_open(struct journal *j, const struct journal_mark *was, struct reason *r)
{
	int error = was->is_whole ? 0 : make_mark(j);

	if (!error)
		error = j->io->calls->open(j->io, JOURNAL_MARK, JOURNAL_WRITE, &j->mark);
	/* On a full disk the database can still be read, and works without this file. */
	if (error == ENOSPC || error == EDQUOT)
		return true;
	return !error || reason_set(r, "cannot write %s/" JOURNAL_MARK ": %s", j->dir, journal_error(error));
}

void journal_mark_put(struct journal *j)
{
	char p[MARK_BYTES];
	bool durable = false;
	int error;

	if (j->mark.fd < 0)
		return;
	put_mark(p, j, j->durable);
	error = j->io->calls->write(j->io, &j->mark, p, sizeof(p), 0, &durable);
	/* An old mark does no harm while the journal is sound. */
	if (error && !j->mark_failed)
		log_warn("store: %s/" JOURNAL_MARK " could not be written: %s", j->dir, journal_error(error));
	j->mark_failed |= error != 0;
}

void journal_mark_close(struct journal *j, bool durable)
{
	if (j->mark.fd >= 0 && durable)
		(void)j->io->calls->sync(j->io, &j->mark);
	j->io->calls->close(j->io, &j->mark);
}
