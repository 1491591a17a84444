/* Questions about values: contains(), size(), and the nearest double.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/value.h"
#include <stdlib.h>

static bool has_element(struct value list, struct value what)
{
	struct value_iter it = value_iter(list);

	while (value_next(&it))
		if (value_equal(it.value, what))
			return true;
	return false;
}

bool value_contains(struct value in, struct value what)
{
	enum value_type t = value_type(what);

	if (t == VALUE_NONE)
		return false;
	switch (value_type(in)) {
	case VALUE_S: return t == VALUE_S && slice_contains(value_bytes(in), value_bytes(what));
	case VALUE_B: return t == VALUE_B && slice_contains(value_bytes(in), value_bytes(what));
	case VALUE_SS: return t == VALUE_S && value_set_has(in, value_bytes(what));
	case VALUE_NS: return t == VALUE_N && value_set_has(in, value_bytes(what));
	case VALUE_BS: return t == VALUE_B && value_set_has(in, value_bytes(what));
	case VALUE_L: return has_element(in, what);
	default: return false;
	}
}

size_t value_string_units(struct slice s)
{
	size_t units = 0;

	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = (uint8_t)s.p[i];

		if ((c & 0xC0) != 0x80)
			units += c >= 0xF0 ? 2 : 1;
	}
	return units;
}

double value_double(struct value v)
{
	char text[NUMBER_TEXT_MAX];
	struct number n = value_number(v);

	number_format(&n, text);
	return strtod(text, NULL);
}
