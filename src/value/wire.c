/* The shape of attribute values in JSON, apart from their content.
 *
 * The texts name Java classes because DynamoDB's do: clients and tests compare them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>
#include "value/base64.h"
#include "value/wire.h"

#define WIRE_CLASS     "com.amazonaws.dynamodb.v20120810.AttributeValue"
#define WIRE_STRUCTURE "Start of structure or map found where not expected"
/* Deeper values are refused for their depth, whatever they contain. */
#define WIRE_LEVELS (2 * VALUE_LEVELS_MAX)

const enum value_type wire_order[] = {
	VALUE_S, VALUE_B, VALUE_N, VALUE_BOOL, VALUE_NULL, VALUE_BS, VALUE_NS, VALUE_SS, VALUE_L, VALUE_M, VALUE_NONE,
};

int wire_types(const struct json *j, const struct json *found[WIRE_TYPES])
{
	int n = 0;

	for (int t = 0; t < WIRE_TYPES; t++)
		found[t] = NULL;
	for (uint32_t i = 0; i < j->count; i++)
		found[value_type_parse(j->members[i].name)] = &j->members[i].value;
	found[VALUE_NONE] = NULL;
	for (int t = 0; t < WIRE_TYPES; t++) {
		if (found[t] && found[t]->type == JSON_NULL)
			found[t] = NULL;
		n += found[t] != NULL;
	}
	return n;
}

/* From 2^53 on every double is a whole number. */
static bool is_whole(double v)
{
	return v >= 0x1p53 || v <= -0x1p53 || (double)(int64_t)v == v;
}

static const char *token_name(const struct json *j)
{
	switch ((enum json_type)j->type) {
	case JSON_BOOL: return j->boolean ? "TRUE_VALUE" : "FALSE_VALUE";
	case JSON_DOUBLE: return is_whole(j->number) ? "NUMBER_VALUE" : "DECIMAL_VALUE";
	case JSON_INT: return "NUMBER_VALUE";
	case JSON_STRING: return "STRING_VALUE";
	default: return "NULL_VALUE";
	}
}

/* `j` is found in place of a scalar of the Java class `type`. */
static bool not_scalar(struct arena *a, const struct json *j, const char *type, struct error *e)
{
	if (j->type == JSON_ARRAY)
		return error_set(e, a, ERR_SERIALIZATION, "Unrecognized collection type class java.lang.%s", type);
	if (j->type == JSON_OBJECT)
		return error_set(e, a, ERR_SERIALIZATION, WIRE_STRUCTURE);
	return error_set(e, a, ERR_SERIALIZATION, "%s cannot be converted to %s", token_name(j), type);
}

bool wire_string(struct arena *a, const struct json *j, struct error *e)
{
	return j->type == JSON_STRING || not_scalar(a, j, "String", e);
}

bool bool_from_json(struct arena *a, const struct json *j, bool *out, struct error *e)
{
	static const char *const words[] = { "false", "true", "0", "1", "no", "yes" };

	if (j->type == JSON_BOOL) {
		*out = j->boolean;
		return true;
	}
	if (j->type != JSON_STRING)
		return not_scalar(a, j, "Boolean", e);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (j->string.n == strlen(words[i]) && strncasecmp(j->string.p, words[i], j->string.n) == 0) {
			*out = i % 2 == 1;
			return true;
		}
	}
	return error_set(e, a, ERR_SERIALIZATION, "Unexpected token received from parser");
}

bool wire_blob(struct arena *a, const struct json *j, uint8_t *out, size_t *n, struct error *e)
{
	if (j->type == JSON_ARRAY)
		return error_set(e, a, ERR_SERIALIZATION, "Unrecognized collection type class java.nio.ByteBuffer");
	if (j->type == JSON_OBJECT)
		return error_set(e, a, ERR_SERIALIZATION, WIRE_STRUCTURE);
	if (j->type != JSON_STRING)
		return error_set(e, a, ERR_SERIALIZATION, "only base-64-encoded strings are convertible to bytes");
	if (j->string.n % 4)
		return error_set(e, a, ERR_SERIALIZATION,
				 "Base64 encoded length is expected a "
				 "multiple of 4 bytes but found: %zu",
				 j->string.n);
	/* The misspelling is DynamoDB's. */
	if (!base64_decode(j->string, out, n))
		return error_set(e, a, ERR_SERIALIZATION, "Invalid last non-pad Base64 character dectected");
	return true;
}

bool wire_array(struct arena *a, const struct json *j, struct error *e)
{
	if (j->type == JSON_ARRAY)
		return true;
	return error_set(e, a, ERR_SERIALIZATION, j->type == JSON_OBJECT ? WIRE_STRUCTURE : "Unexpected field type");
}

bool wire_map(struct arena *a, const struct json *j, struct error *e)
{
	if (j->type == JSON_OBJECT)
		return true;
	return error_set(e, a, ERR_SERIALIZATION,
			 j->type == JSON_ARRAY ? "Unrecognized collection type "
						 "java.util.Map<java.lang.String, " WIRE_CLASS ">"
					       : "Unexpected field type");
}

bool wire_struct(struct arena *a, const struct json *j, struct error *e)
{
	if (j->type == JSON_OBJECT)
		return true;
	return error_set(e, a, ERR_SERIALIZATION,
			 j->type == JSON_ARRAY ? "Unrecognized collection type class " WIRE_CLASS
					       : "Unexpected value type in payload");
}

static bool check_value(struct arena *a, const struct json *j, int level, struct error *e);

static bool check_map(struct arena *a, const struct json *j, int level, struct error *e)
{
	if (!wire_map(a, j, e))
		return false;
	for (uint32_t i = 0; i < j->count; i++)
		if (!check_value(a, &j->members[i].value, level + 1, e))
			return false;
	return true;
}

static bool check_blob(struct arena *a, const struct json *j, struct error *e)
{
	uint8_t *scratch = arena_alloc(a, wire_blob_max(j));
	size_t n;

	return wire_blob(a, j, scratch, &n, e);
}

static bool check_array(struct arena *a, enum value_type t, const struct json *j, int level, struct error *e)
{
	bool ok = wire_array(a, j, e);

	for (uint32_t i = 0; ok && i < j->count; i++) {
		const struct json *element = &j->items[i];

		if (element->type == JSON_NULL)
			continue;
		if (t == VALUE_L)
			ok = check_value(a, element, level + 1, e);
		else if (t == VALUE_BS)
			ok = check_blob(a, element, e);
		else
			ok = wire_string(a, element, e);
	}
	return ok;
}

static bool check_typed(struct arena *a, enum value_type t, const struct json *j, int level, struct error *e)
{
	bool ignored;

	switch (t) {
	case VALUE_S:
	case VALUE_N: return wire_string(a, j, e);
	case VALUE_B: return check_blob(a, j, e);
	case VALUE_BOOL:
	case VALUE_NULL: return bool_from_json(a, j, &ignored, e);
	case VALUE_M: return check_map(a, j, level, e);
	default: return check_array(a, t, j, level, e);
	}
}

static bool check_value(struct arena *a, const struct json *j, int level, struct error *e)
{
	const struct json *found[WIRE_TYPES];

	if (j->type == JSON_NULL || level > WIRE_LEVELS)
		return true;
	if (!wire_struct(a, j, e))
		return false;
	if (wire_types(j, found) == 0)
		return true;
	for (const enum value_type *t = wire_order; *t; t++)
		if (found[*t] && !check_typed(a, *t, found[*t], level, e))
			return false;
	return true;
}

bool value_check_shape(struct arena *a, const struct json *j, struct error *e)
{
	return check_value(a, j, 1, e);
}

bool item_check_shape(struct arena *a, const struct json *j, struct error *e)
{
	return check_map(a, j, 0, e);
}
