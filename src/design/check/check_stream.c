/* Rules about processors: whether there is a stream, whether they wake themselves, end, and clean up.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/check/check.h"

#define READERS_MAX 2 /* per shard, beyond which AWS throttles */

static void stream_off(struct checker *c, const struct processor *p)
{
	bool old = term_mentions_old(p->when) || (p->events & ON_DELETED);
	if (p->every_seconds || c->d->stream == STREAM_NEW_AND_OLD || (c->d->stream == STREAM_NEW_IMAGE && !old))
		return;
	check_say(c, AT_SUBJECT,
		  c->d->stream == STREAM_NONE ? "the table has no stream" : "the stream does not carry what this needs");
}

/* ---- what an update finds ---- */

static bool may_be_created(const struct checker *c, const struct entity *e)
{
	if (e->allow[ALLOW_CREATE] && e->allow[ALLOW_CREATE]->kind != TERM_NEVER)
		return true;
	EACH (struct action, x, e->actions, e->action_count)
		if (x->creates)
			return true;
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		if ((p->effect == EFFECT_PUT || p->effect == EFFECT_COUNT || p->effect == EFFECT_UPSERT) &&
		    p->target_entity == e)
			return true;
	return design_also_puts(c->d, e);
}

static void update_of_nothing(struct checker *c, const struct processor *p)
{
	if (p->effect == EFFECT_UPDATE && !may_be_created(c, p->target_entity))
		check_say(c, AT_SUBJECT, "updates a %.*s, which nothing creates", SLICE_ARG(p->target));
}

/* ---- loops ---- */

/* The events that carrying out a processor causes on an entity. */
static int causes(const struct checker *c, const struct processor *p, const struct entity *e)
{
	static const int events[] = { [EFFECT_PUT] = ON_CREATED | ON_UPDATED,
				      [EFFECT_UPDATE] = ON_UPDATED,
				      [EFFECT_COUNT] = ON_UPDATED,
				      [EFFECT_DELETE] = ON_DELETED,
				      [EFFECT_UPSERT] = ON_CREATED | ON_UPDATED,
				      [EFFECT_REMOVE_ALL] = 0 };
	const struct entity *target = p->target_entity;
	int direct = target == e ? events[p->effect] : 0;
	if (p->effect == EFFECT_REMOVE_ALL && reach_has_entity(check_reach(c, p->target_access), e))
		direct |= ON_DELETED;
	/* Putting or deleting something that counts updates what it counts on. */
	EACH (struct count_rule, r, target ? target->counts : NULL, target ? target->count_count : 0)
		if (r->target.to == e)
			direct |= ON_UPDATED;
	return direct;
}

static bool wakes(const struct checker *c, const struct processor *p, const struct processor *next)
{
	/* A processor whose `when` compares with old.x is not woken by its own effect. */
	if (term_mentions_old(next->when))
		return false;
	int events = causes(c, p, next->of) & next->events;
	/* Putting an existing item is an update; if `next` only reacts to `created`, the loop ends by itself. */
	return events && !(p == next && p->effect == EFFECT_PUT && next->events == ON_DELETED);
}

static bool reaches_itself(const struct checker *c, const struct processor *start)
{
	const struct processor *all = c->d->processors;
	size_t n = c->d->processor_count;
	bool *seen = arena_array(c->arena, bool, n);
	size_t *queue = arena_array(c->arena, size_t, n + 1), head = 0, tail = 0;
	queue[tail++] = (size_t)(start - all);
	while (head < tail) {
		const struct processor *p = &all[queue[head++]];
		for (size_t i = 0; i < n; i++) {
			if (!wakes(c, p, &all[i]))
				continue;
			if (&all[i] == start)
				return true;
			if (!seen[i]) {
				seen[i] = true;
				queue[tail++] = i;
			}
		}
	}
	return false;
}

static void processor_loop(struct checker *c, const struct processor *p)
{
	if (reaches_itself(c, p))
		check_say(c, AT_SUBJECT, "what it writes wakes it again");
}

static void many_stream_readers(struct checker *c)
{
	size_t n = 0;
	EACH (struct processor, p, c->d->processors, c->d->processor_count)
		n += p->parts > 0 && !p->every_seconds;
	if (n > READERS_MAX)
		check_say(c, AT_SUBJECT, "%zu processors read one stream", n);
}

/* ---- fan-out ---- */

static bool is_other_item(const void *ctx, const struct term *t)
{
	(void)ctx;
	return t->kind == TERM_FETCH || t->kind == TERM_EXISTS;
}

/* A `let: {limit: …}`, or a condition on another item that leaves out the largest. */
static bool is_bounded(const struct processor *p)
{
	return p->let_count > 0 || term_any(p->when, is_other_item, NULL) || term_any(p->only_when, is_other_item, NULL);
}

static void unbounded_fan_out(struct checker *c, const struct processor *p)
{
	const struct access *a = p->rows_access;
	if (!a || p->effect != EFFECT_PUT || is_bounded(p))
		return;
	EACH (struct where_rule, w, a->where, a->where_count)
		if (w->op == WHERE_BETWEEN || w->op == WHERE_GE || w->op == WHERE_GT)
			return; /* a time window ends the loop */
	check_say(c, AT_SUBJECT, "writes a %.*s for each row of '%.*s', however many there are", SLICE_ARG(p->target),
		  SLICE_ARG(p->each_pattern));
}

static bool is_undone(const struct checker *c, const struct processor *p)
{
	EACH (struct processor, q, c->d->processors, c->d->processor_count) {
		if (q == p || q->of != p->of || !(q->events & (ON_UPDATED | ON_DELETED)))
			continue;
		if ((q->effect == EFFECT_DELETE || q->effect == EFFECT_UPDATE) && q->target_entity == p->target_entity)
			return true;
		if (q->effect == EFFECT_REMOVE_ALL &&
		    reach_has_entity(check_reach(c, q->target_access), p->target_entity))
			return true;
	}
	return false;
}

/* Whether the effect copies text of the source, not only ids. */
static bool spreads_content(const struct processor *p)
{
	EACH (struct attribute, a, p->of->attributes, p->of->attribute_count)
		EACH (struct assignment, s, p->with, a->type == ATTR_TEXT ? p->with_count : 0)
			if (term_mentions(s->term, a->name))
				return true;
	return false;
}

static void no_undo(struct checker *c, const struct processor *p)
{
	if (p->effect != EFFECT_PUT || !(p->events & ON_CREATED) || !p->each_pattern.n || !spreads_content(p) ||
	    is_undone(c, p))
		return;
	check_say(c, AT_SUBJECT, "no processor takes a %.*s back when the %.*s changes or goes", SLICE_ARG(p->target),
		  SLICE_ARG(p->entity));
}

/* ---- the keeper ---- */

static void reserved_name(struct checker *c, const struct processor *p)
{
	if (slice_is(p->name, "keeper"))
		check_say(c, AT_SUBJECT, "'keeper' is the name of a processor that every design has");
}

/* Whether the attribute can change, as keeper_move.c decides it: fixed attributes, the time of creation and the
 * creator never change; derived ones change if their sources do. */
static bool can_change(const struct entity *e, struct slice name, int depth)
{
	const struct attribute *a = entity_attribute(e, name);
	if (!a || a->fixed || a->now || a->the_caller || depth > 8)
		return false;
	if (a->after.n)
		return can_change(e, a->after, depth + 1);
	if (!a->derived)
		return true;
	EACH (struct attribute, of, e->attributes, e->attribute_count)
		if (of != a && term_mentions(a->derived, of->name) && can_change(e, of->name, depth + 1))
			return true;
	return false;
}

static bool can_move(const struct checker *c, const struct entity *e)
{
	EACH (struct attribute, a, e->attributes, e->attribute_count) {
		bool in_key = design_is_table_key(c->d, a->name);
		EACH (struct key_rule, k, e->keys, e->key_count)
			in_key |= design_is_table_key(c->d, k->attribute) &&
				  (template_names(k->template, a->name) || (k->when && term_mentions(k->when, a->name)));
		if (in_key && can_change(e, a->name, 0))
			return true;
	}
	return false;
}

/* Whether all of these stay, and one of them is an id. */
static bool finds_again(const struct entity *e, const struct slice *names, size_t n)
{
	bool by_id = false;
	for (size_t i = 0; i < n; i++) {
		const struct attribute *a = entity_attribute(e, names[i]);
		if (!a || !a->fixed)
			return false;
		by_id |= attribute_is_id(a);
	}
	return by_id;
}

static bool can_be_found(const struct checker *c, const struct entity *e)
{
	if (e->found_by.n && finds_again(e, e->params, e->param_count))
		return true;
	EACH (struct access, a, c->d->accesses, c->d->access_count) {
		bool of_it = a->of == e || (a->kind == ACCESS_GET && a->get.to == e) ||
			     (a->kind == ACCESS_QUERY && reach_has_entity(check_reach(c, a), e));
		if ((a->kind == ACCESS_QUERY || a->kind == ACCESS_GET) && of_it && !a->count_only && !a->unite.n &&
		    a->param_count && finds_again(e, a->params, a->param_count))
			return true;
	}
	return false;
}

static void cascade_unsure(struct checker *c, const struct entity *e)
{
	if (e->delete_.then_count && !e->delete_.soft && can_move(c, e) && !can_be_found(c, e))
		check_say(c, AT_SUBJECT, "its key can change, and nothing finds it again: a deletion looks like a move");
}

const struct rule check_rules_stream[] = {
	{ "stream-off", SEVERITY_ERROR,
	  "Without a stream no change is seen; without the old image the state before it is unknown.",
	  "Say `stream: new and old images`.", .processor = stream_off },
	{ "update-of-nothing", SEVERITY_WARNING, "An update only changes items that exist.",
	  "Use `put`, or `count`, which makes what it counts on; or let someone create it.",
	  .processor = update_of_nothing },
	{ "processor-loop", SEVERITY_ERROR,
	  "Its own write is in the stream, too, and is answered with another one, endlessly.",
	  "Add a `when` that compares with `old.…`, so that it only answers a change it does not make itself.",
	  .processor = processor_loop },
	{ "many-stream-readers", SEVERITY_NOTE,
	  "As separate functions on DynamoDB Streams they would compete for the shards.",
	  "Nothing to do here: Thorpe reads the stream once for all. On AWS use one dispatcher.",
	  .design = many_stream_readers },
	{ "unbounded-fan-out", SEVERITY_WARNING, "One post of someone with a million followers is a million writes.",
	  "Leave the largest out and merge their items when reading, or say `let: {limit: 10000}`.",
	  .processor = unbounded_fan_out },
	{ "no-undo", SEVERITY_WARNING, "The copies go on showing what was deleted or hidden.",
	  "Add a processor on `updated` or `deleted` that deletes them.", .processor = no_undo },
	{ "reserved-name", SEVERITY_ERROR,
	  "The keeper brings keys, copies and cascades up to date; positions and switches are stored under the name.",
	  "Give it another name.", .processor = reserved_name },
	{ "cascade-unsure", SEVERITY_WARNING,
	  "The stream shows a removal and, for a move, a new item under another key. Where it cannot be looked up by an id that stays, nothing is removed after it.",
	  "Make what the key is made from `fixed`, or give it an `id, fixed` and an access pattern that finds it by that.",
	  .entity = cascade_unsure },
	{ NULL },
};
