/* The OpenAPI 3.1 document of a design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"
#include "app/app.h"

/* ---- JSON ---- */

void oas_put(struct oas *o, const char *json)
{
	if (json[0] != '}' && json[0] != ']')
		json_comma(o->b);
	for (; *json; json++)
		buf_byte(o->b, (uint8_t)(*json == '\'' ? '"' : *json));
}

void oas_member_number(struct oas *o, const char *name, double v)
{
	json_name(o->b, name);
	buf_printf(o->b, "%.15g", v);
}

void oas_member_printf(struct oas *o, const char *name, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	json_member_string(o->b, name, arena_vprintf(o->a, fmt, ap));
	va_end(ap);
}

void oas_ref(struct oas *o, const char *kind, struct slice name)
{
	json_open(o->b, '{');
	oas_member_printf(o, "$ref", "#/components/%s/%.*s", kind, SLICE_ARG(name));
	json_close(o->b, '}');
}

/* ---- the document ---- */

static void put_head(struct oas *o, struct slice base)
{
	oas_put(o, "'openapi':'3.1.0','info':{");
	json_member_string(o->b, "title", o->d->title.n ? o->d->title : o->d->name);
	json_member_word(o->b, "version", THORPE_VERSION);
	oas_member_printf(
		o, "description",
		"The REST API of the design %.*s. Lists are pages of `items`; errors are problem documents (RFC 9457).",
		SLICE_ARG(o->d->name));
	oas_put(o, "},'servers':[{");
	json_member_string(o->b, "url", base.n ? base : SLICE("/"));
	oas_put(o, "}]");
}

/* Entities without routes of their own have a tag, too: patterns may return them. */
static void put_tags(struct oas *o)
{
	json_member_open(o->b, "tags", '[');
	for (size_t i = 0; i < o->d->entity_count; i++) {
		if (!o->used[i])
			continue;
		json_open(o->b, '{');
		json_member_string(o->b, "name", o->d->entities[i].name);
		oas_member_printf(o, "description", "At %.*s", SLICE_ARG(o->d->entities[i].path));
		json_close(o->b, '}');
	}
	oas_put(o, "{'name':'access patterns','description':'Lists of several entities, and companions of items'},"
		   "{'name':'service','description':'The operations that every design has'}]");
}

void design_openapi(const struct design *d, struct arena *a, struct slice base, struct buf *out)
{
	struct oas o = { .d = d, .routes = routes_new(a, d), .a = a, .b = out };

	o.used = arena_array(a, unsigned, o.d->entity_count);
	map_init(&o.operation_ids, a);
	json_open(o.b, '{');
	put_head(&o, base);
	oas_paths(&o);
	put_tags(&o);
	oas_components(&o);
	json_close(o.b, '}');
}

bool handle_openapi(struct app_exchange *x)
{
	struct buf b;

	buf_init(&b, x->run.arena);
	design_openapi(x->app->design, x->run.arena, x->q->base, &b);
	answer_buf(x, 200, &b);
	answer_cacheable(x);
	return true;
}
