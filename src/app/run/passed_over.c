/* Counting what was not done.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/passed_over.h"
#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *word;
	bool told;
} reasons[] = {
#define X(name, word, told) { word, told },
	PASSED_OVER_MAP(X)
#undef X
};

const char *passed_over_word(enum passed_over_reason reason)
{
	return reasons[reason].word;
}

void run_pass_over(struct run *r, enum passed_over_reason reason, const char *fmt, ...)
{
	struct passed_over *p = r->passed_over;
	va_list ap;

	if (!p)
		return;
	p->count[reason]++;
	if (!reasons[reason].told)
		return;
	va_start(ap, fmt);
	vsnprintf(p->last, sizeof(p->last), fmt, ap);
	va_end(ap);
}
