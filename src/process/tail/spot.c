/* Sequence numbers, as text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/tail/spot.h"

void spot_set(struct spot *p, struct slice sequence)
{
	if (sequence.n >= sizeof(p->text))
		sequence.n = 0;
	if (sequence.n)
		memmove(p->text, sequence.p, sequence.n);
	p->text[sequence.n] = 0;
}

static struct slice without_zeros(struct slice s)
{
	while (s.n && *s.p == '0') {
		s.p++;
		s.n--;
	}
	return s;
}

int sequence_compare(struct slice a, struct slice b)
{
	if (a.n == b.n)
		return slice_cmp(a, b);
	if (!a.n || !b.n)
		return a.n ? 1 : -1;
	a = without_zeros(a);
	b = without_zeros(b);
	return a.n == b.n ? slice_cmp(a, b) : a.n < b.n ? -1 : 1;
}
