/* Shapes other than a list: unions, counts, batches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/read/read_internal.h"
#include "base/grow.h"
#include "base/map.h"

/* ---- unite ---- */

static void unite_value(struct run *r, struct map *seen, struct value v, struct read_result *out)
{
	struct slice bytes = value_slice(v);

	if (map_find(seen, bytes))
		return;
	map_set(seen, bytes, NULL);
	GROW_IN(r->arena, out->values, out->value_count, out->value_room, 16);
	out->values[out->value_count++] = v;
}

static void unite_list(struct run *r, struct map *seen, struct value list, struct read_result *out)
{
	struct value_iter it = value_iter(list);

	while (value_next(&it))
		unite_value(r, seen, value_element(r->arena, &it), out);
}

/* As in an item: hidden attributes are never shown, private ones to callers who may update it. No caller may update a
 * companion, so an attribute that is private in any entity is not shown of companions. */
static bool may_unite(struct run *r, const struct row *row, const struct name *name, bool *may)
{
	const struct entity *e = row->entity;
	const struct attribute *a = e ? slots_attribute(e->slots, name) : NULL;

	*may = true;
	for (size_t i = 0; !e && *may && i < r->design->entity_count; i++) {
		a = slots_attribute(r->design->entities[i].slots, name);
		*may = !a || !(a->hidden || (a->private_ && !r->caller.operator_));
	}
	if (!e || !a)
		return true;
	*may = !a->hidden;
	return !*may || !a->private_ || entity_allows_row(r, e, ALLOW_UPDATE, row, row, may);
}

bool shape_unite(struct pattern *p, struct read_result *out)
{
	struct run *r = p->g->r;
	struct map seen;
	bool may;

	map_init(&seen, r->arena);
	for (size_t i = 0; i < out->row_count; i++) {
		struct value v = row_get(&out->rows[i], p->access->unite_at);

		if (!may_unite(r, &out->rows[i], p->access->unite_at, &may))
			return false;
		if (may && (value_count(v) || value_type(v) == VALUE_L))
			unite_list(r, &seen, v, out);
		else if (may && value_present(v) && value_type(v) != VALUE_M)
			unite_value(r, &seen, v, out);
	}
	out->rows = NULL;
	out->row_count = 0;
	return true;
}

/* ---- counts ---- */

/* Whether the database can count: every row that query_count() counts would be shown. */
static bool is_plain(struct pattern *p)
{
	const struct access *a = p->access;
	const struct read_kinds *kinds = &p->known->possible;

	if (a->kind != ACCESS_QUERY || a->has_then || p->row_rule || a->rank_keep)
		return false;
	if (p->open)
		return true;
	if (p->g->r->design->everywhere.rule && kinds->others) /* companions */
		return false;
	for (size_t i = 0; i < kinds->count; i++) {
		const struct term *rule = read_row_rule(kinds->list[i], ALLOW_LIST, p->past_rules);

		if (p->past_rules ? rule != NULL : !rule || rule->kind != TERM_ALWAYS)
			return false;
	}
	return query_can_tell_strangers(p);
}

bool shape_count(struct pattern *p, int64_t *count)
{
	struct flow *s;
	struct found row;
	bool got;

	if (is_plain(p))
		return query_count(p, count);
	p->g->left = (int64_t)10 * READ_MOST_ROWS;
	s = pattern_open(p);
	if (!s)
		return false;
	for (*count = 0;; ++*count) {
		if (!flow_next(s, READ_MOST_CHUNK, &row, &got))
			return false;
		if (!got)
			return true;
	}
}

bool shape_counts(struct pattern *p, struct read_result *out)
{
	const struct access *a = p->access;
	struct arena *arena = p->g->r->arena;
	struct merge_part *parts;
	size_t n;

	out->count_count = (size_t)(a->range_to - a->range_from + 1);
	out->labels = arena_array(arena, struct value, out->count_count);
	out->counts = arena_array(arena, int64_t, out->count_count);
	if (!merge_parts(p, &parts, &n))
		return false;
	backend_together(p->g->r->backend, true);
	for (size_t i = 0; i < out->count_count; i++) {
		out->labels[i] = value_make_i64(arena, a->range_from + (int64_t)i);
		for (size_t k = 0; k < n; k++)
			if (value_equal(parts[k].label, out->labels[i]) &&
			    !shape_count(&parts[k].pattern, &out->counts[i]))
				return false;
		out->count += out->counts[i];
	}
	backend_together(p->g->r->backend, false);
	return true;
}

/* ---- batch ---- */

#define BATCH_MOST 100

static bool is_parameter(const struct access *a, const struct name *name)
{
	for (size_t i = 0; i < a->param_count && a->path.n; i++)
		if (a->param_at[i] == name)
			return true;
	for (size_t i = 0; i < a->query_param_count; i++)
		if (a->query_params[i].at == name)
			return true;
	return false;
}

/* A name in the reference that is a part of each id. */
static bool is_open(const struct access *a, const struct term *t)
{
	return t->kind == TERM_PATH && t->name_count == 1 && !is_parameter(a, t->at);
}

static size_t open_count(const struct access *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->get.arg_count; i++)
		n += is_open(a, a->get.args[i]);
	return n;
}

/* The identity of one id. *there: whether the id has all parts. */
static bool identity_of(struct pattern *p, const struct entity *e, struct slice id, size_t parts, struct value *args,
			bool *there)
{
	const struct access *a = p->access;
	struct scope s = pattern_scope(p, NULL);

	*there = true;
	for (size_t i = 0; i < a->get.arg_count; i++) {
		const struct attribute *attribute =
			i < e->param_count ? slots_attribute(e->slots, e->param_at[i]) : NULL;
		const char *slash;
		struct slice part = id;

		if (!is_open(a, a->get.args[i])) {
			if (!scope_value(&s, a->get.args[i], &args[i]))
				return false;
			*there = *there && value_present(args[i]);
			continue;
		}
		slash = parts > 1 ? memchr(id.p, '/', id.n) : NULL;
		if (slash)
			part.n = (size_t)(slash - id.p);
		id = slash ? slice_make(slash + 1, id.n - part.n - 1) : slice_make(id.p + id.n, 0);
		parts--;
		if (!part.n)
			*there = false;
		else if (!input_text(p->g->r, attribute, a->get.args[i]->names[0], part, &args[i]))
			return false;
	}
	return true;
}

static bool batch_keys(struct pattern *p, const struct read_request *q, const struct entity *e, struct value *keys,
		       size_t *n)
{
	struct run *r = p->g->r;
	const struct access *a = p->access;
	struct value *args = arena_array(r->arena, struct value, a->get.arg_count);
	size_t parts = open_count(a);
	struct map seen;
	bool there;

	map_init(&seen, r->arena);
	*n = 0;
	for (size_t i = 0; i < q->id_count; i++) {
		struct value key;

		if (!identity_of(p, e, q->ids[i], parts, args, &there))
			return false;
		if (!there)
			continue;
		if (!entity_locate(r, e, args, a->get.arg_count, &key))
			return false;
		if (!value_present(key) || map_find(&seen, value_slice(key)))
			continue;
		map_set(&seen, value_slice(key), NULL);
		keys[(*n)++] = key;
	}
	return true;
}

bool shape_batch(struct pattern *p, const struct read_request *q, struct found **rows, size_t *n)
{
	struct run *r = p->g->r;
	const struct entity *e = p->access->get.to;
	struct value *keys = arena_array(r->arena, struct value, q->id_count);
	struct value *items = arena_array(r->arena, struct value, q->id_count);
	size_t count;

	*rows = arena_array(r->arena, struct found, q->id_count);
	*n = 0;
	if (q->id_count > BATCH_MOST)
		return run_invalid(r, SLICE("id"), "at most %d", BATCH_MOST);
	if (!batch_keys(p, q, e, keys, &count) ||
	    !dyn_batch_get(r, keys, count, p->access->consistent || p->trusted, items))
		return false;
	for (size_t i = 0; i < count; i++)
		if (value_present(items[i]) && pattern_row(p, items[i], &(*rows)[*n]) && (*rows)[*n].shown.entity == e)
			++*n;
	return show_allowed(
		p, *rows, n,
		&(struct show_question){
			.verb = ALLOW_READ, .of_rows = true, .of_list = true, .followed = p->followed, .whole = true });
}
