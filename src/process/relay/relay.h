/* Records of a shard, handed from the server that has its lease to the others.
 *
 * DynamoDB serves two readers of a shard well: the processors of the owner are one, its relay is the other. Live lists
 * of all servers read from the relay (relay_source()); what it cannot give they read from the stream themselves
 * (tail.h S7).
 *
 *     ring.h   the newest records of shards          page.h   an answer as bytes
 *     seal.h   what goes over the wire               peer.c   asking another server, and answering it
 *
 * Over the wire: POST http://<address>/relay/<design>, request and reply sealed under a key derived from the secret
 * that all servers of a table share. Callers without it get 403. The request is
 *     {"at": <ms>, "stream": …, "shard": …, "after": <sequence or "">, "look": true}
 * and the reply is bound to that request (its salt and number), so neither can be replayed.
 *
 * Invariants
 *   Y1  Leases only decide which server is asked. Records come from the stream, together with the position they
 *       follow, whichever server read them. A server that has lost its lease gives correct answers, or none.
 *   Y2  A server that does not answer within RELAY_TIMEOUT_MS, or answers nonsense, is not asked again for two
 *       seconds, then four, up to thirty. Meanwhile its shards are read from the stream.
 *   Y3  A request is answered once: the numbers of each sender (salt) rise, and `at` is within RELAY_SKEW_MS of this
 *       clock.
 *
 * Threads: relay_source()'s reading by one at a time; the rest by any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_RELAY_H
#define THORPE_PROCESS_RELAY_H

#include "app/app.h"
#include "process/lease.h"
#include "process/tail/tail.h"

#define RELAY_TIMEOUT_MS  2000
#define RELAY_SKEW_MS     (5 * 60 * 1000)
#define RELAY_PATH        "/relay"
#define RELAY_BODY_BYTES  8192              /* of a request */
#define RELAY_REPLY_BYTES (4 * 1024 * 1024) /* RING_PAGE and a record; a longer reply is refused */

struct relay; /* of one app */
/* `serves`: this server has an address that others reach it by. NULL: memory, or no randomness. App and leases outlive
 * it. */
struct relay *relay_new(struct app *app, struct leases *leases, bool serves);
void relay_free(struct relay *r); /* after the last read and request; NULL is fine */

/* For tails of live lists. */
struct tail_source *relay_source(struct relay *r);
/* Answers another server's request. The status: 200 with *reply, or 403. */
int relay_answer(struct relay *r, struct arena *a, struct slice body, struct slice *reply);
/* Frees what has not been used for a while. Call now and then. */
void relay_sweep(struct relay *r);
const struct design *relay_design(const struct relay *r);

struct relay_numbers {
	uint64_t taken;    /* pages from other servers */
	uint64_t given;    /* to them */
	uint64_t refused;  /* requests for shards that this server does not own */
	uint64_t fallback; /* readings from the stream because no server could answer */
};
struct relay_numbers relay_numbers(const struct relay *r);

#endif
