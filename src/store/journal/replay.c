/* Reading the journal back.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include "base/alloc.h"
#include "base/log.h"
#include "store/journal/internal.h"

#define MB ((uint64_t)1 << 20)

/* ---- one segment ---- */

/* Less than n only at the end of the file; -1: errno. */
static ssize_t read_at(int fd, char *to, size_t n, uint64_t at)
{
	size_t got = 0;

	while (got < n) {
		ssize_t did = pread(fd, to + got, n - got, (off_t)(at + got));

		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0)
			return -1;
		if (did == 0)
			break;
		got += (size_t)did;
	}
	return (ssize_t)got;
}

enum journal_read journal_reader_start(struct journal_reader *rd, int fd, struct reason *r)
{
	char head[JOURNAL_HEAD];
	struct stat st;
	ssize_t got;

	*rd = (struct journal_reader){ .fd = fd, .at = JOURNAL_BLOCK };
	got = fstat(fd, &st) < 0 ? -1 : read_at(fd, head, sizeof(head), 0);
	if (got < 0) {
		journal_fail(r, "the journal cannot be read: %m");
		return JOURNAL_FAILED;
	}
	if (got < (ssize_t)sizeof(head) || memcmp(head, journal_magic, sizeof(journal_magic)) != 0 ||
	    read_be64(head + 32) != XXH3_64bits(head, 32))
		return JOURNAL_END;
	rd->size = (uint64_t)st.st_size;
	rd->salt = read_be64(head + 16);
	rd->first = rd->next = read_be64(head + 24);
	return JOURNAL_RECORD;
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

enum journal_read journal_reader_next(struct journal_reader *rd, struct slice *record, struct reason *r)
{
	char head[JOURNAL_RECORD_HEAD];
	ssize_t got = read_at(rd->fd, head, sizeof(head), rd->at);
	size_t size, n;

	if (got >= 0 && got < (ssize_t)sizeof(head))
		return JOURNAL_END;
	size = got < 0 ? 0 : read_be32(head + 16);
	n = sizeof(head) + size;
	if (got > 0 && (read_be64(head + 8) != rd->next || read_be32(head + 20) != 0 || n > rd->size - rd->at))
		return JOURNAL_END;
	if (!make_room(rd, n)) {
		journal_fail(r, "out of memory");
		return JOURNAL_FAILED;
	}
	if (got > 0)
		got = read_at(rd->fd, rd->buf, n, rd->at);
	if (got < 0) {
		journal_fail(r, "the journal cannot be read: %m");
		return JOURNAL_FAILED;
	}
	if ((size_t)got < n || read_be64(rd->buf) != XXH3_64bits_withSeed(rd->buf + 8, n - 8, rd->salt))
		return JOURNAL_END;
	*record = slice_make(rd->buf + sizeof(head), size);
	rd->at += n;
	rd->next++;
	return JOURNAL_RECORD;
}

void journal_reader_end(struct journal_reader *rd)
{
	mem_free(rd->buf);
	rd->buf = NULL;
	rd->room = 0;
}

/* ---- all of them ---- */

struct found {
	struct segment *segment;
	struct journal_reader reader;
	bool has_head, seen, needed;
};

struct replay {
	struct store *store;
	const char *dir;
	journal_apply *apply; /* NULL: they are only counted */
	struct found *all;
	size_t n;
	uint64_t after, next; /* next: number that is looked for */
	uint64_t count, bytes;
};

static struct found *beginning_with(struct replay *p, uint64_t number)
{
	for (size_t i = 0; i < p->n; i++) {
		struct found *f = &p->all[i];

		if (f->has_head && !f->seen && f->reader.first == number)
			return f;
	}
	return NULL;
}

/* The one that has the first record behind `after`, if any does. */
static struct found *first_needed(struct replay *p)
{
	struct found *best = NULL;

	for (size_t i = 0; i < p->n; i++) {
		struct found *f = &p->all[i];

		if (f->has_head && f->reader.first <= p->after + 1 && (!best || f->reader.first > best->reader.first))
			best = f;
	}
	return best;
}

/* Up to its end, or up to a segment that begins with the number that comes next (J4). */
static bool replay_records(struct replay *p, struct found *f, struct reason *r)
{
	struct slice record;

	while (!beginning_with(p, f->reader.next)) {
		enum journal_read did = journal_reader_next(&f->reader, &record, r);

		if (did != JOURNAL_RECORD)
			return did == JOURNAL_END;
		if (f->reader.next - 1 <= p->after)
			continue;
		if (p->apply && !p->apply(p->store, record, r))
			return false;
		f->needed = true;
		p->count++;
		p->bytes += record.n;
	}
	return true;
}

/* What is needed of it is on disk before anything follows it: a killed process may have left it in the page cache only. */
static bool replay_segment(struct replay *p, struct found *f, struct reason *r)
{
	int error = 0;
	bool ok;

	f->seen = true;
	if (!segment_open_to_read(p->dir, f->segment, r))
		return false;
	f->reader.fd = f->segment->fd;
	ok = replay_records(p, f, r);
	p->next = f->reader.next;
	if (ok && f->needed && p->apply && (error = segment_sync(f->segment))) {
		errno = error;
		ok = journal_fail(r, "the journal in %s cannot be synced: %m", p->dir);
	}
	journal_reader_end(&f->reader);
	segment_close(f->segment);
	return ok;
}

static bool replay_all(struct replay *p, struct reason *r)
{
	struct found *f = first_needed(p);

	p->next = p->after + 1;
	while (f) {
		if (!replay_segment(p, f, r))
			return false;
		f = beginning_with(p, p->next);
	}
	/* RocksDB's files may have more than the journal: it was not synced. */
	if (p->next <= p->after)
		p->next = p->after + 1;
	return true;
}

static bool is_lost(const struct replay *p, const struct found *f)
{
	return f->has_head && !f->seen && f->reader.first > p->next;
}

/* Records behind a gap were not synced, and the machine stopped; or the disk has lost what it once had. Nobody can tell, so they are kept aside. */
static bool set_lost_aside(struct replay *p)
{
	bool ok = true;
	size_t n = 0;

	for (size_t i = 0; i < p->n && ok; i++) {
		if (!is_lost(p, &p->all[i]))
			continue;
		n++;
		ok = segment_set_aside(p->dir, p->all[i].segment->file);
	}
	if (n)
		log_warn("store: write %" PRIu64 " is not in the journal of %s, but %zu of its files begin with later ones. What was written without a sync "
			 "before the machine stopped is lost; if all was synced, the disk has lost it. They are called journal.N.lost now", p->next, p->dir, n);
	return ok;
}

/* Those whose records are still needed stay; the others are removed, so that no number is there twice. */
static bool sort_out(struct journal *j, struct replay *p, struct reason *r)
{
	bool ok = set_lost_aside(p);

	for (size_t i = 0; i < p->n; i++) {
		struct found *f = &p->all[i];
		struct segment *s = f->segment;

		if (s->file > j->last_file)
			j->last_file = s->file;
		if (f->needed) {
			s->first = f->reader.first;
			s->last = f->reader.next - 1;
			s->next = j->full;
			j->full = s;
			f->segment = NULL;
		} else if (ok && !is_lost(p, f)) {
			ok = segment_remove(p->dir, s->file);
		}
	}
	return (ok && fsync(j->store->dir_fd) == 0) || journal_fail(r, "the directory %s cannot be written: %m", p->dir);
}

static bool look_at(struct found *f, unsigned file, const char *dir, struct reason *r)
{
	enum journal_read head = JOURNAL_FAILED;

	f->segment = segment_new(file);
	if (!f->segment)
		return journal_fail(r, "out of memory");
	if (segment_open_to_read(dir, f->segment, r))
		head = journal_reader_start(&f->reader, f->segment->fd, r);
	segment_close(f->segment);
	f->has_head = head == JOURNAL_RECORD;
	return head != JOURNAL_FAILED;
}

static bool find_segments(struct replay *p, struct reason *r)
{
	unsigned *files;
	bool ok = true;
	size_t n;

	if (!segment_files(p->dir, &files, &n, r))
		return false;
	p->all = mem_zalloc((n + 1) * sizeof(*p->all));
	if (!p->all)
		ok = journal_fail(r, "out of memory");
	for (size_t i = 0; i < n && ok; i++)
		ok = look_at(&p->all[p->n++], files[i], p->dir, r);
	mem_free(files);
	return ok;
}

static void forget(struct replay *p)
{
	for (size_t i = 0; i < p->n; i++)
		segment_free(NULL, p->all[i].segment, false);
	mem_free(p->all);
}

bool journal_replay(struct journal *j, uint64_t after, journal_apply *apply, struct reason *r)
{
	struct replay p = { .store = j->store, .dir = j->store->dir, .apply = apply, .after = after };
	bool ok = find_segments(&p, r) && replay_all(&p, r) && sort_out(j, &p, r);

	j->next = p.next;
	if (ok && p.count)
		log_info("store: the database was not closed; %" PRIu64 " batches (%" PRIu64 " MB) were taken from its journal", p.count,
			 (p.bytes + MB / 2) / MB);
	forget(&p);
	return ok;
}

bool journal_count(const char *dir, uint64_t after, uint64_t *count, struct reason *r)
{
	struct replay p = { .dir = dir, .after = after };
	bool ok = find_segments(&p, r) && replay_all(&p, r);

	*count = p.count;
	forget(&p);
	return ok;
}
