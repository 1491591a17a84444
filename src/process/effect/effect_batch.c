/* Many actions and the position in one transaction.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/effect/effect_internal.h"
#include "base/clock.h"

#define COMMIT_TRIES 16
#define PAUSE_US     1000 /* more with every try */

/* At most, without what removals add when they are decided. */
static size_t actions_of_row(const struct processor *p)
{
	size_t n = p->parts;

	for (size_t i = 0; i < p->parts; i++)
		if (p[i].effect == EFFECT_PUT && p[i].target_entity)
			n += p[i].target_entity->require_count + p[i].target_entity->lives_count;
	return n;
}

static void batch_init(struct effect *x)
{
	struct batch *b = &x->batch;

	b->list = NULL;
	b->given = NULL;
	b->needs = NULL;
	b->asks = NULL;
	b->count = b->bytes = 0;
	b->per_row = actions_of_row(x->processor);
	b->later = 0;
	b->settled = false;
	map_init(&b->keys, x->run->arena);
}

void effect_clear(struct effect *x)
{
	branch_clear(x->run, x->caller);
	x->run->caller =
		(struct caller){ .operator_ = true }; /* effects run as an operator: `allow` rules are for clients */
	x->run->riders = NULL;
	x->run->rider_count = 0;
	x->run->rider_lost = false;
	x->decided = x->checks_ride = x->collides = false;
	batch_init(x);
}

bool effect_batch_is_full(const struct batch *b)
{
	return b->count + b->per_row + (b->count + 1) * b->later > EFFECT_MOST_ACTIONS || b->bytes > EFFECT_MOST_BYTES;
}

static struct value key_of(struct effect *x, const struct dyn_write *w)
{
	return w->kind == DYN_PUT ? dyn_key_of(x->run, w->item) : w->key;
}

bool effect_batch_find(struct effect *x, struct value key, size_t *at)
{
	struct map_entry *known = map_find(&x->batch.keys, slice_make(key.p, key.n));

	if (!known || !known->value)
		return false;
	*at = (size_t)(uintptr_t)known->value - 1;
	return true;
}

void effect_batch_back(struct effect *x, size_t mark)
{
	struct batch *b = &x->batch;

	for (; b->count > mark; b->count--) {
		struct value key = key_of(x, &b->list[b->count - 1]);

		map_set(&b->keys, slice_make(key.p, key.n), NULL);
	}
}

void effect_batch_keep(struct effect *x, const bool *stays)
{
	struct batch *b = &x->batch;
	size_t moved[EFFECT_MOST_ACTIONS], kept = 0;

	for (size_t i = 0; i < b->count; i++) {
		moved[i] = kept;
		kept += stays[i];
	}
	kept = 0;
	map_init(&b->keys, x->run->arena);
	for (size_t i = 0; i < b->count; i++) {
		struct value key;

		if (!stays[i])
			continue;
		for (size_t k = 0; k < b->needs[i].count; k++)
			b->needs[i].list[k] = moved[b->needs[i].list[k]];
		b->list[kept] = b->list[i];
		b->given[kept] = b->given[i];
		b->needs[kept] = b->needs[i];
		b->asks[kept] = b->asks[i];
		b->part[kept] = b->part[i];
		b->args[kept++] = b->args[i];
		key = key_of(x, &b->list[kept - 1]);
		map_set(&b->keys, slice_make(key.p, key.n), (void *)(uintptr_t)kept);
	}
	b->count = kept;
}

struct dyn_write *effect_batch_add(struct effect *x, struct value key, size_t *at)
{
	struct batch *b = &x->batch;
	struct slice bytes = value_slice(key);

	if (effect_batch_find(x, key, at)) {
		x->collides = x->collides || b->part[*at] != effect_part(x) || b->list[*at].kind == DYN_CHECK;
		return NULL;
	}
	if (b->count == EFFECT_MOST_ACTIONS) { /* the effects of one row fill it */
		*at = 0;
		x->collides = true;
		return NULL;
	}
	if (!b->list) {
		b->list = arena_array(x->run->arena, struct dyn_write, EFFECT_MOST_ACTIONS);
		b->given = arena_array(x->run->arena, struct row, EFFECT_MOST_ACTIONS);
		b->needs = arena_array(x->run->arena, struct batch_need, EFFECT_MOST_ACTIONS);
		b->asks = arena_array(x->run->arena, const struct requirement *, EFFECT_MOST_ACTIONS);
	}
	*at = b->count++;
	map_set(&b->keys, bytes, (void *)(uintptr_t)b->count);
	b->list[*at] = (struct dyn_write){ 0 };
	b->given[*at] = (struct row){ 0 };
	b->needs[*at] = (struct batch_need){ 0 };
	b->asks[*at] = NULL;
	b->args[*at] = NULL;
	b->part[*at] = effect_part(x);
	return &b->list[*at];
}

enum row_end effect_row_failed(struct effect *x)
{
	if (x->run->rider_lost && !x->checks_ride)
		return ROW_LOST;
	if (x->run->rider_lost) /* the rows are read and decided again, a limited number of times */
		(void)run_busy(x->run);
	return ROW_FAILED;
}

/* The first of the put's checks that was refused; NULL: none was. */
static const struct requirement *refused_need(const struct batch *b, size_t i, const struct dyn_refusal *refusals)
{
	for (size_t k = 0; k < b->needs[i].count; k++)
		if (refusals[b->needs[i].list[k]].failed)
			return b->asks[b->needs[i].list[k]];
	return NULL;
}

/* Whether the action stays as it is. */
static bool keep_action(struct effect *x, size_t i, const struct dyn_refusal *refusals, bool *stays)
{
	struct batch *b = &x->batch;
	const struct requirement *lacks = refused_need(b, i, refusals);

	*stays = true;
	if (b->list[i].kind == DYN_CHECK) {
		*stays = !refusals[i].failed;
		return *stays || b->asks[i] || run_busy(x->run); /* a removal is read and decided again */
	}
	if (lacks) {
		effect_tell_required(x, lacks);
		*stays = false;
		return true;
	}
	return !refusals[i].failed || effect_refused(x, i, &refusals[i], stays);
}

/* Drops each refused action together with the actions that depend on it, or marks it for another try. */
static bool leave_out(struct effect *x, const struct dyn_refusal *refusals)
{
	bool stays[EFFECT_MOST_ACTIONS];

	for (size_t i = 0; i < x->batch.count; i++) {
		effect_part_enter(x, x->batch.part[i]);
		if (!keep_action(x, i, refusals, &stays[i]))
			return false;
	}
	effect_batch_keep(x, stays);
	return true;
}

/* A later change may ask for the new item (`not exists Notification(…)`) before an index shows it. */
static void remember_places(struct effect *x)
{
	for (size_t i = 0; i < x->batch.count; i++) {
		const struct dyn_write *w = &x->batch.list[i];
		const struct entity *e = w->kind == DYN_PUT && !w->table.n ? entity_of(x->run, w->item) : NULL;

		if (e) {
			struct row item = entity_lay(x->run, e, w->item);

			entity_remember_place(x->run, e, &item, dyn_key_of(x->run, w->item));
		}
	}
}

enum row_end effect_batch_commit(struct effect *x, const struct position *now)
{
	struct run *r = x->run;
	struct batch *b = &x->batch;
	struct dyn_refusal refusals[EFFECT_MOST_ACTIONS];
	bool ok;

	if (!effect_settle(x))
		return effect_row_failed(x);
	effect_position_ride(x, now);
	for (int i = 0; i < COMMIT_TRIES; i++) {
		clock_pause_us(i * PAUSE_US);
		switch (dyn_write(r, b->list, b->count, SLICE(""), refusals)) {
		case DYN_DONE:
			remember_places(x);
			effect_position_moved(x, now);
			effect_clear(x);
			return ROW_DONE;
		case DYN_REFUSED:
			WITHOUT_RIDERS(r, ok = leave_out(x, refusals));
			if (!ok)
				return effect_row_failed(x);
			break;
		case DYN_CONFLICT: break;
		case DYN_MISMATCH:
		case DYN_FAILED: return effect_row_failed(x);
		}
	}
	(void)run_busy(r);
	return ROW_FAILED;
}

enum row_end effect_position_flush(struct effect *x, const struct position *now)
{
	if (x->run->rider_count) {
		batch_init(x);
		return effect_batch_commit(x, now);
	}
	effect_position_moved(x, now);
	effect_clear(x);
	return ROW_DONE;
}
