/* Parked changes: list, retry, drop.
 *
 * A retry takes effect exactly once: the parked change has its own position (retry#<sequence>), which an effect moves
 * as it would move the shard's, and which is removed with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/entity/output.h"
#include "app/rest/target.h"
#include "process/effect/effect.h"
#include "process/keeper/keeper.h"
#include "process/process_internal.h"

#define LIST_USUAL 20
#define LIST_MOST  100

/* ---- listing ---- */

static bool put_image(struct run *r, const struct change *c, const char *name, struct value image, struct buf *b)
{
	if (!value_present(image))
		return true;
	json_name(b, name);
	return output_item(r, c->entity, c->entity ? entity_full(r, c->entity, image) : image, b);
}

static bool put_parked(struct run *r, const struct parked *p, struct buf *b)
{
	const struct change *c = &p->change;

	json_open(b, '{');
	json_member_string(b, "sequence", p->sequence);
	json_member_string(b, "reason", p->reason);
	json_member_int(b, "tries", p->tries);
	control_put_time(b, "parked_at", p->parked_at_ms);
	control_put_time(b, "changed_at", c->created_ms);
	json_member_word(b, "event", event_word(c->events));
	if (c->entity)
		json_member_string(b, "entity", c->entity->name);
	json_member_string(b, "shard", p->shard);
	json_name(b, "key");
	output_value(b, c->key);
	if (!put_image(r, c, "old", c->old_image, b) || !put_image(r, c, "new", c->new_image, b))
		return false;
	json_close(b, '}');
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
			return run_invalid(r, pairs[i].name, "is not a parameter of this address: limit and after are");
		*limit = control_number(pairs[i].value, LIST_MOST);
		if (*limit < 1)
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
	json_open(out, '{');
	json_member_open(out, "items", '[');
	for (size_t i = 0; i < page.count; i++)
		if (!put_parked(r, &page.list[i], out))
			return false;
	json_close(out, ']');
	if (page.next.n)
		json_member_string(out, "next", page.next);
	json_close(out, '}');
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
	atomic_fetch_sub(&s->ledger.parked, 1);
	return true;
}

/* Keeps the new reason with the change. */
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

static bool keep_again(struct process *p, struct run *r, const struct parked *k, const struct position *at)
{
	bool wrote;

	return keeper_follow(r, p->roles, &k->change, 1, SLICE("")) &&
	       (!keeper_has_traces(&k->change) || keeper_take_traces(r, &k->change, at, &wrote));
}

static bool apply_again(struct process *p, struct run *r, struct station *s, const struct parked *k)
{
	struct position at;

	if (!checkpoint_load(r, s->name, retry_shard(r, k->sequence), &at))
		return false;
	if (slice_equal(at.sequence, k->sequence))
		return true; /* done before; only the clean-up was missing */
	if (!s->processor)
		return keep_again(p, r, k, &at);
	if (!at.stored)
		at.progress = k->progress;
	switch (effect_apply(r, s->processor, &k->change, &at)) {
	case EFFECT_NONE:
	case EFFECT_DONE: return true;
	case EFFECT_LOST: return run_fail(r, PROBLEM_CONFLICT, "another server is processing it");
	case EFFECT_FAILED: break;
	}
	return false;
}

bool parked_retry(struct process *p, struct run *r, struct station *s, struct slice sequence)
{
	struct parked k;
	bool ok;

	if (!checkpoint_parked_one(r, s->name, sequence, &k))
		return false;
	if (k.cut)
		return run_fail(r, PROBLEM_CONFLICT, "%s",
				"the change was too large to keep: replay from its time instead, or drop it");
	if (s->sender)
		ok = send_parked(r, s->processor, &k);
	else
		ok = apply_again(p, r, s, &k);
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
