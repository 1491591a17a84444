/* Plain JSON in one walk over the bytes of values, with json/fast.h. For output*.c only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_OUTPUT_WRITER_H
#define THORPE_APP_ENTITY_OUTPUT_WRITER_H

#include "json/fast.h"
#include "value/layout.h"

/* A value; absent: null. `to` has W1's room, and has it again afterwards. Most values are strings. */
char *writer_other(struct json_fast *w, char *to, struct value v);

static inline char *writer_value(struct json_fast *w, char *to, struct value v)
{
	const uint8_t *p;

	if (value_type(v) != VALUE_S)
		return writer_other(w, to, v);
	p = v.p + 1;
	return json_fast_string(w, to, layout_bytes(&p));
}

#endif
