/* An access pattern: its parameters, the request it becomes, what it returns. And processors, which changes trigger.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"
#include "app/read/read.h"
#include "app/rest/routes.h"
#include "console/design_doc.h"
#include "design/describe/describe.h"

/* ---- parameters ---- */

static bool in_path(const struct access *x, struct slice name)
{
	for (size_t i = 0; x->path_template && i < x->path_template->part_count; i++) {
		const struct template_part *p = &x->path_template->parts[i];

		if (p->name_count && slice_equal(p->names[0], name))
			return true;
	}
	return false;
}

static void put_param(struct buf *b, const struct access *x, struct slice name, const struct attribute *type,
		      bool required)
{
	json_open(b, '{');
	doc_member(b, "name", name);
	doc_member_str(b, "in", in_path(x, name) ? "path" : "query");
	doc_member(b, "type", design_type(b->arena, type));
	if (type && type->choice_count)
		doc_member_texts(b, "choices", type->choices, type->choice_count);
	json_member_bool(b, "required", required);
	json_close(b, '}');
}

/* Parameters of the query string that are also in the path or compared with keys are listed there already. */
static bool is_among(const struct access *x, struct slice name)
{
	for (size_t i = 0; i < x->param_count; i++)
		if (slice_equal(x->params[i], name))
			return true;
	return false;
}

static bool is_optional(const struct access *x, struct slice name)
{
	for (size_t i = 0; i < x->query_param_count; i++)
		if (slice_equal(x->query_params[i].name, name))
			return !oas_is_needed(x, &x->query_params[i]);
	return false;
}

static void put_params(struct buf *b, const struct design *d, const struct access *x)
{
	static const struct attribute ids = { .type = ATTR_LIST, .element = ATTR_STRING };

	json_member_open(b, "params", '[');
	for (size_t i = 0; i < x->param_count; i++)
		put_param(b, x, x->params[i], route_param(b->arena, d, x, x->param_at[i]),
			  in_path(x, x->params[i]) || !is_optional(x, x->params[i]));
	for (size_t i = 0; i < x->query_param_count; i++)
		if (!is_among(x, x->query_params[i].name))
			put_param(b, x, x->query_params[i].name, &x->query_params[i],
				  oas_is_needed(x, &x->query_params[i]));
	if (x->kind == ACCESS_BATCH && !is_among(x, SLICE("id")))
		put_param(b, x, SLICE("id"), &ids, true);
	json_close(b, ']');
}

/* ---- the pattern ---- */

static struct slice returned(const struct design *d, const struct access *x)
{
	const struct entity *e = x->entity.n ? NULL : read_entity(d, x);

	return e ? e->name : x->entity;
}

void design_access_doc(struct buf *b, const struct design *d, const struct access *x)
{
	static const char *const kinds[] = {
		[ACCESS_GET] = "get", [ACCESS_QUERY] = "query", [ACCESS_MERGE] = "merge", [ACCESS_BATCH] = "batch"
	};
	struct buf request;

	buf_init(&request, b->arena);
	describe_access(&request, d, x);
	json_open(b, '{');
	doc_member(b, "name", x->name);
	doc_member_texts(b, "ids", x->ids, x->id_count);
	doc_member_or_null(b, "path", x->path);
	doc_member_str(b, "kind", kinds[x->kind]);
	doc_member_or_null(b, "entity", returned(d, x));
	doc_member_or_null(b, "index", x->index);
	put_params(b, d, x);
	doc_member(b, "request", buf_slice(&request));
	json_member_bool(b, "list", oas_pages(x));
	json_member_bool(b, "operators_only", x->operators_only);
	design_line(b, x->place);
	json_close(b, '}');
}

/* ---- processors ---- */

static void put_effect(struct buf *b, const struct processor *p)
{
	switch (p->effect) {
	case EFFECT_PUT: buf_printf(b, "puts %.*s", SLICE_ARG(p->target)); break;
	case EFFECT_UPDATE:
	case EFFECT_DELETE:
	case EFFECT_UPSERT:
		buf_str(b, p->effect == EFFECT_UPDATE   ? "updates "
			   : p->effect == EFFECT_DELETE ? "deletes "
							: "creates or changes ");
		describe_reference(b, &p->target_ref);
		break;
	case EFFECT_COUNT:
		buf_lit(b, "counts on ");
		describe_reference(b, &p->target_ref);
		buf_printf(b, ".%.*s", SLICE_ARG(p->target_attribute));
		break;
	case EFFECT_SEND: buf_str(b, p->send_opensearch ? "sends it to OpenSearch" : "sends it to a webhook"); break;
	case EFFECT_REMOVE_ALL: buf_printf(b, "removes all of %.*s", SLICE_ARG(p->target)); break;
	}
	describe_term(b, " when ", p->only_when);
}

static struct slice does(struct arena *a, const struct processor *p)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < p->parts; i++) {
		buf_str(&b, i ? ", " : "");
		put_effect(&b, &p[i]);
	}
	if (p->each_pattern.n)
		buf_printf(&b, " for each row of %.*s", SLICE_ARG(p->each_pattern));
	describe_term(&b, " for each of ", p->each_list);
	return buf_slice(&b);
}

void design_processor_doc(struct buf *b, const struct processor *p)
{
	static const char *const events[] = { "created", "updated", "deleted" };

	json_open(b, '{');
	doc_member(b, "name", p->name);
	doc_member(b, "entity", p->entity);
	json_member_open(b, "events", '[');
	for (int i = 0; i < 3; i++)
		if (p->events >> i & 1)
			doc_text(b, slice_str(events[i]));
	json_close(b, ']');
	doc_member_term(b, "when", p->when);
	doc_member_or_null(b, "every", p->every);
	doc_member(b, "does", does(b->arena, p));
	design_line(b, p->place);
	json_close(b, '}');
}
