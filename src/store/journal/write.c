/* Writing the journal.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>
#include "base/alloc.h"
#include "base/log.h"
#include "store/journal/internal.h"

/* Room for a record of usual size; larger room is freed after use. */
#define ROOM_USUAL ((size_t)256 << 10)

static size_t whole_blocks(size_t n)
{
	return (n + JOURNAL_BLOCK - 1) / JOURNAL_BLOCK * JOURNAL_BLOCK;
}

/* ---- what is written next ---- */

/* Keeps the first j->kept bytes. */
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

/* Secret, so that no item can pass for a record; never 0, which means unknown. */
static uint64_t new_run(const struct journal *j)
{
	struct timespec t;
	uint64_t run;

	if (getrandom(&run, sizeof(run), GRND_NONBLOCK) == (ssize_t)sizeof(run) && run)
		return run;
	clock_gettime(CLOCK_REALTIME, &t);
	return XXH3_64bits_withSeed(&t, sizeof(t), j->next) | 1;
}

static void begin_segment(struct journal *j, struct segment *s)
{
	struct journal_head head = { .run = j->run, .first = j->next, .before = j->before };

	memcpy(head.identity, j->o.identity, JOURNAL_IDENTITY);
	journal_head_put(j->buf, &head);
	s->next = NULL;
	s->first = j->next;
	s->last = 0;
	j->start = 0;
	j->kept = JOURNAL_BLOCK;
	j->current = s;
}

/* Closes a full segment unless it is still needed. */
static void close_unless_needed(struct journal *j, struct segment *s)
{
	if (s != j->current && !s->unsynced && !s->pins)
		segment_close(j, s);
}

/* A waiting segment that can be opened; NULL: none. */
static struct segment *take_waiting(struct journal *j)
{
	struct reason r = { 0 };
	struct segment *s;

	while ((s = j->waiting)) {
		j->waiting = s->next;
		j->waiting_count--;
		if (segment_open(j, s, &r))
			return s;
		segment_free(j, s, true);
	}
	return NULL;
}

/* Switches to a waiting segment, or creates one: slower, but without waiting for the keeper. */
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
	uint64_t open = j->next - 1 - j->durable;
	char *p = j->buf + j->kept;

	memcpy(p + JOURNAL_RECORD_HEAD, record.p, record.n);
	j->written_sum = journal_record_put(p, record.n, j->next, open > UINT32_MAX ? UINT32_MAX : (uint32_t)open,
					    j->sum, j->run);
	j->filled = j->kept + JOURNAL_RECORD_HEAD + record.n;
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
	reason_set(&j->broken, JOURNAL_NAME "%u in %s could not be %s: %s; Thorpe must be restarted", s->file, j->dir,
		   what, journal_error(error));
	*r = j->broken;
	journal_keeper_wake(j);
	return false;
}

/* 0, or the errno with which this or an earlier sync of any segment failed. */
static int sync_file(struct journal *j, struct segment *s)
{
	int error;

	pthread_mutex_lock(&j->syncing);
	error = j->io->calls->sync(j->io, &s->f);
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
	bool durable = sync;
	int error = 0;

	if (!fault(j, &error))
		error = j->io->calls->write(j->io, &s->f, j->buf, whole_blocks(j->filled), j->start, &durable);
	if (error == ENOSPC || error == EDQUOT)
		return reason_set(r, "no space left on the disk of %s", j->dir);
	if (error)
		return broke(j, s, "written", error, r);
	j->is_written = true;
	if (!durable)
		s->unsynced = j->next;
	j->is_synced = sync && sync_all(j, r);
	return !sync || j->is_synced;
}

/* Zeroes the head of the record just written, so that not even a crash brings it back. */
static void take_back(struct journal *j)
{
	struct reason r = { 0 };

	j->filled = j->kept + JOURNAL_RECORD_HEAD;
	memset(j->buf + j->kept, 0, whole_blocks(j->filled) - j->kept);
	if (!j->broken.failed && !write_out(j, true, &r))
		log_warn("store: a refused write may reappear after a crash: %s", r.text);
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

struct journal_point journal_begin(struct journal *j)
{
	pthread_mutex_lock(&j->lock);
	j->filled = j->kept;
	j->is_written = j->is_synced = false;
	return (struct journal_point){ j->next, j->run };
}

static bool fits(const struct journal *j, size_t bytes)
{
	/* A record larger than any segment extends one. */
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
		return reason_set(r, "%zu bytes are too many for one write", record.n);
	if (!fits(j, bytes) && !next_segment(j, r))
		return false;
	if (!make_room(j, whole_blocks(j->kept + bytes)))
		return reason_set(r, "out of memory");
	put_record(j, record);
	return write_out(j, sync, r);
}

/* The last, partly filled block is written again with the next record. */
static void advance(struct journal *j)
{
	size_t done = j->filled / JOURNAL_BLOCK * JOURNAL_BLOCK;
	uint64_t end = j->start + whole_blocks(j->filled);

	if (j->current->size < end)
		j->current->size = end;
	if (j->is_synced) {
		j->durable = j->next;
		journal_mark_put(j);
	}
	j->before = j->run;
	j->sum = j->written_sum;
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

		/* Shrinks the buffer; keeps the large one if out of memory. */
		j->room = 0;
		if (!make_room(j, ROOM_USUAL))
			j->room = room;
	}
	pthread_mutex_unlock(&j->lock);
}

/* ---- syncing ---- */

/* A segment with an unsynced record before `until`. */
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
			break; /* the rest was written after the call */
		close_unless_needed(j, s);
	}
	if (j->broken.failed) {
		*r = j->broken;
	} else if (until - 1 > j->durable) {
		j->durable = until - 1;
		journal_mark_put(j);
	}
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
	journal_mark_close(j, remove);
	free_list(j, j->full, remove);
	free_list(j, j->waiting, true);
	segment_free(j, j->current, remove);
	pthread_cond_destroy(&j->wake);
	pthread_mutex_destroy(&j->syncing);
	pthread_mutex_destroy(&j->lock);
	mem_free(j->memory);
	mem_free(j->dir);
	mem_free(j);
}

static bool start(struct journal *j, struct reason *r)
{
	struct segment *first;

	if (!make_room(j, ROOM_USUAL))
		return reason_set(r, "out of memory");
	if (!journal_replay(j, r))
		return false;
	j->run = new_run(j);
	/* On a full disk the database can still be read; the first write reports the error. */
	first = segment_make(j, ++j->last_file, j->o.segment_first, r);
	if (!first)
		first = segment_make(j, j->last_file, 0, r);
	if (!first)
		return false;
	r->failed = false;
	j->grown = j->o.segment_first;
	begin_segment(j, first);
	return j->o.by_hand || journal_keeper_start(j) || reason_set(r, "cannot start a thread");
}

/* Uses the monotonic clock: the wall clock may be set back by a day. */
static void init_wake(struct journal *j)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&j->wake, &attr);
	pthread_condattr_destroy(&attr);
}

bool journal_open(const struct journal_options *o, struct journal **out, struct reason *r)
{
	struct journal *j = mem_zalloc(sizeof(*j));

	if (!j)
		return reason_set(r, "out of memory");
	j->o = *o;
	j->io = o->io;
	j->mark = JOURNAL_FILE_CLOSED;
	if (!j->o.segment_first)
		j->o.segment_first = SEGMENT_FIRST;
	if (!j->o.segment_bytes)
		j->o.segment_bytes = SEGMENT_BYTES;
	pthread_mutex_init(&j->lock, NULL);
	pthread_mutex_init(&j->syncing, NULL);
	init_wake(j);
	j->dir = mem_strndup(o->dir, strlen(o->dir));
	j->o.dir = j->dir;
	if (j->dir ? start(j, r) : reason_set(r, "out of memory")) {
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
	if (done && j->durable < j->next - 1) {
		j->durable = j->next - 1;
		journal_mark_put(j);
	}
	journal_free(j, done);
}
