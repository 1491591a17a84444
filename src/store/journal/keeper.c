/* The journal's thread: prepares segments in advance, and finds those no longer needed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <time.h>
#include "base/log.h"
#include "store/journal/internal.h"

/* Between two attempts to flush RocksDB's memory. */
#define RESCUE_SECONDS 1

/* For a full segment: whether RocksDB's files have all of its records (J3). */
static bool is_done(const struct segment *s, uint64_t on_disk)
{
	return s->last <= on_disk && !s->pins;
}

/* Not the small ones of a new database, nor unprepared ones, which have blocks only up to their last record. */
static bool is_worth_keeping(const struct journal *j, const struct segment *s)
{
	return !s->aside && s->size >= j->o.segment_bytes / 4 * 3 && s->size <= j->o.segment_bytes &&
	       j->waiting_count < SEGMENTS_WAITING;
}

/* Lock held. Returns the segments to remove. On a full disk keeps none for reuse: RocksDB needs the room to flush. */
static struct segment *sort_out(struct journal *j, uint64_t on_disk, bool has_room)
{
	struct segment **at = &j->full, *s, *gone = NULL;

	if (!has_room) {
		gone = j->waiting;
		j->waiting = NULL;
		j->waiting_count = 0;
	}
	while ((s = *at)) {
		if (!is_done(s, on_disk)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		s->unsynced = 0; /* its records are no longer needed */
		segment_close(j, s);
		if (has_room && is_worth_keeping(j, s)) {
			s->limit = s->size;
			s->next = j->waiting;
			j->waiting = s;
			j->waiting_count++;
		} else {
			s->next = gone;
			gone = s;
		}
	}
	return gone;
}

/* Keeps one segment ready for the next write. */
static void prepare(struct journal *j)
{
	struct reason r = { 0 };
	struct segment *s;
	unsigned file;
	uint64_t size;

	pthread_mutex_lock(&j->lock);
	size = j->grown * SEGMENT_GROWTH > j->o.segment_bytes ? j->o.segment_bytes : j->grown * SEGMENT_GROWTH;
	file = j->last_file + 1;
	if (j->waiting || j->stopping) {
		pthread_mutex_unlock(&j->lock);
		return;
	}
	j->last_file = file;
	pthread_mutex_unlock(&j->lock);

	/* Without room prepares nothing; writes are then refused, or create their own segment. */
	s = j->o.has_room(j->o.owner, size) ? segment_make(j, file, size, &r) : NULL;
	if (r.failed)
		log_debug("store: cannot prepare a segment of the journal: %s", r.text);
	if (!s)
		return;
	segment_close(j, s);
	pthread_mutex_lock(&j->lock);
	j->grown = size;
	s->next = j->waiting;
	j->waiting = s;
	j->waiting_count++;
	pthread_mutex_unlock(&j->lock);
}

/* When the journal is broken, the state on disk is unknown, and there are no more writes. Flushes RocksDB's memory to
 * its files, where it is safe. True: failed, try again. */
static bool rescue(struct journal *j)
{
	uint64_t on_disk = 0, last;
	bool now;

	pthread_mutex_lock(&j->lock);
	now = j->broken.failed && !j->is_rescued;
	last = j->next - 1;
	pthread_mutex_unlock(&j->lock);
	if (!now)
		return false;
	j->o.flush(j->o.owner);
	now = !j->o.on_disk(j->o.owner, &on_disk) || on_disk < last;
	pthread_mutex_lock(&j->lock);
	j->is_rescued = !now;
	pthread_mutex_unlock(&j->lock);
	return now;
}

/* Lock held. Adds all waiting segments but one to those to remove. */
static struct segment *trim_waiting(struct journal *j, struct segment *gone)
{
	while (j->waiting && j->waiting->next) {
		struct segment *s = j->waiting;

		j->waiting = s->next;
		j->waiting_count--;
		s->next = gone;
		gone = s;
	}
	return gone;
}

/* True: run again without waiting for a wake. */
static bool see_to_it(struct journal *j)
{
	uint64_t on_disk = 0;
	struct segment *gone;
	bool has_room = j->o.has_room(j->o.owner, 0), again = rescue(j);

	if (!j->o.on_disk(j->o.owner, &on_disk))
		log_warn("store: cannot read from RocksDB which parts of the journal are no longer needed, so the journal grows");
	pthread_mutex_lock(&j->lock);
	gone = sort_out(j, on_disk, has_room);
	if (j->trim)
		gone = trim_waiting(j, gone);
	j->trim = false;
	pthread_mutex_unlock(&j->lock);
	while (gone) {
		struct segment *next = gone->next;

		segment_free(j, gone, true);
		gone = next;
	}
	if (has_room)
		prepare(j);
	return again;
}

void journal_tend(struct journal *j)
{
	(void)see_to_it(j);
}

/* Lock held. */
static void wait_a_while(struct journal *j)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += RESCUE_SECONDS;
	(void)pthread_cond_timedwait(&j->wake, &j->lock, &until);
}

static void *keep_segments(void *arg)
{
	struct journal *j = arg;
	bool again = false;

	pthread_mutex_lock(&j->lock);
	while (!j->stopping) {
		if (!j->woken && !again) {
			pthread_cond_wait(&j->wake, &j->lock);
			continue;
		}
		if (!j->woken)
			wait_a_while(j);
		j->woken = false;
		pthread_mutex_unlock(&j->lock);
		again = see_to_it(j);
		pthread_mutex_lock(&j->lock);
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

bool journal_keeper_start(struct journal *j)
{
	j->has_thread = pthread_create(&j->thread, NULL, keep_segments, j) == 0;
	return j->has_thread;
}

void journal_keeper_stop(struct journal *j)
{
	if (!j->has_thread)
		return;
	pthread_mutex_lock(&j->lock);
	j->stopping = true;
	pthread_cond_signal(&j->wake);
	pthread_mutex_unlock(&j->lock);
	pthread_join(j->thread, NULL);
}

void journal_trim(struct journal *j)
{
	pthread_mutex_lock(&j->lock);
	j->trim = true;
	journal_keeper_wake(j);
	pthread_mutex_unlock(&j->lock);
}

void journal_keeper_wake(struct journal *j)
{
	j->woken = true;
	pthread_cond_signal(&j->wake);
}
