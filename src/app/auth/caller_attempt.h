/* Attempts at a password, counted: throttle.h says how many failures are too many.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_CALLER_ATTEMPT_H
#define THORPE_APP_AUTH_CALLER_ATTEMPT_H

#include "app/auth/throttle.h"
#include "app/run/run.h"

/* throttle.h, counted for all servers of a table at an address: caller_attempt.c. Elsewhere, and while that table cannot be
 * reached, by this server. */
int caller_attempt_wait(struct run *r, const struct throttle_attempt *a);
int caller_attempt_begin(struct run *r, struct throttle_attempt *a);
void caller_attempt_passed(struct run *r, const struct throttle_attempt *a);
void caller_attempt_undo(struct run *r, const struct throttle_attempt *a);

#endif
