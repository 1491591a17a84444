/* Checking a request against its shape, second step: constraints (ValidationException).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_SHAPE_SHAPE_CONSTRAINTS_H
#define THORPE_API_SHAPE_SHAPE_CONSTRAINTS_H

#include "api/shape/shape.h"

/* Requires that `j` has the shape's types. Reports all failures, at most ten, in one message. */
bool shape_check_constraints(const struct shape *s, const struct json *j, struct arena *a, struct error *e) MUST_CHECK;

#endif
