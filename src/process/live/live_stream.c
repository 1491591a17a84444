/* Shards as one stream.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/live/live_stream.h"
#include <stdlib.h>
#include "base/clock.h"
#include "base/grow.h"
#include "process/checkpoint.h"
#include "process/keeper/keeper.h"

#define SHARD_MOST 400 /* changes of one shard in a round, or a page more */
#define SHARDS_EVERY_US \
	(10 *           \
	 INT64_C(1000000))  /* for shards that appear without the end of another; an ended shard is noticed at once */
#define SKEW_MS       60000 /* how far the clocks of this server and of the stream may be apart */
#define FORWARD_PAGES 3     /* pages read to find the end of a shard */
#define EMPTY_MOST    50    /* empty pages in a row (DynamoDB has such pages) before the end counts as unreachable */

struct live_shard {
	struct seat seat; /* first */
	struct tail tail;
	struct tail_cursor cursor;
	char *parent;
	struct mark_part *part;       /* in the stream's mark; NULL: not in it */
	int64_t since_ms;             /* read from its end on since then; 0: it is not */
	int64_t current_ms;           /* when it was last read up to its end; 0: never */
	int64_t skip_ms;              /* what is older has been seen; 0: nothing has */
	const struct mark_part *upto; /* not ordered: where to stop; NULL: at its end */
	int empty;                    /* pages on the way there, one after the other */
	bool is_seen;                 /* before the mark: in no mark */
	bool is_done;                 /* nothing more of it is wanted */
};

static struct live_shard *shard_of(struct seat *s)
{
	return (struct live_shard *)s;
}

static void free_shard(struct seat *seat)
{
	struct live_shard *x = shard_of(seat);

	tail_release(&x->tail);
	mem_free(x->parent);
	mem_free(x);
}

/* ---- where a shard begins ---- */

/* Whether an ancestor is in the mark. */
static bool is_made_from(const struct shard_list *list, const struct shard *s, const struct mark *m)
{
	for (size_t i = 0; s && i < list->count; i++) {
		s = shard_list_find(list, s->parent);
		if (s && mark_find(m, s->id))
			return true;
	}
	return false;
}

/* Whether a descendant is in the mark. */
static bool is_behind(const struct shard_list *list, const struct shard *s, const struct mark *m)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct shard *x = mark_find(m, list->list[i].id) ? &list->list[i] : NULL;

		for (size_t k = 0; x && k < list->count; k++) {
			x = shard_list_find(list, x->parent);
			if (x == s)
				return true;
		}
	}
	return false;
}

static void stop_shard(struct live_shard *x)
{
	x->is_done = true;
	atomic_store(&x->seat.ended, true);
	atomic_store(&x->seat.finished, true);
}

static bool has_reached(const struct live_shard *x)
{
	return x->upto && x->upto->kind == MARK_AFTER && spot_compare(&x->cursor.at, spot_sequence(&x->upto->at)) >= 0;
}

/* Limits the reading by the other mark, if that has a place in the shard. If it has none, this server's reader has
 * found nothing since it began; nor has the watcher, if that reader gave it its mark. */
static void end_between(struct live_stream *s, const struct mark_part *from, struct live_shard *x)
{
	bool is_same =
		from && from->kind == MARK_SINCE && x->upto->kind == MARK_SINCE && from->since_ms == x->upto->since_ms;

	if (x->upto->kind == MARK_START || is_same || has_reached(x))
		stop_shard(x);
	else if (x->upto->kind == MARK_SINCE)
		s->lost = true;
}

static void begin_between(struct live_stream *s, const struct shard_list *list, const struct shard *shard,
			  struct live_shard *x)
{
	const struct mark_part *from = mark_find(s->after, shard->id);

	x->upto = mark_find(s->before, shard->id);
	if (!from && !is_made_from(list, shard, s->after)) {
		s->lost |= !is_behind(list, shard, s->after);
		x->is_seen = true;
		stop_shard(x);
		return;
	}
	if (from && from->kind == MARK_AFTER)
		cursor_set(&x->cursor, spot_sequence(&from->at));
	else if (from && from->kind == MARK_SINCE)
		x->skip_ms = x->since_ms = from->since_ms;
	if (x->upto)
		end_between(s, from, x);
	else if (is_made_from(list, shard, s->before))
		stop_shard(x); /* all of it is later */
}

/* A processor whose positions are close to the end of the stream; empty: none. */
static struct slice follower_of(const struct design *d)
{
	for (size_t i = 0; i < d->processor_count; i++)
		if (d->processors[i].effect != EFFECT_SEND && !d->processors[i].every_seconds)
			return d->processors[i].name;
	return keeper_is_needed(d) ? SLICE(KEEPER_NAME) : SLICE("");
}

/* Finds the end of a shard, which a stream does not tell: reads from a processor's position, which is near it (none:
 * the shard is new). False: it was not near. */
static bool find_end(struct run *r, struct live_shard *x)
{
	struct slice follower = follower_of(r->design);
	struct change_page page;
	struct position near;

	if (!follower.n || !checkpoint_load(r, follower, slice_str(x->tail.shard), &near))
		return false;
	cursor_set(&x->cursor, near.sequence);
	for (int i = 0; i < FORWARD_PAGES; i++) {
		enum tail_found found = tail_read(&x->tail, &x->cursor, r, &page);

		if (found != TAIL_FOUND || page.trimmed)
			return (found == TAIL_END || found == TAIL_ENDED) && !page.trimmed;
	}
	return false;
}

static bool begin_at_end(struct live_stream *s, struct run *r, const struct shard *shard, struct live_shard *x)
{
	if (shard->closed) {
		x->is_seen = true;
		stop_shard(x);
		return true;
	}
	if (find_end(r, x))
		return true;
	r->problem = (struct problem){ 0 };
	cursor_set(&x->cursor, SLICE(""));
	x->cursor.from_end = true;
	x->since_ms = r->now_ms - SKEW_MS;
	if (tail_begin(&x->tail, &x->cursor, r))
		return true;
	s->failed = true;
	return false;
}

static struct seat *begin_shard(void *ctx, struct run *r, const struct shard_list *list, const struct shard *shard)
{
	struct live_shard *x = mem_zalloc(sizeof(*x));
	struct live_stream *s = ctx;
	bool ok = x && tail_init(&x->tail, s->database, list->stream_arn, shard->id);

	if (ok && shard->parent.n)
		ok = (x->parent = mem_strndup(shard->parent.p, shard->parent.n)) != NULL;
	if (ok)
		x->tail.eager = true;
	if (!ok) {
		s->failed = true;
		run_fail(r, PROBLEM_INTERNAL, "out of memory");
	} else if (s->is_ordered && s->from) {
		cursor_set(&x->cursor, arena_printf(r->arena, "%021llu", (unsigned long long)s->from));
	} else if (s->after) {
		begin_between(s, list, shard, x);
	} else if (s->begins) {
		ok = begin_at_end(s, r, shard, x);
	}
	if (!ok) {
		if (x)
			free_shard(&x->seat);
		return NULL;
	}
	x->seat.shard = x->tail.shard;
	x->tail.source = s->source; /* only from here on: the start of a shard is known to the stream alone */
	return &x->seat;
}

/* ---- which shards ---- */

static bool has_children(const struct live_stream *s, const struct live_shard *x)
{
	for (struct seat *c = s->shards.first; c; c = c->next)
		if (shard_of(c)->parent && !strcmp(shard_of(c)->parent, x->tail.shard))
			return true;
	return false;
}

/* An ended shard stays in the mark until its children are in it. */
static void make_mark(struct live_stream *s)
{
	s->mark.count = 0;
	s->mark.is_full = false;
	for (struct seat *seat = s->shards.first; seat; seat = seat->next) {
		struct live_shard *x = shard_of(seat);

		x->part = NULL;
		if (x->is_seen || (x->cursor.ended && has_children(s, x)))
			continue;
		x->part = mark_add(&s->mark, slice_str(x->tail.shard));
		if (!x->part)
			continue;
		x->part->since_ms = x->since_ms;
		x->part->at = x->cursor.at;
		x->part->kind = !spot_is_empty(&x->cursor.at) ? MARK_AFTER : x->since_ms ? MARK_SINCE : MARK_START;
	}
}

static bool are_all_listed(const struct shard_list *list, const struct mark *m)
{
	size_t n = 0;

	for (size_t i = 0; i < list->count; i++)
		n += mark_find(m, list->list[i].id) != NULL;
	return n == m->count;
}

static bool list_shards(struct live_stream *s, struct run *r)
{
	struct shard_list list;

	if (!dyn_list_shards(r, &list))
		return false;
	if (s->after && !are_all_listed(&list, s->after))
		s->lost = true;
	s->failed = false;
	seats_follow(&s->shards, r, &list);
	s->listed_us = clock_monotonic_us();
	s->has_ended_some = false;
	if (!s->is_ordered)
		make_mark(s);
	return !s->failed;
}

static bool start(struct live_stream *s, struct run *r)
{
	live_stream_stop(s);
	s->shards = (struct seats){ .ctx = s, .begin = begin_shard, .free = free_shard };
	s->lost = false;
	return list_shards(s, r);
}

bool live_stream_start(struct live_stream *s, struct run *r, uint64_t from)
{
	bool ok;

	s->from = from;
	s->begins = true;
	ok = start(s, r);
	s->begins = false; /* later shards are new */
	return ok;
}

bool live_stream_start_between(struct live_stream *s, struct run *r, const struct mark *after, const struct mark *before)
{
	s->after = after;
	s->before = before;
	return start(s, r);
}

void live_stream_stop(struct live_stream *s)
{
	seats_clear(&s->shards);
}

/* ---- reading ---- */

struct reading {
	struct live_stream *stream;
	struct run *run;
	struct live_round *out;
	size_t capacity;
	uint64_t from;
};

static void add_change(struct reading *g, uint64_t sequence, const struct change *c, struct mark_part *part)
{
	struct live_round *out = g->out;

	GROW_IN(g->run->arena, out->list, out->count, g->capacity, 64);
	out->list[out->count++] = (struct live_change){ sequence, c, part };
}

static uint64_t number_of(struct slice sequence)
{
	uint64_t v = 0;

	for (size_t i = 0; i < sequence.n; i++)
		v = v * 10 + (uint64_t)(sequence.p[i] - '0');
	return v;
}

static void add_ordered(struct reading *g, const struct change_page *page)
{
	for (size_t i = 0; i < page->count; i++) {
		uint64_t sequence = number_of(page->list[i].sequence);

		if (sequence > g->from)
			add_change(g, sequence, &page->list[i], NULL);
	}
}

static void add_numbered(struct reading *g, struct live_shard *x, const struct change_page *page)
{
	for (size_t i = 0; i < page->count && !x->is_done; i++) {
		const struct change *c = &page->list[i];

		if (x->upto && x->upto->kind == MARK_AFTER && spot_compare(&x->upto->at, c->sequence) < 0) {
			x->is_done = true;
			cursor_set(&x->cursor, spot_sequence(&x->upto->at));
		} else if (!c->created_ms ||
			   c->created_ms / 1000 >= x->skip_ms / 1000) { /* records give times in whole seconds */
			add_change(g, g->out->count, c, x->part);
		}
	}
}

/* Continues to the end between two marks, past empty pages. False: it cannot be read. */
static bool go_towards_end(struct live_stream *s, struct live_shard *x, enum tail_found found)
{
	x->is_done |= has_reached(x);
	x->empty = found == TAIL_END ? x->empty + 1 : 0;
	if (x->is_done || found != TAIL_END)
		return found != TAIL_LATER;
	x->cursor.latest = 0; /* look again */
	s->lost |= x->empty > EMPTY_MOST;
	return true;
}

/* Whether changes may be lost. A reader that was at the shard's end within the stream's retention has missed nothing;
 * a watcher that reconnects may have. */
static bool has_missed(const struct live_stream *s, const struct live_shard *x, const struct spot *at, int64_t now_ms)
{
	return s->is_ordered || s->after || spot_is_empty(at) || tail_has_missed(x->current_ms, now_ms);
}

/* False: run->problem. */
static bool read_shard(struct reading *g, struct live_shard *x)
{
	struct live_stream *s = g->stream;
	struct change_page page;
	enum tail_found found = TAIL_FOUND;
	size_t n = 0;

	while (found == TAIL_FOUND && n < SHARD_MOST && !x->is_done) {
		struct spot at = x->cursor.at;

		found = tail_read(&x->tail, &x->cursor, g->run, &page);
		g->out->trimmed |= page.trimmed && has_missed(s, x, &at, g->run->now_ms);
		if (found == TAIL_END)
			x->current_ms = g->run->now_ms;
		n += page.count;
		if (s->is_ordered)
			add_ordered(g, &page);
		else
			add_numbered(g, x, &page);
	}
	if (found == TAIL_ENDED) {
		stop_shard(x);
		s->has_ended_some = true;
	}
	if (s->is_ordered) {
		uint64_t last = number_of(spot_sequence(&x->cursor.at));

		if (n >= SHARD_MOST && last < g->out->upto)
			g->out->upto = last; /* other shards were read further; that is read again */
		return found != TAIL_LATER && found != TAIL_GONE;
	}
	/* A shard that could not be read is read next time, unless a request waits for it. */
	return found != TAIL_GONE && !(s->after && !go_towards_end(s, x, found));
}

static int by_sequence(const void *a, const void *b)
{
	const struct live_change *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Sorts the changes, and leaves those after `upto` for the next round. */
static void put_in_order(struct live_stream *s, struct run *r, struct live_round *out)
{
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_sequence);
	while (out->count && out->list[out->count - 1].sequence > out->upto)
		out->count--;
	for (struct seat *x = s->shards.first; x; x = x->next)
		if (number_of(spot_sequence(&shard_of(x)->cursor.at)) > out->upto)
			cursor_set(&shard_of(x)->cursor,
				   arena_printf(r->arena, "%021llu", (unsigned long long)out->upto));
}

static int by_text(const void *a, const void *b)
{
	const struct live_change *x = a, *y = b;
	int order = sequence_compare(x->change->sequence, y->change->sequence);

	return order ? order : by_sequence(a, b);
}

/* Across shards any order is right; that of the sequence numbers is mostly that of the commits. */
static void number(struct live_round *out)
{
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_text);
	for (size_t i = 0; i < out->count; i++)
		out->list[i].sequence = ++out->upto;
}

static bool are_all_done(const struct live_stream *s)
{
	for (struct seat *x = s->shards.first; x; x = x->next)
		if (!shard_of(x)->is_done)
			return false;
	return true;
}

static bool wants_list(const struct live_stream *s)
{
	return !s->is_ordered && (s->has_ended_some || clock_monotonic_us() - s->listed_us > SHARDS_EVERY_US);
}

bool live_stream_is_due(const struct live_stream *s)
{
	for (struct seat *x = s->shards.first; x; x = x->next)
		if (!shard_of(x)->is_done && tail_look(&shard_of(x)->tail, &shard_of(x)->cursor) == TAIL_FOUND)
			return true;
	return wants_list(s);
}

bool live_stream_read(struct live_stream *s, struct run *r, uint64_t from, uint64_t upto, struct live_round *out)
{
	struct reading g = { .stream = s, .run = r, .out = out, .from = from };

	*out = (struct live_round){ .upto = s->is_ordered ? upto : from };
	if (wants_list(s) && !list_shards(s, r))
		return false;
	for (struct seat *x = s->shards.first; x; x = x->next)
		if (!shard_of(x)->is_done && !read_shard(&g, shard_of(x)))
			return r->problem.detail.n
				       ? false
				       : run_fail(r, PROBLEM_BUSY, "the stream cannot be read at the moment");
	if (s->is_ordered)
		put_in_order(s, r, out);
	else
		number(out);
	out->trimmed |= s->lost;
	out->is_last = are_all_done(s) && !s->has_ended_some;
	return true;
}

void live_stream_told(const struct live_change *c)
{
	if (!c->part)
		return;
	c->part->kind = MARK_AFTER;
	spot_set(&c->part->at, c->change->sequence);
}

/* ---- rounds ---- */

struct value live_round_before(void *ctx, struct value key)
{
	for (const struct live_round **rounds = ctx; *rounds; rounds++)
		for (size_t i = (*rounds)->count; i-- > 0;) {
			const struct change *c = (*rounds)->list[i].change;

			if (value_present(c->old_image) && value_equal(c->key, key))
				return c->old_image;
		}
	return VALUE_ABSENT;
}
