/* Operations of access patterns: their parameters, and the shape of what they return.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"
#include "app/read/read.h"

static enum read_shape shape_of(const struct access *c)
{
	if (c->count_only)
		return c->range_variable.n && !c->range_list ? READ_COUNTS : READ_COUNT;
	if (c->unite.n)
		return READ_VALUES;
	return c->single || c->kind == ACCESS_GET ? READ_ONE : READ_LIST;
}

bool oas_pages(const struct access *c)
{
	return shape_of(c) == READ_LIST && !c->tree_parent.n && c->kind != ACCESS_BATCH;
}

static int64_t page_size(const struct access *c)
{
	return c->rank_keep ? c->rank_keep : c->limit ? c->limit : 20;
}

static void describe_access(struct oas *o, const struct access *c)
{
	struct buf b;

	buf_init(&b, o->a);
	if (c->order.n && !c->single)
		buf_printf(&b, "Order: %.*s. ", SLICE_ARG(c->order));
	if (oas_pages(c))
		buf_printf(&b, "%lld a page unless `limit` says otherwise. ", (long long)page_size(c));
	for (size_t i = 0; i < c->without_count; i++)
		buf_printf(&b, "%s`%.*s`%s", i ? ", " : "Without ", SLICE_ARG(c->without[i]),
			   i + 1 == c->without_count ? ". " : "");
	if (c->operators_only)
		buf_lit(&b, "For operators. ");
	oas_say_rule(&b, c->allow);
	oas_say_patterns(&b, c->ids, c->id_count);
	oas_description(o, &b);
	oas_patterns(o, c->ids, c->id_count);
	if (c->operators_only)
		oas_member_bool(o, "x-operators-only", true);
	oas_security(o, c->operators_only || (c->allow && oas_needs_login(c->allow)));
}

static void put_query_parameter(struct oas *o, const struct attribute *a, bool required)
{
	oas_open(o, '{');
	oas_member_slice(o, "name", a->name);
	oas_member(o, "in", "query");
	if (required)
		oas_member_bool(o, "required", true);
	if (a->default_) {
		struct buf b;

		buf_init(&b, o->a);
		buf_lit(&b, "Default: `");
		term_print(&b, a->default_);
		buf_lit(&b, "`.");
		oas_member_slice(o, "description", buf_slice(&b));
	}
	if (a->type == ATTR_LIST || a->type == ATTR_SET) {
		oas_member(o, "style", "form");
		oas_member_bool(o, "explode", false);
	}
	oas_name(o, SLICE("schema"));
	oas_attribute(o, a);
	oas_close(o, '}');
}

static void put_ids_parameter(struct oas *o)
{
	oas_open(o, '{');
	oas_member(o, "name", "id");
	oas_member(o, "in", "query");
	oas_member_bool(o, "required", true);
	oas_member(o, "description", "Which: id=a&id=b. Where an id has two parts: id=a/b.");
	oas_object(o, "schema");
	oas_member(o, "type", "array");
	oas_member_number(o, "maxItems", 100);
	oas_object(o, "items");
	oas_member(o, "type", "string");
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
}

static bool reads(const struct template *t, struct slice name)
{
	for (size_t i = 0; t && i < t->part_count; i++)
		if (t->parts[i].name_count && slice_equal(t->parts[i].names[0], name))
			return true;
	return false;
}

/* A rule of `where` that is not `if given` cannot do without its parameters. */
bool oas_is_needed(const struct access *c, const struct attribute *a)
{
	if (a->default_)
		return false;
	for (size_t i = 0; i < c->where_count; i++)
		if (!c->where[i].optional && (reads(c->where[i].value, a->name) || reads(c->where[i].upper, a->name)))
			return true;
	return a->required;
}

static void put_access_parameters(struct oas *o, const struct access *c)
{
	oas_list(o, "parameters");
	for (size_t i = 0; i < c->query_param_count; i++)
		if (!reads(c->path_template, c->query_params[i].name))
			put_query_parameter(o, &c->query_params[i], oas_is_needed(c, &c->query_params[i]));
	if (c->kind == ACCESS_BATCH)
		put_ids_parameter(o);
	if (oas_pages(c)) {
		oas_parameter(o, OAS_LIMIT);
		oas_parameter(o, OAS_AFTER);
	}
	oas_parameter(o, OAS_IF_NONE_MATCH);
	oas_close(o, ']');
}

static void put_row(struct oas *o, const struct entity *e, enum oas_schema s)
{
	if (e)
		oas_ref_entity(o, e, s);
	else
		oas_ref_common(o, OAS_ANY_ITEM);
}

static void put_rows(struct oas *o, const struct access *c, const struct entity *e)
{
	if (e && oas_pages(c)) {
		oas_ref_entity(o, e, OAS_PAGE);
		return;
	}
	oas_begin_items(o);
	put_row(o, e, c->tree_parent.n ? OAS_NESTED : OAS_ITEM);
	oas_end_items(o, oas_pages(c));
}

static void put_values(struct oas *o, const struct access *c, const struct entity *e)
{
	const struct attribute *a = e ? entity_attribute(e, c->unite) : NULL;
	struct attribute element = { .type = a ? a->element : ATTR_MAP };

	oas_begin_items(o);
	if (element.type == ATTR_MAP) {
		oas_open(o, '{');
		oas_close(o, '}');
	} else {
		element.choices = a->choices;
		element.choice_count = a->choice_count;
		oas_attribute(o, &element);
	}
	oas_end_items(o, false);
}

static void put_access_response(struct oas *o, const struct access *c, const struct entity *e)
{
	enum read_shape shape = shape_of(c);
	unsigned problems = OAS_BIT(OAS_401) | OAS_BIT(OAS_422);

	oas_object(o, "responses");
	oas_begin_content(o, "200",
			  shape == READ_ONE    ? "The item"
			  : shape == READ_LIST ? "Items"
					       : "The answer",
			  c->cache_seconds ? OAS_ETAG | OAS_CACHE_CONTROL : OAS_ETAG);
	if (shape == READ_LIST)
		put_rows(o, c, e);
	else if (shape == READ_ONE)
		put_row(o, e, OAS_ITEM);
	else if (shape == READ_VALUES)
		put_values(o, c, e);
	else
		oas_ref_common(o, shape == READ_COUNTS ? OAS_COUNTS : OAS_COUNT);
	oas_end_content(o);
	oas_no_content(o, "304", "Not changed");
	if (oas_pages(c))
		problems |= OAS_BIT(OAS_400);
	if (shape == READ_ONE)
		problems |= OAS_BIT(OAS_404);
	if (c->allow || c->operators_only)
		problems |= OAS_BIT(OAS_403);
	oas_problems(o, problems);
	oas_close(o, '}');
}

void oas_access(struct oas *o, const struct access *c)
{
	const struct entity *e = read_entity(o->d, c);
	enum read_shape shape = shape_of(c);
	char *name = arena_cstr(o->a, c->name);

	oas_open(o, '{');
	oas_operation_id(o,
			 shape == READ_LIST                            ? "list"
			 : shape == READ_COUNT || shape == READ_COUNTS ? "count"
								       : "get",
			 c->name);
	oas_tag(o, e ? e->name : SLICE("access patterns"));
	if (name[0] >= 'a' && name[0] <= 'z')
		name[0] = (char)(name[0] - 'a' + 'A');
	oas_summary(o, "%s", name);
	describe_access(o, c);
	put_access_parameters(o, c);
	put_access_response(o, c, e);
	oas_close(o, '}');
}
