/* Waiting that a stop ends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_WAIT_H
#define THORPE_REMOTE_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* False: *stop became true; NULL: it never does. */
bool wait_ms(int64_t ms, const atomic_bool *stop);

#endif
