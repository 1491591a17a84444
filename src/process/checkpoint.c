/* Positions and switches.
 * SPDX-License-Identifier: Apache-2.0 */
#include <xxhash.h>
#include "base/timestamp.h"
#include "app/db/beside.h"
#include "base/ulid.h"
#include "process/checkpoint_table.h"

/* ---- positions ---- */

static struct value position_key(struct run *r, const struct position *p)
{
	return checkpoint_key(r, "POSITION", p->processor, p->shard);
}

static void read_position(struct value item, struct position *out)
{
	out->sequence = beside_text(item, "sequence");
	out->progress = beside_text(item, "progress");
	out->ended = checkpoint_bool(item, "ended");
	out->time_ms = checkpoint_time(item, "time");
	out->stored = true;
}

bool checkpoint_load(struct run *r, struct slice processor, struct slice shard, struct position *out)
{
	struct value item;

	*out = (struct position){ .processor = processor, .shard = shard };
	if (!checkpoint_get(r, position_key(r, out), &item))
		return false;
	if (!value_present(item))
		return true;
	read_position(item, out);
	return true;
}

static struct value position_item(struct run *r, const struct position *now)
{
	struct checkpoint_item i;

	checkpoint_item_init(&i, r, position_key(r, now));
	checkpoint_add_text(&i, "sequence", now->sequence);
	checkpoint_add_text(&i, "progress", now->progress);
	if (now->ended)
		checkpoint_add(&i, "ended", value_make_bool(r->arena, true));
	checkpoint_add_time(&i, "time", now->time_ms ? now->time_ms : r->now_ms);
	return checkpoint_item_made(&i);
}

static struct value text_or_absent(struct run *r, struct slice s)
{
	return s.n ? value_make_s(r->arena, s) : VALUE_ABSENT;
}

struct dyn_write *checkpoint_move(struct run *r, const struct position *was, const struct position *now)
{
	struct dyn_write *w = arena_new(r->arena, struct dyn_write);
	struct value_member *equal = arena_array(r->arena, struct value_member, 2);

	w->kind = DYN_PUT;
	w->table = checkpoint_table(r);
	w->item = position_item(r, now);
	if (!was->stored) {
		w->must_not_exist = true;
		return w;
	}
	equal[0] = (struct value_member){ SLICE("sequence"), text_or_absent(r, was->sequence) };
	equal[1] = (struct value_member){ SLICE("progress"), text_or_absent(r, was->progress) };
	w->must_exist = true;
	w->equal = equal;
	w->equal_count = 2;
	return w;
}

bool checkpoint_save(struct run *r, const struct position *was, const struct position *now)
{
	return checkpoint_write(r, checkpoint_move(r, was, now), 1);
}

bool checkpoint_force(struct run *r, const struct position *now)
{
	struct dyn_write w = { .kind = DYN_PUT, .table = checkpoint_table(r) };

	if (now->sequence.n || now->progress.n) {
		w.item = position_item(r, now);
	} else {
		w.kind = DYN_DELETE;
		w.key = position_key(r, now);
	}
	return checkpoint_write(r, &w, 1);
}

#define SINCE "since "

struct slice checkpoint_since(struct arena *a, int64_t ms)
{
	return arena_printf(a, SINCE "%lld", (long long)ms);
}

int64_t checkpoint_since_ms(struct slice progress)
{
	int64_t ms = 0;

	if (!slice_starts(progress, SLICE(SINCE)))
		return 0;
	for (size_t i = sizeof(SINCE) - 1; i < progress.n && ms < TIME_MAX_MS; i++) {
		if (progress.p[i] < '0' || progress.p[i] > '9')
			return 0;
		ms = ms * 10 + (progress.p[i] - '0');
	}
	return ms;
}

bool checkpoint_has_ended(struct run *r, struct slice processor, struct slice shard, bool *out)
{
	struct position at;

	if (!checkpoint_load(r, processor, shard, &at))
		return false;
	*out = at.ended;
	return true;
}

struct telling {
	struct slice processor;
	bool (*tell)(void *ctx, const struct position *at);
	void *ctx;
};

static bool tell_position(void *ctx, struct value item)
{
	const struct telling *t = ctx;
	struct position at = { .processor = t->processor, .shard = beside_text(item, "SK") };

	read_position(item, &at);
	return t->tell(t->ctx, &at);
}

bool checkpoint_positions(struct run *r, struct slice processor, bool (*tell)(void *ctx, const struct position *at),
			  void *ctx)
{
	struct telling t = { processor, tell, ctx };

	return checkpoint_walk(r, "POSITION", processor, tell_position, &t);
}

/* ---- switches ---- */

static struct processor_switch read_switch(struct value item)
{
	return (struct processor_switch){ .paused = checkpoint_bool(item, "paused"),
					  .replay_from_ms = checkpoint_time(item, "replay_from"),
					  .replayed = beside_text(item, "replayed") };
}

bool checkpoint_switch(struct run *r, struct slice processor, struct processor_switch *out)
{
	struct value item;

	*out = (struct processor_switch){ 0 };
	if (!checkpoint_get(r, checkpoint_key(r, "PROCESSOR", SLICE(""), processor), &item))
		return false;
	*out = read_switch(item);
	return true;
}

#define SWITCHES_MOST 1000

bool checkpoint_switches(struct run *r,
			 void (*tell)(void *ctx, struct slice processor, const struct processor_switch *w), void *ctx)
{
	struct dyn_page page;

	if (!checkpoint_query(r, checkpoint_key(r, "PROCESSOR", SLICE(""), SLICE("")), false, SWITCHES_MOST, &page))
		return false;
	for (size_t i = 0; i < page.count; i++) {
		struct processor_switch w = read_switch(page.items[i]);

		tell(ctx, beside_text(page.items[i], "SK"), &w);
	}
	return true;
}

bool checkpoint_set_switch(struct run *r, struct slice processor, const struct processor_switch *in)
{
	struct dyn_write w = { .kind = DYN_PUT, .table = checkpoint_table(r) };
	struct checkpoint_item i;

	checkpoint_item_init(&i, r, checkpoint_key(r, "PROCESSOR", SLICE(""), processor));
	checkpoint_add(&i, "paused", value_make_bool(r->arena, in->paused));
	if (in->replay_from_ms)
		checkpoint_add_time(&i, "replay_from", in->replay_from_ms);
	checkpoint_add_text(&i, "replayed", in->replayed);
	w.item = checkpoint_item_made(&i);
	return checkpoint_write(r, &w, 1);
}

struct slice checkpoint_replayed(struct run *r)
{
	char id[ULID_LENGTH];

	/* Without randomness the time must do. */
	return ulid_new(r->now_ms, id) ? arena_copy(r->arena, slice_make(id, ULID_LENGTH))
				       : arena_printf(r->arena, "%lld", (long long)r->now_ms);
}

uint64_t checkpoint_replay_number(struct slice replayed)
{
	return XXH3_64bits(replayed.n ? replayed.p : "", replayed.n);
}
