/* What a watcher has missed, read from the stream again for this watcher alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "process/live/live_internal.h"

struct catching_up {
	struct run run; /* the caller's, with an arena of its own that is cleared between rounds */
	const struct live_absence *absence;
	struct live_stream stream;
	struct live_at at;
	struct mark after; /* where it began, of a stream that is not ordered */
	size_t looked_at;
	struct buf *out;
	size_t begun; /* out->n before */
	bool lost;    /* the list has to be read again */
};

static bool is_near(struct catching_up *c, struct value image)
{
	struct slice *places;
	size_t n;

	read_live_places(&c->run, image, &places, &n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c->absence->partition_count; k++)
			if (slice_equal(places[i], c->absence->partitions[k]))
				return true;
	return false;
}

static bool tell_change(struct catching_up *c, const struct live_round *round, const struct live_change *x)
{
	const struct live_round *rounds[] = { round, NULL };
	struct read_live_change change = { x->change->old_image, x->change->new_image, live_round_before, rounds };
	struct read_live_event events[READ_LIVE_MOST];
	char id[LIVE_ID_ROOM];
	bool may;
	size_t n;

	live_stream_told(x);
	if (!is_near(c, change.old) && !is_near(c, change.new_))
		return true;
	if (!read_live_follow(&c->run, c->absence->list, &change, events, &n, &may))
		return false;
	for (size_t i = 0; i < n; i++)
		c->lost |= events[i].kind == LIVE_RESET;
	c->at = (struct live_at){ x->sequence, c->stream.mark };
	live_text_events(c->out, events, n, slice_make(id, live_id(c->absence->live, &c->at, id)));
	return true;
}

static bool go_on(struct catching_up *c, bool *is_last)
{
	struct live_round round;

	if (!live_stream_read(&c->stream, &c->run, c->at.position, c->absence->upto->position, &round))
		return false;
	c->lost |= round.trimmed;
	for (size_t i = 0; i < round.count && !c->lost; i++) {
		if (!tell_change(c, &round, &round.list[i]))
			return false;
		c->lost |= c->out->n - c->begun > LIVE_CATCH_UP_BYTES;
	}
	c->looked_at += round.count;
	c->lost |= c->looked_at > LIVE_CATCH_UP_CHANGES;
	c->at.position = round.upto;
	*is_last = c->stream.is_ordered ? round.upto >= c->absence->upto->position : round.is_last;
	return true;
}

static bool go_through(struct catching_up *c)
{
	bool is_last = c->stream.is_ordered && c->at.position == c->absence->upto->position;

	if (!is_last && !(c->stream.is_ordered
				  ? live_stream_start(&c->stream, &c->run, c->at.position)
				  : live_stream_start_between(&c->stream, &c->run, &c->after, &c->absence->upto->mark)))
		return false;
	while (!is_last && !c->lost) {
		if (!go_on(c, &is_last))
			return false;
		arena_clear(c->run.arena);
		c->run.memo = NULL;
		c->run.caller.permissions_known = false;
	}
	return true;
}

/* Sequence 0 is before everything there is, and cannot be asked for. */
static bool read_number(struct slice id, uint64_t most, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < id.n; i++) {
		unsigned digit = (unsigned char)id.p[i] - (unsigned)'0';

		if (digit > 9 || *out > (UINT64_MAX - digit) / 10)
			return false;
		*out = *out * 10 + digit;
	}
	return *out > 0 && *out <= most;
}

static void release(void *p)
{
	struct catching_up *c = p;

	live_stream_stop(&c->stream);
	arena_release(c->run.arena);
}

void live_catch_up(struct run *r, const struct live_absence *a, struct buf *out)
{
	struct catching_up *c = arena_new(r->arena, struct catching_up);
	struct arena *scratch = arena_new(r->arena, struct arena);
	struct database *d = app_database(r->app);
	char id[LIVE_ID_ROOM];
	volatile bool ok = false;

	*c = (struct catching_up){ .run = *r,
				   .absence = a,
				   .out = out,
				   .begun = out->n,
				   .stream = { .database = d, .is_ordered = live_is_ordered(d) } };
	arena_init(scratch);
	c->run.arena = scratch;
	c->run.memo = NULL;
	arena_defer(r->arena, release, c);
	if (c->stream.is_ordered)
		c->lost = !read_number(a->id, a->upto->position, &c->at.position);
	else
		c->lost = a->upto->mark.is_full || !mark_parse(a->id, &c->after);
	ARENA_TRY(scratch, { ok = c->lost || go_through(c); }, { ok = false; });
	if (!ok)
		log_debug("a watcher cannot catch up: %.*s", SLICE_ARG(c->run.problem.detail));
	ok = ok && !c->lost;
	if (!ok)
		out->n = c->begun;
	live_text_plain(out, ok ? "ready" : "reset", slice_make(id, live_id(a->live, a->upto, id)));
}
