/* Paths: every address of the design, with what the routes really lead to.
 *
 * OpenAPI takes /users/{a} and /users/{b} for the same, so addresses that differ in the names of their parameters alone are
 * one here, under the names of the first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"

struct address {
	struct address *next;
	struct slice shape; /* /users/{}/posts */
	struct slice shown; /* /users/{user_id}/posts */
	struct slice *names;
	size_t count;
	const struct route *routes[ROUTE_METHODS]; /* NULL: nothing to be told of */
};

struct addresses {
	struct oas *o;
	struct address *first, **last;
};

/* ---- an address of a template ---- */
static void address_of(struct oas *o, const struct template *t, struct address *out)
{
	struct buf shape, shown;

	buf_init(&shape, o->a);
	buf_init(&shown, o->a);
	out->names = arena_array(o->a, struct slice, t->part_count);
	for (size_t i = 0; i < t->part_count; i++) {
		const struct template_part *part = &t->parts[i];

		if (part->names) {
			out->names[out->count++] = part->names[0];
			buf_lit(&shape, "{}");
			buf_printf(&shown, "{%.*s}", SLICE_ARG(part->names[0]));
		} else {
			buf_put(&shape, part->literal);
			buf_put(&shown, part->literal);
		}
	}
	out->shape = buf_slice(&shape);
	out->shown = buf_slice(&shown);
}

static struct slice before_last_slash(struct slice s)
{
	while (s.n && s.p[s.n - 1] != '/')
		s.n--;
	if (s.n)
		s.n--;
	return s;
}

/* Without the parameters at its end. */
static void to_collection(struct address *x)
{
	while (x->shape.n >= 3 && !memcmp(x->shape.p + x->shape.n - 3, "/{}", 3)) {
		x->shape = before_last_slash(x->shape);
		x->shown = before_last_slash(x->shown);
		x->count--;
	}
}

static void to_action(struct oas *o, struct address *x, struct slice name)
{
	x->shape = arena_printf(o->a, "%.*s/%.*s", SLICE_ARG(x->shape), SLICE_ARG(name));
	x->shown = arena_printf(o->a, "%.*s/%.*s", SLICE_ARG(x->shown), SLICE_ARG(name));
}

/* ---- what a request would find ---- */
/* A value that no literal segment is, for each parameter. */
static size_t sample(struct oas *o, struct slice shape, struct slice *segments)
{
	size_t n = 0;

	for (size_t at = 0; at + 1 < shape.n && n < ROUTE_MOST_SEGMENTS; n++) {
		struct buf b;

		buf_init(&b, o->a);
		for (at++; at < shape.n && shape.p[at] != '/'; at++) {
			if (shape.p[at] == '{')
				buf_byte(&b, '~');
			else if (shape.p[at] != '}')
				buf_byte(&b, (uint8_t)shape.p[at]);
		}
		segments[n] = buf_slice(&b);
	}
	return n;
}

static bool is_same(const struct route *x, const struct route *y)
{
	return x && x->kind == y->kind && x->entity == y->entity && x->access == y->access && x->action == y->action;
}

/* Adds what the routes lead to when it is what we think. */
static void add(struct addresses *l, const struct address *x, enum app_method m, struct route r)
{
	struct slice segments[ROUTE_MOST_SEGMENTS];
	size_t n = sample(l->o, x->shape, segments);
	struct route_match *match = arena_new(l->o->a, struct route_match);
	struct address *at;

	routes_find(l->o->routes, segments, n, m, false, match);
	if (!is_same(match->route, &r))
		return;
	for (at = l->first; at && !slice_equal(at->shape, x->shape); at = at->next)
		;
	if (!at) {
		at = arena_new(l->o->a, struct address);
		*at = *x;
		*l->last = at;
		l->last = &at->next;
	}
	at->routes[m] = match->route;
}

/* ---- all of them ---- */
static void add_entity(struct addresses *l, const struct entity *e)
{
	const struct term *const *allow = e->allow;
	struct address item = { 0 }, x;

	if (!e->path_template || e->internal)
		return;
	address_of(l->o, e->path_template, &item);
	x = item;
	to_collection(&x);
	if (oas_is_allowed(allow[ALLOW_CREATE]))
		add(l, &x, APP_POST, (struct route){ .kind = ROUTE_CREATE, .entity = e });
	if (oas_is_allowed(allow[ALLOW_READ]))
		add(l, &item, APP_GET, (struct route){ .kind = ROUTE_ITEM, .entity = e });
	if (oas_put_creates(e) || oas_is_allowed(allow[ALLOW_UPDATE]))
		add(l, &item, APP_PUT, (struct route){ .kind = ROUTE_PUT, .entity = e });
	if (oas_is_allowed(allow[ALLOW_UPDATE]))
		add(l, &item, APP_PATCH, (struct route){ .kind = ROUTE_PATCH, .entity = e });
	if (oas_is_allowed(allow[ALLOW_DELETE]))
		add(l, &item, APP_DELETE, (struct route){ .kind = ROUTE_DELETE, .entity = e });
	for (size_t i = 0; i < e->action_count; i++) {
		const struct action *action = &e->actions[i];

		if (!oas_is_allowed(action->allow ? action->allow : allow[ALLOW_UPDATE]))
			continue;
		x = item;
		to_action(l->o, &x, action->name);
		add(l, &x, APP_POST, (struct route){ .kind = ROUTE_ACTION, .entity = e, .action = action });
	}
}

static void add_service(struct addresses *l)
{
	/* clang-format off */
	static const struct {
		const char *path;
		enum app_method method;
		enum route_kind kind;
	} rows[] = {
		{ "/", APP_GET, ROUTE_INDEX },      { "/openapi.json", APP_GET, ROUTE_OPENAPI }, { "/login", APP_POST, ROUTE_LOGIN },
		{ "/me", APP_GET, ROUTE_ME },       { "/batch", APP_POST, ROUTE_BATCH },         { "/call", APP_POST, ROUTE_CALL },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct address x = { .shape = slice_str(rows[i].path), .shown = slice_str(rows[i].path) };

		add(l, &x, rows[i].method, (struct route){ .kind = rows[i].kind });
	}
}

/* ---- writing ---- */
static const struct attribute *type_of(struct oas *o, const struct route *r, size_t i)
{
	return i < r->count ? r->types[i] : NULL;
}

static void put_path_parameters(struct oas *o, const struct address *x)
{
	const struct route *r = NULL;

	for (size_t m = 0; m < ROUTE_METHODS && !r; m++)
		r = x->routes[m];
	oas_list(o, "parameters");
	for (size_t i = 0; i < x->count; i++) {
		oas_open(o, '{');
		oas_member_slice(o, "name", x->names[i]);
		oas_member(o, "in", "path");
		oas_member_bool(o, "required", true);
		oas_name(o, SLICE("schema"));
		oas_attribute(o, type_of(o, r, i));
		oas_close(o, '}');
	}
	oas_close(o, ']');
}

static void put_address(struct oas *o, const struct address *x)
{
	static const char *const methods[ROUTE_METHODS] = {
		[APP_GET] = "get", [APP_POST] = "post", [APP_PUT] = "put", [APP_PATCH] = "patch", [APP_DELETE] = "delete"
	};

	oas_name(o, x->shown);
	oas_open(o, '{');
	if (x->count)
		put_path_parameters(o, x);
	for (size_t m = 0; m < ROUTE_METHODS; m++)
		if (x->routes[m] && methods[m]) {
			oas_name(o, slice_str(methods[m]));
			oas_operation(o, x->routes[m]);
		}
	oas_close(o, '}');
}

void oas_paths(struct oas *o)
{
	struct addresses l = { .o = o };

	l.last = &l.first;
	add_service(&l);
	for (size_t i = 0; i < o->d->entity_count; i++)
		add_entity(&l, &o->d->entities[i]);
	for (size_t i = 0; i < o->d->access_count; i++) {
		const struct access *c = &o->d->accesses[i];
		struct address x = { 0 };

		if (!c->path_template)
			continue;
		address_of(o, c->path_template, &x);
		add(&l, &x, APP_GET, (struct route){ .kind = ROUTE_ACCESS, .access = c });
		for (size_t k = 0; k < c->action_count; k++) {
			struct address each = { 0 };

			address_of(o, c->path_template, &each);
			to_action(o, &each, c->actions[k]);
			add(&l, &each, APP_POST,
			    (struct route){ .kind = ROUTE_EACH, .access = c, .name = c->actions[k] });
		}
	}
	oas_object(o, "paths");
	for (const struct address *x = l.first; x; x = x->next)
		put_address(o, x);
	oas_close(o, '}');
}
