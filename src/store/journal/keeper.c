/* The journal's thread: prepares segments before they are wanted, and sees which are no longer needed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/journal/internal.h"

/* Of those that are full: whether RocksDB's files have all of its records (J3). */
static bool is_done(const struct segment *s, uint64_t on_disk)
{
	return s->last <= on_disk && !s->pins;
}

/* Small ones were for the beginning. One that was not prepared has blocks up to its last record. */
static bool is_worth_keeping(const struct journal *j, const struct segment *s)
{
	return s->size >= SEGMENT_BYTES / 4 * 3 && s->size <= SEGMENT_BYTES && j->waiting_count < SEGMENTS_WAITING;
}

/* Lock held. Returns those to be removed. On a full disk none waits: RocksDB needs the room to flush. */
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
		s->unsynced = 0; /* nobody needs what it has */
		segment_close(s);
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

/* One waits at any time, so that whoever writes finds it. */
static void prepare(struct journal *j)
{
	struct reason r = { 0 };
	struct segment *s;
	unsigned file;
	uint64_t size;

	pthread_mutex_lock(&j->lock);
	size = j->grown >= SEGMENT_BYTES ? SEGMENT_BYTES : j->grown * SEGMENT_GROWTH;
	file = j->last_file + 1;
	if (j->waiting || j->stopping) {
		pthread_mutex_unlock(&j->lock);
		return;
	}
	j->last_file = file;
	pthread_mutex_unlock(&j->lock);

	/* Without room nothing is prepared; then writes are refused, or make a segment as they go. */
	s = store_has_room(j->store, size) ? segment_make(j, file, size, &r) : NULL;
	if (r.failed)
		log_debug("store: no segment of the journal was prepared: %s", r.text);
	if (!s)
		return;
	segment_close(s);
	pthread_mutex_lock(&j->lock);
	j->grown = size;
	s->next = j->waiting;
	j->waiting = s;
	j->waiting_count++;
	pthread_mutex_unlock(&j->lock);
}

/* When the journal is broken nobody knows what of it is on disk. What RocksDB has in memory is brought there by its own means; nobody writes any more. */
static void rescue(struct journal *j)
{
	bool now;

	pthread_mutex_lock(&j->lock);
	now = j->broken.failed && !j->is_rescued;
	j->is_rescued |= now;
	pthread_mutex_unlock(&j->lock);
	if (now)
		store_flush_together(j->store);
}

/* Lock held. Adds all that wait but one to those to be removed. */
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

static void see_to_it(struct journal *j)
{
	uint64_t on_disk = 0;
	struct segment *gone;
	bool has_room = store_has_room(j->store, 0);

	rescue(j);
	if (!store_journal_on_disk(j->store, &on_disk))
		log_warn("store: what of the journal is no longer needed cannot be told, so it grows: RocksDB cannot be read");
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
}

static void *keep(void *arg)
{
	struct journal *j = arg;

	pthread_mutex_lock(&j->lock);
	while (!j->stopping) {
		if (!j->woken) {
			pthread_cond_wait(&j->wake, &j->lock);
			continue;
		}
		j->woken = false;
		pthread_mutex_unlock(&j->lock);
		see_to_it(j);
		pthread_mutex_lock(&j->lock);
	}
	pthread_mutex_unlock(&j->lock);
	return NULL;
}

bool journal_keeper_start(struct journal *j)
{
	j->has_thread = pthread_create(&j->thread, NULL, keep, j) == 0;
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
