/* Operations of access patterns: their parameters, and the shape of the result.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"
#include "app/read/read_live.h"

bool oas_pages(const struct access *c)
{
	return read_shape_of(c) == READ_LIST && !c->tree_parent.n && c->kind != ACCESS_BATCH;
}

static void describe_access(struct oas *o, const struct access *c)
{
	struct buf b;

	buf_init(&b, o->a);
	if (c->order.n && !c->single)
		buf_printf(&b, "Order: %.*s. ", SLICE_ARG(c->order));
	if (oas_pages(c))
		buf_printf(&b, "%lld a page unless `limit` says otherwise. ", (long long)read_page_size(c));
	for (size_t i = 0; i < c->without_count; i++)
		buf_printf(&b, "%s`%.*s`%s", i ? ", " : "Without ", SLICE_ARG(c->without[i]),
			   i + 1 == c->without_count ? ". " : "");
	if (c->operators_only)
		buf_lit(&b, "For operators. ");
	oas_say_term(&b, "Allowed when", c->allow);
	oas_say_patterns(&b, c->ids, c->id_count);
	oas_description(o, &b);
	oas_patterns(o, c->ids, c->id_count);
	if (c->operators_only)
		json_member_bool(o->b, "x-operators-only", true);
	oas_security(o, c->operators_only || (c->allow && oas_needs_login(c->allow)));
}

static void put_query_parameter(struct oas *o, const struct attribute *a, bool required)
{
	struct buf b;

	json_open(o->b, '{');
	json_member_string(o->b, "name", a->name);
	json_member_word(o->b, "in", "query");
	if (required)
		json_member_bool(o->b, "required", true);
	buf_init(&b, o->a);
	if (a->default_)
		oas_say_term(&b, "Default", a->default_);
	oas_description(o, &b);
	if (a->type == ATTR_LIST || a->type == ATTR_SET)
		oas_put(o, "'style':'form','explode':false");
	json_name(o->b, "schema");
	oas_attribute(o, a);
	json_close(o->b, '}');
}

/* A rule of `where` that is not `if given` requires its parameters. */
bool oas_is_needed(const struct access *c, const struct attribute *a)
{
	if (a->default_)
		return false;
	for (size_t i = 0; i < c->where_count; i++)
		if (!c->where[i].optional &&
		    (template_reads(c->where[i].value, a->at) || template_reads(c->where[i].upper, a->at)))
			return true;
	return a->required;
}

static void put_access_parameters(struct oas *o, const struct access *c)
{
	json_member_open(o->b, "parameters", '[');
	for (size_t i = 0; i < c->query_param_count; i++)
		if (!template_reads(c->path_template, c->query_params[i].at))
			put_query_parameter(o, &c->query_params[i], oas_is_needed(c, &c->query_params[i]));
	if (c->kind == ACCESS_BATCH)
		oas_put(o, "{'name':'id','in':'query','required':true,"
			   "'description':'The items: id=a&id=b. Where an id has two parts: id=a/b.',"
			   "'schema':{'type':'array','maxItems':100,'items':{'type':'string'}}}");
	if (oas_pages(c))
		oas_parameters(o, OAS_BIT(OAS_LIMIT) | OAS_BIT(OAS_AFTER));
	oas_parameters(o, OAS_BIT(OAS_IF_NONE_MATCH));
	json_close(o->b, ']');
}

static void put_row(struct oas *o, const struct access *c, const struct entity *e, enum oas_schema s)
{
	if (c->show_count)
		oas_put(o, "{'allOf':[");
	if (e)
		oas_ref_entity(o, e, s);
	else
		oas_ref_common(o, OAS_ANY_ITEM);
	if (c->show_count) {
		oas_shown(o, c->show, c->show_count);
		oas_put(o, "]}");
	}
}

static void put_rows(struct oas *o, const struct access *c, const struct entity *e)
{
	if (e && oas_pages(c) && !c->show_count) {
		oas_ref_entity(o, e, OAS_PAGE);
		return;
	}
	oas_begin_items(o);
	put_row(o, c, e, c->tree_parent.n ? OAS_NESTED : OAS_ITEM);
	oas_end_items(o, oas_pages(c));
}

static void put_values(struct oas *o, const struct access *c, const struct entity *e)
{
	const struct attribute *a = e ? slots_attribute(e->slots, c->unite_at) : NULL;

	oas_begin_items(o);
	if (a)
		oas_element(o, a);
	else
		oas_put(o, "{}");
	oas_end_items(o, false);
}

static void put_result(struct oas *o, const struct access *c, const struct entity *e)
{
	switch (read_shape_of(c)) {
	case READ_LIST: put_rows(o, c, e); break;
	case READ_ONE: put_row(o, c, e, OAS_ITEM); break;
	case READ_VALUES: put_values(o, c, e); break;
	case READ_COUNT: oas_ref_common(o, OAS_COUNT); break;
	case READ_COUNTS: oas_ref_common(o, OAS_COUNTS); break;
	}
}

static unsigned problems_of(const struct access *c)
{
	return OAS_BIT(OAS_401) | OAS_BIT(OAS_422) | (oas_pages(c) ? OAS_BIT(OAS_400) : 0) |
	       (read_shape_of(c) == READ_ONE ? OAS_BIT(OAS_404) : 0) |
	       (c->allow || c->operators_only ? OAS_BIT(OAS_403) : 0);
}

static void put_access_response(struct oas *o, const struct access *c, const struct entity *e)
{
	static const char *const descriptions[] = {
		[READ_ONE] = "The item", [READ_LIST] = "Items", [READ_VALUES] = "The answer", [READ_COUNT] = "The answer", [READ_COUNTS] = "The answer"
	};
	const char *why;

	oas_begin_responses(o);
	oas_begin_content(o, "200", descriptions[read_shape_of(c)],
			  c->cache_seconds ? OAS_ETAG | OAS_CACHE_CONTROL : OAS_ETAG);
	put_result(o, c, e);
	if (read_live_can(o->d, c, &why))
		oas_end_live_content(o);
	else
		oas_end_content(o);
	oas_no_content(o, "304", "Not changed");
	oas_end_responses(o, problems_of(c));
}

void oas_access(struct oas *o, const struct access *c)
{
	const struct entity *e = read_entity(o->d, c);
	enum read_shape shape = read_shape_of(c);
	char *name = arena_cstr(o->a, c->name);
	const char *verb = shape == READ_LIST ? "list" : shape == READ_COUNT || shape == READ_COUNTS ? "count" : "get";

	oas_begin_operation(o, verb, c->name, e ? e->name : SLICE("access patterns"));
	if (name[0] >= 'a' && name[0] <= 'z')
		name[0] = (char)(name[0] - 'a' + 'A');
	json_member_word(o->b, "summary", name);
	describe_access(o, c);
	put_access_parameters(o, c);
	put_access_response(o, c, e);
}
