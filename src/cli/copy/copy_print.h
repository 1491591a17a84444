/* What `thorpe copy` shows: the plan, how far it is, and how it ended.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_COPY_COPY_PRINT_H
#define THORPE_CLI_COPY_COPY_PRINT_H

#include "copy/copy.h"

/* of one table; any thread */
struct copy_printer {
	uint64_t first; /* items or changes when the phase was first printed */
	int64_t first_us, told_us;
	enum copy_phase phase;
	bool began;
};

void copy_print_plan(const struct copy_options *o, const struct copy_plan *plan);
/* On a terminal one line that changes; otherwise a line every few seconds. */
void copy_print_progress(struct copy_printer *x, const struct copy_progress *p);
void copy_print_line(struct slice line);
/* Ends the line that changes. */
void copy_print_end(void);

#endif
