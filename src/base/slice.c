/* Searching and comparing slices.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/slice.h"
#include <strings.h>

bool slice_contains(struct slice s, struct slice part)
{
	return part.n == 0 || (s.n >= part.n && memmem(s.p, s.n, part.p, part.n));
}

static bool is_one_of(char c, const char *characters)
{
	return c && strchr(characters, c);
}

struct slice slice_trim(struct slice s, const char *characters)
{
	while (s.n && is_one_of(s.p[0], characters))
		s = slice_make(s.p + 1, s.n - 1);
	while (s.n && is_one_of(s.p[s.n - 1], characters))
		s.n--;
	return s;
}

bool slice_equal_any_case(struct slice a, struct slice b)
{
	return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}
