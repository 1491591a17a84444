/* What the operations of every design share: schemas, parameters, responses, headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"
#include "app/read/read.h"

/* ---- schemas of every design ---- */
static void put_typed(struct oas *o, const char *name, const char *type, const char *description)
{
	oas_object(o, name);
	oas_member(o, "type", type);
	if (description)
		oas_member(o, "description", description);
	oas_close(o, '}');
}

static void put_problem(struct oas *o)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_member(o, "description", "RFC 9457.");
	oas_list(o, "required");
	oas_text(o, SLICE("type"));
	oas_text(o, SLICE("title"));
	oas_text(o, SLICE("status"));
	oas_close(o, ']');
	oas_object(o, "properties");
	oas_object(o, "type");
	oas_member(o, "type", "string");
	oas_list(o, "enum");
	for (enum problem_type t = PROBLEM_NONE + 1; t <= PROBLEM_BUSY; t++)
		oas_printf(o, "urn:thorpe:%s", problem_name(t));
	oas_close(o, ']');
	oas_close(o, '}');
	put_typed(o, "title", "string", NULL);
	put_typed(o, "status", "integer", NULL);
	put_typed(o, "detail", "string", "A sentence for people.");
	put_typed(o, "attribute", "string", "Whose value is taken.");
	oas_object(o, "outcome");
	oas_member(o, "type", "string");
	oas_member(o, "description", "Of a write that is answered with 503. Left out: nothing was done.");
	oas_list(o, "enum");
	oas_text(o, SLICE("unknown"));
	oas_text(o, SLICE("done"));
	oas_close(o, ']');
	oas_close(o, '}');
	oas_object(o, "errors");
	oas_member(o, "type", "array");
	oas_object(o, "items");
	oas_member(o, "type", "object");
	oas_object(o, "properties");
	put_typed(o, "attribute", "string", NULL);
	put_typed(o, "detail", "string", NULL);
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_any_item(struct oas *o)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_member(o, "description", "An item of one of several entities, or one that goes with an item.");
	oas_object(o, "properties");
	put_typed(o, "@type", "string", "The entity.");
	oas_close(o, '}');
	oas_member_bool(o, "additionalProperties", true);
	oas_close(o, '}');
}

static void put_counts(struct oas *o, bool each)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	oas_text(o, SLICE("count"));
	if (each)
		oas_text(o, SLICE("counts"));
	oas_close(o, ']');
	oas_object(o, "properties");
	put_typed(o, "count", "integer", each ? "Of all together." : NULL);
	if (each) {
		oas_object(o, "mean");
		oas_list(o, "type");
		oas_text(o, SLICE("number"));
		oas_text(o, SLICE("null"));
		oas_close(o, ']');
		oas_close(o, '}');
		oas_object(o, "counts");
		oas_member(o, "type", "object");
		put_typed(o, "additionalProperties", "integer", NULL);
		oas_close(o, '}');
	}
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_caller(struct oas *o)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	oas_text(o, SLICE("subject"));
	oas_text(o, SLICE("roles"));
	oas_close(o, ']');
	oas_object(o, "properties");
	put_typed(o, "subject", "string", NULL);
	oas_object(o, "roles");
	oas_member(o, "type", "array");
	put_typed(o, "items", "string", NULL);
	oas_close(o, '}');
	put_typed(o, "operator", "boolean", "May everything.");
	oas_close(o, '}');
	oas_close(o, '}');
}

void oas_common_schema(struct oas *o, enum oas_common c)
{
	switch (c) {
	case OAS_PROBLEM: put_problem(o); break;
	case OAS_ANY_ITEM: put_any_item(o); break;
	case OAS_COUNT:
	case OAS_COUNTS: put_counts(o, c == OAS_COUNTS); break;
	case OAS_CALLER: put_caller(o); break;
	case OAS_COMMONS: break;
	}
}

/* ---- parameters ---- */
static const struct {
	const char *component, *in, *name, *description;
} parameters[] = {
#define X(enum_name, component, in, text, description) { component, in, text, description },
	OAS_PARAMETER_MAP(X)
#undef X
};

void oas_parameter(struct oas *o, enum oas_parameter p)
{
	o->parameters |= 1u << p;
	oas_ref(o, "parameters", slice_str(parameters[p].component));
}

static void put_parameter(struct oas *o, enum oas_parameter p)
{
	oas_object(o, parameters[p].component);
	oas_member(o, "name", parameters[p].name);
	oas_member(o, "in", parameters[p].in);
	oas_member(o, "description", parameters[p].description);
	oas_object(o, "schema");
	oas_member(o, "type", p == OAS_LIMIT ? "integer" : "string");
	if (p == OAS_LIMIT) {
		oas_member_number(o, "minimum", 1);
		oas_member_number(o, "maximum", READ_MOST_LIMIT);
	}
	if (p == OAS_IDEMPOTENCY_KEY)
		oas_member_number(o, "maxLength", 255);
	oas_close(o, '}');
	oas_close(o, '}');
}

/* ---- responses ---- */
static const struct {
	const char *status, *component, *description;
} problems[] = {
	[OAS_400] = { "400", "Malformed", "The request cannot be read" },
	[OAS_401] = { "401", "Unauthenticated", "A token is needed, or not valid" },
	[OAS_403] = { "403", "Forbidden", "You may not do this" },
	[OAS_404] = { "404", "NotFound", "Not there, or not for you to see" },
	[OAS_409] = { "409", "Conflict", "It is there already, the value is taken, or it is not in this state" },
	[OAS_412] = { "412", "Changed", "It has changed since you read it" },
	[OAS_422] = { "422", "Invalid", "Some values are not valid" },
	[OAS_429] = { "429", "TooManyAttempts", "Wait a moment" },
	[OAS_OTHER] = { "default", "Failed", "Anything else that went wrong" },
};

void oas_problems(struct oas *o, unsigned which)
{
	which |= 1u << OAS_OTHER;
	o->problems |= which;
	for (unsigned i = 0; i < OAS_PROBLEMS; i++)
		if (which & 1u << i) {
			oas_name(o, slice_str(problems[i].status));
			oas_ref(o, "responses", slice_str(problems[i].component));
		}
}

static void put_header(struct oas *o, const char *name, const char *description)
{
	oas_object(o, name);
	oas_member(o, "description", description);
	oas_object(o, "schema");
	oas_member(o, "type", "string");
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_response(struct oas *o, enum oas_problem p)
{
	oas_object(o, problems[p].component);
	oas_member(o, "description", problems[p].description);
	if (p == OAS_429) {
		oas_object(o, "headers");
		put_header(o, "Retry-After", "Seconds.");
		oas_close(o, '}');
	}
	oas_object(o, "content");
	oas_object(o, "application/problem+json");
	oas_name(o, SLICE("schema"));
	oas_ref_common(o, OAS_PROBLEM);
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
}

void oas_begin_content(struct oas *o, const char *status, const char *description, unsigned headers)
{
	oas_object(o, status);
	oas_member(o, "description", description);
	if (headers) {
		oas_object(o, "headers");
		if (headers & OAS_ETAG)
			put_header(o, "ETag", "For If-None-Match and If-Match.");
		if (headers & OAS_LOCATION)
			put_header(o, "Location", "Where it is.");
		if (headers & OAS_CACHE_CONTROL)
			put_header(o, "Cache-Control", "How long it may be kept.");
		oas_close(o, '}');
	}
	oas_object(o, "content");
	oas_object(o, "application/json");
	oas_name(o, SLICE("schema"));
}

void oas_end_content(struct oas *o)
{
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
}

void oas_no_content(struct oas *o, const char *status, const char *description)
{
	oas_object(o, status);
	oas_member(o, "description", description);
	oas_close(o, '}');
}

void oas_begin_body(struct oas *o, bool required)
{
	oas_object(o, "requestBody");
	if (required)
		oas_member_bool(o, "required", true);
	oas_object(o, "content");
	oas_object(o, "application/json");
	oas_name(o, SLICE("schema"));
}

void oas_components(struct oas *o)
{
	oas_object(o, "components");
	oas_object(o, "securitySchemes");
	oas_object(o, "bearer");
	oas_member(o, "type", "http");
	oas_member(o, "scheme", "bearer");
	oas_member(o, "bearerFormat", "JWT");
	oas_close(o, '}');
	oas_close(o, '}');
	oas_object(o, "parameters");
	for (unsigned p = 0; p < OAS_PARAMETERS; p++)
		if (o->parameters & 1u << p)
			put_parameter(o, p);
	oas_close(o, '}');
	oas_object(o, "responses");
	for (unsigned p = 0; p < OAS_PROBLEMS; p++)
		if (o->problems & 1u << p)
			put_response(o, p);
	oas_close(o, '}');
	oas_schemas(o);
	oas_close(o, '}');
}
