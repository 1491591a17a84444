/* Pages of a shard's changes, read once for all tracks at the same position.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "process/process_internal.h"

/* ---- pages in memory ---- */

static bool holds(const struct page *p, struct slice done)
{
	return p->used && p->count && spot_compare(&p->after, done) <= 0 && spot_compare(&p->behind.at, done) > 0;
}

static size_t index_after(const struct page *p, struct slice done)
{
	size_t low = 0, high = p->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sequence_compare(p->list[middle].sequence, done) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct page *last_at(struct reader *r, struct slice done)
{
	for (size_t i = 0; i < PAGES; i++)
		if (r->pages[i].used && spot_is(&r->pages[i].behind.at, done))
			return &r->pages[i];
	return NULL;
}

/* The page to reuse: not the one that reading continues from. */
static struct page *oldest_but(struct reader *r, const struct page *last)
{
	struct page *oldest = NULL;

	for (size_t i = 0; i < PAGES; i++) {
		struct page *p = &r->pages[i];

		if (p != last && (!oldest || !p->used || (oldest->used && p->turn < oldest->turn)))
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
			p->after = p->behind.at;
		p->list = NULL;
		p->count = 0;
		arena_release(&p->arena);
	}
}

/* ---- reading ---- */

/* Whether the processor has read this shard before. A new one has missed nothing. */
static bool has_been_here(const struct track *t)
{
	return t->is_stored || !spot_is_empty(&t->done);
}

/* The stream has forgotten what follows the position. A track that was at the end of the shard within the time that
 * the stream keeps has missed nothing. */
static void note_trimmed(struct track *t)
{
	struct process *p = t->reader->process;
	int64_t now = process_stream_ms(p), was = t->current_ms;

	t->current_ms = now; /* reported once */
	if (!has_been_here(t) || !tail_has_missed(was, now))
		return;
	atomic_fetch_add(&t->station->ledger.lost, 1);
	station_problem(p, t->station, "continues at the oldest change there is",
			SLICE("the stream has forgotten changes after its position: some may have been missed"));
}

/* A track that begins at the oldest record of its shard is not told that there was an older one. */
static bool begins_late(const struct track *t)
{
	return spot_is_empty(&t->done) && !t->replay_ms && t->is_stored &&
	       tail_has_missed(t->current_ms, process_stream_ms(t->reader->process));
}

/* Reads what follows the track's position, continuing from the last page if there is one. */
static enum tail_found read_new(struct track *t, struct page *last, const struct page **page)
{
	struct reader *r = t->reader;
	struct page *p = oldest_but(r, last);
	volatile enum tail_found found = TAIL_LATER;
	struct change_page read = { 0 };

	p->after = t->done;
	if (last)
		p->behind = last->behind;
	else
		cursor_set(&p->behind, spot_sequence(&t->done));
	ARENA_TRY(&p->arena, {
		struct run run = process_run(r->process, r->backend, &p->arena);

		found = tail_read(&r->tail, &p->behind, &run, &read);
	}, {
		tail_failed(&r->tail, "the stream cannot be read", SLICE("out of memory"));
	});
	if (read.trimmed || (found != TAIL_LATER && found != TAIL_GONE && begins_late(t)))
		note_trimmed(t);
	if (found != TAIL_FOUND && last) /* keeps when the end was last seen */
		last->behind = p->behind;
	if (found == TAIL_LATER || found == TAIL_GONE || (found != TAIL_FOUND && last))
		return found;
	p->used = true;
	p->trimmed = read.trimmed;
	p->list = read.list;
	p->count = read.count;
	p->turn = ++r->turns;
	p->read_ms = process_stream_ms(r->process);
	*page = p;
	return found;
}

enum tail_found page_find(struct track *t, const struct page **page, size_t *index)
{
	struct reader *r = t->reader;
	struct slice done = spot_sequence(&t->done);
	enum tail_found found;
	struct page *last;

	for (size_t i = 0; i < PAGES; i++) {
		if (!holds(&r->pages[i], done))
			continue;
		if (r->pages[i].trimmed && spot_is(&r->pages[i].after, done))
			note_trimmed(t);
		*page = &r->pages[i];
		*index = index_after(*page, done);
		r->pages[i].turn = ++r->turns;
		return TAIL_FOUND;
	}
	last = last_at(r, done);
	*index = 0;
	*page = last;
	found = tail_look(&r->tail, last ? &last->behind : NULL);
	if (found == TAIL_FOUND)
		found = read_new(t, last, page);
	if (found == TAIL_END)
		atomic_store(&t->latest, (*page)->behind.latest);
	if (found == TAIL_LATER || found == TAIL_GONE)
		t->next_us = tail_next_us(&r->tail, last ? &last->behind : NULL);
	return found;
}
