/* The binary form: reading, building, changing, measuring, and refusing what is not canonical.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"
#include "base/alloc.h"

static struct value s(const char *text)
{
	return value_make_s(&arena, slice_str(text));
}

static void type_names_are_the_wires(void **state)
{
	static const char *const names[] = { "S", "N", "B", "SS", "NS", "BS", "M", "L", "BOOL", "NULL" };
	static const char *const others[] = { "", "s", "X", "SX", "XS", "SSS", "BOO", "BOOLE", "bool" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		enum value_type t = value_type_parse(slice_str(names[i]));

		assert_int_equal(t, i + 1);
		assert_string_equal(value_type_name(t), names[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(value_type_parse(slice_str(others[i])), VALUE_NONE);
}

static void absent_values_are_harmless(void **state)
{
	struct value_iter it = value_iter(VALUE_ABSENT);

	assert_int_equal(value_type(VALUE_ABSENT), VALUE_NONE);
	assert_int_equal(value_bytes(VALUE_ABSENT).n, 0);
	assert_int_equal(value_count(VALUE_ABSENT), 0);
	assert_int_equal(value_size(VALUE_ABSENT), 0);
	assert_false(value_next(&it));
	assert_false(value_present(value_get(VALUE_ABSENT, SLICE("a"))));
	assert_false(value_present(value_at(VALUE_ABSENT, 0)));
	assert_false(value_set_has(VALUE_ABSENT, SLICE("a")));
	assert_false(value_present(value_copy(&arena, VALUE_ABSENT)));
	assert_true(value_equal(VALUE_ABSENT, VALUE_ABSENT));
	assert_false(value_equal(VALUE_ABSENT, s("")));
	assert_false(value_is_valid(VALUE_ABSENT, 32));
}

static void equal_values_have_equal_bytes(void **state)
{
	/* clang-format off */
	struct value_member forward[] = {
		{ SLICE("a"), s("1") }, { SLICE("b"), value_make_i64(&arena, 100) },
		{ SLICE("ab"), value_make_null(&arena) },
	};
	/* clang-format on */
	struct value_member backward[] = { forward[2], forward[1], forward[0] };
	struct value map = value_make_map(&arena, forward, 3);

	assert_true(value_equal(map, value_make_map(&arena, backward, 3)));
	assert_true(value_equal(map, item_from_text("{\"b\":{\"N\":\"1e2\"},\"ab\":{\"NULL\":true},"
						    "\"a\":{\"S\":\"1\"}}")));
	assert_true(value_equal(from_text("{\"NS\":[\"1\",\"2.0\",\"-3\"]}"),
				from_text("{\"NS\":[\"-3.0\",\"2\",\"10e-1\"]}")));
	assert_false(value_equal(from_text("{\"S\":\"YQ==\"}"), from_text("{\"B\":\"YQ==\"}")));
}

static void of_duplicate_names_the_last_wins(void **state)
{
	struct value_member members[] = {
		{ SLICE("a"), s("1") },
		{ SLICE("b"), s("2") },
		{ SLICE("a"), s("3") },
	};
	struct value map = value_make_map(&arena, members, 3);

	assert_string_equal(to_text(map), "{\"M\":{\"a\":{\"S\":\"3\"},\"b\":{\"S\":\"2\"}}}");
	assert_true(value_is_valid(map, 1));
}

static void members_are_found_by_name_in_maps_of_any_size(void **state)
{
	uint64_t seed = 7;

	for (size_t n = 0; n < 200; n = n * 2 + 1) {
		struct value_member *members = arena_array(&arena, struct value_member, n);
		struct value map;

		for (size_t i = 0; i < n; i++) {
			uint32_t r = next_random(&seed) % 90;

			members[i].name = arena_printf(&arena, "%s%u", r % 2 ? "a_prefix" : "", r);
			members[i].value = value_make_i64(&arena, (int64_t)i);
		}
		map = value_make_map(&arena, members, n);
		assert_true(value_is_valid(map, 1));
		for (size_t i = 0; i < n; i++) {
			size_t last = i;

			for (size_t k = i; k < n; k++)
				if (slice_equal(members[k].name, members[i].name))
					last = k;
			assert_true(value_equal(value_get(map, members[i].name), members[last].value));
		}
		assert_false(value_present(value_get(map, SLICE("nothing"))));
		assert_false(value_present(value_get(map, SLICE(""))));
		assert_false(value_present(value_get(map, SLICE("zzz"))));
	}
}

static void lists_are_walked_and_indexed(void **state)
{
	struct value parts[] = { s("a"), value_make_bool(&arena, true), s("") };
	struct value list = value_make_list(&arena, parts, 3);
	struct value_iter it = value_iter(list);

	for (size_t i = 0; i < 3; i++) {
		assert_true(value_next(&it));
		assert_true(value_equal(it.value, parts[i]));
		assert_true(value_equal(value_at(list, i), parts[i]));
	}
	assert_false(value_next(&it));
	assert_false(value_present(value_at(list, 3)));
	assert_false(value_present(value_at(parts[0], 0)));
	assert_true(value_bool(value_at(list, 1)));
	assert_int_equal(value_count(list), 3);
}

static void sets_sort_and_drop_duplicates(void **state)
{
	struct slice elements[100];
	struct value set;

	for (size_t i = 0; i < 100; i++)
		elements[i] = arena_printf(&arena, "%zu", (i * 37) % 50);
	set = value_make_set(&arena, VALUE_SS, elements, 100);
	assert_int_equal(value_count(set), 50);
	assert_true(value_is_valid(set, 0));
	for (size_t i = 0; i < 100; i++)
		assert_true(value_set_has(set, elements[i]));
	assert_false(value_set_has(set, SLICE("50")));
	assert_false(value_set_has(set, SLICE("")));
}

static void sets_unite_and_subtract(void **state)
{
	struct value x = from_text("{\"NS\":[\"1\",\"2\",\"3\"]}");
	struct value y = from_text("{\"NS\":[\"-4\",\"2\",\"5\"]}");
	struct value both = value_set_union(&arena, x, y), less = value_set_minus(&arena, x, y);

	assert_string_equal(to_text(both), "{\"NS\":[\"-4\",\"1\",\"2\",\"3\",\"5\"]}");
	assert_string_equal(to_text(less), "{\"NS\":[\"1\",\"3\"]}");
	assert_true(value_is_valid(both, 0) && value_is_valid(less, 0));
	assert_false(value_present(value_set_minus(&arena, x, x)));
	assert_true(value_equal(value_set_union(&arena, x, x), x));
}

static void a_map_changes_by_one_member(void **state)
{
	struct value map = item_from_text("{\"b\":{\"S\":\"1\"},\"d\":{\"S\":\"2\"}}");
	static const char *const names[] = { "", "a", "b", "c", "d", "e" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct slice name = slice_str(names[i]);
		struct value with = value_map_with(&arena, map, name, s("new"));
		struct value without = value_map_with(&arena, with, name, VALUE_ABSENT);
		bool there = value_present(value_get(map, name));

		assert_true(value_is_valid(with, 1) && value_is_valid(without, 1));
		assert_true(value_equal(value_get(with, name), s("new")));
		assert_int_equal(value_count(with), there ? 2 : 3);
		assert_int_equal(value_count(without), there ? 1 : 2);
		assert_int_equal(value_equal(without, map), !there);
	}
	assert_true(value_equal(value_map_with(&arena, map, SLICE("x"), VALUE_ABSENT), map));
	map = value_make_map(&arena, NULL, 0);
	assert_string_equal(to_text(value_map_with(&arena, map, SLICE("a"), s("1"))), "{\"M\":{\"a\":{\"S\":\"1\"}}}");
}

static void scalars_compare_in_their_order(void **state)
{
	assert_true(value_cmp(from_text("{\"N\":\"-10\"}"), from_text("{\"N\":\"9\"}")) < 0);
	assert_true(value_cmp(from_text("{\"N\":\"10\"}"), from_text("{\"N\":\"9\"}")) > 0);
	assert_true(value_cmp(s("a"), s("ab")) < 0);
	assert_true(value_cmp(s("\xc3\xa9"), s("z")) > 0);
	assert_int_equal(value_cmp(s("a"), s("a")), 0);
	assert_true(value_cmp(from_text("{\"B\":\"/w==\"}"), from_text("{\"B\":\"AQ==\"}")) > 0);
}

static void sizes_are_dynamodbs(void **state)
{
	static const struct {
		const char *text;
		size_t size;
	} cases[] = {
		{ "{\"S\":\"\"}", 0 },
		{ "{\"S\":\"h\xc3\xa9\"}", 3 },
		{ "{\"B\":\"AAEC\"}", 3 },
		{ "{\"N\":\"-1234\"}", 4 },
		{ "{\"BOOL\":false}", 1 },
		{ "{\"NULL\":true}", 1 },
		{ "{\"SS\":[\"a\",\"bc\"]}", 3 },
		{ "{\"NS\":[\"0\",\"12\"]}", 3 },
		{ "{\"BS\":[\"AAEC\",\"\"]}", 3 },
		{ "{\"L\":[]}", 3 },
		{ "{\"M\":{}}", 3 },
		{ "{\"L\":[{\"S\":\"ab\"},{\"NULL\":true}]}", 8 },
		{ "{\"M\":{\"key\":{\"S\":\"ab\"}}}", 9 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(value_size(from_text(cases[i].text)), cases[i].size);
	assert_int_equal(item_size(item_from_text("{\"id\":{\"S\":\"abc\"},"
						  "\"n\":{\"N\":\"1\"}}")),
			 8);
	assert_int_equal(item_size(item_from_text("{}")), 0);
}

static const char *const everything =
	"{\"s\":{\"S\":\"h\xc3\xa9llo\"},\"n\":{\"N\":\"-12.75\"},\"b\":{\"B\":\"AAEC\"},"
	"\"ss\":{\"SS\":[\"a\",\"b\"]},\"ns\":{\"NS\":[\"1\",\"2\"]},\"bs\":{\"BS\":[\"AA==\"]},"
	"\"m\":{\"M\":{\"x\":{\"L\":[{\"NULL\":true},{\"M\":{}}]},\"y\":{\"BOOL\":false}}}}";

/* Touches every byte that reading would: the sanitizers watch. */
static void walk(struct value v)
{
	struct value_iter it = value_iter(v);
	struct buf b;

	buf_init(&b, &arena);
	value_to_json(&b, v);
	assert_non_null(json_parse(&arena, buf_slice(&b)));
	(void)value_size(v);
	while (value_next(&it))
		if (it.type == VALUE_M)
			assert_true(value_equal(value_get(v, it.name), it.value));
}

static void mutated_bytes_are_refused_or_safe_to_read(void **state)
{
	struct value good;
	uint8_t *bytes;
	uint64_t seed = 8;
	int valid = 0;
	size_t size;

	good = item_from_text(everything);
	size = good.n;
	assert_true(value_is_valid(good, 4));
	bytes = mem_alloc(size);
	assert_non_null(bytes);
	memcpy(bytes, good.p, size);
	arena_clear(&arena);
	for (int i = 0; i < 60000; i++) {
		size_t n = i % 5 ? size : next_random(&seed) % (size + 1);
		uint8_t *copy = mem_alloc(n ? n : 1);

		assert_non_null(copy);
		memcpy(copy, bytes, n);
		for (uint32_t k = next_random(&seed) % 3 + (i % 5 != 0); k && n; k--)
			copy[next_random(&seed) % n] ^= (uint8_t)(1u << next_random(&seed) % 8);
		if (value_is_valid((struct value){ copy, n }, 4)) {
			walk((struct value){ copy, n });
			valid++;
		}
		mem_free(copy);
		arena_clear(&arena);
	}
	mem_free(bytes);
	assert_in_range(valid, 100, 59000);
}

static void assert_invalid(struct slice bytes, int depth)
{
	assert_false(value_is_valid((struct value){ (const uint8_t *)bytes.p, bytes.n }, depth));
}

static void only_canonical_bytes_are_valid(void **state)
{
	assert_invalid(SLICE(""), 9);
	assert_invalid(SLICE("\x00"), 9);
	assert_invalid(SLICE("\x0b"), 9);
	assert_invalid(SLICE("\x01"), 9); /* no length */
	assert_invalid(SLICE("\x01\x02"
			     "a"),
		       9); /* too short */
	assert_invalid(SLICE("\x01\x01"
			     "ab"),
		       9); /* more behind it */
	assert_invalid(SLICE("\x01\x81\x00"
			     "a"),
		       9);                                       /* a longer varint than needed */
	assert_invalid(SLICE("\x01\x01\xff"), 9);                /* not UTF-8 */
	assert_invalid(SLICE("\x01\x02\xc0\x80"), 9);            /* overlong */
	assert_invalid(SLICE("\x01\x03\xed\xa0\x80"), 9);        /* surrogate */
	assert_invalid(SLICE("\x01\x04\xf4\x90\x80\x80"), 9);    /* above U+10FFFF */
	assert_invalid(SLICE("\x01\x02\xe2\x82"), 9);            /* cut off */
	assert_invalid(SLICE("\x02\x01\x04"), 9);                /* no number */
	assert_invalid(SLICE("\x09\x02"), 9);                    /* neither true nor false */
	assert_invalid(SLICE("\x04\0\0\0\4\0\0\0\0"), 9);        /* an empty set */
	assert_invalid(SLICE("\x04\0\0\0\x8\0\0\0\2\1b\1a"), 9); /* not in order */
	assert_invalid(SLICE("\x04\0\0\0\x8\0\0\0\2\1a\1a"), 9); /* twice */
	assert_invalid(SLICE("\x04\0\0\0\x8\0\0\0\1\1a\1b"), 9); /* more than counted */
	assert_invalid(SLICE("\x08\0\0\0\3\0\0\0\0"), 9);
	assert_invalid(SLICE("\x07\0\0\0\xa\0\0\0\2\1b\xa\1a\xa"), 9);
	assert_true(value_is_valid(from_text("{\"L\":[]}"), 1));
	assert_invalid(SLICE("\x08\0\0\0\4\0\0\0\0"), 0); /* too deep */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ARENA(type_names_are_the_wires),
		WITH_ARENA(absent_values_are_harmless),
		WITH_ARENA(equal_values_have_equal_bytes),
		WITH_ARENA(of_duplicate_names_the_last_wins),
		WITH_ARENA(members_are_found_by_name_in_maps_of_any_size),
		WITH_ARENA(lists_are_walked_and_indexed),
		WITH_ARENA(sets_sort_and_drop_duplicates),
		WITH_ARENA(sets_unite_and_subtract),
		WITH_ARENA(a_map_changes_by_one_member),
		WITH_ARENA(scalars_compare_in_their_order),
		WITH_ARENA(sizes_are_dynamodbs),
		WITH_ARENA(mutated_bytes_are_refused_or_safe_to_read),
		WITH_ARENA(only_canonical_bytes_are_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
