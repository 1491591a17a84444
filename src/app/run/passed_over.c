/* Counts skipped effects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/run/passed_over.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* Drops the last character of a truncated text: it may be incomplete. */
static void drop_last_character(char *text, size_t n)
{
	while (n && (text[n - 1] & 0xc0) == 0x80)
		n--;
	if (n && (text[n - 1] & 0x80))
		n--;
	text[n] = 0;
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
	if (vsnprintf(p->last, sizeof(p->last), fmt, ap) >= (int)sizeof(p->last))
		drop_last_character(p->last, strlen(p->last));
	va_end(ap);
}
