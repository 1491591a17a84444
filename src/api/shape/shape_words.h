/* The words in which shapes_*.c write down a request: for those files only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_SHAPE_SHAPE_WORDS_H
#define THORPE_API_SHAPE_SHAPE_WORDS_H

#include "api/shape/shape_common.h"

/* members of a struct, closed by END */
#define OPTIONAL(name, shape)                  \
	{                                      \
		name, &(shape), SHAPE_OPTIONAL \
	}
#define REQUIRED(name, shape)                  \
	{                                      \
		name, &(shape), SHAPE_REQUIRED \
	}
#define PARAMETER(name, shape)                  \
	{                                       \
		name, &(shape), SHAPE_PARAMETER \
	}
#define END       \
	{         \
		0 \
	}

/* a whole request: shape.h declares it */
#define OPERATION(op, members_) const struct shape shape_##op = { .type = SHAPE_STRUCT, .members = members_ }

/* parts of one */
#define STRUCT(name, members_, class_) \
	static const struct shape name = { .type = SHAPE_STRUCT, .members = members_, .class_name = class_ }
#define LIST(name, element_) static const struct shape name = { .type = SHAPE_LIST, .element = &(element_) }
#define STRING(name, min_, max_)                                                                 \
	static const struct shape name = {                                                       \
		.type = SHAPE_STRING, .has_min = true, .min = min_, .has_max = true, .max = max_ \
	}
#define ENUM(name, ...)                                                   \
	static const char *const name##_values[] = { __VA_ARGS__, NULL }; \
	static const struct shape name = { .type = SHAPE_STRING, .values = name##_values }

#endif
