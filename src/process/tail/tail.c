/* Reads a shard from a position on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/tail/tail.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#define FAILURE_FIRST_US 50000 /* S2 */
#define FAILURE_MOST_US  5000000
#define QUIET_FIRST_US   4000 /* S5 */
#define QUIET_MOST_US    100000
#define REPEATED_MOST    10
#define KEPT_MS          (23 * 3600 * INT64_C(1000)) /* the stream keeps 24 hours */

bool tail_init(struct tail *t, struct database *d, struct slice stream, struct slice shard)
{
	*t = (struct tail){ .database = d,
			    .stream = mem_strndup(stream.p, stream.n),
			    .shard = mem_strndup(shard.p, shard.n) };
	return t->stream && t->shard;
}

void tail_release(struct tail *t)
{
	mem_free(t->stream);
	mem_free(t->shard);
	t->stream = t->shard = NULL;
}

void cursor_set(struct tail_cursor *c, struct slice sequence)
{
	spot_set(&c->at, sequence);
	c->from_end = c->ended = false;
	c->latest = 0;
	c->iterator[0] = 0;
}

bool tail_has_missed(int64_t current_ms, int64_t now_ms)
{
	return !current_ms || now_ms - current_ms >= KEPT_MS;
}

/* ---- when ---- */

static int64_t after_doublings(int64_t first, int n, int64_t most)
{
	for (int i = 0; i < n && first < most; i++)
		first *= 2;
	return first < most ? first : most;
}

void tail_failed(struct tail *t, const char *what, struct slice detail)
{
	int64_t wait = after_doublings(FAILURE_FIRST_US, t->failures, FAILURE_MOST_US);

	/* One failure alone is not logged. */
	if (t->failures++ && !t->gone)
		log_warn("%s, %s: %s: %.*s", t->stream, t->shard, what, SLICE_ARG(detail));
	t->next_us = clock_monotonic_us() + wait;
}

int64_t tail_next_us(const struct tail *t, const struct tail_cursor *c)
{
	return c && c->latest && !t->eager && t->quiet_us > t->next_us ? t->quiet_us : t->next_us;
}

static uint64_t latest_of(const struct tail *t)
{
	return database_latest(t->database) + (t->looks ? atomic_load(t->looks) : 0);
}

enum tail_found tail_look(const struct tail *t, const struct tail_cursor *c)
{
	int64_t now = clock_monotonic_us();

	if (c && c->ended)
		return TAIL_ENDED;
	if (c && c->latest == latest_of(t) && (!t->database->poll_ms || now < t->poll_us)) /* S4 */
		return TAIL_END;
	return tail_next_us(t, c) > now ? TAIL_LATER : TAIL_FOUND;
}

/* ---- iterators ---- */

static void keep_iterator(struct tail_cursor *c, struct slice iterator)
{
	if (iterator.n >= sizeof(c->iterator))
		iterator.n = 0; /* then a new one is taken from the position */
	if (iterator.n)
		memcpy(c->iterator, iterator.p, iterator.n);
	c->iterator[iterator.n] = 0;
}

static bool request_iterator(struct tail *t, struct run *r, const struct shard_position *at, struct slice *iterator)
{
	return dyn_take_iterator(r, slice_str(t->stream), slice_str(t->shard), at, iterator);
}

/* S3. After the place, or from the oldest record on. */
static bool take_iterator(struct tail *t, const struct tail_cursor *c, struct run *r, struct slice *iterator,
			  bool *trimmed)
{
	struct shard_position at = { .where = AFTER_SEQUENCE, .sequence = spot_sequence(&c->at) };

	if (*trimmed)
		at.where = AT_OLDEST;
	else if (spot_is_empty(&c->at))
		at.where = c->from_end ? AT_LATEST : AT_OLDEST;
	if (!request_iterator(t, r, &at, iterator))
		return false;
	if (iterator->n)
		return true;
	*trimmed = true;
	at.where = AT_OLDEST;
	return request_iterator(t, r, &at, iterator);
}

bool tail_begin(struct tail *t, struct tail_cursor *c, struct run *r)
{
	struct slice iterator;
	bool trimmed = false;

	if (!take_iterator(t, c, r, &iterator, &trimmed))
		return false;
	keep_iterator(c, iterator);
	return true;
}

/* ---- reading ---- */

/* With the iterator that is there, else (none, expired, trimmed) with a new one. */
static bool read_page(struct tail *t, struct tail_cursor *c, struct run *r, struct change_page *out)
{
	struct slice iterator = arena_copy(r->arena, slice_str(c->iterator));
	bool trimmed = false, missed = false;

	if (iterator.n) {
		if (change_read(r, iterator, TAIL_PAGE_MOST, out) && !out->trimmed)
			return true;
		if (r->problem.type == PROBLEM_NOT_FOUND)
			return false;
		r->problem = (struct problem){ 0 };
		c->iterator[0] = 0;
		missed = c->from_end && spot_is_empty(&c->at); /* the position of the end is no longer known */
	}
	if (!take_iterator(t, c, r, &iterator, &trimmed) || !change_read(r, iterator, TAIL_PAGE_MOST, out))
		return false;
	if (out->trimmed) {
		trimmed = true;
		if (!take_iterator(t, c, r, &iterator, &trimmed) || !change_read(r, iterator, TAIL_PAGE_MOST, out))
			return false;
		if (out->trimmed)
			return run_fail(r, PROBLEM_BUSY, "the stream forgets faster than it can be read");
	}
	out->trimmed = trimmed || missed;
	return true;
}

/* S1: drops records that were handed out before. */
static void drop_repeated(const struct tail_cursor *c, struct change_page *page)
{
	size_t n = 0;

	while (n < page->count && spot_compare(&c->at, page->list[n].sequence) >= 0)
		n++;
	page->list += n;
	page->count -= n;
}

/* A page of nothing but repetitions is not an end: the next one may have more. */
static bool read_new(struct tail *t, struct tail_cursor *c, struct run *r, struct change_page *out)
{
	for (int i = 0; i < REPEATED_MOST; i++) {
		bool any;

		if (!read_page(t, c, r, out))
			return false;
		any = out->count > 0;
		drop_repeated(c, out);
		keep_iterator(c, out->iterator);
		c->ended = !out->iterator.n;
		if (out->count || !any || c->ended)
			return true;
	}
	return run_fail(r, PROBLEM_BUSY, "the stream repeats itself");
}

static enum tail_found came_empty(struct tail *t, struct tail_cursor *c, uint64_t latest)
{
	int64_t now = clock_monotonic_us();

	c->latest = latest;
	t->quiet_us = now + after_doublings(QUIET_FIRST_US, t->empty, QUIET_MOST_US);
	t->empty++;
	t->poll_us = now + database_poll_us(t->database, t->empty);
	return c->ended ? TAIL_ENDED : TAIL_END;
}

/* S7. False: the caller reads the stream instead. */
static bool read_source(struct tail *t, struct tail_cursor *c, struct run *r, struct change_page *out,
			enum tail_answer *answer)
{
	uint64_t latest = latest_of(t);
	struct tail_ask ask = { slice_str(t->stream), slice_str(t->shard), spot_sequence(&c->at), latest != t->asked };
	struct tail_page page = { 0 };

	if (!t->source || (c->from_end && spot_is_empty(&c->at)))
		return false;
	*answer = t->source->read(t->source, r, &ask, &page);
	if (*answer == TAIL_ANSWER_LATER)
		t->next_us = clock_monotonic_us() + page.wait_ms * INT64_C(1000);
	if (*answer != TAIL_ANSWER_PAGE)
		return *answer == TAIL_ANSWER_LATER;
	t->asked = latest;
	if (!change_make(r, page.list, page.count, out)) {
		r->problem = (struct problem){ 0 };
		return false;
	}
	drop_repeated(c, out);
	out->trimmed = page.trimmed;
	c->ended = page.ended;
	if (out->count)
		c->iterator[0] = 0; /* it belongs to the position before these records */
	return true;
}

enum tail_found tail_read(struct tail *t, struct tail_cursor *c, struct run *r, struct change_page *out)
{
	uint64_t latest = latest_of(t);
	enum tail_found look = tail_look(t, c);
	enum tail_answer answer;

	*out = (struct change_page){ 0 };
	if (look != TAIL_FOUND)
		return look;
	if (read_source(t, c, r, out, &answer)) {
		if (answer == TAIL_ANSWER_LATER)
			return TAIL_LATER;
	} else if (!read_new(t, c, r, out)) {
		t->gone = r->problem.type == PROBLEM_NOT_FOUND;
		tail_failed(t, "the stream cannot be read", r->problem.detail);
		*out = (struct change_page){ 0 };
		return t->gone ? TAIL_GONE : TAIL_LATER;
	}
	t->failures = 0;
	if (!out->count)
		return came_empty(t, c, latest);
	spot_set(&c->at, out->list[out->count - 1].sequence);
	c->latest = 0;
	t->empty = 0;
	return TAIL_FOUND;
}
