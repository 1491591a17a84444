/* Attribute values between the wire's JSON ({"S": "x"}) and the binary form.
 *
 * Errors: DynamoDB's texts. SERIALIZATION if the JSON has the wrong shape (a number instead of a string, invalid
 * base64), VALIDATION if a value is not allowed (none or several types, bad number, duplicate or empty set, false
 * NULL, empty name, nesting above 32 levels). As in DynamoDB, a wrong shape anywhere in the value takes precedence
 * over all other errors; otherwise the first error in order of appearance is reported. Unknown type names and null
 * members are ignored.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_CODEC_H
#define THORPE_VALUE_CODEC_H

#include "value/limits.h"
#include "value/value.h"

bool value_from_json(struct arena *a, const struct json *j, struct value *out, struct error *e) MUST_CHECK;
/* An object of attribute values: an item or a key. Does not check sizes or key rules. */
bool item_from_json(struct arena *a, const struct json *j, struct value *out, struct error *e) MUST_CHECK;

/* For values that did not come from JSON: refuses canonical values (V1) that DynamoDB does not accept: nested too
 * deep, empty names, empty sets. Errors: VALIDATION, as above. */
bool value_is_allowed(struct value v, struct arena *a, struct error *e) MUST_CHECK;
bool item_is_allowed(struct value item, struct arena *a, struct error *e) MUST_CHECK;

/* Checks only the shape, for a request of several parts in which a wrong shape in the last part takes precedence
 * over a disallowed value in the first. Errors: SERIALIZATION. */
bool value_check_shape(struct arena *a, const struct json *j, struct error *e) MUST_CHECK;
bool item_check_shape(struct arena *a, const struct json *j, struct error *e) MUST_CHECK;
/* DynamoDB's reader accepts "true", "1" and "yes" (in any case) as true. Errors: SERIALIZATION. */
bool bool_from_json(struct arena *a, const struct json *j, bool *out, struct error *e) MUST_CHECK;

/* {"S":"x"}; like json.h's functions, these two write a comma before the value when one is due. */
void value_to_json(struct buf *b, struct value v);
/* {"a":{"S":"x"},…} */
void item_to_json(struct buf *b, struct value item);

#endif
