/* Operations that every design has: logging in, who one is, many writes at once, what there is.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include "app/openapi/openapi.h"

static const struct entity *accounts(const struct design *d)
{
	for (size_t i = 0; i < d->entity_count; i++)
		if (d->entities[i].login.present)
			return &d->entities[i];
	return NULL;
}

static void begin(struct oas *o, const char *id, const char *summary, bool login)
{
	oas_open(o, '{');
	oas_operation_id(o, id, SLICE(""));
	oas_list(o, "tags");
	oas_text(o, SLICE("service"));
	oas_close(o, ']');
	oas_summary(o, "%s", summary);
	oas_security(o, login);
}

static void put_typed(struct oas *o, const char *name, const char *type)
{
	oas_object(o, name);
	oas_member(o, "type", type);
	oas_close(o, '}');
}

static void put_strings(struct oas *o, const char *name)
{
	oas_object(o, name);
	oas_member(o, "type", "array");
	put_typed(o, "items", "string");
	oas_close(o, '}');
}

/* ---- login ---- */
static void put_login_body(struct oas *o, const struct login *login)
{
	oas_begin_body(o, true);
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	oas_text(o, SLICE("password"));
	oas_close(o, ']');
	oas_object(o, "properties");
	for (size_t i = 0; i < login->by_count; i++)
		put_typed(o, arena_cstr(o->a, login->by[i]), "string");
	oas_object(o, "name");
	oas_member(o, "type", "string");
	oas_member(o, "description", "Any of the others.");
	oas_close(o, '}');
	oas_object(o, "password");
	oas_member(o, "type", "string");
	oas_member(o, "format", "password");
	oas_member_bool(o, "writeOnly", true);
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
	oas_end_content(o);
}

static void put_session(struct oas *o, const struct entity *e)
{
	static const char *const always[] = { "token", "token_type", "expires_in", "subject", "roles" };
	char *name = arena_cstr(o->a, e->name);

	for (char *p = name; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		oas_text(o, slice_str(always[i]));
	oas_close(o, ']');
	oas_object(o, "properties");
	put_typed(o, "token", "string");
	put_typed(o, "token_type", "string");
	oas_object(o, "expires_in");
	oas_member(o, "type", "integer");
	oas_member(o, "description", "Seconds.");
	oas_close(o, '}');
	put_typed(o, "subject", "string");
	put_strings(o, "roles");
	oas_name(o, slice_str(name));
	oas_ref_entity(o, e, OAS_ITEM);
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_login(struct oas *o, const struct entity *e)
{
	begin(o, "login", "A token for a name and a password", false);
	oas_patterns(o, e->login.patterns, e->login.pattern_count);
	put_login_body(o, &e->login);
	oas_object(o, "responses");
	oas_begin_content(o, "200", "For `Authorization: Bearer`", 0);
	put_session(o, e);
	oas_end_content(o);
	oas_problems(o, OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_422) | OAS_BIT(OAS_429));
	oas_close(o, '}');
	oas_close(o, '}');
}

/* ---- me ---- */
static void put_me(struct oas *o)
{
	begin(o, "me", "Who the token says you are", true);
	oas_object(o, "responses");
	oas_begin_content(o, "200", "The caller", 0);
	oas_ref_common(o, OAS_CALLER);
	oas_end_content(o);
	oas_problems(o, OAS_BIT(OAS_401));
	oas_close(o, '}');
	oas_close(o, '}');
}

/* ---- batch ---- */
static void put_batch_request(struct oas *o)
{
	static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE" };

	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	oas_text(o, SLICE("method"));
	oas_text(o, SLICE("path"));
	oas_close(o, ']');
	oas_object(o, "properties");
	oas_object(o, "method");
	oas_member(o, "type", "string");
	oas_list(o, "enum");
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		oas_text(o, slice_str(methods[i]));
	oas_close(o, ']');
	oas_close(o, '}');
	oas_object(o, "path");
	oas_member(o, "type", "string");
	oas_member(o, "description", "As in an address of its own: /users/alice.");
	oas_close(o, '}');
	oas_object(o, "body");
	oas_member(o, "type", "object");
	oas_member_bool(o, "additionalProperties", true);
	oas_close(o, '}');
	put_typed(o, "if_match", "string");
	put_typed(o, "idempotency_key", "string");
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_batch_response(struct oas *o)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	oas_text(o, SLICE("status"));
	oas_close(o, ']');
	oas_object(o, "properties");
	put_typed(o, "status", "integer");
	put_typed(o, "location", "string");
	oas_object(o, "body");
	oas_member(o, "description", "The item, or a problem.");
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
}

/* {"type": "object", "required": [name], "properties": {name: {"type": "array", "items": … */
static void put_list_of(struct oas *o, const char *name, void (*put)(struct oas *o), int most)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	oas_text(o, slice_str(name));
	oas_close(o, ']');
	oas_object(o, "properties");
	oas_object(o, name);
	oas_member(o, "type", "array");
	if (most)
		oas_member_number(o, "maxItems", most);
	oas_name(o, SLICE("items"));
	put(o);
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_batch(struct oas *o)
{
	begin(o, "batch", "Many writes, in order, each by itself", false);
	oas_begin_body(o, true);
	put_list_of(o, "requests", put_batch_request, 100);
	oas_end_content(o);
	oas_object(o, "responses");
	oas_begin_content(o, "200", "One answer for each", 0);
	put_list_of(o, "responses", put_batch_response, 0);
	oas_end_content(o);
	oas_problems(o, OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_422));
	oas_close(o, '}');
	oas_close(o, '}');
}

/* ---- call ---- */
static void put_free(struct oas *o, const char *name)
{
	oas_object(o, name);
	oas_member(o, "type", "object");
	oas_member_bool(o, "additionalProperties", true);
	oas_close(o, '}');
}

static void put_call_body(struct oas *o)
{
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_list(o, "required");
	oas_text(o, SLICE("pattern"));
	oas_close(o, ']');
	oas_object(o, "properties");
	put_typed(o, "pattern", "string");
	put_free(o, "with");
	oas_object(o, "as");
	oas_member(o, "type", "object");
	oas_object(o, "properties");
	put_typed(o, "subject", "string");
	put_strings(o, "roles");
	oas_close(o, '}');
	oas_close(o, '}');
	put_typed(o, "explain", "boolean");
	oas_close(o, '}');
	oas_close(o, '}');
}

static void put_call(struct oas *o)
{
	begin(o, "call", "An access pattern by its name, with the requests it made", true);
	oas_member(o, "description", "For operators.");
	oas_member_bool(o, "x-operators-only", true);
	oas_begin_body(o, true);
	put_call_body(o);
	oas_end_content(o);
	oas_object(o, "responses");
	oas_begin_content(o, "200", "What the pattern returns, and how", 0);
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_object(o, "properties");
	oas_object(o, "result");
	oas_close(o, '}');
	oas_object(o, "requests");
	oas_member(o, "type", "array");
	put_free(o, "items");
	oas_close(o, '}');
	oas_close(o, '}');
	oas_close(o, '}');
	oas_end_content(o);
	oas_problems(o, OAS_BIT(OAS_400) | OAS_BIT(OAS_401) | OAS_BIT(OAS_403) | OAS_BIT(OAS_404) | OAS_BIT(OAS_422));
	oas_close(o, '}');
	oas_close(o, '}');
}

/* ---- what there is ---- */
static void put_document(struct oas *o, const char *id, const char *summary)
{
	begin(o, id, summary, false);
	oas_object(o, "responses");
	oas_begin_content(o, "200", "A description", 0);
	oas_open(o, '{');
	oas_member(o, "type", "object");
	oas_member_bool(o, "additionalProperties", true);
	oas_close(o, '}');
	oas_end_content(o);
	oas_problems(o, OAS_BIT(OAS_404));
	oas_close(o, '}');
	oas_close(o, '}');
}

void oas_service(struct oas *o, const struct route *r)
{
	switch (r->kind) {
	case ROUTE_LOGIN: put_login(o, accounts(o->d)); break;
	case ROUTE_ME: put_me(o); break;
	case ROUTE_BATCH: put_batch(o); break;
	case ROUTE_CALL: put_call(o); break;
	case ROUTE_INDEX: put_document(o, "describe", "Entities, access patterns and their paths"); break;
	default: put_document(o, "openapi", "This document"); break;
	}
}
