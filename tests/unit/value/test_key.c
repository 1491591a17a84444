/* Keys: byte forms that sort, can be followed by more, and read back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

static struct slice escaped(struct slice s)
{
	struct buf b;

	buf_init(&b, &arena);
	key_add_escaped(&b, s);
	return buf_slice(&b);
}

/* Short, of few different bytes: prefixes and equal strings come up. */
static struct slice random_bytes(uint64_t *seed)
{
	static const uint8_t letters[] = { 0x00, 0x00, 0x01, 'a', 0xfe, 0xff };
	size_t n = next_random(seed) % 6;
	char *p = arena_alloc(&arena, n);

	for (size_t i = 0; i < n; i++)
		p[i] = (char)letters[next_random(seed) % sizeof(letters)];
	return slice_make(p, n);
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void escaped_form_sorts_as_the_bytes_whatever_follows(void **state)
{
	uint64_t seed = 4;

	for (int i = 0; i < 20000; i++) {
		struct slice x = random_bytes(&seed), y = random_bytes(&seed);
		struct buf bx, by;

		buf_init(&bx, &arena);
		buf_init(&by, &arena);
		key_add_escaped(&bx, x);
		key_add_escaped(&by, y);
		buf_byte(&bx, (uint8_t)next_random(&seed));
		buf_byte(&by, (uint8_t)next_random(&seed));
		if (!slice_equal(x, y))
			assert_int_equal(sign(slice_cmp(buf_slice(&bx), buf_slice(&by))), sign(slice_cmp(x, y)));
		arena_clear(&arena);
	}
}

static void escaped_prefix_starts_exactly_what_the_bytes_start(void **state)
{
	uint64_t seed = 5;

	for (int i = 0; i < 20000; i++) {
		struct slice x = random_bytes(&seed), prefix = random_bytes(&seed);
		struct buf b;

		buf_init(&b, &arena);
		key_add_escaped_prefix(&b, prefix);
		assert_int_equal(slice_starts(escaped(x), buf_slice(&b)), slice_starts(x, prefix));
		arena_clear(&arena);
	}
}

static void both_forms_read_back(void **state)
{
	uint64_t seed = 6;

	for (int i = 0; i < 5000; i++) {
		struct slice x = random_bytes(&seed), y = random_bytes(&seed), back;
		const uint8_t *p, *end;
		struct buf b;

		buf_init(&b, &arena);
		key_add_escaped(&b, x);
		key_add_counted(&b, y);
		key_add_escaped(&b, y);
		p = (const uint8_t *)b.p;
		end = p + b.n;
		assert_true(key_read_escaped(&arena, &p, end, &back) && slice_equal(back, x));
		assert_true(key_read_counted(&p, end, &back) && slice_equal(back, y));
		assert_true(key_read_escaped(&arena, &p, end, &back) && slice_equal(back, y));
		assert_ptr_equal(p, end);
		arena_clear(&arena);
	}
}

static void malformed_keys_are_refused(void **state)
{
	static const struct slice escapes[] = {
		{ "", 0 }, { "a", 1 }, { "\0", 1 }, { "a\0", 2 }, { "a\0\1", 3 }, { "a\0\377", 3 },
	};
	static const struct slice counted[] = {
		{ "", 0 },
		{ "\0", 1 },
		{ "\0\1", 2 },
		{ "\0\3ab", 4 },
	};
	struct slice out;

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		const uint8_t *p = (const uint8_t *)escapes[i].p;

		assert_false(key_read_escaped(&arena, &p, p + escapes[i].n, &out));
	}
	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		const uint8_t *p = (const uint8_t *)counted[i].p;

		assert_false(key_read_counted(&p, p + counted[i].n, &out));
	}
}

static void successor_is_above_all_that_start_with_it(void **state)
{
	struct buf b;

	buf_init(&b, &arena);
	buf_lit(&b, "ab\377\377");
	assert_true(key_successor(&b));
	assert_true(slice_equal(buf_slice(&b), SLICE("ac")));
	buf_init(&b, &arena);
	buf_lit(&b, "\377\377");
	assert_false(key_successor(&b));
	buf_init(&b, &arena);
	assert_false(key_successor(&b));
}

static void key_bytes_become_the_value_again(void **state)
{
	static const char *const keys[] = { "{\"S\":\"a\"}", "{\"N\":\"-12.5\"}", "{\"N\":\"0\"}", "{\"B\":\"AAEC\"}" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct value v = from_text(keys[i]);

		assert_true(value_equal(key_to_value(&arena, value_type(v), value_bytes(v)), v));
	}
	assert_false(value_present(key_to_value(&arena, VALUE_BOOL, SLICE(""))));
}

/* On disk: these may never change. */
static void hash_is_xxh3_for_ever(void **state)
{
	assert_true(key_hash(SLICE("")) == UINT64_C(0x2d06800538d394c2));
	assert_true(key_hash(SLICE("USER#42")) == UINT64_C(0xa7e6177f076bb80d));
	assert_true(key_hash(SLICE("USER#42")) != key_hash(SLICE("USER#43")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ARENA(escaped_form_sorts_as_the_bytes_whatever_follows),
		WITH_ARENA(escaped_prefix_starts_exactly_what_the_bytes_start),
		WITH_ARENA(both_forms_read_back),
		WITH_ARENA(malformed_keys_are_refused),
		WITH_ARENA(successor_is_above_all_that_start_with_it),
		WITH_ARENA(key_bytes_become_the_value_again),
		WITH_ARENA(hash_is_xxh3_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
