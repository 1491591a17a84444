/* Failed logins, remembered in memory, so that guessing becomes slow.
 *
 * After several failures in a row a name, and an address, waits 1, 2, 4… seconds, up to a quarter of an hour, before it may try
 * again: one attempt each time, however many come at once. An address may fail more often than a name, because many people
 * can share it. Of more than THROTTLE_MOST the one that failed longest ago is forgotten. Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_THROTTLE_H
#define THORPE_APP_THROTTLE_H

#include "base/slice.h"

#define THROTTLE_MOST 65536
#define THROTTLE_LONGEST_S 900

enum throttle_kind { THROTTLE_NAME /* waits after 5 failures */, THROTTLE_ADDRESS /* after 20 */ };

struct throttle;
struct throttle *throttle_new(void); /* NULL: memory */
void throttle_free(struct throttle *t);

/* Seconds until the next attempt is looked at; 0: this one is. An empty `who` is nobody and never waits. */
int throttle_wait(struct throttle *t, enum throttle_kind kind, struct slice who, int64_t now_ms);
void throttle_failed(struct throttle *t, enum throttle_kind kind, struct slice who, int64_t now_ms);
/* A name's failures are forgotten; an address's are not, or an account of one's own would be a way around them. */
void throttle_passed(struct throttle *t, enum throttle_kind kind, struct slice who, int64_t now_ms);
/* How many are remembered. */
size_t throttle_count(struct throttle *t);

/* What an address counts as: without its port, and of IPv6 the /64, since nobody has less. In `out`. */
struct slice throttle_address(struct slice address, char out[64]);

#endif
