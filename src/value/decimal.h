/* A number as an array of digits; only number.c and number_math.c use it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_VALUE_DECIMAL_H
#define THORPE_VALUE_DECIMAL_H

#include "value/number.h"

#define DECIMAL_DIGITS  38
#define DECIMAL_TOP_MIN (-130)
#define DECIMAL_TOP_MAX 125

#define NUMBER_OVERFLOW  "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define NUMBER_UNDERFLOW "Number underflow. Attempting to store a number with magnitude smaller than supported range"

/* ± d.ddd… · 10^top. Invariant: the first and the last digit are not 0; zero has n == 0. */
struct decimal {
	uint8_t digits[DECIMAL_DIGITS];
	int n;
	int top; /* decimal exponent of the first digit */
	bool negative;
};

void decimal_from_number(const struct number *n, struct decimal *out);
struct number decimal_to_number(const struct decimal *d);

#endif
