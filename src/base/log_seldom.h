/* Lines about what happens to every request at once, such as a database that does not answer: of each place at most
 * one line in ten seconds. A place's next line says how many were left out before it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_LOG_SELDOM_H
#define THORPE_BASE_LOG_SELDOM_H

#include <stdatomic.h>
#include <stdint.h>
#include "base/log.h"

/* of one place; zero: ready */
struct log_seldom {
	_Atomic int64_t next_us; /* not before */
	atomic_uint left_out;
};

/* `now_us`: clock_monotonic_us(). Any thread. */
void log_seldom(struct log_seldom *s, int64_t now_us, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
