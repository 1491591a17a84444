/* Arithmetic on numbers, in 128 bits.
 *
 * 10^38 has 127 bits, so a sum of two digit strings always fits and is checked afterwards.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/decimal.h"

typedef unsigned __int128 u128;

#define TEN19 UINT64_C(10000000000000000000)
#define TEN38 ((u128)TEN19 * TEN19)

/* `count` digits of v, leading zeros included. */
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

/* Brings ±digits·10^exponent into normal form; false when DynamoDB cannot store it. */
static bool finish(u128 digits, int exponent, bool negative, struct number *out, struct arena *a,
		   struct error *e)
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

bool number_add(const struct number *x, const struct number *y, struct number *out,
		struct arena *a, struct error *e)
{
	const struct number *big = x->exponent >= y->exponent ? x : y;
	const struct number *small = big == x ? y : x;
	u128 scaled = big->digits;

	if (x->digits == 0 || y->digits == 0) {
		*out = x->digits == 0 ? *y : *x;
		return true;
	}
	/* The last digit of `small` stays in the result, so once the other side reaches 2·10^38 no
	 * sum or difference can be brought below 10^38 again. */
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

bool number_sub(const struct number *x, const struct number *y, struct number *out,
		struct arena *a, struct error *e)
{
	struct number minus = *y;

	minus.negative = y->digits != 0 && !y->negative;
	return number_add(x, &minus, out, a, e);
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
