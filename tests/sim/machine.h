/* The machine that the program under test runs on: what it asks of the system and of the store comes here, because the linker puts
 * __wrap_f() for each f() of meson.build's list. Threads are fibers, time and randomness are the seed's, and the process can die.
 *
 * Death: from a store_write() on, before or after it was applied, none has an effect; each fails, so that everything comes to
 * its end by itself. What was written stays for the next store_open().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_MACHINE_H
#define THORPE_TESTS_SIM_MACHINE_H

#include "fiber.h"

void machine_begin(uint64_t seed);
void machine_end(void); /* closes the store that was kept */

/* The process dies at the n-th store_write() from now (0: the next one). Negative: never. */
void machine_set_death(long writes, bool after_it);
bool machine_is_dead(void);
/* A new process: nothing has died yet. */
void machine_revive(void);
/* Of this process. */
uint64_t machine_writes(void);

/* Told of each call to the database, before it, on the fiber that makes it. NULL: nobody is. */
typedef void machine_watch(void *ctx, const char *what);
void machine_set_watch(machine_watch *fn, void *ctx);

#endif
