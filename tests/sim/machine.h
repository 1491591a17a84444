/* The machine of the program under test: the linker redirects each f() of meson.build's list to __wrap_f() here.
 * Threads are fibers; time and randomness come from the seed. The store is memory.c. SPDX-License-Identifier:
 * Apache-2.0 */
#ifndef THORPE_TESTS_SIM_MACHINE_H
#define THORPE_TESTS_SIM_MACHINE_H

#include "request/request.h"
#include "fiber.h"

void machine_begin(uint64_t seed);
void machine_end(void);

/* Called for each write to the database, on the fiber that makes it, before and after it. NULL: none. */
struct machine_write {
	struct slice operation, document; /* "PutItem" and its request; or: */
	const struct request_action *actions;
	size_t count;
	bool is_done;
	struct slice outcome; /* then */
};
typedef void machine_watch(void *ctx, const struct machine_write *w);
/* Called for each line of the log. */
typedef void machine_log(void *ctx, const char *line);
void machine_set_watch(machine_watch *fn, machine_log *log, void *ctx);

/* Whether an operation of DynamoDB changes anything. */
bool machine_is_write(struct slice operation);

#define MACHINE_NOT_NOW "not now" /* the reply of a receiver that refuses */

#endif
