/* From a change of the table to what a list shows of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/read_live.h"
#include "app/output.h"
#include "app/read_where.h"

/* ---- the pattern as it is now ---- */

struct opened {
	struct reading g;
	struct pattern p;
	struct fields params;
	bool none; /* nothing can be there */
};

static bool open_pattern(struct run *r, const struct access *access, const struct fields *given, struct opened *o, bool *may)
{
	memset(o, 0, sizeof(*o));
	o->g = (struct reading){ r, READ_MOST_ROWS, r->now_ms };
	o->p = (struct pattern){ .g = &o->g, .access = access, .descending = access->descending };
	if (!pattern_params(&o->g, access, given, false, &o->params, &o->none))
		return false;
	o->p.params = &o->params;
	return pattern_allow(&o->p, may);
}

static void expect_kind(struct pattern *p)
{
	struct read_kinds kinds;

	read_possible(p->g->r->design, p->access, p->g->r->arena, &kinds);
	p->expected = kinds.count == 1 && !kinds.others ? kinds.list[0] : NULL;
}

/* The patterns whose rows are the list's: those of a merge, or itself. */
static bool parts_of(struct pattern *p, struct pattern ***parts, size_t *n)
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
		expect_kind((*parts)[i]);
	return true;
}

/* ---- keys ---- */

static bool is_key_value(const struct key_attr *k, struct value v)
{
	return value_present(v) && value_type(v) == k->type && value_bytes(v).n;
}

static bool stands_in(const struct key_schema *k, struct value image)
{
	for (size_t i = 0; i < k->hash_count; i++)
		if (!is_key_value(&k->hash[i], value_get(image, k->hash[i].name)))
			return false;
	for (size_t i = 0; i < k->range_count; i++)
		if (!is_key_value(&k->range[i], value_get(image, k->range[i].name)))
			return false;
	return true;
}

static bool meets(const struct dyn_condition *c, struct value v)
{
	bool upper = c->op == WHERE_BETWEEN;

	if (!value_present(v) || !value_present(c->value) || value_type(v) != value_type(c->value))
		return false;
	if (upper && (!value_present(c->upper) || value_type(v) != value_type(c->upper)))
		return false;
	switch (c->op) {
	case WHERE_EQ: return value_cmp(v, c->value) == 0;
	case WHERE_BEGINS: return slice_starts(value_bytes(v), value_bytes(c->value));
	case WHERE_BETWEEN: return value_cmp(v, c->value) >= 0 && value_cmp(v, c->upper) <= 0;
	case WHERE_LT: return value_cmp(v, c->value) < 0;
	case WHERE_LE: return value_cmp(v, c->value) <= 0;
	case WHERE_GT: return value_cmp(v, c->value) > 0;
	case WHERE_GE: return value_cmp(v, c->value) >= 0;
	}
	return false;
}

static int64_t steps_of(const struct access *a)
{
	return a->walk_times ? a->walk_times : 1;
}

/* Whether the keys of the image are those that the Query asks for. */
static bool is_asked_for(struct pattern *p, struct value image, bool *out)
{
	struct query_plan plan;

	*out = false;
	if (!stands_in(query_schema(p), image))
		return true;
	for (int64_t step = 0; step < steps_of(p->access) && !*out; step++) {
		bool all = true;

		if (!query_plan(p, step, &plan))
			return false;
		for (size_t i = 0; i < plan.where_count && all; i++)
			all = meets(&plan.where[i], value_get(image, plan.where[i].attribute));
		*out = all && !plan.none;
	}
	return true;
}

static bool has_key(const struct design *d, struct value image, struct value key)
{
	for (size_t i = 0; i < d->key.hash_count; i++)
		if (!value_equal(value_get(image, d->key.hash[i].name), value_get(key, d->key.hash[i].name)))
			return false;
	for (size_t i = 0; i < d->key.range_count; i++)
		if (!value_equal(value_get(image, d->key.range[i].name), value_get(key, d->key.range[i].name)))
			return false;
	return true;
}

/* ---- partitions ---- */

struct partitions {
	struct slice *list;
	size_t count, capacity;
};

static void add_partition(struct arena *a, struct partitions *x, struct slice key)
{
	for (size_t i = 0; i < x->count; i++)
		if (slice_equal(x->list[i], key))
			return;
	if (x->count == x->capacity) {
		size_t capacity = x->capacity ? 2 * x->capacity : 8;

		x->list = arena_grow(a, x->list, x->count * sizeof(*x->list), capacity * sizeof(*x->list));
		x->capacity = capacity;
	}
	x->list[x->count++] = key;
}

static void begin_name(struct buf *b, struct arena *a, struct slice index)
{
	buf_init(b, a);
	buf_varint(b, index.n);
	buf_put(b, index);
}

static void add_value(struct buf *b, struct value v)
{
	buf_varint(b, v.n);
	buf_add(b, v.p, v.n);
}

/* False: the item has not all of the key. */
static bool name_of_image(struct arena *a, struct slice index, const struct key_schema *k, struct value image, struct slice *out)
{
	struct buf b;

	if (!stands_in(k, image))
		return false;
	begin_name(&b, a, index);
	for (size_t i = 0; i < k->hash_count; i++)
		add_value(&b, value_get(image, k->hash[i].name));
	*out = buf_slice(&b);
	return true;
}

static bool name_of_plan(const struct pattern *p, const struct query_plan *plan, struct slice *out)
{
	const struct key_schema *k = query_schema(p);
	struct buf b;

	begin_name(&b, p->g->r->arena, p->access->index);
	for (size_t i = 0; i < k->hash_count; i++) {
		const struct dyn_condition *found = NULL;

		for (size_t n = 0; n < plan->where_count; n++)
			if (slice_equal(plan->where[n].attribute, k->hash[i].name) && plan->where[n].op == WHERE_EQ)
				found = &plan->where[n];
		if (!found || !value_present(found->value))
			return false;
		add_value(&b, found->value);
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

	for (int64_t step = 0; step < steps_of(p->access); step++) {
		if (!query_plan(p, step, &plan))
			return false;
		if (!plan.none && name_of_plan(p, &plan, &name))
			add_partition(p->g->r->arena, x, name);
	}
	return true;
}

static bool find_partitions(struct opened *o, struct value key, struct slice **partitions, size_t *n)
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
		if (!parts_of(&o->p, &parts, &count))
			return false;
		for (size_t i = 0; i < count; i++)
			if (!add_queried(parts[i], &x))
				return false;
	}
	*partitions = x.list;
	*n = x.count;
	return true;
}

bool read_live_partitions(struct run *r, const struct read_live *w, struct slice **partitions, size_t *n)
{
	struct fields given;
	struct opened o;
	bool may;

	fields_from_item(&given, r->arena, w->params);
	return open_pattern(r, w->access, &given, &o, &may) && find_partitions(&o, w->key, partitions, n);
}

/* ---- opening ---- */

static bool refuse(struct run *r)
{
	return r->caller.subject.n ? run_fail(r, PROBLEM_FORBIDDEN, "This is not for you to read") :
				     run_fail(r, PROBLEM_UNAUTHENTICATED, "Log in to read this");
}

static bool is_single(const struct access *a)
{
	return a->kind == ACCESS_GET || a->single;
}

static bool locate(struct opened *o, struct value *key)
{
	const struct reference *get = &o->p.access->get;
	struct run *r = o->g.r;
	struct scope s = pattern_scope(&o->p, NULL);
	struct value *args;

	*key = VALUE_ABSENT;
	if (o->p.access->kind != ACCESS_GET)
		return true;
	if (!get->entity.n)
		return query_key(&o->p, key);
	return scope_args(&s, get->args, get->arg_count, &args) &&
	       entity_locate(r, design_entity(r->design, get->entity), args, get->arg_count, key);
}

/* As the GET would answer: there is nothing to watch where there is nothing. */
static bool is_there(struct run *r, const struct access *access, const struct fields *given)
{
	struct read_request q = { .access = access, .params = given };
	struct read_result result;

	return read_access(r, &q, &result);
}

bool read_live_open(struct run *r, const struct access *access, const struct fields *given, struct read_live *out,
		    struct slice **partitions, size_t *n)
{
	struct opened o;
	const char *why;
	bool may;

	if (!open_pattern(r, access, given, &o, &may))
		return false;
	if (!may)
		return refuse(r);
	if (!read_live_can(r->design, access, &why))
		return run_fail(r, PROBLEM_INVALID, "this list cannot be watched: %s", why);
	if (is_single(access) && !is_there(r, access, given))
		return false;
	*out = (struct read_live){ .access = access, .params = fields_item(given) };
	return locate(&o, &out->key) && find_partitions(&o, out->key, partitions, n);
}

/* ---- what a list shows of an image ---- */

struct side {
	bool shown;
	bool unknown;     /* it was shown, and nobody knows what it was */
	struct value key; /* of what `then` led to; absent without */
	struct slice data;
};

struct showing {
	const struct read_live *live;
	const struct read_live_change *change;
	struct pattern *list; /* the one that is watched */
	bool tag;
};

/* As an index has it. */
static struct value projected(const struct pattern *p, struct value image)
{
	const struct design_index *i = p->access->index.n ? design_index(p->g->r->design, p->access->index) : NULL;
	struct value_iter it = value_iter(image);
	struct value_member *members;
	size_t n = 0;

	if (!i || i->projection == PROJECT_ALL)
		return image;
	members = arena_array(p->g->r->arena, struct value_member, value_count(image));
	while (value_next(&it))
		if (query_projects(p, it.name))
			members[n++] = (struct value_member){ it.name, it.value };
	return value_make_map(p->g->r->arena, members, n);
}

static bool holds(struct pattern *p, const struct term *t, struct value full, bool *out)
{
	struct fields item;
	struct scope s;

	*out = true;
	if (!t)
		return true;
	fields_from_item(&item, p->g->r->arena, full);
	s = pattern_scope(p, &item);
	return scope_holds(&s, t, out);
}

static bool may_see(struct pattern *p, struct row *row, enum allow_verb verb, bool *out)
{
	size_t n = 1;

	if (!show_allowed(p, row, &n, verb, true))
		return false;
	*out = n == 1;
	return true;
}

/* Who may not see a row is not led on by it. */
static bool may_follow(struct pattern *p, struct row *row, bool *out)
{
	struct pattern followed = *p;

	*out = true;
	if (p->row_rule)
		return true;
	followed.followed = true;
	return may_see(&followed, row, ALLOW_LIST, out);
}

static bool show(const struct showing *x, struct pattern *p, struct row *row, struct side *out)
{
	struct run *r = p->g->r;
	struct value full = row->shown.full;
	struct buf b;
	bool may;

	if (p != x->list && x->list->row_rule) {
		if (!may_see(x->list, row, ALLOW_LIST, &may))
			return false;
		if (!may)
			return true;
	}
	for (size_t i = 0; p != x->list && i < p->access->without_count; i++)
		full = value_map_with(r->arena, full, p->access->without[i], VALUE_ABSENT);
	buf_init(&b, r->arena);
	if (!output_item(r, row->shown.entity, full, x->tag, x->list->access->without, x->list->access->without_count, &b))
		return false;
	out->shown = true;
	out->data = buf_slice(&b);
	return true;
}

/* The item that a row leads to, as it is now; where the row has gone, as it was if it has changed at the same time. */
static bool lead_on(const struct showing *x, struct pattern *p, struct row *row, bool was, struct side *out)
{
	struct run *r = p->g->r;
	const struct then_rule *t = &p->access->then;
	struct value key, item = VALUE_ABSENT;
	bool keep, may;

	if (!may_follow(p, row, &may) || !then_key(p, row, &key))
		return false;
	if (!may || !value_present(key))
		return true;
	if (was && x->change->before)
		item = x->change->before(x->change->ctx, key);
	if (!value_present(item) && !dyn_get(r, key, true, &item))
		return false;
	out->unknown = was && !value_present(item);
	if (!value_present(item) || (!was && entity_expired(r, item)))
		return true;
	row->shown.entity = t->entity.n ? design_entity(r->design, t->entity) : entity_of(r, item);
	row->shown.full = row->shown.entity ? entity_full(r, row->shown.entity, item) : item;
	row->stored = item;
	if (!holds(p, t->keep, row->shown.full, &keep) ||
	    !may_see(p, row, is_single(p->access) ? ALLOW_READ : ALLOW_LIST, &may))
		return false;
	out->key = key;
	/* who is told that it has gone need not be told of what it has become */
	return (!keep && !was) || !may || show(x, p, row, out);
}

static bool is_row(const struct showing *x, struct pattern *p, struct value image, bool *out)
{
	if (!value_present(x->live->key))
		return is_asked_for(p, image, out);
	*out = has_key(p->g->r->design, image, x->live->key);
	return true;
}

/* `was`: the image before the change. Expired or not, whoever saw it has not been told that it is gone. */
static bool side_of(const struct showing *x, struct pattern *p, struct value image, bool was, struct side *out)
{
	struct run *r = p->g->r;
	struct slice of = p->access->get.entity;
	struct row row = { .stored = image };
	struct value seen;
	bool is;

	*out = (struct side){ 0 };
	if (!value_present(image) || (!was && entity_expired(r, image)))
		return true;
	if (!is_row(x, p, image, &is))
		return false;
	if (!is)
		return true;
	row.shown.entity = pattern_entity(p, image);
	if (of.n && (!row.shown.entity || !slice_equal(row.shown.entity->name, of)))
		return true;
	seen = projected(p, image);
	row.raw = row.shown.entity ? entity_full(r, row.shown.entity, seen) : seen;
	row.shown.full = row.shown.entity ? entity_full(r, row.shown.entity, image) : image;
	if (!holds(p, p->access->filter, row.raw, &is))
		return false;
	if (!is)
		return true;
	if (p->access->has_then)
		return lead_on(x, p, &row, was, out);
	if (!may_see(p, &row, is_single(p->access) ? ALLOW_READ : ALLOW_LIST, &is))
		return false;
	row.shown.full = row.raw;
	return !is || show(x, p, &row, out);
}

/* ---- events ---- */

static void tell(struct read_live_event *events, size_t *n, enum read_live_kind kind, struct slice data)
{
	events[(*n)++] = (struct read_live_event){ kind, data };
}

static void compare(const struct side *was, const struct side *is, struct read_live_event *events, size_t *n)
{
	bool led_on = value_present(was->key) || value_present(is->key);

	if (was->unknown && !is->shown) {
		tell(events, n, LIVE_RESET, SLICE("{}"));
	} else if (was->shown && is->shown && led_on && !value_equal(was->key, is->key)) {
		tell(events, n, LIVE_REMOVED, was->data);
		tell(events, n, LIVE_ADDED, is->data);
	} else if (was->shown && is->shown) {
		/* What has changed may be nothing that is shown. */
		if (led_on || !slice_equal(was->data, is->data))
			tell(events, n, LIVE_CHANGED, is->data);
	} else if (is->shown) {
		tell(events, n, LIVE_ADDED, is->data);
	} else if (was->shown) {
		tell(events, n, LIVE_REMOVED, was->data);
	}
}

static bool is_mixed(const struct pattern *p)
{
	struct read_kinds kinds;

	if (is_single(p->access) || (p->expected && !p->access->has_then && p->access->kind == ACCESS_QUERY))
		return false;
	read_kinds(p->g->r->design, p->access, p->g->r->arena, &kinds);
	return kinds.count > 1;
}

bool read_live_follow(struct run *r, const struct read_live *w, const struct read_live_change *c, struct read_live_event *events,
		      size_t *n, bool *may)
{
	struct side was = { 0 }, is = { 0 };
	struct showing x = { .live = w, .change = c };
	struct pattern **parts;
	struct fields given;
	struct opened o;
	size_t count;

	*n = 0;
	fields_from_item(&given, r->arena, w->params);
	if (!open_pattern(r, w->access, &given, &o, may))
		return false;
	if (!*may || o.none)
		return true;
	if (!parts_of(&o.p, &parts, &count))
		return false;
	x.list = &o.p;
	x.tag = is_mixed(&o.p);
	for (size_t i = 0; i < count; i++) {
		struct side old = { 0 }, now = { 0 };

		if (!side_of(&x, parts[i], c->old, true, &old) || !side_of(&x, parts[i], c->new_, false, &now))
			return false;
		if (!was.shown)
			was = old.shown || old.unknown ? old : was;
		if (!is.shown)
			is = now.shown ? now : is;
	}
	compare(&was, &is, events, n);
	return true;
}
