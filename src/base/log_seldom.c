/* Lines that are left out. SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "base/log_seldom.h"

#define SELDOM_US    10000000
#define SELDOM_BYTES 1024

void log_seldom(struct log_seldom *s, int64_t now_us, enum log_level level, const char *fmt, ...)
{
	int64_t next = atomic_load(&s->next_us);
	char message[SELDOM_BYTES];
	unsigned left_out;
	va_list ap;

	/* Of several threads one writes the line. */
	if (now_us < next || !atomic_compare_exchange_strong(&s->next_us, &next, now_us + SELDOM_US)) {
		atomic_fetch_add(&s->left_out, 1);
		return;
	}
	va_start(ap, fmt);
	if (vsnprintf(message, sizeof(message), fmt, ap) < 0)
		message[0] = '\0';
	va_end(ap);
	left_out = atomic_exchange(&s->left_out, 0);
	if (left_out)
		log_write(level, "%s (%u such lines were left out)", message, left_out);
	else
		log_write(level, "%s", message);
}
