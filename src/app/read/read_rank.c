/* Ranks: rows in the order of a formula. Trees: rows under the rows they name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/row.h"
#include "app/read/read_internal.h"
#include "base/map.h"
#include "base/timestamp.h"

/* ---- rank ---- */

struct ranked {
	struct found row;
	struct value score; /* absent or not a number: after all others */
	size_t at;
};

static int by_score(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	bool has_a = value_type(a->score) == VALUE_N, has_b = value_type(b->score) == VALUE_N;
	int c = has_a && has_b ? value_cmp(b->score, a->score) : (int)has_b - (int)has_a;

	return c ? c : (a->at > b->at) - (a->at < b->at);
}

/* `age`: hours since the item was created. */
static struct value age_of(struct pattern *p, const struct found *row)
{
	struct run *r = p->g->r;
	const struct entity *e = row->shown.entity ? row->raw.entity : NULL;
	struct number seconds, hour = number_from_i64(3600), hours;
	struct error error = { 0 };
	int64_t ms;

	for (size_t i = 0; e && i < e->attribute_count; i++) {
		struct value v = row_get(&row->raw, e->attributes[i].at);

		if (!e->attributes[i].now || value_type(v) != VALUE_S || !time_parse(value_bytes(v), &ms))
			continue;
		seconds = number_from_i64((p->g->now_ms - ms) / 1000);
		if (number_div(&seconds, &hour, &hours, r->arena, &error))
			return value_make_n(r->arena, &hours);
	}
	return VALUE_ABSENT;
}

/* The score of a row that is ranked by one of its attributes; absent: the formula must be evaluated. */
static struct value plain_score(const struct pattern *p, const struct found *row)
{
	const struct term *t = p->access->rank;

	return t->kind == TERM_PATH && t->name_count == 1 && t->at && row->raw.slots ? row_get(&row->raw, t->at)
										     : VALUE_ABSENT;
}

static bool score(struct pattern *p, const struct found *row, struct value *out)
{
	struct run *r = p->g->r;
	struct term_variable age = { .at = r->design->age_at, .name = SLICE("age") };
	struct scope s = pattern_scope(p, &row->raw);

	if (p->known->by_age && !value_present(row_get(&row->raw, age.at)))
		age.value = age_of(p, row);
	if (value_present(age.value)) {
		s.variables = &age;
		s.variable_count = 1;
	}
	if (scope_value(&s, p->access->rank, out))
		return true;
	*out = VALUE_ABSENT;
	if (r->problem.type != PROBLEM_INVALID)
		return false;
	r->problem = (struct problem){ 0 }; /* a row whose formula fails comes last */
	return true;
}

bool rank_sort(struct pattern *p, struct found *rows, size_t n)
{
	struct run *r = p->g->r;
	struct ranked *list = arena_array(r->arena, struct ranked, n);
	int64_t now = r->now_ms;
	bool ok = true, sorted = true;

	r->now_ms = p->g->now_ms; /* the same order on every page */
	for (size_t i = 0; i < n && ok; i++) {
		list[i] = (struct ranked){ .row = rows[i], .score = plain_score(p, &rows[i]), .at = i };
		ok = value_present(list[i].score) || score(p, &rows[i], &list[i].score);
		sorted = sorted && (!i || by_score(&list[i - 1], &list[i]) < 0);
	}
	r->now_ms = now;
	if (!ok)
		return false;
	if (!sorted)
		qsort(list, n, sizeof(*list), by_score);
	for (size_t i = 0; !sorted && i < n; i++)
		rows[i] = list[i].row;
	return true;
}

/* ---- tree ---- */

#define TREE_LEVELS 200 /* deeper rows stand beside their parent: readers of JSON stop at some depth */

struct node {
	struct row *row;
	struct value by;
	size_t at;
	struct node *parent;
	struct node *next, *first, **last; /* siblings; children */
	size_t children;
	int depth; /* 0: not known; -1: being computed */
};

/* The name that other rows use for it: the last part of its identity. */
static struct slice name_of(struct run *r, const struct row *row)
{
	struct value v = VALUE_ABSENT;

	if (row->entity && row->entity->param_count)
		v = entity_identity(r, row)[row->entity->param_count - 1];
	return value_slice(v);
}

/* Ignores a parent that is itself below this node. */
static void find_depth(struct node *node)
{
	struct node *n = node, *below = NULL;

	/* up to a node whose depth is known, noting the way; then down again */
	while (n && n->depth == 0) {
		struct node *up = n->parent;

		n->depth = -1;
		n->next = below;
		below = n;
		n = up;
	}
	if (n && n->depth == -1)
		below->parent = NULL;
	while (below) {
		struct node *next = below->next;

		while (below->parent && below->parent->depth >= TREE_LEVELS)
			below->parent = below->parent->parent;
		below->depth = below->parent ? below->parent->depth + 1 : 1;
		below->next = NULL;
		below = next;
	}
}

static int by_order(const void *x, const void *y)
{
	const struct node *a = *(struct node *const *)x, *b = *(struct node *const *)y;
	bool has_a = value_present(a->by), has_b = value_present(b->by);
	int c = (int)has_b - (int)has_a;

	if (has_a && has_b && value_type(a->by) == value_type(b->by) && value_type(a->by) <= VALUE_B)
		c = value_cmp(a->by, b->by);
	return c ? c : (a->at > b->at) - (a->at < b->at);
}

static struct node *nodes_of(struct pattern *p, struct read_result *out)
{
	struct run *r = p->g->r;
	struct node *nodes = arena_array(r->arena, struct node, out->row_count);
	struct map names;

	map_init(&names, r->arena);
	for (size_t i = 0; i < out->row_count; i++) {
		struct slice name = name_of(r, &out->rows[i]);

		nodes[i].row = &out->rows[i];
		nodes[i].at = i;
		nodes[i].last = &nodes[i].first;
		if (p->access->tree_by_at)
			nodes[i].by = row_get(&out->rows[i], p->access->tree_by_at);
		if (name.n)
			map_set(&names, name, &nodes[i]);
	}
	for (size_t i = 0; i < out->row_count; i++) {
		struct value v = row_get(&out->rows[i], p->access->tree_parent_at);

		if (value_present(v))
			nodes[i].parent = map_get(&names, value_slice(v));
	}
	for (size_t i = 0; i < out->row_count; i++)
		find_depth(&nodes[i]);
	return nodes;
}

static size_t place_children(struct run *r, struct node *first, size_t n, struct row **rows)
{
	size_t count = 0;

	*rows = arena_array(r->arena, struct row, n);
	for (struct node *node = first; node; node = node->next) {
		struct row *row = &(*rows)[count++];

		*row = *node->row;
		row->child_count = place_children(r, node->first, node->children, &row->children);
	}
	return count;
}

void shape_tree(struct pattern *p, struct read_result *out)
{
	struct run *r = p->g->r;
	struct node *nodes = nodes_of(p, out), **sorted = arena_array(r->arena, struct node *, out->row_count);
	struct node top = { .last = &top.first };

	for (size_t i = 0; i < out->row_count; i++)
		sorted[i] = &nodes[i];
	if (out->row_count)
		qsort(sorted, out->row_count, sizeof(*sorted), by_order);
	for (size_t i = 0; i < out->row_count; i++) {
		struct node *under = sorted[i]->parent ? sorted[i]->parent : &top;

		*under->last = sorted[i];
		under->last = &sorted[i]->next;
		under->children++;
	}
	out->tree = true;
	out->row_count = place_children(r, top.first, top.children, &out->rows);
}
