/* Writes with an SDK that bypass the design's API: those that fit the design, after which the keeper must correct
 * everything, and those that do not, which must not block anything. SPDX-License-Identifier: Apache-2.0 */
#include "app/db/dyn.h"
#include "app/entity/entity.h"
#include "app/write/keep.h"
#include "sim.h"
#include "value/codec.h"

#define SCAN_MOST 30

struct raw {
	struct sim *sim;
	struct draw draw;
	struct run run;
	struct value item; /* an existing item */
	const struct entity *entity;
};

static struct random *dice(struct raw *w)
{
	return &w->sim->random;
}

static void send(struct raw *w, const char *operation, struct slice body)
{
	struct backend_reply reply;

	sim_note(w->sim, "SDK: %s %.*s", operation, SLICE_ARG(body));
	backend_call(w->run.backend, w->run.arena, operation, body, &reply);
	if (memory_is_dead())
		return;
	sim_note(w->sim, "→ %d %.*s", reply.status, SLICE_ARG(reply.message));
	if (reply.status == 500)
		sim_problem(w->sim, "%s %.*s was answered %.*s", operation, SLICE_ARG(body), SLICE_ARG(reply.message));
}

/* Some item of the table. */
static bool pick(struct raw *w)
{
	struct arena *a = w->run.arena;
	struct backend_reply reply;
	const struct json *items;
	struct error e = { 0 };

	backend_call(w->run.backend, a, "Scan",
		     arena_printf(a, "{\"TableName\":\"%.*s\",\"Limit\":%d}", SLICE_ARG(w->sim->design->table),
				  SCAN_MOST),
		     &reply);
	items = json_get(reply.body, "Items");
	if (!json_is(items, JSON_ARRAY) || !items->count)
		return false;
	if (!item_from_json(a, &items->items[random_below(dice(w), items->count)], &w->item, &e))
		return false;
	w->entity = entity_of(&w->run, w->item);
	return w->entity != NULL;
}

static void put_key(struct raw *w, struct buf *b)
{
	const struct key_schema *k = &w->sim->design->key;
	struct value_member m[2];
	size_t n = 0;

	m[n++] = (struct value_member){ k->hash[0].name, value_get(w->item, k->hash[0].name) };
	if (k->range_count)
		m[n++] = (struct value_member){ k->range[0].name, value_get(w->item, k->range[0].name) };
	item_to_json(b, value_make_map(w->run.arena, m, n));
}

/* ---- writes that fit ---- */

/* Whether the attribute says which item is required, or lived on, or whether one is. */
static bool names_it(struct raw *w, const struct requirement *q, const struct name *at)
{
	struct name_list names = { 0 };

	names_of_term(w->run.arena, &names, w->entity, q->when);
	for (size_t k = 0; k < q->target.arg_count; k++)
		names_of_term(w->run.arena, &names, w->entity, q->target.args[k]);
	return names_have(&names, at);
}

/* Whether no other attribute and no count depends on it. */
static bool is_free(struct raw *w, const struct attribute *a)
{
	const struct entity *e = w->entity;

	if ((a->type != ATTR_STRING && a->type != ATTR_TEXT) || a->unique || a->fixed || a->matches || a->id ||
	    a->derived || a->copy_entity.n || a->hidden || a->compressed || a->lower || a->from_key ||
	    keep_depends(e, a->at))
		return false;
	for (size_t i = 0; i < e->count_count; i++) {
		struct name_list names = { 0 };

		if (e->counts[i].by)
			names_of_term(w->run.arena, &names, e, e->counts[i].by);
		if (e->counts[i].each.list)
			names_of_term(w->run.arena, &names, e, e->counts[i].each.list);
		if (e->counts[i].when)
			names_of_term(w->run.arena, &names, e, e->counts[i].when);
		for (size_t k = 0; k < e->counts[i].target.arg_count; k++)
			names_of_term(w->run.arena, &names, e, e->counts[i].target.args[k]);
		if (names_have(&names, a->at))
			return false;
	}
	for (size_t i = 0; i < e->require_count; i++)
		if (names_it(w, &e->requires[i], a -> at))
			return false;
	for (size_t i = 0; i < e->lives_count; i++)
		if (names_it(w, &e->lives[i], a->at))
			return false;
	return true;
}

static void change_free(struct raw *w)
{
	const struct attribute *a = &w->entity->attributes[random_below(dice(w), w->entity->attribute_count)];
	struct buf b;

	if (!is_free(w, a) || !value_present(value_get(w->item, a->name)))
		return;
	buf_init(&b, w->run.arena);
	buf_printf(&b, "{\"TableName\":\"%.*s\",\"Key\":", SLICE_ARG(w->sim->design->table));
	put_key(w, &b);
	buf_printf(&b,
		   ",\"UpdateExpression\":\"SET #a = :a\",\"ConditionExpression\":\"attribute_exists(#a)\",\"ExpressionAttributeNames\":{\"#a\":\"%.*s\"},"
		   "\"ExpressionAttributeValues\":{\":a\":{\"S\":",
		   SLICE_ARG(a->name));
	draw_value(&w->draw, NULL, a, &b);
	buf_lit(&b, "}}}");
	send(w, "UpdateItem", buf_slice(&b));
}

/* Whether an SDK may delete it, so that the keeper can do the rest. Items that count elsewhere or have companions
 * must be deleted through the API. */
static bool is_plain(const struct sim *s, const struct entity *e)
{
	if (e->count_count || e->companion_count || e->login.present || e->delete_.refuse_count)
		return false;
	return !entity_leaves_orphans(s->design, e) && (!e->delete_.then_count || sim_may(s, SIM_CASCADES));
}

static void note_deletion(struct raw *w)
{
	struct sim *s = w->sim;

	if (!s->raw_deleted)
		s->raw_deleted = arena_array(&s->arena, struct value, RAW_DELETED_MOST);
	if (s->raw_deletes < RAW_DELETED_MOST)
		s->raw_deleted[s->raw_deletes++] = value_copy(&s->arena, dyn_key_of(&w->run, w->item));
}

static void delete_plain(struct raw *w)
{
	struct buf b;

	if (!is_plain(w->sim, w->entity) || !sim_may(w->sim, SIM_DELETES))
		return;
	note_deletion(w);
	buf_init(&b, w->run.arena);
	if (random_percent(dice(w), 50)) {
		buf_printf(&b, "{\"TableName\":\"%.*s\",\"Key\":", SLICE_ARG(w->sim->design->table));
		put_key(w, &b);
		buf_lit(&b, "}");
		send(w, "DeleteItem", buf_slice(&b));
		return;
	}
	buf_printf(&b, "{\"RequestItems\":{\"%.*s\":[{\"DeleteRequest\":{\"Key\":", SLICE_ARG(w->sim->design->table));
	put_key(w, &b);
	buf_lit(&b, "}}]}}");
	send(w, "BatchWriteItem", buf_slice(&b));
}

/* ---- writes that do not ---- */

static void note_unfit(struct raw *w)
{
	struct sim *s = w->sim;

	if (!s->unfit_keys)
		s->unfit_keys = arena_array(&s->arena, struct value, RAW_DELETED_MOST);
	if (s->unfit < RAW_DELETED_MOST)
		s->unfit_keys[s->unfit++] = value_copy(&s->arena, dyn_key_of(&w->run, w->item));
}

static void put_members(struct raw *w, struct buf *b)
{
	struct value_iter it = value_iter(w->item);
	const char *between = "{";

	while (value_next(&it)) {
		bool key = design_is_table_key(w->sim->design, it.name);

		if (!key && random_percent(dice(w), 50))
			continue;
		buf_str(b, between);
		between = ",";
		json_string(b, it.name);
		buf_lit(b, ":");
		if (!key && random_percent(dice(w), 30))
			buf_str(b, random_percent(dice(w), 50) ? "{\"N\":\"7\"}" : "{\"L\":[]}");
		else
			value_to_json(b, it.value);
	}
	buf_lit(b, "}");
}

/* The item with some of its attributes missing and others of another type; or its key alone. */
static void put_unfit(struct raw *w)
{
	struct buf b;

	note_unfit(w);
	buf_init(&b, w->run.arena);
	buf_printf(&b, "{\"TableName\":\"%.*s\",\"Item\":", SLICE_ARG(w->sim->design->table));
	if (random_percent(dice(w), 40))
		put_key(w, &b);
	else
		put_members(w, &b);
	buf_lit(&b, "}");
	send(w, "PutItem", buf_slice(&b));
}

static void remove_unfit(struct raw *w)
{
	const struct attribute *a = &w->entity->attributes[random_below(dice(w), w->entity->attribute_count)];
	struct buf b;

	if (design_is_table_key(w->sim->design, a->name))
		return;
	note_unfit(w);
	buf_init(&b, w->run.arena);
	buf_printf(&b,
		   "{\"TransactItems\":[{\"Update\":{\"TableName\":\"%.*s\",\"Key\":", SLICE_ARG(w->sim->design->table));
	put_key(w, &b);
	buf_printf(&b, ",\"UpdateExpression\":\"REMOVE #a\",\"ExpressionAttributeNames\":{\"#a\":\"%.*s\"}}}]}",
		   SLICE_ARG(a->name));
	send(w, "TransactWriteItems", buf_slice(&b));
}

void raw_write(struct sim *s, struct backend *b, struct arena *a)
{
	struct raw w = { .sim = s, .draw = { .sim = s, .arena = a } };

	w.run = (struct run){ .app = s->app, .design = s->design, .backend = b, .arena = a, .now_ms = app_now_ms(s->app) };
	w.run.caller.operator_ = true;
	if (!pick(&w) || memory_is_dead())
		return;
	if (sim_may(s, SIM_UNFIT) && random_percent(&s->random, 40)) {
		if (random_percent(&s->random, 60))
			put_unfit(&w);
		else
			remove_unfit(&w);
	} else if (sim_may(s, SIM_RAW)) {
		if (random_percent(&s->random, 50))
			change_free(&w);
		else
			delete_plain(&w);
	}
}
