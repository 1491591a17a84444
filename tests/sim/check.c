/* What must hold when everything has settled.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "app/dyn.h"
#include "app/entity.h"
#include "sim.h"
#include "value/codec.h"

struct counter { /* what the items say of one */
	struct counter *next;
	const struct entity *entity;
	struct value key;
	struct slice attribute;
	struct number total;
};

struct check {
	struct sim *sim;
	struct run run;
	struct value *items;
	size_t count;
	struct counter *counters;
};

static struct slice text_of(struct check *c, struct value item)
{
	struct buf b;

	buf_init(&b, c->run.arena);
	if (!value_present(item))
		return SLICE("nothing");
	if (value_type(item) == VALUE_M)
		item_to_json(&b, item);
	else
		value_to_json(&b, item);
	return buf_slice(&b);
}

static void read_page(struct check *c, const struct json *items)
{
	struct error e = { 0 };

	c->items = arena_grow(c->run.arena, c->items, c->count * sizeof(*c->items), (c->count + items->count) * sizeof(*c->items));
	for (size_t i = 0; i < items->count; i++)
		if (!item_from_json(c->run.arena, &items->items[i], &c->items[c->count++], &e))
			abort();
}

static void read_all(struct check *c)
{
	struct slice start = SLICE("");

	c->items = arena_alloc(c->run.arena, 1);
	do {
		struct slice body = arena_printf(c->run.arena, "{\"TableName\":\"%.*s\",\"ConsistentRead\":true%.*s}",
						 SLICE_ARG(c->sim->design->table), SLICE_ARG(start));
		struct backend_reply reply;
		const struct json *last;
		struct buf b;

		backend_call(c->run.backend, c->run.arena, "Scan", body, &reply);
		if (reply.status != 200)
			abort();
		read_page(c, json_get(reply.body, "Items"));
		last = json_get(reply.body, "LastEvaluatedKey");
		buf_init(&b, c->run.arena);
		if (last) {
			buf_lit(&b, ",\"ExclusiveStartKey\":");
			json_write(&b, last);
		}
		start = buf_slice(&b);
	} while (start.n);
}

/* ---- counters ---- */

static struct counter *counter_of(struct check *c, const struct entity *e, struct value key, struct slice attribute)
{
	struct counter *x;

	for (x = c->counters; x; x = x->next)
		if (value_equal(x->key, key) && slice_equal(x->attribute, attribute))
			return x;
	x = arena_new(c->run.arena, struct counter);
	*x = (struct counter){ .next = c->counters, .entity = e, .key = key, .attribute = attribute, .total = number_from_i64(0) };
	c->counters = x;
	return x;
}

static bool count_one(struct check *c, const struct count_rule *rule, const struct fields *f)
{
	const struct entity *target = design_entity(c->sim->design, rule->target.entity);
	struct scope s = { .run = &c->run, .item = f };
	struct number by = number_from_i64(1);
	struct value *args, v, key;
	struct counter *x;
	struct error e = { 0 };
	bool holds;

	if (!scope_holds(&s, rule->when, &holds))
		return false;
	if (!holds)
		return true;
	if (rule->by) {
		if (!scope_value(&s, rule->by, &v))
			return false;
		if (value_type(v) != VALUE_N)
			return true;
		by = value_number(v);
	}
	if (!scope_args(&s, rule->target.args, rule->target.arg_count, &args) ||
	    !entity_locate(&c->run, target, args, rule->target.arg_count, &key))
		return false;
	if (!value_present(key))
		return true;
	x = counter_of(c, target, key, rule->attribute);
	return number_add(&x->total, &by, &x->total, c->run.arena, &e);
}

static bool is_moved_otherwise(const struct design *d, const struct entity *e, struct slice attribute)
{
	for (size_t i = 0; i < e->action_count; i++) {
		for (size_t k = 0; k < e->actions[i].add_count; k++)
			if (slice_equal(e->actions[i].add[k].attribute, attribute))
				return true;
		for (size_t k = 0; k < e->actions[i].set_count; k++)
			if (slice_equal(e->actions[i].set[k].attribute, attribute))
				return true;
	}
	for (size_t i = 0; i < d->processor_count; i++)
		if (d->processors[i].effect == EFFECT_COUNT && slice_equal(d->processors[i].target, e->name) &&
		    slice_equal(d->processors[i].target_attribute, attribute))
			return true;
	return false;
}

static bool is_counted(const struct design *d, const struct entity *e, struct slice attribute)
{
	for (size_t i = 0; i < d->entity_count; i++)
		for (size_t k = 0; k < d->entities[i].count_count; k++)
			if (slice_equal(d->entities[i].counts[k].target.entity, e->name) &&
			    slice_equal(d->entities[i].counts[k].attribute, attribute))
				return !is_moved_otherwise(d, e, attribute);
	return false;
}

static void compare_counters(struct check *c, const struct entity *e, struct value full, struct value key)
{
	const struct number zero = number_from_i64(0);

	for (size_t i = 0; i < e->attribute_count; i++) {
		const struct attribute *a = &e->attributes[i];
		struct value has = value_get(full, a->name);
		struct number found = value_type(has) == VALUE_N ? value_number(has) : zero;
		const struct counter *x;

		if (!a->counter || !is_counted(c->sim->design, e, a->name))
			continue;
		x = counter_of(c, e, key, a->name);
		if (number_cmp(&found, &x->total))
			sim_problem(c->sim, "%.*s of %.*s %.*s is %.*s, but a recount gives %.*s", SLICE_ARG(a->name),
				    SLICE_ARG(e->name), SLICE_ARG(text_of(c, key)), SLICE_ARG(text_of(c, has)),
				    SLICE_ARG(text_of(c, value_make_n(c->run.arena, &x->total))));
	}
}

static struct value key_of(struct check *c, struct value item)
{
	const struct key_schema *k = &c->sim->design->key;
	struct value_member m[2];
	size_t n = 0;

	m[n++] = (struct value_member){ k->hash[0].name, value_get(item, k->hash[0].name) };
	if (k->range_count)
		m[n++] = (struct value_member){ k->range[0].name, value_get(item, k->range[0].name) };
	return value_make_map(c->run.arena, m, n);
}

static void check_counters(struct check *c)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < c->count; i++) {
			const struct entity *e = entity_of(&c->run, c->items[i]);
			struct value full = e ? entity_full(&c->run, e, c->items[i]) : VALUE_ABSENT;
			struct fields f;

			if (!e || entity_expired(&c->run, c->items[i]))
				continue;
			fields_from_item(&f, c->run.arena, full);
			for (size_t k = 0; !pass && k < e->count_count; k++)
				if (!count_one(c, &e->counts[k], &f))
					c->run.problem = (struct problem){ 0 };
			if (pass)
				compare_counters(c, e, full, key_of(c, c->items[i]));
		}
}

void check_all(struct sim *s)
{
	struct check c = { .sim = s };
	struct arena a;

	arena_init(&a);
	c.run = (struct run){ .app = s->app, .design = s->design, .backend = s->backend, .arena = &a, .now_ms = app_now_ms(s->app) };
	c.run.caller.operator_ = true;
	fiber_set_alone(true);
	read_all(&c);
	check_counters(&c);
	fiber_set_alone(false);
	arena_release(&a);
}
