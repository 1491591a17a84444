/* The connections of a client: a limited number, shared by any number of threads.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_POOL_H
#define THORPE_REMOTE_POOL_H

#include "fetch/fetch.h"

#define POOL_MOST 1024

struct pool;
/* `most`: 1..POOL_MOST. The texts of the options are copied; *stop must outlive the pool. NULL: memory. */
struct pool *pool_new(unsigned most, const struct fetch_options *o);
void pool_free(struct pool *p); /* all connections must be given back. NULL is fine */

/* NULL: none became free until `deadline_us` (clock_monotonic_us()), memory is out, or stop is true. */
struct fetch *pool_take(struct pool *p, int64_t deadline_us);
void pool_give(struct pool *p, struct fetch *f);
/* The number of connections in use. */
unsigned pool_busy(struct pool *p);

#endif
