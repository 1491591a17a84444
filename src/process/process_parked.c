/* Parked changes: listed, done again, dropped.
 *
 * Done again exactly once: it has a position of its own (retry#<sequence>), which an effect moves as it would move the shard's,
 * and which is gone with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/entity/output.h"
#include "app/rest/target.h"
#include "base/timestamp.h"
#include "process/effect/effect.h"
#include "process/keeper/keeper.h"
#include "process/process_internal.h"

#define LIST_USUAL 20
#define LIST_MOST  100

/* ---- listing ---- */

static void put_text(struct buf *b, const char *name, struct slice s)
{
	buf_printf(b, ",\"%s\":", name);
	json_string(b, s);
}

static void put_time(struct buf *b, const char *name, int64_t ms)
{
	char text[TIME_TEXT_MAX];

	put_text(b, name, time_format(ms, text));
}

static bool put_image(struct run *r, const struct change *c, const char *name, struct value image, struct buf *b)
{
	if (!value_present(image))
		return true;
	buf_printf(b, ",\"%s\":", name);
	return output_item(r, c->entity, c->entity ? entity_full(r, c->entity, image) : image, b);
}

static bool put_parked(struct run *r, const struct parked *p, struct buf *b)
{
	const struct change *c = &p->change;
	const char *event = c->events == ON_CREATED ? "created" : c->events == ON_DELETED ? "deleted" : "updated";

	buf_lit(b, "{\"sequence\":");
	json_string(b, p->sequence);
	put_text(b, "reason", p->reason);
	buf_printf(b, ",\"tries\":%lld", (long long)p->tries);
	put_time(b, "parked_at", p->parked_at_ms);
	put_time(b, "changed_at", c->created_ms);
	put_text(b, "event", slice_str(event));
	if (c->entity)
		put_text(b, "entity", c->entity->name);
	put_text(b, "shard", p->shard);
	buf_lit(b, ",\"key\":");
	output_value(b, c->key);
	if (!put_image(r, c, "old", c->old_image, b) || !put_image(r, c, "new", c->new_image, b))
		return false;
	buf_byte(b, '}');
	return true;
}

static bool read_query(struct run *r, struct slice query, int *limit, struct slice *after)
{
	struct target_pair *pairs;
	size_t n;

	*limit = LIST_USUAL;
	if (!target_query(r, query, &pairs, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (slice_is(pairs[i].name, "after") && pairs[i].value.n <= 128) {
			*after = pairs[i].value;
			continue;
		}
		if (!slice_is(pairs[i].name, "limit"))
			return run_invalid(r, pairs[i].name, "limit and after are what can be asked for here");
		*limit = 0;
		for (size_t k = 0; k < pairs[i].value.n && *limit <= LIST_MOST; k++)
			*limit = *limit * 10 + (pairs[i].value.p[k] >= '0' && pairs[i].value.p[k] <= '9'
							? pairs[i].value.p[k] - '0'
							: LIST_MOST);
		if (*limit < 1 || *limit > LIST_MOST)
			return run_invalid(r, SLICE("limit"), "is a number from 1 to %d", LIST_MOST);
	}
	return true;
}

bool parked_list(struct process *p, struct run *r, struct station *s, struct slice query, struct buf *out)
{
	struct slice after = { 0 };
	struct parked_page page;
	int limit;

	(void)p;
	if (!read_query(r, query, &limit, &after) || !checkpoint_parked(r, s->name, after, limit, &page))
		return false;
	buf_lit(out, "{\"items\":[");
	for (size_t i = 0; i < page.count; i++) {
		if (i)
			buf_byte(out, ',');
		if (!put_parked(r, &page.list[i], out))
			return false;
	}
	buf_byte(out, ']');
	if (page.next.n)
		put_text(out, "next", page.next);
	buf_byte(out, '}');
	return true;
}

/* ---- again ---- */

static struct slice retry_shard(struct run *r, struct slice sequence)
{
	return arena_printf(r->arena, "retry#%.*s", SLICE_ARG(sequence));
}

static bool end_retry(struct run *r, struct station *s, struct slice sequence)
{
	struct position none = { .processor = s->name, .shard = retry_shard(r, sequence) };

	if (!checkpoint_unpark(r, s->name, sequence) || !checkpoint_force(r, &none))
		return false;
	atomic_fetch_sub(&s->parked, 1);
	return true;
}

/* Why it did not work this time is kept with it. */
static bool tell_again(struct run *r, struct parked *k)
{
	struct problem problem = r->problem;
	struct dyn_refusal refusal;
	struct dyn_write *w;

	k->reason = problem.detail;
	k->tries++;
	k->parked_at_ms = r->now_ms;
	r->riders = NULL;
	r->rider_count = 0;
	w = checkpoint_park(r, k);
	w->must_exist = true;
	(void)!dyn_write(r, w, 1, SLICE(""), &refusal);
	r->problem = problem;
	return false;
}

static bool keep_again(struct run *r, const struct parked *k, const struct position *at)
{
	bool wrote;

	return keeper_follow(r, &k->change, 1, SLICE("")) &&
	       (!keeper_has_traces(&k->change) || keeper_take_traces(r, &k->change, at, &wrote));
}

static bool apply_again(struct run *r, struct station *s, const struct parked *k)
{
	struct position at;

	if (!checkpoint_load(r, s->name, retry_shard(r, k->sequence), &at))
		return false;
	if (slice_equal(at.sequence, k->sequence))
		return true; /* done before; only the end of it was missing */
	if (!s->processor)
		return keep_again(r, k, &at);
	if (!at.stored)
		at.progress = k->progress;
	switch (effect_apply(r, s->processor, &k->change, &at)) {
	case EFFECT_NONE:
	case EFFECT_DONE: return true;
	case EFFECT_LOST: return run_fail(r, PROBLEM_CONFLICT, "someone else is doing it");
	case EFFECT_FAILED: break;
	}
	return false;
}

bool parked_retry(struct process *p, struct run *r, struct station *s, struct slice sequence)
{
	struct parked k;
	bool ok;

	(void)p;
	if (!checkpoint_parked_one(r, s->name, sequence, &k))
		return false;
	if (k.cut)
		return run_fail(r, PROBLEM_CONFLICT, "%s",
				"the change was too large to be kept: replay from its time instead, or drop it");
	if (s->sender)
		ok = send_parked(r, s->processor, &k);
	else
		ok = apply_again(r, s, &k);
	if (!ok)
		return r->problem.type == PROBLEM_CONFLICT && r->rider_lost ? false : tell_again(r, &k);
	return end_retry(r, s, sequence);
}

bool parked_drop(struct process *p, struct run *r, struct station *s, struct slice sequence)
{
	struct parked k;

	(void)p;
	return checkpoint_parked_one(r, s->name, sequence, &k) && end_retry(r, s, sequence);
}
