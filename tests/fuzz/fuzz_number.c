/* Any text as a number: what is accepted has one normal form, sorts and adds up.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "value/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

/* One number in all its forms and back. */
static void check_forms(const struct number *n, struct arena *a)
{
	uint8_t encoded[NUMBER_ENCODED_MAX], again[NUMBER_ENCODED_MAX];
	char text[NUMBER_TEXT_MAX], from_encoded[NUMBER_TEXT_MAX];
	size_t len = number_encode(n, encoded), again_len;
	size_t text_len = number_format(n, text);
	struct number decoded = number_decode(encoded, len);
	struct error e;

	check(number_is_valid(encoded, len));
	check(number_cmp(n, &decoded) == 0);
	check(number_format_encoded(encoded, len, from_encoded) == text_len);
	check(memcmp(text, from_encoded, text_len + 1) == 0);
	check(number_encode_text(slice_make(text, text_len), again, &again_len, a, &e));
	check(slice_equal(slice_make(encoded, len), slice_make(again, again_len)));
}

static void check_pair(const struct number *x, const struct number *y, struct arena *a)
{
	uint8_t ex[NUMBER_ENCODED_MAX], ey[NUMBER_ENCODED_MAX];
	struct slice sx = slice_make(ex, number_encode(x, ex));
	struct slice sy = slice_make(ey, number_encode(y, ey));
	struct number sum, back;
	struct error e;

	check(sign(number_cmp(x, y)) == sign(slice_cmp(sx, sy)));
	check(sign(number_cmp(x, y)) == -sign(number_cmp(y, x)));
	if (!number_add(x, y, &sum, a, &e))
		return;
	check_forms(&sum, a);
	if (number_sub(&sum, y, &back, a, &e))
		check(number_cmp(&back, x) == 0);
}

/* The input is raw encoded bytes, and one or two numbers with a space between them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *space = size ? memchr(data, ' ', size) : NULL;
	size_t first = space ? (size_t)(space - data) : size;
	struct number x, y;
	struct arena a;
	struct error e;

	arena_init(&a);
	if (number_is_valid(data, size)) {
		uint8_t again[NUMBER_ENCODED_MAX];

		x = number_decode(data, size);
		check(number_encode(&x, again) == size && memcmp(again, data, size) == 0);
	}
	if (number_parse(slice_make(data, first), &x, &a, &e)) {
		check_forms(&x, &a);
		if (space && number_parse(slice_make(space + 1, size - first - 1), &y, &a, &e))
			check_pair(&x, &y, &a);
	}
	arena_release(&a);
	return 0;
}
