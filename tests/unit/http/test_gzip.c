/* gzip both ways, within limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "wire/gzip.h"
#include "http/connection/request_id.h"

static struct gzip gzip;
static struct arena arena;

static int setup(void **state)
{
	(void)state;
	gzip = (struct gzip){ 0 };
	arena_init(&arena);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	gzip_release(&gzip);
	arena_release(&arena);
	return 0;
}

static struct slice letters(size_t n)
{
	char *p = arena_alloc(&arena, n);

	memset(p, 'a', n);
	return slice_make(p, n);
}

static struct slice joined(struct slice a, struct slice b)
{
	char *p = arena_alloc(&arena, a.n + b.n);

	memcpy(p, a.p, a.n);
	memcpy(p + a.n, b.p, b.n);
	return slice_make(p, a.n + b.n);
}

static void what_was_packed_comes_out_again(void **state)
{
	struct slice in = letters(100000), packed, out;

	(void)state;
	packed = gzip_pack(&gzip, &arena, in);
	assert_true(packed.n > 0 && packed.n < in.n);
	assert_int_equal(gunzip(&gzip, &arena, packed, 100000, &out), GUNZIP_OK);
	assert_true(slice_equal(in, out));
}

static void members_are_put_together(void **state)
{
	struct slice a = gzip_pack(&gzip, &arena, letters(5000));
	struct slice b = gzip_pack(&gzip, &arena, letters(300)), out;

	(void)state;
	assert_int_equal(gunzip(&gzip, &arena, joined(a, b), 100000, &out), GUNZIP_OK);
	assert_int_equal(out.n, 5300);
}

static void a_bomb_is_too_large(void **state)
{
	struct slice packed = gzip_pack(&gzip, &arena, letters(10 * 1000 * 1000)), out;
	size_t before = arena.total;

	(void)state;
	assert_int_equal(gunzip(&gzip, &arena, packed, 100000, &out), GUNZIP_TOO_LARGE);
	assert_true(arena.total - before < 300000);
}

static void a_claimed_size_costs_nothing(void **state)
{
	struct slice packed = gzip_pack(&gzip, &arena, letters(100)), out;
	size_t before = arena.total;
	char *p = (char *)packed.p;

	(void)state;
	memset(p + packed.n - 4, 0x7f, 4);
	assert_int_equal(gunzip(&gzip, &arena, packed, 16 * 1024 * 1024, &out), GUNZIP_BAD);
	assert_true(arena.total - before < 200000);
}

static void nonsense_is_bad(void **state)
{
	struct slice packed = gzip_pack(&gzip, &arena, letters(1000)), out;

	(void)state;
	assert_int_equal(gunzip(&gzip, &arena, SLICE("{}"), 1000, &out), GUNZIP_BAD);
	assert_int_equal(gunzip(&gzip, &arena, letters(100), 1000, &out), GUNZIP_BAD);
	packed.n--;
	assert_int_equal(gunzip(&gzip, &arena, packed, 1000, &out), GUNZIP_BAD);
}

static void what_cannot_shrink_stays(void **state)
{
	(void)state;
	assert_int_equal(gzip_pack(&gzip, &arena, SLICE("abc")).n, 0);
	assert_int_equal(gzip_pack(&gzip, &arena, SLICE("")).n, 0);
}

static void the_checksum_is_that_of_zip(void **state)
{
	(void)state;
	assert_int_equal(gzip_crc32(SLICE("123456789")), 0xcbf43926u);
	assert_int_equal(gzip_crc32(SLICE("<UnknownOperationException/>\n")), 3552371480u);
}

static void request_ids_look_like_dynamodbs(void **state)
{
	struct request_ids ids;
	char a[REQUEST_ID_LENGTH + 1] = "", b[REQUEST_ID_LENGTH + 1] = "";

	(void)state;
	request_ids_init(&ids);
	request_id_next(&ids, a);
	request_id_next(&ids, b);
	assert_int_equal(strspn(a, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"), REQUEST_ID_LENGTH);
	assert_string_not_equal(a, b);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_was_packed_comes_out_again),
		TEST(members_are_put_together),
		TEST(a_bomb_is_too_large),
		TEST(a_claimed_size_costs_nothing),
		TEST(nonsense_is_bad),
		TEST(what_cannot_shrink_stays),
		TEST(the_checksum_is_that_of_zip),
		TEST(request_ids_look_like_dynamodbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
