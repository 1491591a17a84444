/* What the tests of this folder share: cmocka, a repeatable random source, values from JSON text.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_VALUE_HELPER_H
#define THORPE_TESTS_VALUE_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "value/codec.h"
#include "value/key.h"

static struct arena arena;

static int arena_setup(void **state)
{
	arena_init(&arena);
	return 0;
}

static int arena_teardown(void **state)
{
	arena_release(&arena);
	return 0;
}

#define WITH_ARENA(test) cmocka_unit_test_setup_teardown(test, arena_setup, arena_teardown)

/* xorshift64*: the same numbers on every run. */
static inline uint32_t next_random(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return (uint32_t)((*seed * UINT64_C(2685821657736338717)) >> 32);
}

static inline void assert_slice(struct slice s, const char *expected)
{
	assert_string_equal(arena_cstr(&arena, s), expected);
}

static inline const struct json *parse(const char *text)
{
	const struct json *j = json_parse(&arena, slice_str(text));

	assert_non_null(j);
	return j;
}

static inline struct value from_text(const char *text)
{
	struct value v = VALUE_ABSENT;
	struct error e = { 0 };

	if (!value_from_json(&arena, parse(text), &v, &e))
		fail_msg("%s: %s", text, arena_cstr(&arena, e.message));
	return v;
}

static inline struct value item_from_text(const char *text)
{
	struct value v = VALUE_ABSENT;
	struct error e = { 0 };

	if (!item_from_json(&arena, parse(text), &v, &e))
		fail_msg("%s: %s", text, arena_cstr(&arena, e.message));
	return v;
}

static inline const char *to_text(struct value v)
{
	struct buf b;

	buf_init(&b, &arena);
	value_to_json(&b, v);
	return arena_cstr(&arena, buf_slice(&b));
}

#endif
