/* Slices, and what a buffer can be given.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"

static struct arena arena;
static struct buf buf;

static int start(void **state)
{
	arena_init(&arena);
	buf_init(&buf, &arena);
	return 0;
}

static int stop(void **state)
{
	arena_release(&arena);
	return 0;
}

static void expect(const char *text)
{
	assert_int_equal(buf.n, strlen(text));
	if (buf.n)
		assert_memory_equal(buf.p, text, buf.n);
	buf.n = 0;
}

static void slices_compare_as_unsigned_bytes(void **state)
{
	assert_true(slice_cmp(SLICE("a"), SLICE("b")) < 0);
	assert_true(slice_cmp(SLICE("\xff"), SLICE("a")) > 0);
	assert_true(slice_cmp(SLICE("ab"), SLICE("a")) > 0);
	assert_true(slice_cmp(SLICE(""), SLICE("a")) < 0);
	assert_int_equal(slice_cmp(SLICE("ab"), SLICE("ab")), 0);
	assert_true(slice_equal(slice_make(NULL, 0), SLICE("")));
	assert_false(slice_equal(SLICE("a\0b"), SLICE("a\0c")));
	assert_true(slice_is(SLICE("abc"), "abc"));
	assert_true(slice_starts(SLICE("abc"), SLICE("ab")));
	assert_true(slice_starts(SLICE("abc"), slice_make(NULL, 0)));
	assert_false(slice_starts(SLICE("a"), SLICE("ab")));
}

static void appended_pieces_follow_each_other(void **state)
{
	expect("");
	buf_add(&buf, NULL, 0);
	buf_lit(&buf, "one ");
	buf_str(&buf, "two ");
	buf_put(&buf, SLICE("three"));
	buf_byte(&buf, '!');
	buf_printf(&buf, " %d%s", 4, "th");
	expect("one two three! 4th");
}

static void a_long_buffer_keeps_its_bytes(void **state)
{
	size_t i;

	for (i = 0; i < 200000; i++) {
		buf_byte(&buf, (uint8_t)(i % 251));
		if (i % 1000 == 0)
			arena_alloc(&arena, 8); /* something else is last now and then */
	}
	assert_int_equal(buf_slice(&buf).n, 200000);
	for (i = 0; i < 200000; i++)
		assert_int_equal((uint8_t)buf.p[i], i % 251);
}

static void room_can_be_filled_by_the_caller(void **state)
{
	memcpy(buf_room(&buf, 300), "xyz", 3);
	assert_int_equal(buf.n, 0);
	assert_true(buf.cap >= 300);
	buf.n += 3;
	expect("xyz");
	assert_non_null(buf_room(&buf, 0));
}

static void integers_are_written_in_decimal(void **state)
{
	buf_u64(&buf, 0);
	expect("0");
	buf_u64(&buf, UINT64_MAX);
	expect("18446744073709551615");
	buf_i64(&buf, INT64_MIN);
	expect("-9223372036854775808");
	buf_i64(&buf, INT64_MAX);
	expect("9223372036854775807");
	buf_i64(&buf, -10);
	expect("-10");
}

static void big_endian_round_trips(void **state)
{
	buf_be16(&buf, 0x0102);
	buf_be32(&buf, 0x03040506);
	buf_be64(&buf, 0x0708090a0b0c0d0eu);
	assert_int_equal(buf.n, 14);
	assert_memory_equal(buf.p, "\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe", 14);
	assert_int_equal(read_be16(buf.p), 0x0102);
	assert_int_equal(read_be32(buf.p + 2), 0x03040506);
	assert_int_equal(read_be64(buf.p + 6), 0x0708090a0b0c0d0eu);
}

static void varints_round_trip_and_cut_ones_are_refused(void **state)
{
	const uint64_t values[] = { 0, 1, 127, 128, 300, 16383, 16384, UINT32_MAX, (uint64_t)1 << 63, UINT64_MAX };
	const size_t lengths[] = { 1, 1, 1, 2, 2, 2, 3, 5, 10, 10 };
	size_t i, cut;
	uint64_t v;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		buf.n = 0;
		buf_varint(&buf, values[i]);
		assert_int_equal(buf.n, lengths[i]);
		assert_int_equal(read_varint(buf.p, buf.p + buf.n, &v), lengths[i]);
		assert_true(v == values[i]);
		for (cut = 0; cut < buf.n; cut++)
			assert_int_equal(read_varint(buf.p, buf.p + cut, &v), 0);
	}
}

static void a_varint_beyond_64_bits_is_refused(void **state)
{
	static const char two[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
	static const char endless[] = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01";
	uint64_t v;

	assert_int_equal(read_varint(two, two + 10, &v), 0);
	assert_int_equal(read_varint(endless, endless + 12, &v), 0);
}

static void base64_pads_as_rfc_4648(void **state)
{
	/* clang-format off */
	static const char *const pairs[][2] = {
		{ "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
		{ "\xfb\xff\xbf", "+/+/" },
	};
	/* clang-format on */
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		buf_base64(&buf, slice_str(pairs[i][0]));
		expect(pairs[i][1]);
	}
	buf_base64(&buf, slice_make(NULL, 0));
	expect("");
}

static void hex_is_lower_case(void **state)
{
	buf_hex(&buf, slice_make("\0\x9f\xff", 3));
	expect("009fff");
	buf_hex(&buf, slice_make(NULL, 0));
	expect("");
}

static void running_out_while_growing_leaves_by_the_arena(void **state)
{
	volatile bool left = false;

	buf_lit(&buf, "x");
	alloc_fail_after(0);
	ARENA_TRY(&arena, {
		for (;;)
			buf_lit(&buf, "0123456789");
	}, { left = true; });
	alloc_fail_never();
	assert_true(left);
	assert_int_equal(buf.n % 10, 1); /* whole pieces only, all still there */
	assert_memory_equal(buf.p, "x0123456789", 11);
	left = false;
	ARENA_TRY(&arena, { buf_room(&buf, SIZE_MAX); }, { left = true; });
	assert_true(left);
}

#define with_buf(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_compare_as_unsigned_bytes),
		with_buf(appended_pieces_follow_each_other),
		with_buf(a_long_buffer_keeps_its_bytes),
		with_buf(room_can_be_filled_by_the_caller),
		with_buf(integers_are_written_in_decimal),
		with_buf(big_endian_round_trips),
		with_buf(varints_round_trip_and_cut_ones_are_refused),
		cmocka_unit_test(a_varint_beyond_64_bits_is_refused),
		with_buf(base64_pads_as_rfc_4648),
		with_buf(hex_is_lower_case),
		with_buf(running_out_while_growing_leaves_by_the_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
