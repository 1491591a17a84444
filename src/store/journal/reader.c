/* Reads one segment, record by record, and can skip unreadable parts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "store/journal/internal.h"

/* The most bytes a search hashes: in a segment of the previous version, an item may be full of apparent heads of long
 * records. */
#define SEARCH_BYTES ((uint64_t)2 << 30)

static bool is_blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i])
			return false;
	}
	return true;
}

static enum journal_read cannot_read(struct reason *r, int error, uint64_t at)
{
	reason_set(r, "it cannot be read at byte %llu: %s", (unsigned long long)at, journal_error(error));
	return JOURNAL_FAILED;
}

static bool make_room(struct journal_reader *rd, size_t n)
{
	char *more;

	if (n <= rd->room)
		return true;
	more = mem_realloc(rd->buf, n * 2);
	if (!more)
		return false;
	rd->buf = more;
	rd->room = n * 2;
	return true;
}

static enum journal_read out_of_memory(struct reason *r)
{
	reason_set(r, "out of memory");
	return JOURNAL_FAILED;
}

/* Reads everything from `at` into rd->buf. */
static enum journal_read read_rest(struct journal_reader *rd, uint64_t at, size_t *n, struct reason *r)
{
	int error;

	*n = 0;
	if (at >= rd->file.size)
		return JOURNAL_END;
	if (!make_room(rd, (size_t)(rd->file.size - at)))
		return out_of_memory(r);
	error = rd->io->calls->read(rd->io, &rd->file, rd->buf, (size_t)(rd->file.size - at), at, n);
	return error ? cannot_read(r, error, at) : JOURNAL_RECORD;
}

enum journal_read journal_reader_start(struct journal_reader *rd, struct journal_io *io, const char *name,
				       struct reason *r)
{
	enum journal_read did;
	size_t n;
	int error;

	*rd = (struct journal_reader){ .io = io, .file = JOURNAL_FILE_CLOSED, .at = JOURNAL_BLOCK };
	error = io->calls->open(io, name, JOURNAL_READ, &rd->file);
	if (error)
		return cannot_read(r, error, 0);
	if (!make_room(rd, JOURNAL_BLOCK))
		return out_of_memory(r);
	memset(rd->buf, 0, JOURNAL_BLOCK);
	error = io->calls->read(io, &rd->file, rd->buf, JOURNAL_BLOCK, 0, &n);
	if (error)
		return cannot_read(r, error, 0);
	if (journal_head_get(rd->buf, &rd->head)) {
		rd->run = rd->head.run;
		rd->next = rd->head.first;
		rd->record_head = rd->head.is_old ? JOURNAL_OLD_RECORD_HEAD : JOURNAL_RECORD_HEAD;
		return JOURNAL_RECORD;
	}
	did = is_blank(rd->buf, n) ? read_rest(rd, JOURNAL_BLOCK, &n, r) : JOURNAL_END;
	rd->is_blank = did != JOURNAL_FAILED && is_blank(rd->buf, n);
	return did == JOURNAL_FAILED ? did : JOURNAL_END;
}

/* A record with the right number may still be the wrong one: its write was refused, another took its place, and that
 * one did not reach the disk. */
static bool follows(const struct journal_reader *rd, const char *head)
{
	uint64_t before = rd->head.is_old ? 0 : read_be64(head + 24);

	return !before || !rd->sum || before == rd->sum;
}

enum journal_read journal_reader_next(struct journal_reader *rd, struct slice *record, struct reason *r)
{
	char head[JOURNAL_RECORD_HEAD];
	size_t size, n, got;
	int error = rd->io->calls->read(rd->io, &rd->file, head, rd->record_head, rd->at, &got);

	if (error)
		return cannot_read(r, error, rd->at);
	if (got < rd->record_head || read_be64(head + 8) != rd->next)
		return JOURNAL_END;
	size = read_be32(head + 16);
	n = rd->record_head + size;
	if (n > rd->file.size - rd->at)
		return JOURNAL_END;
	if (!make_room(rd, n))
		return out_of_memory(r);
	error = rd->io->calls->read(rd->io, &rd->file, rd->buf, n, rd->at, &got);
	if (error)
		return cannot_read(r, error, rd->at);
	if (got < n || !journal_record_is_whole(rd->buf, n, rd->run) || !follows(rd, head))
		return JOURNAL_END;
	rd->sum = read_be64(head);
	*record = slice_make(rd->buf + rd->record_head, size);
	rd->open = read_be32(head + 20);
	rd->at += n;
	rd->next++;
	return JOURNAL_RECORD;
}

/* Whether a whole record with a number of at least rd->next begins here. */
static bool begins_here(const struct journal_reader *rd, const char *p, size_t left, uint64_t *hashed)
{
	uint64_t number = read_be64(p + 8);
	size_t n = rd->record_head + (size_t)read_be32(p + 16);

	/* A file has no more records than room for their heads. */
	if (number < rd->next || number - rd->next > rd->file.size / rd->record_head || n > left)
		return false;
	if (!rd->head.is_old && !journal_record_begins(p, rd->run))
		return false;
	*hashed += n;
	return journal_record_is_whole(p, n, rd->run);
}

enum journal_read journal_reader_search(struct journal_reader *rd, struct reason *r)
{
	uint64_t hashed = 0;
	enum journal_read did;
	size_t n;

	did = read_rest(rd, rd->at, &n, r);
	if (did != JOURNAL_RECORD)
		return did;
	for (size_t i = 1; i + rd->record_head <= n; i++) {
		if (rd->buf[i + 8] || rd->buf[i + 9]) /* no number is that large; this skips most positions */
			continue;
		if (begins_here(rd, rd->buf + i, n - i, &hashed)) {
			rd->at += i;
			rd->next = read_be64(rd->buf + i + 8);
			rd->sum = 0;
			return JOURNAL_RECORD;
		}
		if (hashed > SEARCH_BYTES) {
			reason_set(r, "too much of it looks like records but is not");
			return JOURNAL_FAILED;
		}
	}
	return JOURNAL_END;
}

void journal_reader_end(struct journal_reader *rd)
{
	rd->io->calls->close(rd->io, &rd->file);
	mem_free(rd->buf);
	rd->buf = NULL;
	rd->room = 0;
}
