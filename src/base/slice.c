/* Searching and comparing slices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/slice.h"
#include <strings.h>

bool slice_contains(struct slice s, struct slice part)
{
	return part.n == 0 || (s.n >= part.n && memmem(s.p, s.n, part.p, part.n));
}

bool slice_equal_any_case(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}
