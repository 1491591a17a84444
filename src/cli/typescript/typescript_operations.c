/* Operations of the document as methods of one class.
 *
 * A method takes the parameters as one object, then the body, then the options: lists are read when they are asked
 * for, everything else is sent at once.
 * SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>

#include "cli/typescript/typescript.h"

struct operation {
	struct slice id, method, path;
	const struct json *json;
	const struct json *shared;  /* parameters of the path */
	const struct json *body;    /* its schema; NULL: none */
	const struct json *content; /* of the answer, by media type; NULL: none */
	const struct json *row;     /* of a list in pages; NULL: it is none */
	bool body_required, empty;  /* empty: the answer may have no content */
	bool writes, watched;
	bool signs_in;  /* answers with a token for the calls after it */
	bool signs_out; /* ends that token */
	bool uploads;   /* asks where to send a file, which the method does then */
};

/* ---- what an operation has ---- */

static bool is_parameter(const struct typescript *t, const struct json *list, const char *name)
{
	for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++) {
		const struct json *p =
			json_get(&list->items[i], "$ref") ? typescript_follow(t, &list->items[i]) : &list->items[i];

		if (slice_is(json_get_text(p, "name"), name))
			return true;
	}
	return false;
}

static void read_answers(const struct typescript *t, struct operation *op)
{
	const struct json *answers = json_get(op->json, "responses");

	for (uint32_t i = 0; json_is(answers, JSON_OBJECT) && i < answers->count; i++) {
		const struct json_member *m = &answers->members[i];
		const struct json *content = json_get(&m->value, "content");

		if (!m->name.n || m->name.p[0] != '2')
			continue;
		if (!content)
			op->empty = true;
		else if (!op->content)
			op->content = content;
	}
	op->watched = json_get(op->content, "text/event-stream") != NULL;
	if (is_parameter(t, json_get(op->json, "parameters"), "after")) {
		const struct json *page = json_get(json_get(op->content, "application/json"), "schema");
		const struct json *items = json_get(json_get(typescript_schema(t, page), "properties"), "items");

		op->row = json_get(items, "items");
	}
}

/* A POST that every design has, not one of its own. */
static bool is_service(const struct operation *op)
{
	const struct json *tags = json_get(op->json, "tags");

	return slice_is(op->method, "post") && json_is(tags, JSON_ARRAY) && tags->count == 1 &&
	       json_is(&tags->items[0], JSON_STRING) && slice_is(tags->items[0].string, "service");
}

static struct operation read_operation(const struct typescript *t, const struct json_member *path,
				       const struct json_member *m)
{
	const struct json *body = json_get(&m->value, "requestBody");
	const struct json *required = json_get(body, "required");
	struct operation op = {
		.id = json_get_text(&m->value, "operationId"),
		.method = m->name,
		.path = path->name,
		.json = &m->value,
		.shared = json_get(&path->value, "parameters"),
		.body = json_get(json_get(json_get(body, "content"), "application/json"), "schema"),
		.body_required = json_is(required, JSON_BOOL) && required->boolean,
		.writes = !slice_is(m->name, "get"),
	};

	read_answers(t, &op);
	op.signs_in = (slice_is(op.path, "/login") || slice_is(op.path, "/renew")) && is_service(&op);
	op.uploads = json_get(op.json, "x-upload") != NULL;
	op.signs_out = slice_is(op.path, "/logout") && is_service(&op);
	return op;
}

/* ---- parameters ---- */

/* Members of the type of `params`; returns how many there are, and whether all may be left out. */
struct counted {
	uint32_t count;
	bool optional;
};

static void put_parameters(struct typescript *t, const struct json *list, struct counted *seen, bool write)
{
	for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++) {
		const struct json *p =
			json_get(&list->items[i], "$ref") ? typescript_follow(t, &list->items[i]) : &list->items[i];
		const struct json *needed = json_get(p, "required");
		bool required = json_is(needed, JSON_BOOL) && needed->boolean;

		if (slice_is(json_get_text(p, "in"), "header"))
			continue;
		if (write) {
			buf_str(t->out, seen->count ? "; " : " ");
			typescript_member(t, json_get_text(p, "name"));
			buf_str(t->out, required ? ": " : "?: ");
			typescript_type(t, json_get(p, "schema"), 2);
		}
		seen->count++;
		seen->optional = seen->optional && !required;
	}
}

static struct counted walk_parameters(struct typescript *t, const struct operation *op, bool write)
{
	struct counted seen = { 0, true };

	put_parameters(t, op->shared, &seen, write);
	put_parameters(t, json_get(op->json, "parameters"), &seen, write);
	return seen;
}

static void put_options_type(struct typescript *t, const struct operation *op)
{
	if (!op->writes)
		buf_lit(t->out, "RequestOptions");
	else if (is_parameter(t, json_get(op->json, "parameters"), "If-Match"))
		buf_lit(t->out, "WriteOptions");
	else
		buf_lit(t->out, "Omit<WriteOptions, 'ifMatch'>");
}

/* (params: {…}, body: …, options: … = {}) */
static void put_arguments(struct typescript *t, const struct operation *op, bool with_body)
{
	struct counted seen = walk_parameters(t, op, false);

	buf_byte(t->out, '(');
	if (seen.count) {
		buf_lit(t->out, "params: {");
		walk_parameters(t, op, true);
		buf_str(t->out, seen.optional && !(op->body && op->body_required) ? " } = {}, " : " }, ");
	}
	if (op->uploads) {
		buf_lit(t->out, "file: Blob, ");
	} else if (op->body && with_body) {
		buf_str(t->out, op->body_required ? "body: " : "body?: ");
		typescript_type(t, op->body, 1);
		buf_lit(t->out, ", ");
	}
	buf_lit(t->out, "options: ");
	put_options_type(t, op);
	buf_lit(t->out, " = {})");
}

/* ---- methods ---- */

static void put_answer_type(struct typescript *t, const struct operation *op)
{
	const struct json *schema = json_get(json_get(op->content, "application/json"), "schema");

	if (op->uploads) {
		buf_lit(t->out, "string");
		return;
	}
	if (schema)
		typescript_type(t, schema, 1);
	if (op->empty || !schema)
		buf_str(t->out, schema ? " | undefined" : "void");
}

static void put_path(struct typescript *t, struct slice path)
{
	buf_byte(t->out, '\'');
	for (size_t i = 0; i < path.n; i++) {
		if (path.p[i] == '\'' || path.p[i] == '\\')
			buf_byte(t->out, '\\');
		buf_byte(t->out, (uint8_t)path.p[i]);
	}
	buf_byte(t->out, '\'');
}

static void put_comment(struct typescript *t, const struct operation *op)
{
	typescript_comment(t, 1, json_get_text(op->json, "summary"), json_get_text(op->json, "description"));
}

static const char *params_of(struct typescript *t, const struct operation *op)
{
	return walk_parameters(t, op, false).count ? "params" : "{}";
}

static void put_list(struct typescript *t, const struct operation *op)
{
	const char *type = op->watched ? "LiveListOf<" : "ListOf<";

	put_comment(t, op);
	buf_printf(t->out, "  %.*s", SLICE_ARG(op->id));
	put_arguments(t, op, false);
	buf_printf(t->out, ": %s", type);
	typescript_type(t, op->row, 1);
	buf_printf(t->out, "> {\n    return new %s", type);
	typescript_type(t, op->row, 2);
	buf_lit(t->out, ">(this.$transport, ");
	put_path(t, op->path);
	buf_printf(t->out, ", %s, options);\n  }\n", params_of(t, op));
}

static void put_call(struct typescript *t, const struct operation *op)
{
	char method[16] = { 0 };

	for (size_t i = 0; i < op->method.n && i < sizeof(method) - 1; i++)
		method[i] = (char)toupper((unsigned char)op->method.p[i]);
	put_comment(t, op);
	buf_printf(t->out, "  async %.*s", SLICE_ARG(op->id));
	put_arguments(t, op, true);
	buf_lit(t->out, ": Promise<");
	put_answer_type(t, op);
	if (op->uploads) {
		buf_lit(t->out, "> {\n    return this.$transport.upload(");
		put_path(t, op->path);
		buf_printf(t->out, ", %s, file, options);\n  }\n", params_of(t, op));
		return;
	}
	if (op->signs_in || op->signs_out)
		buf_printf(t->out, "> {\n    return this.$transport.%s(", op->signs_in ? "signIn" : "signOut");
	else
		buf_printf(t->out, "> {\n    return this.$transport.send('%s', ", method);
	put_path(t, op->path);
	if (!op->signs_in && !op->signs_out)
		buf_printf(t->out, ", %s", params_of(t, op));
	buf_printf(t->out, ", %s, options);\n  }\n", op->body ? "body" : "undefined");
}

/* watchUserPosts() of a single item, which has no list to ask. */
static void put_watch(struct typescript *t, const struct operation *op)
{
	buf_printf(t->out, "  /** Changes of what %.*s() returns; see LiveListOf.watch(). */\n  watch%c%.*s",
		   SLICE_ARG(op->id), toupper((unsigned char)op->id.p[0]), (int)op->id.n - 1, op->id.p + 1);
	put_arguments(t, op, false);
	buf_lit(t->out, ": AsyncGenerator<LiveEvent<");
	put_answer_type(t, op);
	buf_lit(t->out, ">, void, undefined> {\n    return this.$transport.watch(");
	put_path(t, op->path);
	buf_printf(t->out, ", %s, options);\n  }\n", params_of(t, op));
}

static void put_operation(struct typescript *t, const struct operation *op)
{
	buf_byte(t->out, '\n');
	if (op->row) {
		put_list(t, op);
		return;
	}
	put_call(t, op);
	if (op->watched)
		put_watch(t, op);
}

static bool is_method(struct slice name)
{
	static const char *const methods[] = { "get", "put", "post", "patch", "delete", NULL };

	return slice_is_one_of(name, methods);
}

/* SocialMediaClient of social-media */
static void put_class_name(struct typescript *t, struct slice design)
{
	bool upper = true;

	for (size_t i = 0; i < design.n; i++) {
		unsigned char c = (unsigned char)design.p[i];

		if (isalnum(c))
			buf_byte(t->out, (uint8_t)(upper ? toupper(c) : c));
		upper = !isalnum(c);
	}
	buf_lit(t->out, "Client");
}

void typescript_class(struct typescript *t, struct slice design)
{
	const struct json *paths = json_get(t->document, "paths");

	buf_lit(t->out, "/** The API, one method for each operation. */\nexport class ");
	put_class_name(t, design);
	buf_lit(t->out, " {\n  /** The token, and requests that have no method here. */\n"
			"  readonly $transport: Transport;\n\n"
			"  constructor(options: ClientOptions) {\n"
			"    this.$transport = new Transport(options");
	buf_str(t->out, json_get(paths, "/renew") ? ", '/renew');\n  }\n" : ");\n  }\n");
	for (uint32_t i = 0; i < paths->count; i++) {
		const struct json_member *path = &paths->members[i];

		for (uint32_t j = 0; j < path->value.count; j++)
			if (is_method(path->value.members[j].name)) {
				struct operation op = read_operation(t, path, &path->value.members[j]);

				put_operation(t, &op);
			}
	}
	buf_lit(t->out, "}\n");
}
