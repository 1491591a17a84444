/* Words of other languages and tools, and what this language has instead.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/load/load.h"

#define WORDS_MOST 10

struct hint {
	const char *words[WORDS_MOST];
	const char *instead;
};

static const struct hint types[] = {
	{ { "int", "int32", "int64", "long", "bigint", "short" }, "write integer" },
	{ { "float", "double", "decimal", "numeric", "real", "money" }, "write number" },
	{ { "bool" }, "write boolean" },
	{ { "date", "day" }, "write timestamp, or for days alone string matches '[0-9]{4}-[0-9]{2}-[0-9]{2}'" },
	{ { "datetime", "time", "instant" }, "write timestamp (2026-01-15T10:30:00Z), timestamp ms or epoch (seconds)" },
	{ { "str", "varchar", "char" }, "write string, or text for a long one" },
	{ { "uuid", "ulid", "guid", "id" }, "write 'string, id': the server makes one for each new item" },
	{ { "json", "object", "dict", "struct", "any" }, "write map" },
	{ { "array" }, "write 'list of string'" },
	{ { "true", "false", "required" },
	  "clauses follow the type after commas, as in name: string 1..50, required; in { } are members of a structure" },
	{ { "enum" }, "write the words themselves: NEW | PAID | SENT" },
	{ { "blob", "bytes", "buffer" }, "write binary" },
	{ { "password" }, "write 'string, hidden' and name it in login: {password: …}" },
	{ { NULL }, NULL },
};

static const struct hint clauses[] = {
	{ { "optional", "nullable", "null" }, "an attribute is optional unless it is 'required'" },
	{ { "not", "mandatory", "notnull" }, "write required" },
	{ { "readonly", "immutable", "const" },
	  "write 'fixed' (never changes) or 'managed' (only actions, processors and operators set it)" },
	{ { "min", "max", "length", "minlength", "maxlength", "range", "between" },
	  "a range comes after the type, as in string 3..30 or number 0.." },
	{ { "auto", "autoincrement", "auto_increment", "serial" },
	  "take the number from a sequence: 'next of Shop(shop).numbers'" },
	{ { "primary", "pk", "key", "index", "indexed" }, "keys belong in the entity's 'keys', as in {PK: USER#<user>}" },
	{ { "created", "created_at", "updated", "updated_at" },
	  "write 'now' (when created) or 'touched' (when last changed)" },
	{ { "secret", "write_only", "writeonly" }, "write hidden" },
	{ { "lowercase" }, "write lower" },
	{ { "pattern", "regex", "regexp", "format", "like" }, "write matches '[A-Z]{3}-[0-9]+'" },
	{ { NULL }, NULL },
};

static const struct hint terms[] = {
	{ { "public", "everyone", "everybody", "all", "any", "open" }, "write anyone" },
	{ { "none", "noone", "never", "private" }, "write nobody" },
	{ { "owner", "me", "self", "current_user", "auth" },
	  "'caller' is the user who is logged in, as in user_id = caller" },
	{ { "authenticated", "logged_in", "user", "users", "member" },
	  "write 'caller is user' for anyone who is logged in" },
	{ { "admin", "admins" }, "write 'caller is admin', and name the role in callers: {roles: [user, admin]}" },
	{ { "undefined", "nil", "None", "NULL" }, "write 'is absent' or 'is present'" },
	{ { "True", "TRUE", "yes", "Yes", "on", "y", "1" }, "write true" },
	{ { "False", "FALSE", "no", "No", "off", "n", "0" }, "write false" },
	{ { NULL }, NULL },
};

static const struct hint verbs[] = {
	{ { "post", "insert", "add", "new", "POST" }, "write create" },
	{ { "get", "view", "select", "fetch", "show", "GET" }, "write read" },
	{ { "put", "patch", "edit", "modify", "change", "PUT", "PATCH" }, "write update" },
	{ { "remove", "destroy", "DELETE" }, "write delete" },
	{ { "write", "all", "manage", "any" }, "name them: create, update, delete" },
	{ { NULL }, NULL },
};

/* What other tools call a word of a design; several where it depends on the map. */
static const struct hint synonyms[] = {
	{ { "if", "condition", "unless", "only" }, "when" },
	{ { "orderBy", "order_by", "sort", "sortBy", "sort_by" }, "order" },
	{ { "index", "using", "from", "scan" }, "query" },
	{ { "gsi", "gsis", "GSIs", "indices", "secondaryIndexes", "GlobalSecondaryIndexes" }, "indexes" },
	{ { "fields", "properties", "columns", "props", "schema" }, "attributes" },
	{ { "route", "url", "endpoint", "uri" }, "path" },
	{ { "permissions", "auth", "authorize", "security", "acl", "rules", "policy" }, "allow" },
	{ { "name", "app", "service" }, "design" },
	{ { "description" }, "title" },
	{ { "primaryKey", "primary_key", "partitionKey", "pk", "hash" }, "key" },
	{ { "primaryKey", "primary_key", "partitionKey", "pk", "hash" }, "keys" },
	{ { "validate", "validation", "constraints", "checks", "validations" }, "check" },
	{ { "models", "tables", "items", "resources" }, "entities" },
	{ { "queries", "accessPatterns", "access_patterns", "reads", "patterns" }, "access" },
	{ { "triggers", "handlers", "listeners", "streams", "jobs", "functions" }, "processors" },
	{ { "trigger", "event", "events", "after" }, "on" },
	{ { "cron", "schedule", "interval" }, "every" },
	{ { "message", "error", "else" }, "otherwise" },
	{ { "increment", "incr" }, "add" },
	{ { "unset" }, "remove" },
	{ { "body" }, "input" },
	{ { "params", "parameters", "arguments", "values", "data", "set" }, "with" },
	{ { "foreach", "for", "loop" }, "each" },
	{ { "pageSize", "page", "max", "size" }, "limit" },
	{ { "select", "include", "join", "expand" }, "show" },
	{ { "users", "auth", "authentication" }, "callers" },
	{ { NULL }, NULL },
};

const char *load_synonym(struct slice word, bool (*is_known)(const void *ctx, const char *word), const void *ctx)
{
	for (const struct hint *h = synonyms; h->instead; h++)
		if (load_is_one_of(word, h->words) && is_known(ctx, h->instead))
			return h->instead;
	return NULL;
}

struct slice load_hint(enum load_hint_of of, struct slice text)
{
	static const struct hint *const all[] = {
		[HINT_TYPE] = types, [HINT_CLAUSE] = clauses, [HINT_TERM] = terms, [HINT_VERB] = verbs
	};
	size_t n = 0;

	while (n < text.n && load_is_name(slice_make(text.p, n + 1)))
		n++;
	for (const struct hint *h = all[of]; h->instead; h++)
		if (load_is_one_of(slice_make(text.p, n), h->words))
			return slice_str(h->instead);
	return SLICE("");
}
