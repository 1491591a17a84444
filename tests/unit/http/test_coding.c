/* Which content coding a client gets for what it says it accepts.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "http/parse/coding.h"
#include "wire/gzip.h"

struct choice {
	const char *accepted;
	enum coding chosen;
};

static void expect(const struct choice *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (coding_chosen(slice_str(c[i].accepted)) != c[i].chosen)
			fail_msg("not chosen for '%s': %s", c[i].accepted, coding_name(c[i].chosen).p);
}
#define EXPECT(list) expect(list, sizeof(list) / sizeof(list[0]))

static void unsupported_codings_are_skipped(void **state)
{
	/* clang-format off */
	static const struct choice list[] = {
		{ "", CODING_NONE },
		{ "identity", CODING_NONE },
		{ "br", CODING_NONE },
		{ "x-gzip", CODING_NONE },
		{ "\"gzip\"", CODING_NONE },
		{ "gzip br", CODING_NONE },
		{ "gzip:q=1", CODING_NONE },
		{ "dog, gzip ,, cat", CODING_GZIP },
		{ "GZIP, identity", CODING_GZIP },
	};
	/* clang-format on */

	(void)state;
	EXPECT(list);
}

static void the_heaviest_wins_then_the_first(void **state)
{
	static const struct choice list[] = {
		{ "gzip, deflate", CODING_GZIP },
		{ "br, identity, deflate, gzip", CODING_DEFLATE },
		{ "gzip;q=0.8, deflate;q=0.5", CODING_GZIP },
		{ "deflate;q=0.5, gzip;q=0.2", CODING_DEFLATE },
		{ "gzip;q=0.5,identity;q=0.8", CODING_GZIP },
		{ "br,identity;q=0.5,gzip;q=0.0001", CODING_GZIP },
		{ "gzip ;q=0", CODING_NONE },
		{ "gzip;q=0, gzip;q=1, gzip;q=0", CODING_GZIP },
	};

	(void)state;
	EXPECT(list);
}

static void a_star_matches_unnamed_codings(void **state)
{
	static const struct choice list[] = {
		{ "*", CODING_GZIP },
		{ "*, deflate;q=0.5", CODING_GZIP },
		{ "*, deflate", CODING_DEFLATE },
		{ "*, gzip;q=0.5", CODING_DEFLATE },
		{ "*;q=0", CODING_NONE },
		{ "*;q=0.5,identity", CODING_GZIP },
		{ "br;q=0.8,identity;q=0.5,*;q=0", CODING_NONE },
	};

	(void)state;
	EXPECT(list);
}

static void odd_weights_are_read_as_dynamodb_reads_them(void **state)
{
	static const struct choice list[] = {
		{ "gzip;q=31,deflate;q=51", CODING_GZIP },
		{ "deflate;q=0.5, gzip;q=1;q=0.2", CODING_GZIP },
		{ "deflate;q=0.5,gzip;q=0.", CODING_DEFLATE },
		{ "deflate;q=0.5,gzip;q=0.x", CODING_GZIP },
		{ "deflate;q=0.5,gzip;q=0. x", CODING_GZIP },
		{ "deflate;q=-0.5,gzip;q=0.2", CODING_GZIP },
		{ "gzip;q= 0;q=1", CODING_NONE },
		{ "gzip;q =0;q=1", CODING_GZIP },
		{ "gzip;nq=0;q=1", CODING_NONE },
		{ "gzip;q=", CODING_GZIP },
		{ "gzip;q=00000000000000000000000000000000000000000", CODING_GZIP },
	};

	(void)state;
	EXPECT(list);
}

static void a_body_says_how_it_is_packed(void **state)
{
	enum coding c;

	(void)state;
	assert_true(coding_parse(SLICE(""), &c) && c == CODING_NONE);
	assert_true(coding_parse(SLICE("identity"), &c) && c == CODING_NONE);
	assert_true(coding_parse(SLICE("GZip"), &c) && c == CODING_GZIP);
	assert_true(coding_parse(SLICE("deflate"), &c) && c == CODING_DEFLATE);
	assert_false(coding_parse(SLICE("garbage"), &c));
}

static void deflate_goes_both_ways_within_limits(void **state)
{
	struct gzip g = { 0 };
	struct slice in, packed, out;
	struct arena a;
	struct buf b;

	(void)state;
	arena_init(&a);
	in = slice_make(arena_zalloc(&a, 100000), 100000);
	packed = deflate_zlib(&g, &a, in);
	assert_in_range(packed.n, 1, 1000);
	assert_int_equal(inflate_zlib(&g, &a, packed, 100000, &out), GUNZIP_OK);
	assert_true(slice_equal(in, out));
	assert_int_equal(inflate_zlib(&g, &a, packed, 99999, &out), GUNZIP_TOO_LARGE);
	assert_int_equal(inflate_zlib(&g, &a, SLICE(""), 1000, &out), GUNZIP_BAD);
	assert_int_equal(inflate_zlib(&g, &a, SLICE("{\"not\":\"packed\"}"), 1000, &out), GUNZIP_BAD);
	assert_int_not_equal(inflate_zlib(&g, &a, slice_make(packed.p, packed.n - 1), 200000, &out), GUNZIP_OK);
	buf_init(&b, &a);
	buf_put(&b, packed);
	buf_put(&b, packed);
	assert_int_equal(inflate_zlib(&g, &a, buf_slice(&b), 1000000, &out), GUNZIP_BAD);
	gzip_release(&g);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unsupported_codings_are_skipped),
		cmocka_unit_test(the_heaviest_wins_then_the_first),
		cmocka_unit_test(a_star_matches_unnamed_codings),
		cmocka_unit_test(odd_weights_are_read_as_dynamodb_reads_them),
		cmocka_unit_test(a_body_says_how_it_is_packed),
		cmocka_unit_test(deflate_goes_both_ways_within_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
