/* The OpenAPI document while it is written. Only openapi*.c and the console's list of patterns include this.
 *
 * The paths come first. They record which schemas, parameters and responses they refer to; the components then
 * contain exactly those.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_OPENAPI_OPENAPI_H
#define THORPE_APP_OPENAPI_OPENAPI_H

#include "app/rest/app_exchange.h"
#include "base/map.h"
#include "json/json.h"

/* Schemas of an entity, by the suffix of their names. */
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

/* Schemas that do not depend on the design. */
enum oas_common {
	OAS_PROBLEM,
	OAS_ANY_ITEM,
	OAS_COUNT,
	OAS_COUNTS,
	OAS_CALLER,
	OAS_FILE,
	OAS_FILE_ASK,
	OAS_FILE_SLOT,
	OAS_COMMONS
};

/* Parameters that many operations take. */
enum oas_parameter { OAS_IF_MATCH, OAS_IF_NONE_MATCH, OAS_IDEMPOTENCY_KEY, OAS_LIMIT, OAS_AFTER, OAS_PARAMETERS };

/* Responses that many operations give. */
enum oas_problem { OAS_400, OAS_401, OAS_403, OAS_404, OAS_409, OAS_412, OAS_422, OAS_429, OAS_OTHER, OAS_PROBLEMS };

#define OAS_BIT(x) (1u << (x))

struct oas {
	const struct design *d;
	const struct route_table *routes;
	struct arena *a;
	struct buf *b;
	bool input;               /* values of a body, which gives files by their ids */
	bool patch;               /* maps are patches: no member is required, and null removes one */
	unsigned *used;           /* by entity: bits of enum oas_schema */
	unsigned commons;         /* bits of enum oas_common */
	unsigned parameters;      /* bits of enum oas_parameter */
	unsigned problems;        /* bits of enum oas_problem */
	struct map operation_ids; /* in lower case */
};

/* ---- JSON, besides json/json.h (openapi.c) ---- */
/* A piece of the document as it stands here, with ' for ". It may open and close brackets; the comma before it is
 * written when one is due. */
void oas_put(struct oas *o, const char *json);
void oas_member_number(struct oas *o, const char *name, double v);
void oas_member_printf(struct oas *o, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void oas_ref(struct oas *o, const char *kind, struct slice name); /* {"$ref": "#/components/<kind>/<name>"} */

/* ---- values (openapi_type.c) ---- */
/* The schema of a value; `a` NULL: a string. */
void oas_attribute(struct oas *o, const struct attribute *a);
/* The schema of the attribute's elements: it is a list or a set. An element of type ATTR_MAP may be anything. */
void oas_element(struct oas *o, const struct attribute *a);
/* The members of the schema of a value. */
void oas_value_schema(struct oas *o, const struct attribute *a, bool nullable);
const char *oas_json_type(enum attr_type t);
/* The member `description`; nothing where there is nothing to say. */
void oas_attribute_description(struct oas *o, const struct attribute *a);

/* ---- schemas (openapi_schema.c) ---- */
/* A $ref, which also puts the schema into the components. */
void oas_ref_entity(struct oas *o, const struct entity *e, enum oas_schema s);
void oas_ref_common(struct oas *o, enum oas_common c);
/* The body of an action. */
void oas_action_input(struct oas *o, const struct entity *e, const struct action *action);
/* The object around a list: up to the schema of its items, and from there on. */
void oas_begin_items(struct oas *o);
void oas_end_items(struct oas *o, bool pages); /* pages: with `next` */
/* The schema of what `show` adds to an item. */
void oas_shown(struct oas *o, const struct attribute *show, size_t n);
/* Whether the body of a PUT requires other attributes than that of a POST. */
bool oas_put_differs(const struct entity *e);
void oas_schemas(struct oas *o);

/* ---- shared by all operations (openapi_common.c) ---- */
void oas_parameters(struct oas *o, unsigned parameters); /* elements of `parameters` */
struct slice oas_common_name(enum oas_common c);
void oas_common_schema(struct oas *o, enum oas_common c);
void oas_components(struct oas *o);
/* The member `responses`, up to the first one. Its end adds the problems, and ends the operation. */
void oas_begin_responses(struct oas *o);
void oas_end_responses(struct oas *o, unsigned problems);
/* A response, up to the schema of its body; oas_end_content() closes it. */
enum oas_header { OAS_ETAG = 1, OAS_LOCATION = 2, OAS_CACHE_CONTROL = 4 };
void oas_begin_content(struct oas *o, const char *status, const char *description, unsigned headers);
void oas_end_content(struct oas *o);
void oas_end_live_content(struct oas *o); /* the same, if the answer can also be watched */
void oas_no_content(struct oas *o, const char *status, const char *description);
/* The request's body, up to its schema; oas_end_content() closes it. */
void oas_begin_body(struct oas *o, bool required);

/* ---- operations (openapi_operation.c, openapi_access.c, openapi_service.c) ---- */
void oas_operation(struct oas *o, const struct route *r);
void oas_access(struct oas *o, const struct access *c);
void oas_service(struct oas *o, const struct route *r); /* an operation that every design has */
/* Whether a pattern returns a list in pages. */
bool oas_pages(const struct access *c);
/* Whether a parameter of the query string is required. */
bool oas_is_needed(const struct access *c, const struct attribute *a);
/* The beginning of an operation: its id (the verb and the words in camel case, made unique) and its tag. */
void oas_begin_operation(struct oas *o, const char *verb, struct slice words, struct slice tag);
/* Members of an operation. oas_say_…() append a sentence and a space to a description. */
void oas_patterns(struct oas *o, const struct slice *ids, size_t n);
void oas_say_term(struct buf *b, const char *what, const struct term *t);
void oas_say_patterns(struct buf *b, const struct slice *ids, size_t n);
void oas_description(struct oas *o, struct buf *b);
/* Whether the term holds for no anonymous caller; of no term (operators alone): true. */
bool oas_needs_login(const struct term *t);
void oas_security(struct oas *o, bool needed);
/* Whether the rule lets in anyone but operators. */
bool oas_is_allowed(const struct term *t);
/* Whether callers can upload a file for an existing item: by an update, or by an action that takes it. */
bool oas_file_is_offered(const struct entity *e, const struct attribute *a);
/* Whether a PUT without If-Match can create an item. */
bool oas_put_creates(const struct entity *e);

/* ---- paths (openapi_paths.c) ---- */
void oas_paths(struct oas *o);

#endif
