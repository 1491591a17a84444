/* Numbers as text, as digits and in the encoded form that sorts.
 *
 * Everything goes through struct decimal, an array of digits: conversion between text and the encoded form needs no
 * 128-bit arithmetic. Only number_math.c does.
 * SPDX-License-Identifier: Apache-2.0 */
#include "value/number.h"
#include "value/decimal.h"

#define NEGATIVE       0x01
#define ZERO           0x02
#define POSITIVE       0x03
#define NEGATIVE_END   0x66
#define EXPONENT_BIAS  (-DECIMAL_TOP_MIN)
#define EXPONENT_CLAMP 1000000000

enum scan { SCAN_OK, SCAN_NOT_NUMERIC, SCAN_OVERFLOW, SCAN_UNDERFLOW, SCAN_TOO_PRECISE };

/* [eE][+-]?digits at [p, end); clamps an exponent that is out of range. */
static bool scan_exponent(const char *p, const char *end, int64_t *out)
{
	bool negative = false;
	int64_t v = 0;

	p++;
	if (p < end && (*p == '+' || *p == '-'))
		negative = *p++ == '-';
	if (p == end)
		return false;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		if (v < EXPONENT_CLAMP)
			v = v * 10 + (*p - '0');
	}
	*out = negative ? -v : v;
	return true;
}

struct mantissa {
	int64_t seen;        /* digits from the first nonzero one */
	int64_t significant; /* the same, up to the last nonzero one */
	int64_t integral;    /* how many of `seen` come before the point */
	int64_t zeros;       /* zeros between the point and the first nonzero digit */
};

/* Reads the digits and the point; returns where they end, or NULL if there is no digit. */
static const char *scan_mantissa(const char *p, const char *end, uint8_t *digits, struct mantissa *m)
{
	bool any = false, point = false;

	for (; p < end; p++) {
		unsigned c = (unsigned char)*p - '0';

		if (c > 9) {
			if (*p != '.' || point)
				break;
			point = true;
			continue;
		}
		any = true;
		if (c == 0 && m->seen == 0) {
			m->zeros += point;
			continue;
		}
		if (m->seen < DECIMAL_DIGITS)
			digits[m->seen] = (uint8_t)c;
		m->seen++;
		m->integral += !point;
		if (c)
			m->significant = m->seen;
	}
	return any ? p : NULL;
}

static enum scan scan_number(struct slice text, struct decimal *out)
{
	const char *p = text.p, *end = text.p + text.n;
	struct mantissa m = { 0 };
	int64_t exponent = 0, top;

	*out = (struct decimal){ .n = 0 };
	if (p < end && (*p == '-' || *p == '+'))
		out->negative = *p++ == '-';
	p = scan_mantissa(p, end, out->digits, &m);
	if (!p)
		return SCAN_NOT_NUMERIC;
	if (p < end && ((*p != 'e' && *p != 'E') || !scan_exponent(p, end, &exponent)))
		return SCAN_NOT_NUMERIC;
	if (m.significant == 0) {
		out->negative = false;
		return SCAN_OK;
	}
	top = (m.integral ? m.integral - 1 : -m.zeros - 1) + exponent;
	if (top > DECIMAL_TOP_MAX)
		return SCAN_OVERFLOW;
	if (top < DECIMAL_TOP_MIN)
		return SCAN_UNDERFLOW;
	if (m.significant > DECIMAL_DIGITS)
		return SCAN_TOO_PRECISE;
	out->n = (int)m.significant;
	out->top = (int)top;
	return SCAN_OK;
}

static bool parse_decimal(struct slice text, struct decimal *out, struct arena *a, struct error *e)
{
	switch (scan_number(text, out)) {
	case SCAN_OK: return true;
	case SCAN_OVERFLOW: return error_set(e, a, ERR_VALIDATION, NUMBER_OVERFLOW);
	case SCAN_UNDERFLOW: return error_set(e, a, ERR_VALIDATION, NUMBER_UNDERFLOW);
	case SCAN_TOO_PRECISE:
		return error_set(e, a, ERR_VALIDATION,
				 "Attempting to store more than 38 significant digits in a Number");
	case SCAN_NOT_NUMERIC: break;
	}
	if (text.n == 0)
		return error_set(e, a, ERR_VALIDATION, "The parameter cannot be converted to a numeric value");
	return error_set(e, a, ERR_VALIDATION, "The parameter cannot be converted to a numeric value: %.*s",
			 SLICE_ARG(text));
}

static size_t format_decimal(const struct decimal *d, char *out)
{
	char *p = out;
	int i;

	if (d->negative)
		*p++ = '-';
	if (d->n == 0 || d->top < 0)
		*p++ = '0';
	for (i = 0; i <= d->top && d->n; i++)
		*p++ = i < d->n ? (char)('0' + d->digits[i]) : '0';
	if (d->n > i) {
		*p++ = '.';
		for (int zero = -1; zero > d->top; zero--)
			*p++ = '0';
		while (i < d->n)
			*p++ = (char)('0' + d->digits[i++]);
	}
	*p = '\0';
	return (size_t)(p - out);
}

static size_t encode_decimal(const struct decimal *d, uint8_t *out)
{
	uint8_t *p = out;

	if (d->n == 0) {
		*p = ZERO;
		return 1;
	}
	*p++ = d->negative ? NEGATIVE : POSITIVE;
	*p++ = (uint8_t)(d->negative ? 255 - (d->top + EXPONENT_BIAS) : d->top + EXPONENT_BIAS);
	for (int i = 0; i < d->n; i += 2) {
		int pair = d->digits[i] * 10 + (i + 1 < d->n ? d->digits[i + 1] : 0) + 1;

		*p++ = (uint8_t)(d->negative ? 101 - pair : pair);
	}
	if (d->negative)
		*p++ = NEGATIVE_END;
	return (size_t)(p - out);
}

static void decode_decimal(const uint8_t *p, size_t n, struct decimal *out)
{
	size_t end;

	out->n = 0;
	out->top = 0;
	out->negative = p[0] == NEGATIVE;
	if (p[0] == ZERO)
		return;
	out->top = (out->negative ? 255 - p[1] : p[1]) - EXPONENT_BIAS;
	end = out->negative ? n - 1 : n;
	for (size_t i = 2; i < end; i++) {
		unsigned pair = (out->negative ? 101u - p[i] : p[i]) - 1u;

		out->digits[out->n++] = (uint8_t)(pair / 10);
		out->digits[out->n++] = (uint8_t)(pair % 10);
	}
	if (out->digits[out->n - 1] == 0)
		out->n--;
}

bool number_parse(struct slice text, struct number *out, struct arena *a, struct error *e)
{
	struct decimal d;

	if (!parse_decimal(text, &d, a, e))
		return false;
	*out = decimal_to_number(&d);
	return true;
}

size_t number_format(const struct number *n, char out[NUMBER_TEXT_MAX])
{
	struct decimal d;

	decimal_from_number(n, &d);
	return format_decimal(&d, out);
}

size_t number_encode(const struct number *n, uint8_t out[NUMBER_ENCODED_MAX])
{
	struct decimal d;

	decimal_from_number(n, &d);
	return encode_decimal(&d, out);
}

struct number number_decode(const uint8_t *p, size_t n)
{
	struct decimal d;

	decode_decimal(p, n, &d);
	return decimal_to_number(&d);
}

bool number_encode_text(struct slice text, uint8_t out[NUMBER_ENCODED_MAX], size_t *n, struct arena *a, struct error *e)
{
	struct decimal d;

	if (!parse_decimal(text, &d, a, e))
		return false;
	*n = encode_decimal(&d, out);
	return true;
}

static const char pair_text[] = "00010203040506070809101112131415161718192021222324"
				"25262728293031323334353637383940414243444546474849"
				"50515253545556575859606162636465666768697071727374"
				"75767778798081828384858687888990919293949596979899";

/* Formats positive integers, as nearly all numbers are, directly from their pairs. 0: another kind of number. */
static size_t format_whole(const uint8_t *p, size_t n, char *out)
{
	int whole, digits = 2 * ((int)n - 2);

	if (p[0] != POSITIVE)
		return 0;
	whole = p[1] - EXPONENT_BIAS + 1;
	/* A digit after the point is part of the number, unless it is the zero that fills a pair. */
	if (whole < 1 || digits > whole + 1 || (digits > whole && (p[n - 1] - 1) % 10))
		return 0;
	for (size_t i = 2; i < n; i++, out += 2)
		memcpy(out, pair_text + 2 * (p[i] - 1), 2);
	for (; digits < whole; digits++)
		*out++ = '0';
	out[whole - digits] = '\0';
	return (size_t)whole;
}

size_t number_format_encoded(const uint8_t *p, size_t n, char out[NUMBER_TEXT_MAX])
{
	size_t length = format_whole(p, n, out);
	struct decimal d;

	if (length)
		return length;
	decode_decimal(p, n, &d);
	return format_decimal(&d, out);
}

static size_t size_of_digits(int digits, int top, bool negative)
{
	/* An even exponent leaves the first digit alone in its pair: 1|23, but 12|34. */
	bool alone = top % 2 == 0;

	return 1 + (size_t)(digits + alone + 1) / 2 + negative;
}

size_t number_size_encoded(const uint8_t *p, size_t n)
{
	bool negative = p[0] == NEGATIVE;
	size_t end = negative ? n - 1 : n;
	unsigned last = negative ? 101u - p[end - 1] : p[end - 1];

	if (p[0] == ZERO)
		return 1;
	return size_of_digits(2 * ((int)end - 2) - ((last - 1) % 10 == 0),
			      (negative ? 255 - p[1] : p[1]) - EXPONENT_BIAS, negative);
}

bool number_is_valid(const uint8_t *p, size_t n)
{
	bool negative;
	size_t end;

	if (n == 0)
		return false;
	if (p[0] == ZERO)
		return n == 1;
	negative = p[0] == NEGATIVE;
	if (!negative && p[0] != POSITIVE)
		return false;
	if (negative && p[n - 1] != NEGATIVE_END)
		return false;
	end = negative ? n - 1 : n;
	if (end < 3 || end > 2 + DECIMAL_DIGITS / 2)
		return false;
	for (size_t i = 2; i < end; i++) {
		int pair = (negative ? 101 - p[i] : p[i]) - 1;

		if (pair < 0 || pair > 99)
			return false;
		if ((i == 2 && pair < 10) || (i == end - 1 && pair == 0))
			return false;
	}
	return true;
}
