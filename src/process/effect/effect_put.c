/* put: creates an item for each row, or updates the existing one.
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include "app/app.h"
#include "app/entity/input.h"
#include "app/run/passed_over.h"
#include "base/ulid.h"
#include "process/effect/effect_internal.h"

/* ---- ids ---- */

#define ORDER_BYTES 3 /* of an id, after its time */

/* Writes the last bytes of the change's sequence number, so that items of one millisecond sort in the order of their
 * changes. */
static void put_order(uint8_t out[ORDER_BYTES], struct slice sequence)
{
	uint64_t n = 0;

	for (size_t i = 0; i < sequence.n; i++)
		n = n * 10 + (uint64_t)(sequence.p[i] - '0');
	for (int i = ORDER_BYTES - 1; i >= 0; i--, n >>= 8)
		out[i] = (uint8_t)n;
}

/* A ULID with the change's time and order; the rest from the change, the processor, its effect, the row and the
 * attribute, under the server's secret, so that clients cannot compute it. */
static struct value effect_id(struct effect *x, const struct attribute *a)
{
	struct run *r = x->run;
	int64_t ms = x->change->created_ms ? x->change->created_ms : r->now_ms;
	uint8_t hash[EVP_MAX_MD_SIZE];
	char text[ULID_LENGTH];
	struct buf b;

	buf_init(&b, r->arena);
	buf_part(&b, r->design->name);
	buf_part(&b, x->processor->name);
	buf_part(&b, x->change->sequence);
	buf_part(&b, slice_make(x->change->key.p, x->change->key.n));
	buf_part(&b, slice_make(x->row_key.p, x->row_key.n));
	buf_part(&b, a->name);
	if (effect_part(x)) /* without it for the first, whose ids are the same as those of a single effect */
		buf_part(&b, arena_printf(r->arena, "%zu", effect_part(x)));
	if (!HMAC(EVP_sha256(), app_secret(r->app), CALLER_SECRET_BYTES, (const uint8_t *)b.p, b.n, hash, NULL))
		arena_out_of_memory(r->arena);
	put_order(hash, x->change->sequence);
	ulid_text(ms, hash, text);
	return value_make_s(r->arena, arena_printf(r->arena, "%.*s%.*s", SLICE_ARG(a->id_prefix), ULID_LENGTH, text));
}

/* ---- making it ---- */

struct put {
	struct write write; /* first: write_try() gives it back */
	struct effect *effect;
	struct row with;  /* as evaluated */
	struct row given; /* with ids and times, too */
	bool lacks;       /* something in `with` is absent */
	bool is_made;     /* the item was complete: later problems are about other items */
	struct value key;
};

static bool give(struct effect *x, struct put *p)
{
	const struct processor *processor = x->rule;
	struct run *r = x->run;
	struct scope s = effect_scope(x, r);

	row_init(&p->with, r->arena, x->target);
	row_init(&p->given, r->arena, NULL);
	for (size_t i = 0; i < processor->with_count; i++) {
		const struct assignment *w = &processor->with[i];
		struct value v;

		if (!scope_value(&s, w->term, &v))
			return false;
		if (!is_there(v)) {
			p->lacks = true;
			continue;
		}
		row_set(&p->with, w->at, v);
		row_set(&p->given, w->at, v);
	}
	for (size_t i = 0; i < x->target->attribute_count; i++) {
		const struct attribute *a = &x->target->attributes[i];

		if (row_has(&p->given, a->at))
			continue;
		if (a->id)
			row_set(&p->given, a->at, effect_id(x, a));
		else if (a->now || a->touched)
			row_set(&p->given, a->at, write_now(r, a)); /* by the change's time: E3 */
	}
	return true;
}

static bool put_init(struct effect *x, struct put *p)
{
	int64_t was = effect_time_enter(x, x->run);
	bool ok;

	*p = (struct put){ .effect = x };
	ok = give(x, p);
	effect_time_leave(x->run, was);
	p->write = (struct write){ .run = x->run, .entity = x->target, .input = &p->given, .trusted = true };
	return ok;
}

/* The whole item; false: run->problem. */
static bool make_item(struct put *p, struct row *f)
{
	struct run *r = p->write.run;
	int64_t was = effect_time_enter(p->effect, r);
	bool ok = write_make(&p->write, &p->given, f) && input_required(r, p->write.entity, f) &&
		  entity_complete(r, p->write.entity, f, VALUE_ABSENT) && write_checks(&p->write, f, NULL);

	effect_time_leave(r, was);
	return ok;
}

bool effect_is_skipped(struct run *r, const struct entity *e, bool is_made, bool lacks)
{
	enum problem_type t = r->problem.type;

	if (r->rider_lost || !(t == PROBLEM_INVALID || (is_made && (t == PROBLEM_NOT_FOUND || t == PROBLEM_CONFLICT))) ||
	    !(is_made || lacks))
		return false;
	run_pass_over(r, is_made ? PASSED_OVER_REQUIREMENT : PASSED_OVER_INCOMPLETE, "a %.*s is not put: %.*s",
		      SLICE_ARG(e->name), SLICE_ARG(r->problem.detail));
	r->problem = (struct problem){ 0 };
	return true;
}

static bool is_skipped(struct put *p)
{
	return effect_is_skipped(p->write.run, p->write.entity, p->is_made, p->lacks);
}

/* ---- many ---- */

bool effect_put_gather(struct effect *x)
{
	struct run *r = x->run;
	const struct requirement *lacks;
	struct effect_reason *reasons;
	struct dyn_write *w;
	struct put p;
	struct row f;
	size_t at, n;

	if (!put_init(x, &p))
		return false;
	if (!make_item(&p, &f))
		return is_skipped(&p);
	if (!effect_requires(x, &f, &reasons, &n, &lacks))
		return false;
	if (lacks) {
		effect_tell_required(x, lacks);
		return true;
	}
	p.key = dyn_key_of(r, row_item(&f));
	w = effect_batch_add(x, p.key, &at);
	if (!w)
		return true; /* another row has come to the same item */
	w->kind = DYN_PUT;
	w->item = entity_stored(r, x->target, &f);
	w->must_not_exist = true;
	if (x->target->may_expire)
		w->or_expired = r->design->ttl;
	x->batch.given[at] = p.with;
	x->batch.bytes += w->item.n;
	return effect_add_checks(x, at, reasons, n);
}

/* ---- what is there already ---- */

bool effect_may_change(const struct entity *e, const struct attribute *a)
{
	for (size_t i = 0; i < e->param_count; i++)
		if (e->param_at[i] == a->at)
			return false;
	return !a->fixed && !a->counter && !a->from_key && !a->derived && !a->after.n && !a->copy_entity.n;
}

bool effect_put_over(struct effect *x, struct value stored, const struct row *given)
{
	const struct entity *e = x->target;
	struct run *r = x->run;
	struct row changes;

	row_init(&changes, r->arena, NULL);
	for (struct row_iter it = row_iter(given); row_next(&it);) {
		const struct attribute *a = it.slot ? it.slot->attribute : NULL;
		struct value v = write_fit(r, a, it.value);

		if (a && effect_may_change(e, a) && !value_equal(v, value_get(stored, a->name)))
			row_set(&changes, a->at, v);
	}
	if (!row_is_empty(&changes))
		return effect_alter(x, e, dyn_key_of(r, stored), &changes);
	run_pass_over(r, PASSED_OVER_THERE, "%s", "");
	return true;
}

/* ---- one ---- */

bool effect_clear_expired(struct run *r, const struct entity *e, struct value key)
{
	struct value stored;
	bool ok = true;

	if (!e->may_expire)
		return true;
	if (!dyn_get(r, key, true, &stored))
		return false;
	if (value_present(stored) && entity_expired(r, stored))
		WITHOUT_RIDERS(r, ok = write_remove(r, e, key));
	return ok;
}

static enum plan_end put_once(struct write *w, struct write_result *out)
{
	struct put *p = (struct put *)w;
	struct row f;
	bool lives;

	p->is_made = false;
	if (!make_item(p, &f))
		return PLAN_FAILED;
	p->key = dyn_key_of(w->run, row_item(&f));
	if (!effect_clear_expired(w->run, w->entity, p->key) || !effect_put_lives(p->effect, &f, &lives))
		return PLAN_FAILED;
	if (!lives)
		return PLAN_DONE;
	p->is_made = true;
	return write_put_new(w, &f, out);
}

bool effect_put_single(struct effect *x)
{
	struct run *r = x->run;
	struct write_result out;
	struct value stored;
	struct put p;

	if (!put_init(x, &p))
		return false;
	if (write_try(&p.write, put_once, &out))
		return true;
	if (r->problem.type != PROBLEM_EXISTS)
		return is_skipped(&p);
	r->problem = (struct problem){ 0 };
	return dyn_get(r, p.key, true, &stored) && (!value_present(stored) || effect_put_over(x, stored, &p.with));
}
