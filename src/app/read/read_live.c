/* Watched lists: opening them, and their partitions. read_live_show.c has what they show of a change.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read/read_live_internal.h"
#include "base/grow.h"

/* ---- the pattern as it is now ---- */

bool live_open(struct run *r, const struct access *access, const struct row *given, struct live_pattern *o, bool *may)
{
	memset(o, 0, sizeof(*o));
	o->g = (struct reading){ r, READ_MOST_ROWS, r->now_ms };
	pattern_init(&o->p, &o->g, access, false);
	if (!pattern_params(&o->g, access, given, false, &o->params, &o->none))
		return false;
	o->p.params = &o->params;
	return pattern_allow(&o->p, may);
}

bool live_parts(struct pattern *p, struct pattern ***parts, size_t *n)
{
	struct arena *a = p->g->r->arena;
	struct merge_part *list;

	if (p->access->kind != ACCESS_MERGE) {
		*parts = arena_array(a, struct pattern *, 1);
		(*parts)[0] = p;
		*n = 1;
	} else {
		if (!merge_parts(p, &list, n))
			return false;
		*parts = arena_array(a, struct pattern *, *n);
		for (size_t i = 0; i < *n; i++)
			(*parts)[i] = &list[i].pattern;
	}
	for (size_t i = 0; i < *n; i++)
		(*parts)[i]->expected = (*parts)[i]->known->expected;
	return true;
}

/* ---- partitions ---- */

static bool is_key_value(const struct key_attr *k, struct value v)
{
	return value_present(v) && value_type(v) == k->type && value_bytes(v).n;
}

bool live_stands_in(const struct key_schema *k, struct value image)
{
	for (size_t i = 0; i < key_attr_count(k); i++)
		if (!is_key_value(key_attr_at(k, i), value_get(image, key_attr_at(k, i)->name)))
			return false;
	return true;
}

struct partitions {
	struct slice *list;
	size_t count, capacity;
};

static void add_partition(struct arena *a, struct partitions *x, struct slice key)
{
	for (size_t i = 0; i < x->count; i++)
		if (slice_equal(x->list[i], key))
			return;
	GROW_IN(a, x->list, x->count, x->capacity, 8);
	x->list[x->count++] = key;
}

static void begin_name(struct buf *b, struct arena *a, struct slice index)
{
	buf_init(b, a);
	buf_part(b, index);
}

/* False: the item lacks a part of the key. */
static bool name_of_image(struct arena *a, struct slice index, const struct key_schema *k, struct value image,
			  struct slice *out)
{
	struct buf b;

	if (!live_stands_in(k, image))
		return false;
	begin_name(&b, a, index);
	for (size_t i = 0; i < k->hash_count; i++)
		buf_part(&b, value_slice(value_get(image, k->hash[i].name)));
	*out = buf_slice(&b);
	return true;
}

static bool name_of_plan(const struct pattern *p, const struct query_plan *plan, struct slice *out)
{
	struct buf b;

	begin_name(&b, p->g->r->arena, p->access->index);
	for (size_t i = 0; i < p->access->key->hash_count; i++) {
		const struct dyn_condition *c = query_condition(plan, p->access->key_at[i]);

		if (!c || c->op != WHERE_EQ || !value_present(c->value))
			return false;
		buf_part(&b, value_slice(c->value));
	}
	*out = buf_slice(&b);
	return true;
}

void read_live_places(struct run *r, struct value image, struct slice **places, size_t *n)
{
	const struct design *d = r->design;
	struct slice name;

	*places = arena_array(r->arena, struct slice, 1 + d->index_count);
	*n = 0;
	if (!value_present(image))
		return;
	if (name_of_image(r->arena, SLICE(""), &d->key, image, &name))
		(*places)[(*n)++] = name;
	for (size_t i = 0; i < d->index_count; i++)
		if (name_of_image(r->arena, d->indexes[i].name, &d->indexes[i].key, image, &name))
			(*places)[(*n)++] = name;
}

static bool add_queried(struct pattern *p, struct partitions *x)
{
	struct query_plan plan;
	struct slice name;

	for (int64_t step = 0; step < query_steps(p->access); step++) {
		if (!query_plan(p, step, &plan))
			return false;
		if (!plan.none && name_of_plan(p, &plan, &name))
			add_partition(p->g->r->arena, x, name);
	}
	return true;
}

/* The partitions of the caller's account: a write there may end the session. */
static void add_account(struct run *r, const struct access *access, struct partitions *x)
{
	const struct caller_session *s = &r->caller.session;
	struct slice name;

	if (!s->account.n || !read_depends_on_caller(r, access))
		return;
	for (size_t i = 0; i < 2; i++)
		if (value_present(s->keys[i]) && name_of_image(r->arena, SLICE(""), &r->design->key, s->keys[i], &name))
			add_partition(r->arena, x, name);
}

static bool find_partitions(struct live_pattern *o, struct value key, struct slice **partitions, size_t *n)
{
	struct run *r = o->g.r;
	struct partitions x = { 0 };
	struct pattern **parts;
	struct slice name;
	size_t count;

	if (value_present(key)) {
		if (name_of_image(r->arena, SLICE(""), &r->design->key, key, &name))
			add_partition(r->arena, &x, name);
	} else if (!o->none) {
		if (!live_parts(&o->p, &parts, &count))
			return false;
		for (size_t i = 0; i < count; i++)
			if (!add_queried(parts[i], &x))
				return false;
	}
	add_account(r, o->p.access, &x);
	*partitions = x.list;
	*n = x.count;
	return true;
}

bool read_live_partitions(struct run *r, const struct read_live *w, struct slice **partitions, size_t *n)
{
	struct row given;
	struct live_pattern o;
	bool may;

	row_from(&given, r->arena, NULL, w->params);
	return live_open(r, w->access, &given, &o, &may) && find_partitions(&o, w->key, partitions, n);
}

/* ---- opening ---- */

/* As a GET would answer: an item that does not exist cannot be watched. */
static bool is_there(struct run *r, const struct access *access, const struct row *given)
{
	struct read_request q = { .access = access, .params = given };
	struct read_result result;

	return read_access(r, &q, &result);
}

bool read_live_open(struct run *r, const struct access *access, const struct row *given, struct read_live *out,
		    struct slice **partitions, size_t *n)
{
	struct live_pattern o;
	const char *why;
	bool may;

	if (!live_open(r, access, given, &o, &may))
		return false;
	if (!may)
		return pattern_refuse(r);
	if (!read_live_can(r->design, access, &why))
		return run_fail(r, PROBLEM_INVALID, "this list cannot be watched: %s", why);
	if (live_is_single(access) && !is_there(r, access, given))
		return false;
	*out = (struct read_live){ .access = access, .params = row_item(given) };
	if (access->kind == ACCESS_GET && !pattern_key(&o.p, &out->key))
		return false;
	return find_partitions(&o, out->key, partitions, n);
}
