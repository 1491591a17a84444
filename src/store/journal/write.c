/* Writing the journal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "store/journal/journal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include "base/alloc.h"
#include "base/log.h"
#include "store/journal/internal.h"

const char journal_magic[16] = "thorpe journal\n";

/* Room for a record of the usual size; what a large one needed is given back. */
#define ROOM_USUAL ((size_t)256 << 10)

static size_t whole_blocks(size_t n)
{
	return (n + JOURNAL_BLOCK - 1) / JOURNAL_BLOCK * JOURNAL_BLOCK;
}

/* ---- what is written next ---- */

/* What has been kept stays. */
static bool make_room(struct journal *j, size_t room)
{
	char *memory, *buf;

	if (room <= j->room)
		return true;
	memory = mem_alloc(room + JOURNAL_BLOCK);
	if (!memory)
		return false;
	buf = memory + (JOURNAL_BLOCK - (uintptr_t)memory % JOURNAL_BLOCK) % JOURNAL_BLOCK;
	if (j->kept)
		memcpy(buf, j->buf, j->kept);
	mem_free(j->memory);
	j->memory = memory;
	j->buf = buf;
	j->room = room;
	return true;
}

/* Two uses of a segment have the same salt once in 2^64; and then what is left of the first one would have to fit as well. */
static uint64_t new_salt(const struct journal *j)
{
	struct timespec t;
	uint64_t salt;

	if (getrandom(&salt, sizeof(salt), GRND_NONBLOCK) == (ssize_t)sizeof(salt))
		return salt;
	clock_gettime(CLOCK_REALTIME, &t);
	return XXH3_64bits_withSeed(&t, sizeof(t), j->next);
}

static void begin_segment(struct journal *j, struct segment *s)
{
	s->next = NULL;
	s->salt = new_salt(j);
	s->first = j->next;
	s->last = 0;
	memset(j->buf, 0, JOURNAL_BLOCK);
	memcpy(j->buf, journal_magic, sizeof(journal_magic));
	store_put_be64(j->buf + 16, s->salt);
	store_put_be64(j->buf + 24, s->first);
	store_put_be64(j->buf + 32, XXH3_64bits(j->buf, 32));
	j->start = 0;
	j->kept = JOURNAL_BLOCK;
	j->current = s;
}

/* Of those that are full. */
static void close_unless_needed(const struct journal *j, struct segment *s)
{
	if (s != j->current && !s->unsynced && !s->pins)
		segment_close(s);
}

/* One that waits and can be opened; NULL: there is none. */
static struct segment *take_waiting(struct journal *j)
{
	struct reason r = { 0 };
	struct segment *s;

	while ((s = j->waiting)) {
		j->waiting = s->next;
		j->waiting_count--;
		if (segment_open(j->store->dir, s, &r))
			return s;
		segment_free(j, s, true);
	}
	return NULL;
}

/* To one that waits, or to a new one, which is written to before it was prepared: slowly, but nobody waits for the keeper. */
static bool next_segment(struct journal *j, struct reason *r)
{
	struct segment *was = j->current, *s = take_waiting(j);

	if (!s)
		s = segment_make(j, ++j->last_file, 0, r);
	if (!s)
		return false;
	was->next = j->full;
	j->full = was;
	begin_segment(j, s);
	close_unless_needed(j, was);
	journal_keeper_wake(j);
	return true;
}

static void put_record(struct journal *j, struct slice record)
{
	char *p = j->buf + j->kept;
	size_t n = JOURNAL_RECORD_HEAD + record.n;

	store_put_be64(p + 8, j->next);
	store_put_be32(p + 16, (uint32_t)record.n);
	store_put_be32(p + 20, 0);
	memcpy(p + JOURNAL_RECORD_HEAD, record.p, record.n);
	store_put_be64(p, XXH3_64bits_withSeed(p + 8, n - 8, j->current->salt));
	j->filled = j->kept + n;
	memset(j->buf + j->filled, 0, whole_blocks(j->filled) - j->filled);
}

/* ---- writing ---- */

static bool fault(struct journal *j, int *error)
{
	if (!j->fail_next)
		return false;
	*error = j->fail_next;
	j->fail_next = 0;
	return true;
}

static bool broke(struct journal *j, const struct segment *s, const char *what, int error, struct reason *r)
{
	errno = error;
	journal_fail(&j->broken, JOURNAL_NAME "%u in %s could not be %s: %m; Thorpe must be restarted", s->file, j->store->dir, what);
	*r = j->broken;
	journal_keeper_wake(j);
	return false;
}

/* 0, or the errno with which this or an earlier sync of any segment failed. */
static int sync_file(struct journal *j, const struct segment *s)
{
	int error;

	pthread_mutex_lock(&j->syncing);
	error = segment_sync(s);
	if (error)
		j->sync_error = error;
	error = j->sync_error;
	pthread_mutex_unlock(&j->syncing);
	return error;
}

static bool sync_segment(struct journal *j, struct segment *s, struct reason *r)
{
	int error = 0;

	if (!s->unsynced)
		return true;
	if (fault(j, &error) || (error = sync_file(j, s)))
		return broke(j, s, "synced", error, r);
	s->unsynced = 0;
	close_unless_needed(j, s);
	return true;
}

static bool sync_all(struct journal *j, struct reason *r)
{
	bool ok = true;

	for (struct segment *s = j->full; s && ok; s = s->next)
		ok = sync_segment(j, s, r);
	return ok && sync_segment(j, j->current, r);
}

static bool write_out(struct journal *j, bool sync, struct reason *r)
{
	struct segment *s = j->current;
	int error = 0;
	bool synced = false;

	if (fault(j, &error) || !segment_write(s, j->buf, whole_blocks(j->filled), j->start, sync, &synced, &error)) {
		if (error != ENOSPC && error != EDQUOT)
			return broke(j, s, "written", error, r);
		return journal_fail(r, "no space left on the disk of %s", j->store->dir);
	}
	j->is_written = true;
	if (!synced)
		s->unsynced = j->next;
	return !sync || sync_all(j, r);
}

/* Takes the head of the record that was written away from it, so that not even a crash brings it back. */
static void take_back(struct journal *j)
{
	struct reason r = { 0 };

	j->filled = j->kept + JOURNAL_RECORD_HEAD;
	memset(j->buf + j->kept, 0, whole_blocks(j->filled) - j->kept);
	if (!j->broken.failed && !write_out(j, true, &r))
		log_warn("store: a write that was refused may be there after a crash: %s", r.text);
}

void journal_pause(struct journal *j)
{
	pthread_mutex_lock(&j->lock);
}

void journal_go_on(struct journal *j)
{
	pthread_mutex_unlock(&j->lock);
}

uint64_t journal_last(struct journal *j)
{
	uint64_t last;

	pthread_mutex_lock(&j->lock);
	last = j->next - 1;
	pthread_mutex_unlock(&j->lock);
	return last;
}

uint64_t journal_begin(struct journal *j)
{
	pthread_mutex_lock(&j->lock);
	j->filled = j->kept;
	j->is_written = false;
	return j->next;
}

static bool fits(const struct journal *j, size_t bytes)
{
	/* A record that is larger than any segment makes one longer. */
	return j->start + whole_blocks(j->kept + bytes) <= j->current->limit || !j->current->last;
}

bool journal_append(struct journal *j, struct slice record, bool sync, struct reason *r)
{
	size_t bytes = JOURNAL_RECORD_HEAD + record.n;

	if (j->broken.failed) {
		*r = j->broken;
		return false;
	}
	if (record.n > UINT32_MAX)
		return journal_fail(r, "%zu bytes are too many for one write", record.n);
	if (!fits(j, bytes) && !next_segment(j, r))
		return false;
	if (!make_room(j, whole_blocks(j->kept + bytes)))
		return journal_fail(r, "out of memory");
	put_record(j, record);
	return write_out(j, sync, r);
}

/* The last block is not full yet: it is written again with the next record. */
static void advance(struct journal *j)
{
	size_t done = j->filled / JOURNAL_BLOCK * JOURNAL_BLOCK;
	uint64_t end = j->start + whole_blocks(j->filled);

	if (j->current->size < end)
		j->current->size = end;
	j->current->last = j->next++;
	j->start += done;
	j->kept = j->filled - done;
	memmove(j->buf, j->buf + done, j->kept);
}

void journal_end(struct journal *j, bool keep)
{
	if (keep && j->is_written) {
		if (j->current->last == 0 && !j->waiting)
			journal_keeper_wake(j);
		advance(j);
	} else if (j->is_written) {
		take_back(j);
	}
	if (j->room > ROOM_USUAL) {
		size_t room = j->room;

		/* Smaller memory, or none less if there is none to be had. */
		j->room = 0;
		if (!make_room(j, ROOM_USUAL))
			j->room = room;
	}
	pthread_mutex_unlock(&j->lock);
}

/* ---- syncing ---- */

/* One with a record before `until` that is not on disk. */
static struct segment *find_unsynced(const struct journal *j, uint64_t until)
{
	struct segment *s = j->full;

	while (s && (!s->unsynced || s->first >= until))
		s = s->next;
	if (!s && j->current->unsynced && j->current->first < until)
		s = j->current;
	return s;
}

bool journal_sync(struct journal *j, struct reason *r)
{
	struct segment *s;
	uint64_t until;

	pthread_mutex_lock(&j->lock);
	until = j->next;
	while (!j->broken.failed && (s = find_unsynced(j, until))) {
		uint64_t upto = s->unsynced;
		int error = 0;
		bool failed = fault(j, &error);

		s->pins++;
		pthread_mutex_unlock(&j->lock);
		failed = failed || (error = sync_file(j, s));
		pthread_mutex_lock(&j->lock);
		s->pins--;
		if (failed)
			(void)broke(j, s, "synced", error, r);
		else if (s->unsynced == upto)
			s->unsynced = 0;
		else if (s == j->current)
			break; /* what is left came after the call */
		close_unless_needed(j, s);
	}
	if (j->broken.failed)
		*r = j->broken;
	pthread_mutex_unlock(&j->lock);
	return !r->failed;
}

void journal_fail_next(struct journal *j, int error)
{
	pthread_mutex_lock(&j->lock);
	j->fail_next = error;
	pthread_mutex_unlock(&j->lock);
}

/* ---- opening and closing ---- */

static void free_list(struct journal *j, struct segment *s, bool remove)
{
	while (s) {
		struct segment *next = s->next;

		segment_free(j, s, remove);
		s = next;
	}
}

static void journal_free(struct journal *j, bool remove)
{
	free_list(j, j->full, remove);
	free_list(j, j->waiting, true);
	segment_free(j, j->current, remove);
	pthread_cond_destroy(&j->wake);
	pthread_mutex_destroy(&j->syncing);
	pthread_mutex_destroy(&j->lock);
	mem_free(j->memory);
	mem_free(j);
}

static bool start(struct journal *j, uint64_t after, journal_apply *apply, struct reason *r)
{
	struct segment *first;

	if (!make_room(j, ROOM_USUAL))
		return journal_fail(r, "out of memory");
	if (!journal_replay(j, after, apply, r))
		return false;
	/* On a full disk the database can still be read; the first write tells. */
	first = segment_make(j, ++j->last_file, SEGMENT_FIRST, r);
	if (!first)
		first = segment_make(j, j->last_file, 0, r);
	if (!first)
		return false;
	r->failed = false;
	j->grown = SEGMENT_FIRST;
	begin_segment(j, first);
	return journal_keeper_start(j) || journal_fail(r, "no thread can be started");
}

bool journal_open(struct store *s, uint64_t after, journal_apply *apply, struct journal **out, struct reason *r)
{
	struct journal *j = mem_zalloc(sizeof(*j));

	if (!j)
		return journal_fail(r, "out of memory");
	j->store = s;
	pthread_mutex_init(&j->lock, NULL);
	pthread_mutex_init(&j->syncing, NULL);
	pthread_cond_init(&j->wake, NULL);
	if (start(j, after, apply, r)) {
		*out = j;
		return true;
	}
	journal_free(j, false);
	return false;
}

void journal_close(struct journal *j, bool done)
{
	if (!j)
		return;
	journal_keeper_stop(j);
	journal_free(j, done);
}
