/* The machine that the program under test runs on: what it asks of the system comes here, because the linker puts __wrap_f() for each
 * f() of meson.build's list. Threads are fibers, time and randomness are the seed's. The store is memory.c.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_MACHINE_H
#define THORPE_TESTS_SIM_MACHINE_H

#include "fiber.h"

void machine_begin(uint64_t seed);
void machine_end(void);

/* Told of each call to the database, before it, on the fiber that makes it. NULL: nobody is. */
typedef void machine_watch(void *ctx, const char *what);
void machine_set_watch(machine_watch *fn, void *ctx);

#endif
