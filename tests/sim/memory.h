/* A store in memory that dies with its process (memory.c), keeping what was written.
 *
 * From some store_write(), before or after applying it, all writes fail without effect, so that the code ends by
 * itself. The next store_open() has everything written before. Durability below store.h is not tested here:
 * tests/unit/store takes a disk's power away. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_MEMORY_H
#define THORPE_TESTS_SIM_MEMORY_H

#include "store/store.h"

/* The process dies at the n-th store_write() from now (0: the next one). Negative: never. */
void memory_set_death(long writes, bool after_it);
bool memory_is_dead(void);
/* A new process: nothing has died yet. */
void memory_revive(void);
/* Drops everything: the next store_open() finds nothing. */
void memory_forget(void);

#endif
