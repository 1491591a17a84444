/* Which server reads which shard, where several serve one table. Kept in <table>.thorpe, beside the positions:
 *
 *   PK      SK                   holds
 *   LEASE   server#<server>      beat: another text every LEASE_ROUND_MS while the server lives; told (what it says of itself),
 *                                address (where other servers ask it for records, relay/relay.h; none: nowhere)
 *   LEASE   shard#<shard id>     owner (a server; none: it is free), turn (another text with every owner)
 *
 * A server owns a shard until another takes it, which it may do when the owner's beat has not changed for LEASE_EXPIRE_MS of its
 * own clock, when there is no owner, or, one at a time, from a server that has more than its part. A server whose own beat could
 * not be written for that long owns nothing.
 *
 * Leases save work; they keep nothing right. A server that believes it owns a shard and does not moves no position: an effect
 * and its position are one transaction, on the condition that the position is where it was (checkpoint.h).
 *
 * Threads: lease_tell(), lease_round() and lease_leave() by one; lease_is_mine(), lease_owner() and lease_view() by any.
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
	int64_t now_ms); /* NULL: memory, or no randomness. A server of its own: nothing is known of earlier ones */
void lease_free(struct leases *l); /* NULL is fine */

/* Beats, looks at the others, takes what is due. `now_us`: of a clock that does not jump. False: run->problem; what is owned
 * stays so until it expires. */
bool lease_round(struct leases *l, struct run *r, const struct shard_list *shards, int64_t now_us) MUST_CHECK;
bool lease_is_mine(struct leases *l, struct slice shard, int64_t now_us);
/* What the next beats tell the other servers of this one: a text of theirs, short (each kilobyte costs a write unit). False: memory;
 * the last one stays. */
bool lease_tell(struct leases *l, struct slice text) MUST_CHECK;

/* Where other servers reach this one: before the first round. False: memory. */
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
	char owner[ULID_LENGTH + 1]; /* empty: nobody is known to read it */
	bool closed;                 /* ends with what is in it */
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

/* Another may go on at once. Fails in silence: then they expire. */
void lease_leave(struct leases *l, struct run *r);

#endif
