/* The OpenAPI document while it is written; for the files openapi*.c only.
 *
 * The routes come first and note which schemas, parameters and responses they speak of; then the components hold those and
 * no others.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_OPENAPI_OPENAPI_H
#define THORPE_APP_OPENAPI_OPENAPI_H

#include "app/app_internal.h"
#include "app/rest/routes.h"
#include "base/map.h"

/* Schemas of an entity, by what is put behind its name. */
#define OAS_SCHEMA_MAP(X)   \
	X(ITEM, "")         \
	X(CREATE, "Create") \
	X(PUT, "Put")       \
	X(UPDATE, "Update") \
	X(PAGE, "Page")     \
	X(NESTED, "Nested")
enum oas_schema {
#define X(name, suffix) OAS_##name,
	OAS_SCHEMA_MAP(X)
#undef X
		OAS_SCHEMAS
};

/* Schemas that every design may need. */
#define OAS_COMMON_MAP(X)      \
	X(PROBLEM, "Problem")  \
	X(ANY_ITEM, "AnyItem") \
	X(COUNT, "Count")      \
	X(COUNTS, "Counts")    \
	X(CALLER, "Caller")
enum oas_common {
#define X(name, text) OAS_##name,
	OAS_COMMON_MAP(X)
#undef X
		OAS_COMMONS
};

/* Parameters that many operations take: component, where, name, description. */
#define OAS_PARAMETER_MAP(X)                                                                                               \
	X(IF_MATCH, "IfMatch", "header", "If-Match",                                                                       \
	  "The ETag of a GET, or the value of the version attribute in quotes: 412 when the item is another by now.")      \
	X(IF_NONE_MATCH, "IfNoneMatch", "header", "If-None-Match", "An ETag: 304 when nothing has changed.")               \
	X(IDEMPOTENCY_KEY, "IdempotencyKey", "header", "Idempotency-Key",                                                  \
	  "The same request with the same key, repeated within ten minutes, is answered as the first time and done once.") \
	X(LIMIT, "Limit", "query", "limit", "The most items of a page.")                                                   \
	X(AFTER, "After", "query", "after", "Where the page begins: `next` of the page before it.")
enum oas_parameter {
#define X(name, component, in, text, description) OAS_##name,
	OAS_PARAMETER_MAP(X)
#undef X
		OAS_PARAMETERS
};

#define OAS_BIT(x) (1u << (x))

struct oas {
	struct app *app;
	const struct design *d;
	const struct route_table *routes;
	struct arena *a;
	struct buf *b;
	bool comma;               /* the next value or name needs one before it */
	unsigned *used;           /* by entity: bits 1 << enum oas_schema */
	unsigned commons;         /* bits 1 << enum oas_common */
	unsigned parameters;      /* bits 1 << enum oas_parameter */
	unsigned problems;        /* bits 1 << enum oas_problem */
	struct map operation_ids; /* in lower case */
};

/* ---- JSON (openapi_write.c) ---- */
void oas_open(struct oas *o, char bracket);  /* '{' or '[' */
void oas_close(struct oas *o, char bracket); /* '}' or ']' */
void oas_name(struct oas *o, struct slice name);
void oas_text(struct oas *o, struct slice s);
void oas_value(struct oas *o, struct value v);
void oas_printf(struct oas *o, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* a string */
/* A name and … */
void oas_object(struct oas *o, const char *name); /* '{' */
void oas_list(struct oas *o, const char *name);   /* '[' */
void oas_member(struct oas *o, const char *name, const char *text);
void oas_member_slice(struct oas *o, const char *name, struct slice text);
void oas_member_number(struct oas *o, const char *name, double v);
void oas_member_bool(struct oas *o, const char *name, bool v);
void oas_ref(struct oas *o, const char *kind, struct slice name); /* {"$ref": "#/components/<kind>/<name>"} */

/* ---- values (openapi_type.c) ---- */
/* The schema of a value, as an object; NULL: a string. */
void oas_attribute(struct oas *o, const struct attribute *a);
/* Its members alone. `nullable`: may be null, too. */
void oas_value_schema(struct oas *o, const struct attribute *a, bool nullable);
const char *oas_json_type(enum attr_type t);
void oas_attribute_description(struct oas *o, const struct attribute *a); /* a member, where there is something to say */

/* ---- schemas (openapi_schema.c) ---- */
/* {"$ref": …} to one, which will then be there. */
void oas_ref_entity(struct oas *o, const struct entity *e, enum oas_schema s);
void oas_ref_common(struct oas *o, enum oas_common c);
/* An object with these properties: of what an action's body may have. */
void oas_action_input(struct oas *o, const struct entity *e, const struct action *action);
/* {"type": "object", "properties": {"items": {"type": "array", "items": */
void oas_begin_items(struct oas *o);
void oas_end_items(struct oas *o, bool pages); /* and `next` */
/* Whether PUT needs other attributes in its body than POST does. */
bool oas_put_differs(const struct entity *e);
void oas_schemas(struct oas *o);

/* ---- what all operations share (openapi_common.c) ---- */
enum oas_problem { OAS_400, OAS_401, OAS_403, OAS_404, OAS_409, OAS_412, OAS_422, OAS_429, OAS_OTHER, OAS_PROBLEMS };
/* Members of `responses`. */
void oas_problems(struct oas *o, unsigned problems);
void oas_parameter(struct oas *o, enum oas_parameter p);
void oas_common_schema(struct oas *o, enum oas_common c);
void oas_components(struct oas *o);
/* Begins a response: {"description": …, "headers": …, "content": {"application/json": {"schema": — which is to follow, then
 * oas_end_content(). */
enum oas_header { OAS_ETAG = 1, OAS_LOCATION = 2, OAS_CACHE_CONTROL = 4 };
void oas_begin_content(struct oas *o, const char *status, const char *description, unsigned headers);
void oas_end_content(struct oas *o);
void oas_no_content(struct oas *o, const char *status, const char *description);
void oas_begin_body(struct oas *o, bool required); /* requestBody, up to the schema */

/* ---- operations (openapi_operation.c, openapi_access.c, openapi_service.c) ---- */
/* The object of one operation. */
void oas_operation(struct oas *o, const struct route *r);
void oas_access(struct oas *o, const struct access *c);
/* Whether a pattern gives a list in pages. */
bool oas_pages(const struct access *c);
/* Whether a parameter of its query string must be given. */
bool oas_is_needed(const struct access *c, const struct attribute *a);
void oas_service(struct oas *o, const struct route *r); /* what every design has */
/* Members of an operation; oas_say_… put sentences, each with a space behind it, into a description. */
void oas_tag(struct oas *o, struct slice tag);
void oas_patterns(struct oas *o, const struct slice *ids, size_t n);
void oas_say_rule(struct buf *b, const struct term *t);
void oas_say_patterns(struct buf *b, const struct slice *ids, size_t n);
void oas_description(struct oas *o, struct buf *b);
/* Of the words, in camel case behind the verb, and no other operation's. */
void oas_operation_id(struct oas *o, const char *verb, struct slice words);
void oas_summary(struct oas *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether a term can hold for nobody who is not logged in. */
bool oas_needs_login(const struct term *t);
void oas_security(struct oas *o, bool needed);
/* Whether anybody may, besides operators. */
bool oas_is_allowed(const struct term *t);
/* Whether a PUT without If-Match can create one. */
bool oas_put_creates(const struct entity *e);

/* ---- paths (openapi_paths.c) ---- */
void oas_paths(struct oas *o);

#endif
