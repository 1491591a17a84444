/* JSON schemas as types of TypeScript.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/typescript/typescript.h"

#include <ctype.h>

static void indent(struct typescript *t, int depth)
{
	for (int i = 0; i < depth; i++)
		buf_lit(t->out, "  ");
}

static bool is_identifier(struct slice name)
{
	if (!name.n || isdigit((unsigned char)name.p[0]))
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
			return false;
	return true;
}

void typescript_member(struct typescript *t, struct slice name)
{
	if (is_identifier(name))
		buf_put(t->out, name);
	else
		json_string(t->out, name); /* after a space, which no comma follows */
}

/* Changed where the module has the name already. */
static void put_type_name(struct typescript *t, struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		buf_byte(t->out, isalnum((unsigned char)name.p[i]) || name.p[i] == '_' ? (uint8_t)name.p[i] : '_');
	if (map_get(&t->reserved, name))
		buf_lit(t->out, "_");
}

/* A text inside a comment cannot end it, nor its line. */
static void put_prose(struct buf *out, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '/' && i && text.p[i - 1] == '*')
			buf_byte(out, '\\');
		buf_byte(out, text.p[i] == '\n' || text.p[i] == '\r' ? ' ' : (uint8_t)text.p[i]);
	}
}

void typescript_comment(struct typescript *t, int depth, struct slice first, struct slice second)
{
	if (!first.n && !second.n)
		return;
	indent(t, depth);
	buf_lit(t->out, "/** ");
	put_prose(t->out, first);
	if (first.n && second.n)
		buf_str(t->out, first.p[first.n - 1] == '.' ? " " : ". ");
	put_prose(t->out, second);
	buf_lit(t->out, " */\n");
}

static struct slice rest_of(struct slice s, size_t from)
{
	return slice_make(s.p + from, s.n - from);
}

const struct json *typescript_follow(const struct typescript *t, const struct json *ref)
{
	struct slice path = json_get_text(ref, "$ref");
	const struct json *at = t->document;

	if (path.n < 2 || memcmp(path.p, "#/", 2))
		return NULL;
	for (path = rest_of(path, 2); at && path.n;) {
		const char *end = memchr(path.p, '/', path.n);
		struct slice step = { path.p, end ? (size_t)(end - path.p) : path.n };

		at = json_get_slice(at, step);
		path = rest_of(path, step.n + (end != NULL));
	}
	return at;
}

const struct json *typescript_schema(const struct typescript *t, const struct json *schema)
{
	return json_get(schema, "$ref") ? typescript_follow(t, schema) : schema;
}

/* The last part of '#/components/schemas/Post'. */
static struct slice ref_name(const struct json *schema)
{
	struct slice path = json_get_text(schema, "$ref");
	const char *end = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return end ? rest_of(path, (size_t)(end + 1 - path.p)) : path;
}

static void put_literal(struct typescript *t, const struct json *v)
{
	if (v->type == JSON_STRING)
		json_string(t->out, v->string);
	else
		json_write(t->out, v);
}

static bool is_required(const struct json *schema, struct slice name)
{
	const struct json *list = json_get(schema, "required");

	for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++)
		if (json_is(&list->items[i], JSON_STRING) && slice_equal(list->items[i].string, name))
			return true;
	return false;
}

static void put_members(struct typescript *t, const struct json *schema, int depth)
{
	const struct json *members = json_get(schema, "properties");

	buf_lit(t->out, "{\n");
	for (uint32_t i = 0; i < members->count; i++) {
		const struct json_member *m = &members->members[i];
		const struct json *only_read = json_get(&m->value, "readOnly");

		typescript_comment(t, depth + 1, json_get_text(&m->value, "description"), (struct slice){ 0 });
		indent(t, depth + 1);
		if (json_is(only_read, JSON_BOOL) && only_read->boolean)
			buf_lit(t->out, "readonly ");
		typescript_member(t, m->name);
		buf_str(t->out, is_required(schema, m->name) ? ": " : "?: ");
		typescript_type(t, &m->value, depth + 1);
		buf_lit(t->out, ";\n");
	}
	indent(t, depth);
	buf_byte(t->out, '}');
}

static void put_object(struct typescript *t, const struct json *schema, int depth)
{
	const struct json *members = json_get(schema, "properties");
	const struct json *more = json_get(schema, "additionalProperties");
	bool open = json_is(more, JSON_OBJECT) || (json_is(more, JSON_BOOL) && more->boolean) || !members;

	if (members && members->count) {
		put_members(t, schema, depth);
		if (!open)
			return;
		buf_lit(t->out, " & ");
	} else if (!open) {
		buf_lit(t->out, "Record<string, never>");
		return;
	}
	buf_lit(t->out, "Record<string, ");
	if (json_is(more, JSON_OBJECT) && !(members && members->count))
		typescript_type(t, more, depth);
	else
		buf_lit(t->out, "unknown");
	buf_byte(t->out, '>');
}

static void put_plain(struct typescript *t, const struct json *schema, struct slice type, int depth)
{
	if (slice_is(type, "object")) {
		put_object(t, schema, depth);
	} else if (slice_is(type, "array")) {
		const struct json *items = json_get(schema, "items");

		buf_lit(t->out, "Array<");
		if (items)
			typescript_type(t, items, depth);
		else
			buf_lit(t->out, "unknown");
		buf_byte(t->out, '>');
	} else if (slice_is(type, "integer") || slice_is(type, "number")) {
		buf_lit(t->out, "number");
	} else if (slice_is(type, "string") || slice_is(type, "boolean") || slice_is(type, "null")) {
		buf_put(t->out, type);
	} else {
		buf_lit(t->out, "unknown");
	}
}

/* Several schemas, joined by '&' or '|'. */
static bool put_joined(struct typescript *t, const struct json *schemas, const char *sign, int depth)
{
	if (!json_is(schemas, JSON_ARRAY) || !schemas->count)
		return false;
	for (uint32_t i = 0; i < schemas->count; i++) {
		buf_str(t->out, i ? sign : "");
		typescript_type(t, &schemas->items[i], depth);
	}
	return true;
}

void typescript_type(struct typescript *t, const struct json *schema, int depth)
{
	const struct json *choices = json_get(schema, "enum");
	const struct json *type = json_get(schema, "type");

	if (json_get(schema, "$ref")) {
		put_type_name(t, ref_name(schema));
	} else if (json_get(schema, "const")) {
		put_literal(t, json_get(schema, "const"));
	} else if (json_is(choices, JSON_ARRAY) && choices->count) {
		for (uint32_t i = 0; i < choices->count; i++) {
			buf_str(t->out, i ? " | " : "");
			put_literal(t, &choices->items[i]);
		}
	} else if (put_joined(t, json_get(schema, "allOf"), " & ", depth) ||
		   put_joined(t, json_get(schema, "oneOf"), " | ", depth) ||
		   put_joined(t, json_get(schema, "anyOf"), " | ", depth)) {
		return;
	} else if (json_is(type, JSON_ARRAY)) {
		for (uint32_t i = 0; i < type->count; i++) {
			buf_str(t->out, i ? " | " : "");
			put_plain(t, schema, type->items[i].string, depth);
		}
	} else {
		put_plain(t, schema, json_get_text(schema, "type"), depth);
	}
}

void typescript_schemas(struct typescript *t)
{
	const struct json *all = json_get(json_get(t->document, "components"), "schemas");

	for (uint32_t i = 0; json_is(all, JSON_OBJECT) && i < all->count; i++) {
		const struct json_member *m = &all->members[i];

		typescript_comment(t, 0, json_get_text(&m->value, "description"), (struct slice){ 0 });
		buf_lit(t->out, "export type ");
		put_type_name(t, m->name);
		buf_lit(t->out, " = ");
		typescript_type(t, &m->value, 0);
		buf_lit(t->out, ";\n\n");
	}
}
