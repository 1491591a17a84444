/* Arithmetic on numbers, in 128 bits.
 *
 * 10^38 has 127 bits, so a sum of two digit strings always fits and is checked afterwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/decimal.h"

typedef unsigned __int128 u128;

#define TEN19 UINT64_C(10000000000000000000)
#define TEN38 ((u128)TEN19 * TEN19)

/* Writes `count` digits of v, leading zeros included. */
static void put_digits(uint64_t v, uint8_t *out, int count)
{
	while (count--) {
		out[count] = (uint8_t)(v % 10);
		v /= 10;
	}
}

static int count_digits(uint64_t v)
{
	int n = 0;

	for (; v; v /= 10)
		n++;
	return n;
}

void decimal_from_number(const struct number *n, struct decimal *out)
{
	out->n = 0;
	out->top = 0;
	out->negative = n->negative;
	if (n->digits == 0)
		return;
	if (n->digits < TEN19) {
		out->n = count_digits((uint64_t)n->digits);
		put_digits((uint64_t)n->digits, out->digits, out->n);
	} else {
		uint64_t high = (uint64_t)(n->digits / TEN19);

		out->n = count_digits(high);
		put_digits(high, out->digits, out->n);
		put_digits((uint64_t)(n->digits % TEN19), out->digits + out->n, 19);
		out->n += 19;
	}
	out->top = n->exponent + out->n - 1;
}

struct number decimal_to_number(const struct decimal *d)
{
	struct number n = { .negative = d->negative };
	uint64_t part = 0, scale = 1;

	for (int i = 0; i < d->n; i++) {
		if (i == 19) {
			n.digits = part;
			part = 0;
		}
		part = part * 10 + d->digits[i];
		scale = i >= 19 ? scale * 10 : 1;
	}
	n.digits = n.digits * scale + part;
	n.exponent = d->n ? d->top - (d->n - 1) : 0;
	return n;
}

/* Brings ±digits·10^exponent into normal form; false if DynamoDB cannot store it. */
static bool finish(u128 digits, int exponent, bool negative, struct number *out, struct arena *a, struct error *e)
{
	struct decimal d;

	if (digits == 0) {
		*out = (struct number){ 0 };
		return true;
	}
	while (digits % 10 == 0) {
		digits /= 10;
		exponent++;
	}
	if (digits >= TEN38)
		return error_set(e, a, ERR_VALIDATION, NUMBER_OVERFLOW);
	*out = (struct number){ digits, exponent, negative };
	decimal_from_number(out, &d);
	if (d.top > DECIMAL_TOP_MAX)
		return error_set(e, a, ERR_VALIDATION, NUMBER_OVERFLOW);
	if (d.top < DECIMAL_TOP_MIN)
		return error_set(e, a, ERR_VALIDATION, NUMBER_UNDERFLOW);
	return true;
}

bool number_add(const struct number *x, const struct number *y, struct number *out, struct arena *a, struct error *e)
{
	const struct number *big = x->exponent >= y->exponent ? x : y;
	const struct number *small = big == x ? y : x;
	u128 scaled = big->digits;

	if (x->digits == 0 || y->digits == 0) {
		*out = x->digits == 0 ? *y : *x;
		return true;
	}
	/* The last digit of `small` stays in the result, so once the other side reaches 2·10^38 no sum or
	 * difference can fall below 10^38 again. */
	for (int i = small->exponent; i < big->exponent; i++) {
		if (scaled >= TEN38)
			return error_set(e, a, ERR_VALIDATION, NUMBER_OVERFLOW);
		if (__builtin_mul_overflow(scaled, (u128)10, &scaled) || scaled >= 2 * TEN38)
			return error_set(e, a, ERR_VALIDATION, NUMBER_OVERFLOW);
	}
	if (big->negative == small->negative)
		return finish(scaled + small->digits, small->exponent, big->negative, out, a, e);
	if (scaled >= small->digits)
		return finish(scaled - small->digits, small->exponent, big->negative, out, a, e);
	return finish(small->digits - scaled, small->exponent, small->negative, out, a, e);
}

bool number_sub(const struct number *x, const struct number *y, struct number *out, struct arena *a, struct error *e)
{
	struct number minus = *y;

	minus.negative = y->digits != 0 && !y->negative;
	return number_add(x, &minus, out, a, e);
}

bool number_mul(const struct number *x, const struct number *y, struct number *out, struct arena *a, struct error *e)
{
	const uint64_t l[] = { (uint64_t)(x->digits % TEN19), (uint64_t)(x->digits / TEN19) };
	const uint64_t r[] = { (uint64_t)(y->digits % TEN19), (uint64_t)(y->digits / TEN19) };
	u128 part = (u128)l[0] * r[0];
	int exponent = x->exponent + y->exponent;
	uint64_t limb[4]; /* the product in base 10^19, lowest first */
	u128 carry;

	limb[0] = (uint64_t)(part % TEN19);
	carry = part / TEN19;
	/* Two products below 10^38 and a carry stay below 2^128. */
	part = (u128)l[0] * r[1] + (u128)l[1] * r[0] + carry;
	limb[1] = (uint64_t)(part % TEN19);
	part = (u128)l[1] * r[1] + part / TEN19;
	limb[2] = (uint64_t)(part % TEN19);
	limb[3] = (uint64_t)(part / TEN19);
	while ((limb[2] || limb[3]) && limb[0] % 10 == 0) {
		for (int i = 0; i < 3; i++)
			limb[i] = limb[i] / 10 + limb[i + 1] % 10 * (TEN19 / 10);
		limb[3] /= 10;
		exponent++;
	}
	if (limb[2] || limb[3])
		return error_set(e, a, ERR_VALIDATION, NUMBER_OVERFLOW);
	return finish((u128)limb[1] * TEN19 + limb[0], exponent, x->negative != y->negative, out, a, e);
}

/* The next digit of a quotient: how often `by` goes into ten times *rest, which keeps the
 * remainder. Ten times a remainder may exceed 128 bits, so it is added up in ten steps. */
static unsigned next_digit(u128 *rest, u128 by)
{
	u128 sum = 0;
	unsigned digit = 0;

	for (int i = 0; i < 10; i++) {
		sum += *rest;
		if (sum >= by) {
			sum -= by;
			digit++;
		}
	}
	*rest = sum;
	return digit;
}

bool number_div(const struct number *x, const struct number *y, struct number *out, struct arena *a, struct error *e)
{
	int exponent = x->exponent - y->exponent;
	u128 quotient, rest;

	if (y->digits == 0)
		return error_set(e, a, ERR_VALIDATION, "Division by zero");
	quotient = x->digits / y->digits;
	rest = x->digits % y->digits;
	while (rest && quotient < TEN38 / 10) {
		quotient = quotient * 10 + next_digit(&rest, y->digits);
		exponent--;
	}
	if (rest && rest >= y->digits - rest)
		quotient++;
	return finish(quotient, exponent, x->negative != y->negative, out, a, e);
}

bool number_round(const struct number *n, int exponent, struct number *out, struct arena *a, struct error *e)
{
	int drop = exponent - n->exponent;
	u128 unit = 1, rest, kept;

	*out = *n;
	if (drop <= 0 || n->digits == 0)
		return true;
	if (drop > DECIMAL_DIGITS) {
		*out = (struct number){ 0 };
		return true;
	}
	while (drop--)
		unit *= 10;
	kept = n->digits / unit;
	rest = n->digits % unit;
	return finish(kept + (rest >= unit - rest), exponent, n->negative, out, a, e);
}

int number_top(const struct number *n)
{
	struct decimal d;

	decimal_from_number(n, &d);
	return d.top;
}

static int cmp_magnitude(const struct number *x, const struct number *y)
{
	struct decimal dx, dy;

	decimal_from_number(x, &dx);
	decimal_from_number(y, &dy);
	if (dx.n == 0 || dy.n == 0)
		return (dx.n != 0) - (dy.n != 0);
	if (dx.top != dy.top)
		return dx.top < dy.top ? -1 : 1;
	return slice_cmp(slice_make(dx.digits, (size_t)dx.n), slice_make(dy.digits, (size_t)dy.n));
}

int number_cmp(const struct number *x, const struct number *y)
{
	if (x->negative != y->negative)
		return x->negative ? -1 : 1;
	return x->negative ? cmp_magnitude(y, x) : cmp_magnitude(x, y);
}

struct number number_from_i64(int64_t v)
{
	struct number n = { .negative = v < 0 };
	uint64_t digits = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	while (digits && digits % 10 == 0) {
		digits /= 10;
		n.exponent++;
	}
	n.digits = digits;
	return n;
}

bool number_to_i64(const struct number *n, int64_t *out)
{
	uint64_t limit = n->negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
	uint64_t v;

	if (n->exponent < 0 || n->digits > limit)
		return false;
	v = (uint64_t)n->digits;
	for (int i = 0; i < n->exponent && v; i++) {
		if (v > limit / 10)
			return false;
		v *= 10;
	}
	*out = n->negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}
