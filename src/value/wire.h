/* DynamoDB's errors for JSON of the wrong type; for the files of this folder only.
 * Each function returns true if `j` has the shape; otherwise false with a SERIALIZATION error.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_WIRE_H
#define THORPE_VALUE_WIRE_H

#include "value/codec.h"

bool wire_string(struct arena *a, const struct json *j, struct error *e) MUST_CHECK;
/* A string of base64; decodes it into out[wire_blob_max(j)]. */
bool wire_blob(struct arena *a, const struct json *j, uint8_t *out, size_t *n, struct error *e) MUST_CHECK;
bool wire_array(struct arena *a, const struct json *j, struct error *e) MUST_CHECK;
/* The object of an M, or an item. */
bool wire_map(struct arena *a, const struct json *j, struct error *e) MUST_CHECK;
/* The object {"S": …} itself. */
bool wire_struct(struct arena *a, const struct json *j, struct error *e) MUST_CHECK;

static inline size_t wire_blob_max(const struct json *j)
{
	return j->type == JSON_STRING ? j->string.n / 4 * 3 : 0;
}

/* Finds the members that count: known type, not null, the last of repeated names. Indexed by enum value_type.
 * Returns their number. */
#define WIRE_TYPES (VALUE_NULL + 1)
int wire_types(const struct json *j, const struct json *found[WIRE_TYPES]);
/* The order in which DynamoDB checks the types of one value; ends with VALUE_NONE. */
extern const enum value_type wire_order[];

#endif
