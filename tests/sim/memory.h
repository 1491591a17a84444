/* A store in memory that dies with its process (memory.c), and what is left of it.
 *
 * From a store_write() on, before or after it was applied, no write has an effect; each fails, so that the code comes to its
 * end by itself. What was written before is there at the next store_open(). Durability below store.h is not tested here:
 * tests/unit/store takes a disk's power away.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_MEMORY_H
#define THORPE_TESTS_SIM_MEMORY_H

#include "store/store.h"

/* The process dies at the n-th store_write() from now (0: the next one). Negative: never. */
void memory_set_death(long writes, bool after_it);
bool memory_is_dead(void);
/* A new process: nothing has died yet. */
void memory_revive(void);
/* What is left goes: the next store_open() finds nothing. */
void memory_forget(void);

#endif
