/* The module of a client: its head, types, class and runtime.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/typescript/typescript.h"

/* What the runtime declares or uses, and words of the language. */
static const char *const reserved[] = {
	"AbortSignal",
	"AlreadyExistsError",
	"ApiError",
	"Array",
	"AsyncGenerator",
	"AsyncIterable",
	"Blob",
	"ChangedError",
	"ClientOptions",
	"ConflictError",
	"Error",
	"ForbiddenError",
	"Infinity",
	"InvalidError",
	"JSON",
	"ListOf",
	"LiveEvent",
	"LiveListOf",
	"MalformedError",
	"Math",
	"NotFoundError",
	"Number",
	"Object",
	"Omit",
	"Outgoing",
	"PageOf",
	"ProblemDocument",
	"Promise",
	"Record",
	"RequestOptions",
	"RequestInit",
	"Response",
	"ServerEvent",
	"String",
	"Symbol",
	"TakenError",
	"TextDecoder",
	"TooManyAttemptsError",
	"Transport",
	"URLSearchParams",
	"UnauthenticatedError",
	"UploadSlot",
	"UnavailableError",
	"WriteOptions",
	"any",
	"boolean",
	"never",
	"null",
	"number",
	"object",
	"string",
	"undefined",
	"unknown",
	"void",
};

static void put_head(struct typescript *t, struct slice name)
{
	struct slice title = json_get_text(json_get(t->document, "info"), "title");

	buf_printf(t->out,
		   "// %.*s: a client of its REST API. Written by `thorpe client %.*s.yaml --typescript`; do not edit.\n\n",
		   SLICE_ARG(title), SLICE_ARG(name));
}

void typescript_client(struct buf *out, struct arena *a, const struct json *document, struct slice name)
{
	struct typescript t = { .document = document, .out = out, .arena = a };

	map_init(&t.reserved, a);
	for (size_t i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		map_set(&t.reserved, slice_str(reserved[i]), &t);
	put_head(&t, name);
	typescript_schemas(&t);
	typescript_class(&t, name);
	buf_byte(out, '\n');
	buf_str(out, typescript_runtime);
}
