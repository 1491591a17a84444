/* DynamoDB's numbers: 38 decimal digits, magnitude 1E-130 to 9.9…E+125, and zero.
 *
 * A struct number is always in normal form: no trailing zero digits, zero is {0, 0, false}.
 *
 * Encoded form (the stored form of every number, in items and in keys; memcmp() sorts it):
 *   OFFSET SIZE  MEANING
 *   0      1     0x01 negative, 0x02 zero (the whole encoding), 0x03 positive
 *   1      1     decimal exponent of the first digit + 130; inverted (255 - x) when negative
 *   2      1-19  digits, two a byte, first digit never 0, padded with one 0 digit; each byte is
 *                pair + 1 (1..100); inverted (101 - byte) when negative
 *   end    1     0x66 (102, above any inverted pair), only when negative: shorter sorts later
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_NUMBER_H
#define THORPE_VALUE_NUMBER_H

#include "base/buf.h"
#include "base/error.h"

#define NUMBER_ENCODED_MAX 24
#define NUMBER_TEXT_MAX    176 /* longest text of number_format(), with its NUL */

struct number {
	unsigned __int128 digits; /* the significant digits as an integer, below 10^38 */
	int exponent;             /* value = ±digits · 10^exponent */
	bool negative;
};

/* Parses what DynamoDB accepts in {"N": "…"}: sign, digits with or without a point, exponent; no
 * spaces. Errors: VALIDATION, with DynamoDB's texts (not numeric; overflow; underflow; more than 38
 * significant digits: in that order). */
bool number_parse(struct slice text, struct number *out, struct arena *a, struct error *e) MUST_CHECK;
/* DynamoDB's output form (plain decimal without exponent). Returns the length; NUL-terminated. */
size_t number_format(const struct number *n, char out[NUMBER_TEXT_MAX]);

/* Exact or an error. Errors: VALIDATION: overflow, also when the exact result needs more than 38 digits (as in
 * DynamoDB); underflow when a difference is too small. */
bool number_add(const struct number *x, const struct number *y, struct number *out, struct arena *a,
		struct error *e) MUST_CHECK;
bool number_sub(const struct number *x, const struct number *y, struct number *out, struct arena *a,
		struct error *e) MUST_CHECK;
/* As number_add(): exact, or an overflow; an underflow when too small. */
bool number_mul(const struct number *x, const struct number *y, struct number *out, struct arena *a,
		struct error *e) MUST_CHECK;
/* Rounded to 38 digits, halves away from zero. Errors: VALIDATION, also for a division by zero. */
bool number_div(const struct number *x, const struct number *y, struct number *out, struct arena *a,
		struct error *e) MUST_CHECK;
/* The nearest multiple of 10^exponent, halves away from zero. Errors: VALIDATION, overflow. */
bool number_round(const struct number *n, int exponent, struct number *out, struct arena *a, struct error *e) MUST_CHECK;
/* The decimal exponent of the first digit: 2 for 123, -1 for 0.5; 0 for zero. */
int number_top(const struct number *n);
int number_cmp(const struct number *x, const struct number *y);
struct number number_from_i64(int64_t v);
/* False if not an integer or out of range. */
bool number_to_i64(const struct number *n, int64_t *out);

/* Returns the length written. */
size_t number_encode(const struct number *n, uint8_t out[NUMBER_ENCODED_MAX]);
/* `p` must come from number_encode(). */
struct number number_decode(const uint8_t *p, size_t n);

/* The same without a struct number in between; used to read and write items. */
bool number_encode_text(struct slice text, uint8_t out[NUMBER_ENCODED_MAX], size_t *n, struct arena *a,
			struct error *e) MUST_CHECK;
size_t number_format_encoded(const uint8_t *p, size_t n, char out[NUMBER_TEXT_MAX]);
/* The bytes DynamoDB counts for it: one, plus one for each pair of digits, paired from the decimal point outwards,
 * plus one if negative; zero counts 1. */
size_t number_size_encoded(const uint8_t *p, size_t n);
/* Whether untrusted bytes are a valid encoding, as number_encode() writes it. */
bool number_is_valid(const uint8_t *p, size_t n);

#endif
