/* From a change of the table to what a list shows of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/entity_key.h"
#include "app/entity/output.h"
#include "app/read/read_live_internal.h"

/* ---- keys ---- */

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

/* Whether the Query would find an item with these keys. */
static bool is_asked_for(struct pattern *p, struct value image, bool *out)
{
	struct query_plan plan;

	*out = false;
	if (!live_stands_in(p->access->key, image))
		return true;
	for (int64_t step = 0; step < query_steps(p->access) && !*out; step++) {
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
	for (size_t i = 0; i < key_count(d); i++)
		if (!value_equal(key_part(image, d->key_at[i]), key_part(key, d->key_at[i])))
			return false;
	return true;
}

/* ---- what a list shows of an image ---- */

struct side {
	bool shown;
	bool unknown;     /* it was shown, and it is not known as what */
	struct value key; /* of the item that `then` led to; absent without `then` */
	struct slice data;
};

struct showing {
	const struct read_live *live;
	const struct read_live_change *change;
	struct pattern *list; /* the watched one */
	bool tag;
};

/* The image as the index has it. */
static struct value projected(const struct pattern *p, struct value image)
{
	const struct design_index *i = p->access->from;
	struct value_iter it = value_iter(image);
	struct value_member *members;
	size_t n = 0;

	if (!i || i->projection == PROJECT_ALL)
		return image;
	members = arena_array(p->g->r->arena, struct value_member, value_count(image));
	while (value_next(&it))
		if (query_projects(p->g->r->design, p->access, it.name))
			members[n++] = (struct value_member){ it.name, it.value };
	return value_make_map(p->g->r->arena, members, n);
}

static bool stays(struct pattern *p, struct found *row, const struct show_question *q, bool *out)
{
	size_t n = 1;

	if (!show_allowed(p, row, &n, q))
		return false;
	*out = n == 1;
	return true;
}

static bool may_see(struct pattern *p, struct found *row, bool *out)
{
	return stays(p, row,
		     &(struct show_question){ .verb = live_is_single(p->access) ? ALLOW_READ : ALLOW_LIST,
					      .of_rows = true,
					      .of_list = true,
					      .followed = p->followed,
					      .whole = true,
					      .led = p->access->has_then },
		     out);
}

/* A row that the caller may not see leads nowhere. */
static bool may_follow(struct pattern *p, struct found *row, bool *out)
{
	return stays(p, row,
		     &(struct show_question){ .verb = ALLOW_LIST, .of_rows = true, .followed = true, .whole = true },
		     out);
}

/* The rule of the merge that contains a part's row. */
static bool may_see_in(struct pattern *list, struct found *row, bool *out)
{
	return stays(list, row, &(struct show_question){ .verb = ALLOW_LIST, .of_list = true, .whole = true }, out);
}

static bool show(const struct showing *x, struct pattern *p, struct found *row, struct side *out)
{
	struct run *r = p->g->r;
	struct value full = row->shown.full;
	struct row item;
	struct buf b;
	bool may;

	if (p != x->list && x->list->row_rule) {
		if (!may_see_in(x->list, row, &may))
			return false;
		if (!may)
			return true;
	}
	for (size_t i = 0; p != x->list && i < p->access->without_count; i++)
		full = value_map_with(r->arena, full, p->access->without[i], VALUE_ABSENT);
	buf_init(&b, r->arena);
	item = row->shown.entity ? row_lay(r->arena, row->shown.entity, full) : row_of(full);
	if (!output_row(r, &item, x->tag, x->list->access->without_at, x->list->access->without_count, &b))
		return false;
	out->shown = true;
	out->data = buf_slice(&b);
	return true;
}

/* The item that a row leads to, as it is now; for a row that was removed, as it was if it changed at the same time. */
static bool lead_on(const struct showing *x, struct pattern *p, struct found *row, bool was, struct side *out)
{
	struct run *r = p->g->r;
	const struct then_rule *t = &p->access->then;
	const struct entity *e;
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
	e = entity_of_likely(r, item, t->of);
	if (t->of && e != t->of)
		return true;
	row->shown = e ? entity_lay(r, e, item) : row_of(item);
	row->stored = item;
	if (!pattern_holds(p, t->keep, &row->shown, &keep) || !may_see(p, row, &may))
		return false;
	out->key = key;
	/* a removal does not tell what the item has become */
	return (!keep && !was) || !may || show(x, p, row, out);
}

static bool is_row(const struct showing *x, struct pattern *p, struct value image, bool *out)
{
	if (!value_present(x->live->key))
		return is_asked_for(p, image, out);
	*out = has_key(p->g->r->design, image, x->live->key);
	return true;
}

/* `was`: the image before the change. Even if it has expired, the watcher does not know yet that it is gone. */
static bool side_of(const struct showing *x, struct pattern *p, struct value image, bool was, struct side *out)
{
	struct run *r = p->g->r;
	const struct entity *of = p->access->get.to;
	struct found row = { .stored = image };
	const struct entity *e;
	struct value seen;
	bool is;

	*out = (struct side){ 0 };
	if (!value_present(image) || (!was && entity_expired(r, image)))
		return true;
	if (!is_row(x, p, image, &is))
		return false;
	if (!is)
		return true;
	e = pattern_entity(p, image);
	if (of && e != of)
		return true;
	seen = projected(p, image);
	row.raw = e ? entity_lay(r, e, seen) : row_of(seen);
	row.shown = e ? entity_lay(r, e, image) : row_of(image);
	if (!pattern_holds(p, p->access->filter, &row.raw, &is))
		return false;
	if (!is)
		return true;
	if (p->access->has_then)
		return lead_on(x, p, &row, was, out);
	if (!may_see(p, &row, &is))
		return false;
	row.shown = row.raw;
	return !is || show(x, p, &row, out);
}

/* ---- events ---- */

static void add_event(struct read_live_event *events, size_t *n, enum read_live_kind kind, struct slice data)
{
	events[(*n)++] = (struct read_live_event){ kind, data };
}

static void compare(const struct side *was, const struct side *is, struct read_live_event *events, size_t *n)
{
	bool led_on = value_present(was->key) || value_present(is->key);

	if (was->unknown && !is->shown) {
		add_event(events, n, LIVE_RESET, SLICE("{}"));
	} else if (was->shown && is->shown && led_on && !value_equal(was->key, is->key)) {
		add_event(events, n, LIVE_REMOVED, was->data);
		add_event(events, n, LIVE_ADDED, is->data);
	} else if (was->shown && is->shown) {
		/* The change may be in nothing that is shown. */
		if (led_on || !slice_equal(was->data, is->data))
			add_event(events, n, LIVE_CHANGED, is->data);
	} else if (is->shown) {
		add_event(events, n, LIVE_ADDED, is->data);
	} else if (was->shown) {
		add_event(events, n, LIVE_REMOVED, was->data);
	}
}

static bool is_mixed(const struct pattern *p)
{
	if (live_is_single(p->access) || (p->expected && !p->access->has_then && p->access->kind == ACCESS_QUERY))
		return false;
	return p->known->mixed;
}

bool read_live_follow(struct run *r, const struct read_live *w, const struct read_live_change *c,
		      struct read_live_event *events, size_t *n, bool *may)
{
	struct side was = { 0 }, is = { 0 };
	struct showing x = { .live = w, .change = c };
	struct pattern **parts;
	struct row given;
	struct live_pattern o;
	size_t count;

	*n = 0;
	row_from(&given, r->arena, NULL, w->params);
	if (!live_open(r, w->access, &given, &o, may))
		return false;
	if (!*may || o.none)
		return true;
	if (!live_parts(&o.p, &parts, &count))
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
