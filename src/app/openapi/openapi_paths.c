/* Paths: every address that the routes lead anyone to.
 *
 * To OpenAPI /users/{a} and /users/{b} are the same, and so they are to the routes: parameters have the names of the
 * first route of an address.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/entity/input.h"
#include "app/openapi/openapi.h"
#include "base/grow.h"

struct address {
	struct slice shape;    /* /users/{}/posts */
	size_t rank, position; /* in the document: by the declaration it comes from, then as the routes have it */
	const struct route *routes[ROUTE_METHODS]; /* NULL: no operation */
};

struct addresses {
	struct oas *o;
	struct address *list;
	size_t count, capacity;
};

/* ---- collecting ---- */

static bool is_offered(const struct route *r)
{
	const struct entity *e = r->entity;

	if (r->internal)
		return false;
	switch (r->kind) {
	case ROUTE_ITEM: return oas_is_allowed(e->allow[ALLOW_READ]);
	case ROUTE_CREATE: return oas_is_allowed(e->allow[ALLOW_CREATE]);
	case ROUTE_PUT: return oas_put_creates(e) || oas_is_allowed(e->allow[ALLOW_UPDATE]);
	case ROUTE_PUT_ENTRY:
	case ROUTE_DELETE_ENTRY:
	case ROUTE_PATCH: return oas_is_allowed(e->allow[ALLOW_UPDATE]);
	case ROUTE_DELETE: return oas_is_allowed(e->allow[ALLOW_DELETE]);
	case ROUTE_FILE: return oas_file_is_offered(e, r->file);
	case ROUTE_FILE_NEW: return oas_is_allowed(e->allow[ALLOW_CREATE]) && !input_is_kept(r->file);
	case ROUTE_ACTION: return oas_is_allowed(r->action->allow ? r->action->allow : e->allow[ALLOW_UPDATE]);
	default: return true;
	}
}

/* Service first, then the entities, then the access patterns. */
static size_t rank_of(const struct design *d, const struct route *r)
{
	if (r->entity)
		return 1 + (size_t)(r->entity - d->entities);
	return r->access ? 1 + d->entity_count + (size_t)(r->access - d->accesses) : 0;
}

static void add_address(void *ctx, struct slice shape, const struct route *const *routes)
{
	struct addresses *l = ctx;
	struct address x = { .shape = shape, .rank = SIZE_MAX, .position = l->count };

	for (size_t m = 0; m < ROUTE_METHODS; m++) {
		size_t rank;

		if (!routes[m] || !is_offered(routes[m]))
			continue;
		x.routes[m] = routes[m];
		rank = rank_of(l->o->d, routes[m]);
		x.rank = rank < x.rank ? rank : x.rank;
	}
	if (x.rank == SIZE_MAX)
		return;
	GROW_IN(l->o->a, l->list, l->count, l->capacity, 64);
	l->list[l->count++] = x;
}

static int by_rank(const void *x, const void *y)
{
	const struct address *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->position < b->position ? -1 : 1;
}

/* ---- writing ---- */

/* The shape with the names of a route. */
static struct slice shown(struct oas *o, struct slice shape, const struct route *r)
{
	struct buf b;
	size_t n = 0;

	buf_init(&b, o->a);
	for (size_t i = 0; i < shape.n; i++) {
		buf_byte(&b, (uint8_t)shape.p[i]);
		if (shape.p[i] == '{' && n < r->count)
			buf_put(&b, r->names[n++]);
	}
	return buf_slice(&b);
}

static void put_parameters(struct oas *o, const struct route *r)
{
	json_member_open(o->b, "parameters", '[');
	for (size_t i = 0; i < r->count; i++) {
		json_open(o->b, '{');
		json_member_string(o->b, "name", r->names[i]);
		oas_put(o, "'in':'path','required':true,'schema':");
		oas_attribute(o, r->types[i]);
		json_close(o->b, '}');
	}
	json_close(o->b, ']');
}

static void put_address(struct oas *o, const struct address *x)
{
	static const char *const methods[ROUTE_METHODS] = {
		[APP_GET] = "get", [APP_POST] = "post", [APP_PUT] = "put", [APP_PATCH] = "patch", [APP_DELETE] = "delete"
	};
	const struct route *first = NULL;

	for (size_t m = 0; m < ROUTE_METHODS && !first; m++)
		if (x->routes[m] && rank_of(o->d, x->routes[m]) == x->rank)
			first = x->routes[m];
	json_name_string(o->b, shown(o, x->shape, first));
	json_open(o->b, '{');
	if (first->count)
		put_parameters(o, first);
	for (size_t m = 0; m < ROUTE_METHODS; m++)
		if (x->routes[m]) {
			json_name(o->b, methods[m]);
			oas_operation(o, x->routes[m]);
		}
	json_close(o->b, '}');
}

void oas_paths(struct oas *o)
{
	struct addresses l = { .o = o };

	routes_each(o->routes, o->a, add_address, &l);
	qsort(l.list, l.count, sizeof(*l.list), by_rank);
	json_member_open(o->b, "paths", '{');
	for (size_t i = 0; i < l.count; i++)
		put_address(o, &l.list[i]);
	json_close(o->b, '}');
}
