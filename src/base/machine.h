/* Facts about the machine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_BASE_MACHINE_H
#define THORPE_BASE_MACHINE_H

#include <stdint.h>

/* Bytes of memory: the machine's, or the container's limit if that is lower; 0: unknown. */
uint64_t machine_memory(void);

#endif
