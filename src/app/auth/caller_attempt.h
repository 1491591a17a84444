/* Attempts at a password, counted by the rules of throttle.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_CALLER_ATTEMPT_H
#define THORPE_APP_AUTH_CALLER_ATTEMPT_H

#include "app/auth/throttle.h"
#include "app/run/run.h"

/* As in throttle.h. The servers of a remote table count together, in that table; all others, and servers that cannot
 * reach the table, count for themselves. */
int caller_attempt_wait(struct run *r, const struct throttle_attempt *a);
int caller_attempt_begin(struct run *r, struct throttle_attempt *a);
void caller_attempt_passed(struct run *r, const struct throttle_attempt *a);
void caller_attempt_undo(struct run *r, const struct throttle_attempt *a);

#endif
