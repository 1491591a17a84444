/* The OpenAPI 3.1 document of a design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"

static void put_tag(struct oas *o, struct slice name, const char *fmt, struct slice what)
{
	oas_open(o, '{');
	oas_member_slice(o, "name", name);
	oas_name(o, SLICE("description"));
	oas_printf(o, "%s%.*s", fmt, SLICE_ARG(what));
	oas_close(o, '}');
}

static void put_head(struct oas *o, struct slice base)
{
	oas_member(o, "openapi", "3.1.0");
	oas_object(o, "info");
	oas_member_slice(o, "title", o->d->title.n ? o->d->title : o->d->name);
	oas_member(o, "version", THORPE_VERSION);
	oas_name(o, SLICE("description"));
	oas_printf(o,
		   "The REST API of the design %.*s. Lists are pages of `items`; errors are problem documents (RFC 9457).",
		   SLICE_ARG(o->d->name));
	oas_close(o, '}');
	oas_list(o, "servers");
	oas_open(o, '{');
	oas_member_slice(o, "url", base.n ? base : SLICE("/"));
	oas_close(o, '}');
	oas_close(o, ']');
}

/* Entities that only processors deal with are told of, too: patterns may show them. */
static void put_tags(struct oas *o)
{
	oas_list(o, "tags");
	for (size_t i = 0; i < o->d->entity_count; i++)
		if (o->used[i])
			put_tag(o, o->d->entities[i].name, "At ", o->d->entities[i].path);
	put_tag(o, SLICE("access patterns"), "Lists of several entities, and what goes with items", SLICE(""));
	put_tag(o, SLICE("service"), "What every design has", SLICE(""));
	oas_close(o, ']');
}

void app_openapi(struct app *app, struct arena *a, struct slice base, struct buf *out)
{
	struct oas o = { .app = app, .d = app->design, .routes = app->routes, .a = a, .b = out };

	if (!o.routes)
		o.routes = routes_new(a, o.d);
	o.used = arena_array(a, unsigned, o.d->entity_count);
	map_init(&o.operation_ids, a);
	oas_open(&o, '{');
	put_head(&o, base);
	oas_paths(&o);
	put_tags(&o);
	oas_components(&o);
	oas_close(&o, '}');
}
