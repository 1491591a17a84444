/* Waiting until a moment of the steady clock (clock_monotonic_us()).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_WAIT_H
#define THORPE_REMOTE_WAIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Until it is signalled or the moment has come; may return early. */
void wait_cond_until(pthread_cond_t *c, pthread_mutex_t *m, int64_t until_us);
/* False: *stop became true; NULL: it never does. */
bool wait_ms(int64_t ms, const atomic_bool *stop);

#endif
