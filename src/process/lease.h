/* Which server reads which shard, where several serve one table. Kept in <table>.thorpe, beside the positions:
 *
 *   PK      SK                   holds
 *   LEASE   server#<server>      beat: another text every LEASE_ROUND_MS while the server lives; told (its report to
 *                                other servers), address (where they ask it for records, relay/relay.h; missing:
 *                                nowhere)
 *   LEASE   shard#<shard id>     owner (a server; missing: free), turn (another text with every owner)
 *
 * A server owns a shard until another server takes it. That may happen if the shard has no owner; if the owner's beat
 * has not changed for LEASE_EXPIRE_MS by the other server's clock; or, one shard at a time, if the owner has more
 * than its part. A server that could not write its own beat for that long owns nothing.
 *
 * Leases only save work; correctness does not depend on them. A server that wrongly believes it owns a shard cannot
 * move a position: an effect and its position are one transaction, on the condition that the position is unchanged
 * (checkpoint.h).
 *
 * Threads: lease_tell(), lease_round() and lease_leave() by one; lease_is_mine(), lease_owner() and lease_view() by
 * any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_LEASE_H
#define THORPE_PROCESS_LEASE_H

#include <stdatomic.h>
#include "base/ulid.h"
#include "process/tail/change.h"

#define LEASE_ROUND_MS  1500
#define LEASE_EXPIRE_MS 6000

struct leases;
struct leases *lease_new(
	int64_t now_ms); /* NULL: memory, or no randomness. Each start is a new server: it knows nothing of earlier ones */
void lease_free(struct leases *l); /* NULL is fine */

/* One round: writes the beat, reads the other servers' beats, takes shards that are due. `now_us`: of a clock that
 * never jumps. False: run->problem; shards stay owned until they expire. */
bool lease_round(struct leases *l, struct run *r, const struct shard_list *shards, int64_t now_us) MUST_CHECK;
bool lease_is_mine(struct leases *l, struct slice shard, int64_t now_us);
/* Sets the text that the next beats carry to other servers; keep it short, each kilobyte costs a write unit. False:
 * memory; the previous text stays. */
bool lease_tell(struct leases *l, struct slice text) MUST_CHECK;

/* Sets the address where other servers reach this one. Call before the first round. False: memory. */
bool lease_set_address(struct leases *l, const char *address) MUST_CHECK;
/* The server that reads a shard, as of the last round, and its address. False: none is known. */
#define LEASE_ADDRESS_ROOM 128
struct lease_owner {
	char id[ULID_LENGTH + 1];
	char address[LEASE_ADDRESS_ROOM]; /* empty: nowhere */
	bool is_this;
};
bool lease_owner(struct leases *l, struct slice shard, int64_t now_us, struct lease_owner *out) MUST_CHECK;

/* What the last round has seen: all shards, and all servers that live. */
#define LEASE_SHARD_ROOM 72 /* DynamoDB's ids have 65 characters at most */
struct lease_shard {
	char id[LEASE_SHARD_ROOM];
	char owner[ULID_LENGTH + 1]; /* empty: no owner is known */
	bool closed;                 /* gets no more records */
};
struct lease_server {
	char id[ULID_LENGTH + 1];
	bool is_this;
	const char *told; /* at its last beat; empty: nothing */
	char address[LEASE_ADDRESS_ROOM];
};
struct lease_view {
	atomic_uint refs;
	size_t shard_count, server_count;
	struct lease_shard *shards;
	struct lease_server *servers;
};
struct lease_view *lease_view(struct leases *l); /* with a reference of the caller's; NULL: there is none yet */
void lease_view_unref(struct lease_view *v);     /* NULL is fine */

/* Gives up all leases, so that other servers can go on at once. Ignores errors: the leases expire anyway. */
void lease_leave(struct leases *l, struct run *r);

#endif
