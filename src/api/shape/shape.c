/* Checking a request against its shape, first step: JSON types (SerializationException).
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/shape/shape.h"
#include <math.h>
#include "api/shape/shape_constraints.h"
#include "value/codec.h"

#define SERIALIZATION(...) error_set(e, a, ERR_SERIALIZATION, __VA_ARGS__)

static bool check_types(const struct shape *s, const struct json *j, bool in_collection, struct arena *a,
			struct error *e);

static const char *token_of(const struct json *j)
{
	switch (j->type) {
	case JSON_BOOL: return j->boolean ? "TRUE_VALUE" : "FALSE_VALUE";
	case JSON_INT: return "NUMBER_VALUE";
	case JSON_DOUBLE: return j->number == floor(j->number) ? "NUMBER_VALUE" : "DECIMAL_VALUE";
	default: return "STRING_VALUE";
	}
}

/* Checks common to all scalars: not an array or object, and a number or a string as required. */
static bool check_scalar(const struct json *j, const char *java, bool is_number, struct arena *a, struct error *e)
{
	switch (j->type) {
	case JSON_ARRAY: return SERIALIZATION("Unrecognized collection type class java.lang.%s", java);
	case JSON_OBJECT: return SERIALIZATION("Start of structure or map found where not expected");
	case JSON_STRING:
		if (!is_number)
			return true;
		break;
	case JSON_INT:
	case JSON_DOUBLE:
		if (is_number)
			return true;
		break;
	default: break;
	}
	return SERIALIZATION("%s cannot be converted to %s", token_of(j), java);
}

static bool check_boolean(const struct json *j, struct arena *a, struct error *e)
{
	bool ignored;

	return bool_from_json(a, j, &ignored, e);
}

#define PARAMETERIZED_TYPE                                                                            \
	"class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class " \
	"java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and "          \
	"java.lang.Class are in module java.base of loader 'bootstrap')"

static bool check_list(const struct shape *s, const struct json *j, struct arena *a, struct error *e)
{
	if (j->type == JSON_OBJECT)
		return SERIALIZATION("Start of structure or map found where not expected");
	if (j->type != JSON_ARRAY)
		return s->parameterized ? SERIALIZATION(PARAMETERIZED_TYPE) : SERIALIZATION("Unexpected field type");
	for (size_t i = 0; i < j->count; i++)
		if (!check_types(s->element, &j->items[i], true, a, e))
			return false;
	return true;
}

static const char *java_class(const struct shape *s, struct arena *a)
{
	if (s->type == SHAPE_LIST)
		return arena_printf(a, "java.util.List<%s>", java_class(s->element, a)).p;
	if (s->type == SHAPE_STRING)
		return "java.lang.String";
	if (s->type == SHAPE_ATTRIBUTE_VALUE)
		return "com.amazonaws.dynamodb.v20120810.AttributeValue";
	return arena_printf(a, "com.amazonaws.dynamodb.v20120810.%s", s->class_name ? s->class_name : "Unknown").p;
}

static bool check_map(const struct shape *s, const struct json *j, struct arena *a, struct error *e)
{
	if (j->type == JSON_ARRAY)
		return SERIALIZATION("Unrecognized collection type java.util.Map<java.lang.String, %s>",
				     java_class(s->element, a));
	if (j->type != JSON_OBJECT)
		return s->parameterized ? SERIALIZATION(PARAMETERIZED_TYPE) : SERIALIZATION("Unexpected field type");
	for (size_t i = 0; i < j->count; i++)
		if (!check_types(s->element, &j->members[i].value, true, a, e))
			return false;
	return true;
}

static bool check_struct(const struct shape *s, const struct json *j, bool in_collection, struct arena *a,
			 struct error *e)
{
	if (j->type == JSON_ARRAY)
		return SERIALIZATION("Unrecognized collection type class %s", java_class(s, a));
	if (j->type != JSON_OBJECT)
		return in_collection ? SERIALIZATION("Unexpected value type in payload")
				     : SERIALIZATION("Unexpected field type");
	for (const struct shape_member *m = s->members; m && m->name; m++) {
		const struct json *child = json_get(j, m->name);

		if (child && !check_types(m->shape, child, false, a, e))
			return false;
	}
	return true;
}

static bool check_attribute_value(const struct json *j, bool in_collection, struct arena *a, struct error *e)
{
	if (!in_collection && j->type != JSON_ARRAY && j->type != JSON_OBJECT)
		return SERIALIZATION("Unexpected field type");
	return value_check_shape(a, j, e);
}

static bool check_types(const struct shape *s, const struct json *j, bool in_collection, struct arena *a,
			struct error *e)
{
	if (j->type == JSON_NULL)
		return true;
	switch (s->type) {
	case SHAPE_STRING: return check_scalar(j, "String", false, a, e);
	case SHAPE_BOOLEAN: return check_boolean(j, a, e);
	case SHAPE_INTEGER: return check_scalar(j, "Integer", true, a, e);
	case SHAPE_LONG: return check_scalar(j, "Long", true, a, e);
	case SHAPE_DOUBLE:
	case SHAPE_TIMESTAMP: return check_scalar(j, "Double", true, a, e);
	case SHAPE_LIST: return check_list(s, j, a, e);
	case SHAPE_MAP: return check_map(s, j, a, e);
	case SHAPE_STRUCT: return check_struct(s, j, in_collection, a, e);
	case SHAPE_ATTRIBUTE_VALUE: return check_attribute_value(j, in_collection, a, e);
	}
	return true;
}

bool shape_check(const struct shape *s, const struct json *j, struct arena *a, struct error *e)
{
	return check_types(s, j, false, a, e) && shape_check_constraints(s, j, a, e);
}
