/* Functions of numbers, and numbers of texts and places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/term_parts.h"
#include "wire/gzip.h"

#define DIGITS_MOST 38

typedef unsigned __int128 wide;

bool term_whole(struct value v, int64_t *out)
{
	struct number n;

	if (value_type(v) != VALUE_N)
		return false;
	n = value_number(v);
	return number_to_i64(&n, out);
}

/* ---- rounding ---- */

/* The nearest whole number towards `up`: the rounded one, unless that is on the other side. */
static bool whole(const struct number *n, bool up, struct number *out, struct arena *a)
{
	struct number one = number_from_i64(1);
	struct error e = { 0 };
	int c;

	*out = *n;
	if (n->exponent >= 0)
		return true;
	if (!number_round(n, 0, out, a, &e))
		return false;
	c = number_cmp(out, n);
	if (up)
		return c >= 0 || number_add(out, &one, out, a, &e);
	return c <= 0 || number_sub(out, &one, out, a, &e);
}

static struct value call_whole(struct arena *a, struct value v, bool up)
{
	struct number n, out;

	if (value_type(v) != VALUE_N)
		return VALUE_ABSENT;
	n = value_number(v);
	return whole(&n, up, &out, a) ? value_make_n(a, &out) : VALUE_ABSENT;
}

static struct value call_abs(struct arena *a, struct value v)
{
	struct number n;

	if (value_type(v) != VALUE_N)
		return VALUE_ABSENT;
	n = value_number(v);
	n.negative = false;
	return value_make_n(a, &n);
}

/* ---- remainders ---- */

/* x and y below m, which is below 10^38: no sum overflows. */
static wide add_modulo(wide x, wide y, wide m)
{
	return x + y >= m ? x + y - m : x + y;
}

static wide ten_times_modulo(wide x, wide m)
{
	wide two = add_modulo(x, x, m), four = add_modulo(two, two, m), five = add_modulo(four, x, m);

	return add_modulo(five, five, m);
}

static struct number normal(wide digits, int exponent)
{
	if (!digits)
		return (struct number){ 0 };
	while (digits % 10 == 0) {
		digits /= 10;
		exponent++;
	}
	return (struct number){ .digits = digits, .exponent = exponent };
}

/* |x| modulo |y|, exactly. Digit by digit, because no quotient has to fit into 38 digits. */
static struct number remainder_of(const struct number *x, const struct number *y)
{
	wide rest = x->digits, m = y->digits, most = 1;
	int above = x->exponent - y->exponent;

	for (int i = 1; i < DIGITS_MOST; i++)
		most *= 10;
	for (int i = above; i < 0; i++) {
		if (m >= most) /* y is larger than x */
			return normal(x->digits, x->exponent);
		m *= 10;
	}
	rest %= m;
	for (int i = 0; i < above; i++)
		rest = ten_times_modulo(rest, m);
	return normal(rest, above < 0 ? x->exponent : y->exponent);
}

/* It has the sign of y: mod(-1, 10) is 9. */
static struct value call_mod(struct arena *a, struct value x, struct value y)
{
	struct number n, by, rest;
	struct error e = { 0 };

	if (value_type(x) != VALUE_N || value_type(y) != VALUE_N)
		return VALUE_ABSENT;
	n = value_number(x);
	by = value_number(y);
	if (!by.digits)
		return VALUE_ABSENT;
	rest = remainder_of(&n, &by);
	if (rest.digits && n.negative != by.negative) {
		struct number size = by;

		size.negative = false;
		if (!number_sub(&size, &rest, &rest, a, &e))
			return VALUE_ABSENT;
	}
	rest.negative = rest.digits && by.negative;
	return value_make_n(a, &rest);
}

/* ---- hash ---- */

uint32_t term_hash(struct slice text, uint32_t n)
{
	return gzip_crc32(text) % n;
}

static struct value call_hash(struct arena *a, struct value v, struct value count)
{
	struct slice text;
	int64_t n;

	if (!term_as_text(a, v, &text) || !term_whole(count, &n) || n < 1 || n > TERM_HASH_MOST)
		return VALUE_ABSENT;
	return value_make_i64(a, term_hash(text, (uint32_t)n));
}

/* ---- places ---- */

/* Each bit halves an interval: of the longitude, of the latitude, and so on. */
static struct value call_geohash(struct arena *a, const struct value *args)
{
	static const char digits[] = "0123456789bcdefghjkmnpqrstuvwxyz";
	double low[2] = { -180, -90 }, high[2] = { 180, 90 }, at[2];
	char text[TERM_GEOHASH_MOST];
	int64_t n;

	if (value_type(args[0]) != VALUE_N || value_type(args[1]) != VALUE_N || !term_whole(args[2], &n) || n < 1 ||
	    n > TERM_GEOHASH_MOST)
		return VALUE_ABSENT;
	at[0] = value_double(args[1]);
	at[1] = value_double(args[0]);
	if (!(at[0] >= -180 && at[0] <= 180 && at[1] >= -90 && at[1] <= 90))
		return VALUE_ABSENT;
	for (int i = 0, bit = 0; i < n; i++) {
		int digit = 0;

		for (int k = 0; k < 5; k++, bit++) {
			int axis = bit % 2;
			double middle = (low[axis] + high[axis]) / 2;
			bool upper = at[axis] >= middle;

			*(upper ? &low[axis] : &high[axis]) = middle;
			digit = digit * 2 + upper;
		}
		text[i] = digits[digit];
	}
	return value_make_s(a, slice_make(text, (size_t)n));
}

struct value term_call_math(struct arena *a, enum term_function f, const struct value *args)
{
	switch (f) {
	case CALL_MOD: return call_mod(a, args[0], args[1]);
	case CALL_FLOOR: return call_whole(a, args[0], false);
	case CALL_CEIL: return call_whole(a, args[0], true);
	case CALL_ABS: return call_abs(a, args[0]);
	case CALL_HASH: return call_hash(a, args[0], args[1]);
	case CALL_GEOHASH: return call_geohash(a, args);
	default: return VALUE_ABSENT;
	}
}
