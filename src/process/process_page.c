/* Pages of a shard's changes: read once, for all tracks that are at the same place.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "base/clock.h"
#include "base/log.h"
#include "process/process_internal.h"

#define QUIET_FIRST_US 4000 /* others write, this shard's stream has nothing new: looks again, and less often */
#define QUIET_MOST_US 100000

/* Text that outlives the arena; what has no room is none (and then read again from the start, or from the position). */
static void keep_text(char *to, size_t room, struct slice s)
{
	if (s.n >= room)
		s.n = 0;
	if (s.n)
		memcpy(to, s.p, s.n);
	to[s.n] = 0;
}

/* ---- what is there ---- */

static bool holds(const struct page *p, struct slice done)
{
	return p->used && p->count && change_compare(slice_str(p->after), done) <= 0 && change_compare(done, slice_str(p->last)) < 0;
}

static size_t index_after(const struct page *p, struct slice done)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (change_compare(p->list[middle].sequence, done) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct page *tail_at(struct reader *r, struct slice done)
{
	for (size_t i = 0; i < PAGES; i++)
		if (r->pages[i].used && slice_is(done, r->pages[i].last))
			return &r->pages[i];
	return NULL;
}

/* The one to be given up: not the tail. */
static struct page *oldest_but(struct reader *r, const struct page *tail)
{
	struct page *oldest = NULL;

	for (size_t i = 0; i < PAGES; i++) {
		struct page *p = &r->pages[i];

		if (p != tail && (!oldest || !p->used || (oldest->used && p->turn < oldest->turn)))
			oldest = p;
	}
	oldest->used = false;
	oldest->count = 0;
	arena_clear(&oldest->arena);
	return oldest;
}

void pages_release(struct reader *r)
{
	for (size_t i = 0; i < PAGES; i++) {
		struct page *p = &r->pages[i];

		if (p->count)
			memcpy(p->after, p->last, sizeof(p->after));
		p->list = NULL;
		p->count = 0;
		arena_release(&p->arena);
	}
}

/* ---- reading ---- */

/* The stream no longer has what follows the position. Whoever was at the end of the shard within what it keeps has missed
 * nothing. */
static void note_trimmed(struct track *t)
{
	struct process *p = t->reader->process;
	int64_t now = app_now_ms(p->app), was = t->current_ms;

	t->current_ms = now; /* told once */
	if (!t->done[0] || (was && now - was < KEPT_MS))
		return;
	atomic_fetch_add(&t->station->lost, 1);
	station_problem(p, t->station, "it goes on at the oldest change there is",
			SLICE("the stream has forgotten what followed its position: changes may have been missed"));
}

static bool begin_at(struct track *t, struct run *run, bool oldest, struct slice *iterator, bool *trimmed)
{
	struct reader *r = t->reader;
	struct shard_position at = { .where = oldest || !t->done[0] ? AT_OLDEST : AFTER_SEQUENCE, .sequence = slice_str(t->done) };

	if (!change_iterator(run, slice_str(r->stream), slice_str(r->shard), &at, iterator))
		return false;
	if (iterator->n)
		return true;
	note_trimmed(t);
	*trimmed = true;
	at.where = AT_OLDEST;
	return change_iterator(run, slice_str(r->stream), slice_str(r->shard), &at, iterator);
}

/* What follows the track's position, going on from the tail if there is one. */
static bool read_page(struct track *t, struct run *run, struct page *tail, struct change_page *out, bool *trimmed)
{
	struct slice iterator = SLICE("");

	if (tail && tail->iterator[0]) {
		iterator = slice_str(tail->iterator);
		if (change_read(run, iterator, PAGE_MOST, out) && !out->trimmed)
			return true;
		if (run->problem.type == PROBLEM_NOT_FOUND)
			return false;
		run->problem = (struct problem){ 0 }; /* expired: a new one */
		tail->iterator[0] = 0;
	}
	if (!begin_at(t, run, false, &iterator, trimmed) || !change_read(run, iterator, PAGE_MOST, out))
		return false;
	if (!out->trimmed)
		return true;
	note_trimmed(t);
	*trimmed = true;
	return begin_at(t, run, true, &iterator, trimmed) && change_read(run, iterator, PAGE_MOST, out);
}

static void set_behind(struct page *p, const struct change_page *read)
{
	keep_text(p->iterator, sizeof(p->iterator), read->iterator);
	p->ended = !read->iterator.n && !read->trimmed;
}

/* Nothing: the tail (or the new page, which is one now) knows since when. */
static void came_empty(struct reader *r, struct page *p, const struct change_page *read, uint64_t latest)
{
	int64_t wait = QUIET_FIRST_US;

	p->used = true;
	set_behind(p, read);
	p->latest = latest;
	for (int i = 0; i < r->empty && wait < QUIET_MOST_US; i++)
		wait *= 2;
	r->empty++;
	r->quiet_us = clock_monotonic_us() + (wait < QUIET_MOST_US ? wait : QUIET_MOST_US);
	r->poll_us = clock_monotonic_us() + r->process->database->poll_ms * INT64_C(1000);
}

static void came_full(struct reader *r, struct page *p, const struct change_page *read)
{
	p->used = true;
	p->list = read->list;
	p->count = read->count;
	p->latest = 0;
	p->turn = ++r->turns;
	keep_text(p->last, sizeof(p->last), read->list[read->count - 1].sequence);
	set_behind(p, read);
	r->empty = 0;
}

static enum page_found read_new(struct track *t, struct page *tail, uint64_t latest, const struct page **page)
{
	struct reader *r = t->reader;
	struct page *p = oldest_but(r, tail);
	struct change_page read = { 0 };
	volatile bool ok = false;
	struct run run;

	memcpy(p->after, t->done, sizeof(p->after));
	memcpy(p->last, t->done, sizeof(p->last));
	p->trimmed = false;
	ARENA_TRY(&p->arena, {
		run = process_run(r->process, r->backend, &p->arena);
		ok = read_page(t, &run, tail, &read, &p->trimmed);
		r->gone = !ok && run.problem.type == PROBLEM_NOT_FOUND;
		if (!ok)
			reader_failed(r, "the stream cannot be read", run.problem.detail);
	}, {
		reader_failed(r, "the stream cannot be read", SLICE("out of memory"));
	});
	if (!ok)
		return PAGE_LATER;
	r->failures = 0;
	if (read.count) {
		came_full(r, p, &read);
		*page = p;
		return PAGE_FOUND;
	}
	p = tail ? tail : p;
	came_empty(r, p, &read, latest);
	return p->ended ? PAGE_ENDED : PAGE_END;
}

enum page_found page_find(struct track *t, const struct page **page, size_t *index)
{
	struct reader *r = t->reader;
	struct slice done = slice_str(t->done);
	int64_t now = clock_monotonic_us();
	uint64_t latest = process_latest(r->process);
	struct page *tail;

	for (size_t i = 0; i < PAGES; i++) {
		if (!holds(&r->pages[i], done))
			continue;
		if (r->pages[i].trimmed && slice_is(done, r->pages[i].after))
			note_trimmed(t);
		*page = &r->pages[i];
		*index = index_after(*page, done);
		r->pages[i].turn = ++r->turns;
		return PAGE_FOUND;
	}
	tail = tail_at(r, done);
	if (tail && tail->ended)
		return PAGE_ENDED;
	if (tail && tail->latest == latest) {
		atomic_store(&t->latest, latest);
		if (!r->process->database->poll_ms || now < r->poll_us)
			return PAGE_END;
	}
	t->next_us = tail && tail->latest && r->quiet_us > r->next_us ? r->quiet_us : r->next_us;
	if (t->next_us > now)
		return PAGE_LATER;
	*index = 0;
	switch (read_new(t, tail, latest, page)) {
	case PAGE_FOUND: return PAGE_FOUND;
	case PAGE_END: atomic_store(&t->latest, latest); return PAGE_END;
	case PAGE_ENDED: return PAGE_ENDED;
	case PAGE_LATER: break;
	}
	t->next_us = r->next_us;
	return PAGE_LATER;
}
