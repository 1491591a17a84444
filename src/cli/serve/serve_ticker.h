/* A thread that calls app_tick() once a second, or sooner when that asks for it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_SERVE_TICKER_H
#define THORPE_CLI_SERVE_SERVE_TICKER_H

#include "app/app.h"

struct serve_ticker;

/* NULL when memory or threads are out. The apps outlive it. */
struct serve_ticker *serve_ticker_start(struct app *const *apps, size_t count);
/* Ticks a last time, with last = true, and ends. NULL is fine. */
void serve_ticker_stop(struct serve_ticker *t);

#endif
