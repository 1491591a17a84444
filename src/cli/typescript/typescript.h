/* A TypeScript client of a design's REST API, from its OpenAPI document.
 *
 * The client is one module without dependencies: the types of the document's schemas, a class with a method for each
 * operation, and the runtime (runtime.ts). The same document gives the same bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_TYPESCRIPT_TYPESCRIPT_H
#define THORPE_CLI_TYPESCRIPT_TYPESCRIPT_H

#include "base/map.h"
#include "json/json.h"

/* Appends the module. `document` is an OpenAPI document that this program made; `name` the design's. */
void typescript_client(struct buf *out, struct arena *a, const struct json *document, struct slice name);

/* runtime.ts, embedded. */
extern const char typescript_runtime[];

/* ---- between the files of this room ---- */
struct typescript {
	const struct json *document;
	struct buf *out;
	struct arena *arena;
	struct map reserved; /* names of the runtime and of the language, which a schema cannot have */
};

/* The type of a schema's values, at an indentation of so many steps. */
void typescript_type(struct typescript *t, const struct json *schema, int depth);
/* The declarations of all schemas of the document. */
void typescript_schemas(struct typescript *t);
/* The class with all operations. */
void typescript_class(struct typescript *t, struct slice design);

/* The schema itself, or the one that its $ref names. NULL: there is none. */
const struct json *typescript_schema(const struct typescript *t, const struct json *schema);
/* The target of a $ref; NULL: there is none. */
const struct json *typescript_follow(const struct typescript *t, const struct json *ref);
/* A member of an object type or of the parameters: quoted where it is not an identifier. */
void typescript_member(struct typescript *t, struct slice name);
/* A comment for people, of one or two texts; nothing if both are empty. */
void typescript_comment(struct typescript *t, int depth, struct slice first, struct slice second);

#endif
