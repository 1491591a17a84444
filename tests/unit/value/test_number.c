/* DynamoDB's numbers: text, normal form, order of the encoding, exact arithmetic.
 * SPDX-License-Identifier: Apache-2.0 */
#include "helper.h"

#define DIGITS38    "12345678901234567890123456789012345678"
#define NINES38     "99999999999999999999999999999999999999"
#define OVERFLOW    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define UNDERFLOW   "Number underflow. Attempting to store a number with magnitude smaller than supported range"
#define PRECISION   "Attempting to store more than 38 significant digits in a Number"
#define NOT_NUMERIC "The parameter cannot be converted to a numeric value"

/* The reference: a number written out digit by digit, without any cleverness. */
#define REF_LOW    (-180)
#define REF_DIGITS 320

struct ref {
	bool negative;
	int digit[REF_DIGITS]; /* digit[i] stands at 10^(i + REF_LOW) */
};

static struct ref ref_of(const char *digits, int exponent, bool negative)
{
	struct ref r = { .negative = negative };
	int n = (int)strlen(digits);

	for (int i = 0; i < n; i++)
		r.digit[exponent + (n - 1 - i) - REF_LOW] = digits[i] - '0';
	return r;
}

static int ref_cmp_magnitude(const struct ref *x, const struct ref *y)
{
	for (int i = REF_DIGITS - 1; i >= 0; i--)
		if (x->digit[i] != y->digit[i])
			return x->digit[i] < y->digit[i] ? -1 : 1;
	return 0;
}

static int ref_cmp(const struct ref *x, const struct ref *y)
{
	if (x->negative != y->negative)
		return x->negative ? -1 : 1;
	return x->negative ? -ref_cmp_magnitude(x, y) : ref_cmp_magnitude(x, y);
}

static struct ref ref_add(const struct ref *x, const struct ref *y)
{
	const struct ref *large = ref_cmp_magnitude(x, y) >= 0 ? x : y;
	const struct ref *small = large == x ? y : x;
	int sign = x->negative == y->negative ? 1 : -1, carry = 0;
	struct ref sum = { .negative = large->negative };

	for (int i = 0; i < REF_DIGITS; i++) {
		int d = large->digit[i] + sign * small->digit[i] + carry;

		carry = d < 0 ? -1 : d / 10;
		sum.digit[i] = d < 0 ? d + 10 : d % 10;
	}
	return sum;
}

/* "" when DynamoDB could not store it. */
static const char *ref_text(const struct ref *r)
{
	int top = REF_DIGITS - 1, low = 0;
	struct buf b;

	while (top >= 0 && r->digit[top] == 0)
		top--;
	if (top < 0)
		return "0";
	while (r->digit[low] == 0)
		low++;
	if (top - low >= 38 || top + REF_LOW > 125 || top + REF_LOW < -130)
		return "";
	buf_init(&b, &arena);
	if (r->negative)
		buf_byte(&b, '-');
	for (int i = top > -REF_LOW ? top : -REF_LOW; i >= low || i >= -REF_LOW; i--) {
		if (i == -REF_LOW - 1)
			buf_byte(&b, '.');
		buf_byte(&b, (uint8_t)('0' + r->digit[i]));
	}
	return arena_cstr(&arena, buf_slice(&b));
}

static struct number number(const char *text)
{
	struct number n = { 0 };
	struct error e = { 0 };

	if (!number_parse(slice_str(text), &n, &arena, &e))
		fail_msg("%s: %s", text, arena_cstr(&arena, e.message));
	return n;
}

static const char *text_of(const struct number *n)
{
	char *out = arena_alloc(&arena, NUMBER_TEXT_MAX);
	size_t len = number_format(n, out);

	assert_int_equal(len, strlen(out));
	return out;
}

static void assert_normal(const char *in, const char *out)
{
	struct number n = number(in);
	uint8_t encoded[NUMBER_ENCODED_MAX], direct[NUMBER_ENCODED_MAX];
	char text[NUMBER_TEXT_MAX];
	struct number back;
	struct error e;
	size_t len, direct_len;

	assert_string_equal(text_of(&n), out);
	len = number_encode(&n, encoded);
	assert_true(number_is_valid(encoded, len));
	assert_true(number_encode_text(slice_str(in), direct, &direct_len, &arena, &e));
	assert_int_equal(len, direct_len);
	assert_memory_equal(encoded, direct, len);
	number_format_encoded(encoded, len, text);
	assert_string_equal(text, out);
	back = number_decode(encoded, len);
	assert_true(back.digits == n.digits && back.exponent == n.exponent && back.negative == n.negative);
}

static void prints_plain_decimals(void **state)
{
	char most[200];

	assert_normal("0", "0");
	assert_normal("-0", "0");
	assert_normal("0e1000", "0");
	assert_normal("-0.000e-99999999999999999999", "0");
	assert_normal("1", "1");
	assert_normal("+3", "3");
	assert_normal(".123", "0.123");
	assert_normal("5.", "5");
	assert_normal("00042", "42");
	assert_normal("1.0", "1");
	assert_normal("3.1400", "3.14");
	assert_normal("1.5E2", "150");
	assert_normal("-17.4e+3", "-17400");
	assert_normal("1E+20", "100000000000000000000");
	assert_normal("1E-5", "0.00001");
	assert_normal("-0.00120", "-0.0012");
	assert_normal(DIGITS38, DIGITS38);
	assert_normal("-0." DIGITS38, "-0." DIGITS38);
	assert_normal("10000000000000000000", "10000000000000000000");
	assert_normal("9999999999999999999", "9999999999999999999");
	assert_normal("10000000000000000001", "10000000000000000001");
	assert_normal("1.00000000000000000000000000000000000000000000000000000", "1");
	snprintf(most, sizeof(most), "1%0125d", 0);
	assert_normal("1E125", most);
	assert_normal("100E123", most);
	snprintf(most, sizeof(most), "0.%0129d1", 0);
	assert_normal("1E-130", most);
	assert_normal("10E-131", most);
	snprintf(most, sizeof(most), "-%s%088d", NINES38, 0);
	assert_normal("-9.9999999999999999999999999999999999999E+125", most);
	snprintf(most, sizeof(most), "-0.%0129d%s", 0, NINES38);
	assert_normal("-9.9999999999999999999999999999999999999E-130", most);
	assert_true(strlen(most) < NUMBER_TEXT_MAX);
}

static void assert_refused(const char *text, const char *message)
{
	struct error e = { 0 };
	struct number n;

	if (number_parse(slice_str(text), &n, &arena, &e))
		fail_msg("%s was accepted", text);
	assert_int_equal(e.code, ERR_VALIDATION);
	assert_slice(e.message, message);
}

static void refuses_what_dynamodb_refuses(void **state)
{
	static const char *const junk[] = { "b",   " 1",       "1 ",        "1\n",   ".",     "-",       "+",
					    "e5",  "1e",       "1e+",       "1e5.0", "1.2.3", "--1",     "0x10",
					    "NaN", "Infinity", "-Infinity", "1,5",   "1e5e5", "\xd9\xa1" };

	assert_refused("", NOT_NUMERIC);
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		struct slice message = arena_printf(&arena, NOT_NUMERIC ": %s", junk[i]);

		assert_refused(junk[i], arena_cstr(&arena, message));
	}
	assert_refused("1e126", OVERFLOW);
	assert_refused("-11e125", OVERFLOW);
	assert_refused("1e99999999999999999999", OVERFLOW);
	assert_refused("1e-131", UNDERFLOW);
	assert_refused("-0.9e-130", UNDERFLOW);
	assert_refused("1e-99999999999999999999", UNDERFLOW);
	assert_refused(DIGITS38 "9", PRECISION);
	assert_refused("-1.23456789012345678901234567890123456789", PRECISION);
	assert_refused("1000000000000000000000000000000000000000000000000001", PRECISION);
	assert_refused(DIGITS38 "9e200", OVERFLOW);
}

struct sample {
	struct number n;
	struct ref ref;
	uint8_t encoded[NUMBER_ENCODED_MAX];
	size_t len;
};

/* Few digits and few exponents now and then, so that equal and close numbers come up. */
static struct sample random_sample(uint64_t *seed)
{
	char digits[39], text[64];
	int n = 1 + (int)(next_random(seed) % (next_random(seed) % 3 ? 38 : 2));
	bool negative = next_random(seed) & 1;
	int top = next_random(seed) % 2 ? (int)(next_random(seed) % 256) - 130 : (int)(next_random(seed) % 20) - 10;
	struct sample s;

	for (int i = 0; i < n; i++)
		digits[i] = (char)('0' + (next_random(seed) % 4 ? next_random(seed) % 10 : 0));
	if (digits[0] == '0')
		digits[0] = '1';
	if (next_random(seed) % 50 == 0) {
		n = 1;
		digits[0] = '0';
		negative = false;
	}
	digits[n] = '\0';
	snprintf(text, sizeof(text), "%s%se%d", negative ? "-" : "", digits, top - (n - 1));
	s.n = number(text);
	s.ref = ref_of(digits, top - (n - 1), negative);
	s.len = number_encode(&s.n, s.encoded);
	return s;
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static void encoding_sorts_as_the_numbers_do(void **state)
{
	uint64_t seed = 1;

	for (int i = 0; i < 20000; i++) {
		struct sample x = random_sample(&seed), y = random_sample(&seed);
		int expected = ref_cmp(&x.ref, &y.ref);

		assert_true(number_is_valid(x.encoded, x.len));
		assert_string_equal(text_of(&x.n), ref_text(&x.ref));
		assert_int_equal(sign(number_cmp(&x.n, &y.n)), expected);
		assert_int_equal(sign(slice_cmp(slice_make(x.encoded, x.len), slice_make(y.encoded, y.len))), expected);
		if (i % 1000 == 0)
			arena_clear(&arena);
	}
}

static void neighbours_keep_their_order_in_the_encoding(void **state)
{
	static const char *const ascending[] = { "-1e125", "-" NINES38, "-101",  "-100.1", "-100",     "-99.99",
						 "-99",    "-12",       "-11.9", "-1.01",  "-1.001",   "-1",
						 "-0.5",   "-1e-130",   "0",     "1e-130", "1.1e-130", "0.5",
						 "1",      "1.001",     "1.01",  "1.1",    "9.9",      "10",
						 "11",     "99",        "99.99", "100",    "100.1",    "101",
						 NINES38,  "1e125" };
	struct slice before = { NULL, 0 };

	for (size_t i = 0; i < sizeof(ascending) / sizeof(ascending[0]); i++) {
		struct number n = number(ascending[i]);
		uint8_t *p = arena_alloc(&arena, NUMBER_ENCODED_MAX);
		struct slice s = slice_make(p, number_encode(&n, p));

		if (i)
			assert_true(slice_cmp(before, s) < 0);
		before = s;
	}
}

static void sums_are_exact_or_refused(void **state)
{
	uint64_t seed = 2;
	int refused = 0;

	for (int i = 0; i < 20000; i++) {
		struct sample x = random_sample(&seed), y = random_sample(&seed);
		struct ref minus = y.ref, sum;
		struct error e = { 0 };
		struct number out;
		bool subtract = i % 2;
		const char *expected;

		minus.negative = !y.ref.negative;
		sum = ref_add(&x.ref, subtract ? &minus : &y.ref);
		expected = ref_text(&sum);
		if ((subtract ? number_sub : number_add)(&x.n, &y.n, &out, &arena, &e)) {
			assert_string_equal(text_of(&out), expected);
		} else {
			assert_string_equal(expected, "");
			assert_int_equal(e.code, ERR_VALIDATION);
			refused++;
		}
		if (i % 1000 == 0)
			arena_clear(&arena);
	}
	assert_in_range(refused, 1000, 19000);
}

static void assert_sum(const char *x, const char *y, const char *expected)
{
	struct number nx = number(x), ny = number(y), sum;
	struct error e = { 0 };

	assert_true(number_add(&nx, &ny, &sum, &arena, &e));
	assert_string_equal(text_of(&sum), expected);
	assert_true(number_add(&ny, &nx, &sum, &arena, &e));
	assert_string_equal(text_of(&sum), expected);
}

static void assert_no_sum(const char *x, const char *y, const char *message)
{
	struct number nx = number(x), ny = number(y), sum;
	struct error e = { 0 };

	assert_false(number_add(&nx, &ny, &sum, &arena, &e));
	assert_slice(e.message, message);
}

static void sums_at_the_edge_of_38_digits(void **state)
{
	assert_sum("1", "10000000000000000000000", "10000000000000000000001");
	assert_sum("-1", "10000000000000000000000", "9999999999999999999999");
	assert_sum("5", "-5", "0");
	assert_sum("0", "-5.5", "-5.5");
	assert_sum("0.1", "0.2", "0.3");
	assert_sum(NINES38, "1", "100000000000000000000000000000000000000");
	assert_sum("1e38", "-1", NINES38);
	assert_sum("5e37", "5e37", "100000000000000000000000000000000000000");
	assert_no_sum("1e38", "1", OVERFLOW);
	assert_no_sum("1e50", "1", OVERFLOW);
	assert_no_sum("1e50", "-1", OVERFLOW);
	assert_no_sum("1e125", "1e-130", OVERFLOW);
	assert_no_sum("9e125", "9e125", OVERFLOW);
	assert_no_sum("-9e125", "-9e125", OVERFLOW);
	assert_no_sum("1.1e-130", "-1e-130", UNDERFLOW);
}

static void assert_i64(int64_t v, const char *text)
{
	struct number n = number_from_i64(v), parsed = number(text);
	int64_t back;

	assert_string_equal(text_of(&n), text);
	assert_int_equal(number_cmp(&n, &parsed), 0);
	assert_true(number_to_i64(&parsed, &back));
	assert_true(back == v);
}

static void converts_64_bit_integers(void **state)
{
	static const char *const outside[] = {
		"0.5", "9223372036854775808", "-9223372036854775809", "1e19", "1e125", "1e-130", NINES38
	};
	int64_t back;

	assert_i64(0, "0");
	assert_i64(-1, "-1");
	assert_i64(1200, "1200");
	assert_i64(INT64_MAX, "9223372036854775807");
	assert_i64(INT64_MIN, "-9223372036854775808");
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		struct number n = number(outside[i]);

		assert_false(number_to_i64(&n, &back));
	}
}

static size_t size_of(const char *text)
{
	struct number n = number(text);
	uint8_t encoded[NUMBER_ENCODED_MAX];

	return number_size_encoded(encoded, number_encode(&n, encoded));
}

static void counts_bytes_as_dynamodb_does(void **state)
{
	assert_int_equal(size_of("0"), 1);
	assert_int_equal(size_of("1"), 2);
	assert_int_equal(size_of("12"), 2);
	assert_int_equal(size_of("1e125"), 2);
	assert_int_equal(size_of("11e124"), 2);
	assert_int_equal(size_of("123"), 3);
	assert_int_equal(size_of("1.2"), 3);
	assert_int_equal(size_of("0.12"), 2);
	assert_int_equal(size_of("-12"), 3);
	assert_int_equal(size_of("11111e121"), 4);
	assert_int_equal(size_of("111111e120"), 4);
	assert_int_equal(size_of("1111111e119"), 5);
	assert_int_equal(size_of(DIGITS38), 20);
	assert_int_equal(size_of("-1.2345678901234567890123456789012345678"), 22);
}

static void only_what_it_makes_is_a_valid_encoding(void **state)
{
	uint64_t seed = 3;
	int valid = 0;

	for (int i = 0; i < 50000; i++) {
		struct sample s = random_sample(&seed);
		uint8_t again[NUMBER_ENCODED_MAX];
		struct number n;

		s.encoded[next_random(&seed) % s.len] = (uint8_t)next_random(&seed);
		if (next_random(&seed) % 4 == 0)
			s.len = next_random(&seed) % (s.len + 1);
		if (!number_is_valid(s.encoded, s.len))
			continue;
		n = number_decode(s.encoded, s.len);
		assert_int_equal(number_encode(&n, again), s.len);
		assert_memory_equal(again, s.encoded, s.len);
		valid++;
	}
	assert_true(valid > 1000);
	assert_false(number_is_valid(NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ARENA(prints_plain_decimals),
		WITH_ARENA(refuses_what_dynamodb_refuses),
		WITH_ARENA(encoding_sorts_as_the_numbers_do),
		WITH_ARENA(neighbours_keep_their_order_in_the_encoding),
		WITH_ARENA(sums_are_exact_or_refused),
		WITH_ARENA(sums_at_the_edge_of_38_digits),
		WITH_ARENA(converts_64_bit_integers),
		WITH_ARENA(counts_bytes_as_dynamodb_does),
		WITH_ARENA(only_what_it_makes_is_a_valid_encoding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
