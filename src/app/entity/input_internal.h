/* One value on its way in; for the files input*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_INPUT_INTERNAL_H
#define THORPE_APP_ENTITY_INPUT_INTERNAL_H

#include "app/entity/input.h"

/* where a value is in a body, for messages about it */
struct input_place {
	struct run *r;
	const struct attribute *attribute;
	struct slice name;
	size_t element; /* 1-based, in a list; 0: the value itself */
	bool from_text; /* numbers and booleans are written as strings */
	bool patch;     /* a map is a patch, in which NULL removes a member */
	int depth;      /* of structures around it */
};

/* As input_json(). */
bool input_place_value(struct input_place *at, const struct json *j, struct value *out) MUST_CHECK;

/* For a map that was not read from JSON: checks its range, and compresses it if the attribute says so. */
bool input_place_limits(struct input_place *at, struct value *v) MUST_CHECK;

/* A member of a structure, the value of a map or, without a name, an element of a list. */
struct input_place input_place_inside(const struct input_place *at, const struct attribute *a, struct slice name,
				      size_t element);
/* An object, of members or of values of one type. */
bool input_place_structure(struct input_place *at, const struct json *j, struct value *out) MUST_CHECK;
/* JSON without a type. */
bool input_place_any(struct input_place *at, const struct json *j, struct value *out) MUST_CHECK;
/* Checks a map that patches were merged into: what is required, defaults, and how many members it has. */
bool input_place_whole(struct input_place *at, struct value *v) MUST_CHECK;

#endif
