/* The shape of a request: member types, which are required, lengths, ranges, patterns, enums.
 *
 * Checked in DynamoDB's two steps: first types, deeply (SerializationException: "NUMBER_VALUE cannot be
 * converted to String", …), then constraints, all failures together (ValidationException:
 * "2 validation errors detected: Value '…' at '…' failed to satisfy constraint: …; …"). Unknown members are
 * ignored. Attribute values are checked for JSON types only; value/codec.h does the rest.
 * JSON null counts as absent.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_SHAPE_SHAPE_H
#define THORPE_API_SHAPE_SHAPE_H

#include "base/error.h"
#include "json/json.h"

enum shape_type {
	SHAPE_STRING,
	SHAPE_BOOLEAN,
	SHAPE_INTEGER,
	SHAPE_LONG,
	SHAPE_DOUBLE,
	SHAPE_TIMESTAMP,
	SHAPE_STRUCT,
	SHAPE_LIST,
	SHAPE_MAP,
	SHAPE_ATTRIBUTE_VALUE,
};

struct shape;

/* DynamoDB has two texts for a missing member. */
enum shape_required {
	SHAPE_OPTIONAL,
	SHAPE_REQUIRED,  /* "Value null at 'key' failed to satisfy constraint: Member must not be null" */
	SHAPE_PARAMETER, /* "The parameter 'TableName' is required but was not present in the request",
			  * alone and before all other constraints, and so is a wrong length; a STRING */
};

struct shape_member {
	const char *name; /* NULL ends the list */
	const struct shape *shape;
	enum shape_required required;
};

struct shape {
	enum shape_type type;
	const struct shape_member *members; /* STRUCT */
	const struct shape *element;        /* LIST, MAP values */
	bool has_min, has_max;              /* length of STRING, count of LIST and MAP, value of numbers */
	int64_t min, max;
	const char *pattern;             /* as printed in the message */
	bool (*matches)(struct slice s); /* implements `pattern` */
	const char *const *values;       /* enum, NULL-terminated, in the order DynamoDB prints */
	const struct shape *key;         /* MAP keys' constraints; NULL: none */
	const char *class_name;          /* STRUCT, MAP values: the Java class named in messages */
	bool parameterized;              /* LIST, MAP inside another: DynamoDB's odd ClassCastException */
	bool terse;                      /* "Value at 'Limit' failed…" instead of "Value '0' at 'limit' …" */
	bool arn_ok;                     /* STRING: an ARN is exempt from length and pattern */
	bool checks_values;              /* MAP: the element's length limits are shown as "Map value must
					     * satisfy constraint: […]" of the map itself */
};

/* Errors: SERIALIZATION or VALIDATION. */
bool shape_check(const struct shape *s, const struct json *j, struct arena *a, struct error *e) MUST_CHECK;

/* Every operation by its name in C: one shape each (shapes_*.c), one handler each (op.h). */
/* clang-format off */
#define API_OPERATIONS(X) \
	X(create_table) X(describe_table) X(list_tables) X(delete_table) X(update_table) X(put_item) \
	X(get_item) X(update_item) X(delete_item) X(query) X(scan) X(batch_get_item) X(batch_write_item) \
	X(transact_write_items) X(transact_get_items) X(update_time_to_live) X(describe_time_to_live) \
	X(describe_limits) X(describe_endpoints) X(tag_resource) X(untag_resource) \
	X(list_tags_of_resource) X(describe_continuous_backups) X(list_streams) X(describe_stream) \
	X(get_shard_iterator) X(get_records)
/* clang-format on */
#define X(name) extern const struct shape shape_##name;
API_OPERATIONS(X)
#undef X

#endif
