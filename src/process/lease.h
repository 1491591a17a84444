/* Which server reads which shard, where several serve one table. Kept in <table>.thorpe, beside the positions:
 *
 *   PK      SK                   holds
 *   LEASE   server#<server>      beat: another text every LEASE_ROUND_MS while the server lives
 *   LEASE   shard#<shard id>     owner (a server; none: it is free), turn (another text with every owner)
 *
 * A server owns a shard until another takes it, which it may do when the owner's beat has not changed for LEASE_EXPIRE_MS of its
 * own clock, when there is no owner, or, one at a time, from a server that has more than its part. A server whose own beat could
 * not be written for that long owns nothing.
 *
 * Leases save work; they keep nothing right. A server that believes it owns a shard and does not moves no position: an effect
 * and its position are one transaction, on the condition that the position is where it was (checkpoint.h).
 *
 * Threads: lease_round() and lease_leave() by one; lease_is_mine() by any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LEASE_H
#define THORPE_PROCESS_LEASE_H

#include "process/tail/change.h"

#define LEASE_ROUND_MS 1500
#define LEASE_EXPIRE_MS 6000

struct leases;
struct leases *lease_new(int64_t now_ms); /* NULL: memory, or no randomness. A server of its own: nothing is known of earlier ones */
void lease_free(struct leases *l); /* NULL is fine */

/* Beats, looks at the others, takes what is due. `now_us`: of a clock that does not jump. False: run->problem; what is owned
 * stays so until it expires. */
bool lease_round(struct leases *l, struct run *r, const struct shard_list *shards, int64_t now_us) MUST_CHECK;
bool lease_is_mine(struct leases *l, struct slice shard, int64_t now_us);
/* Another may go on at once. Fails in silence: then they expire. */
void lease_leave(struct leases *l, struct run *r);

#endif
