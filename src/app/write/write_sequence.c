/* Numbers from sequences: `next of Board(board).card_numbers`.
 *
 * The sequence is the last number taken. A new item gets the next one, and its transaction moves the sequence there
 * under the condition that it has not moved since it was read: concurrent items get different numbers, a failed write
 * takes none, and a deletion returns none. A number given by an operator (restored data) moves the sequence up to it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/write/turn.h"
#include "app/write/write_plan.h"
#include "base/grow.h"

static struct number last_of(const struct take_note *n)
{
	return value_type(n->last) == VALUE_N ? value_number(n->last) : number_from_i64(0);
}

static void raise_to_taken(const struct write *w, const struct take_note *n, struct number *last)
{
	for (size_t i = 0; i < w->take_count; i++) {
		const struct take_note *before = &w->takes[i];

		if (slice_equal(before->attribute->next_attribute, n->attribute->next_attribute) &&
		    value_equal(before->key, n->key) && number_cmp(&before->number, last) > 0)
			*last = before->number;
	}
}

/* The last number so far: a transaction may take several. */
static struct number last_taken(const struct write *w, const struct take_note *n)
{
	const struct write *whole = w->whole ? w->whole : w;
	struct number last = last_of(n);

	raise_to_taken(whole, n, &last);
	for (size_t i = 0; i < whole->part_count; i++)
		raise_to_taken(whole->parts[i], n, &last);
	return last;
}

static void note_take(struct write *w, const struct take_note *n)
{
	GROW_IN(w->run->arena, w->takes, w->take_count, w->take_capacity, 2);
	w->takes[w->take_count++] = *n;
}

static double as_double(const struct number *n)
{
	int64_t i;

	return number_to_i64(n, &i) ? (double)i : 0;
}

static bool take_next(struct write *w, const struct attribute *a, struct take_note *n, struct row *f)
{
	struct number one = number_from_i64(1 + w->skipped), last = last_taken(w, n);
	struct error e = { 0 };

	if (!number_add(&last, &one, &n->number, w->run->arena, &e))
		return run_error(w->run, &e);
	if (a->has_min && as_double(&n->number) < a->min) /* integer 1000.. begins there */
		n->number = number_from_i64((int64_t)a->min);
	if (a->has_max && as_double(&n->number) > a->max)
		return run_invalid(w->run, a->name, "there are no more numbers: %.15g was the last", a->max);
	row_set(f, a->at, value_make_n(w->run->arena, &n->number));
	return true;
}

bool write_take(struct write *w, const struct attribute *a, struct row *f)
{
	struct run *r = w->run;
	struct write *whole = w->whole ? w->whole : w;
	struct take_note n = { .attribute = a, .source = a->next->to };
	struct value given = row_get(f, a->at);
	struct scope s = write_scope(w, f, NULL);
	struct entity_look look = { 0 };

	if (!n.source)
		return run_fail(r, PROBLEM_INTERNAL, "There is no entity %.*s", SLICE_ARG(a->next->entity));
	if (!scope_args(&s, a->next->args, a->next->arg_count, &n.args) ||
	    !entity_locate(r, n.source, n.args, a->next->arg_count, &n.key))
		return false;
	if (value_present(n.key) && !whole->turn)
		whole->turn = turn_take(r->arena, slice_make(n.key.p, n.key.n));
	if (!entity_look_at(r, n.source, n.key, true, &look))
		return false;
	if (!w->trusted && look.item.entity) {
		bool keeps;

		if (!entity_keeps(r, &look.item, NULL, &keeps))
			return false;
		if (!keeps && !run_explores(r)) /* another tenant's: plan_takes() asks for it in the transaction, too */
			look.item = (struct row){ 0 };
	}
	n.last = value_get(look.item.full, a->next_attribute);
	if (value_type(given) == VALUE_N)
		n.number = value_number(given);
	else if (look.item.entity && !take_next(w, a, &n, f))
		return false;
	else if (!look.item.entity && (w->trusted || r->caller.operator_ || r->caller.subject.n))
		return plan_tell_missing(w, &(struct plan_ask){ .reference = a->next, .args = n.args });
	/* Anonymous callers get 401 first; plan_takes() reports the rest. */
	note_take(w, &n);
	return true;
}

static bool plan_take(struct plan *p, const struct take_note *n)
{
	struct plan_ask ask = { .reference = n->attribute->next, .args = n->args };
	struct number last = last_of(n), by;
	struct plan_action *a;
	struct error e = { 0 };

	if (!value_present(n->key) || value_equal(n->key, p->key))
		return plan_tell_missing(p->write, &ask);
	a = plan_target(p, n->source, n->key);
	if (!plan_add_ask(p, a, &ask))
		return false;
	if (fields_has(&a->add, n->attribute->next_attribute)) { /* another number of the same item */
		by = value_number(fields_get(&a->add, n->attribute->next_attribute));
		if (!number_add(&last, &by, &last, p->run->arena, &e))
			return run_error(p->run, &e);
	}
	if (number_cmp(&n->number, &last) <= 0)
		return true; /* a given number that the sequence has passed already */
	if (!number_sub(&n->number, &last, &by, p->run->arena, &e))
		return run_error(p->run, &e);
	a->takes = true;
	fields_set(&a->equal, n->attribute->next_attribute, n->last);
	return fields_move(p->run, &a->add, n->attribute->next_attribute, &by);
}

bool plan_takes(struct plan *p)
{
	for (size_t i = 0; i < p->write->take_count; i++)
		if (!plan_take(p, &p->write->takes[i]))
			return false;
	return true;
}

bool write_skips(struct plan *p)
{
	struct write *w = p->write;

	for (size_t i = 0; i < w->take_count; i++)
		for (size_t k = 0; k < p->entity->param_count; k++)
			if (w->takes[i].attribute->at == p->entity->param_at[k] &&
			    !(w->input && row_has(w->input, p->entity->param_at[k]))) {
				w->skipped = 2 * w->skipped + 1;
				return true;
			}
	return false;
}
