/* Items: JSON to binary and back changes nothing; bytes that pass value_is_valid() can be read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include "value/codec.h"
#include "value/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static struct slice to_json(struct arena *a, struct value v)
{
	struct buf b;

	buf_init(&b, a);
	value_to_json(&b, v);
	return buf_slice(&b);
}

/* Everything that reads a value, and every change that must give it back. */
static void walk(struct arena *a, struct value v)
{
	struct value_iter it = value_iter(v);
	size_t count = 0;

	(void)value_size(v);
	(void)value_bytes(v);
	while (value_next(&it)) {
		if (it.type == VALUE_M) {
			check(value_equal(value_get(v, it.name), it.value));
			check(value_equal(value_map_with(a, v, it.name, it.value), v));
			walk(a, it.value);
		} else if (it.type == VALUE_L) {
			check(value_equal(value_at(v, count), it.value));
			walk(a, it.value);
		} else {
			check(value_set_has(v, it.element));
		}
		count++;
	}
	check(count == value_count(v));
}

static void check_bytes(struct arena *a, const uint8_t *data, size_t size)
{
	struct value v = { data, size }, back;
	const struct json *j;
	struct error e;

	if (!value_is_valid(v, VALUE_LEVELS_MAX - 1))
		return;
	walk(a, v);
	j = json_parse(a, to_json(a, v));
	check(j != NULL);
	/* Valid bytes may hold an empty name, which the codec refuses. */
	if (value_from_json(a, j, &back, &e))
		check(value_equal(v, back));
	else
		check(e.code == ERR_VALIDATION);
}

static void check_json(struct arena *a, const uint8_t *data, size_t size)
{
	const struct json *j = json_parse(a, slice_make(data, size));
	struct value v, back;
	struct error e = { 0 }, shape = { 0 };

	if (!j)
		return;
	if (!value_from_json(a, j, &v, &e)) {
		check(e.code == ERR_VALIDATION || e.code == ERR_SERIALIZATION);
		check(value_check_shape(a, j, &shape) == (e.code == ERR_VALIDATION));
	} else {
		check(value_is_valid(v, VALUE_LEVELS_MAX - 1));
		walk(a, v);
		j = json_parse(a, to_json(a, v));
		check(j && value_from_json(a, j, &back, &e) && value_equal(v, back));
	}
	if (item_from_json(a, j, &v, &e))
		check(value_is_valid(v, VALUE_LEVELS_MAX));
}

static void check_key(struct arena *a, const uint8_t *data, size_t size)
{
	const uint8_t *p = data;
	struct slice out;
	struct buf b;

	if (!key_read_escaped(a, &p, data + size, &out))
		return;
	buf_init(&b, a);
	key_add_escaped(&b, out);
	check(slice_equal(buf_slice(&b), slice_make(data, (size_t)(p - data))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a;

	arena_init(&a);
	check_bytes(&a, data, size);
	check_json(&a, data, size);
	check_key(&a, data, size);
	arena_release(&a);
	return 0;
}
