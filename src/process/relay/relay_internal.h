/* Inside of relay.h. For relay/ only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_RELAY_INTERNAL_H
#define THORPE_PROCESS_RELAY_INTERNAL_H

#include <pthread.h>
#include "process/relay/relay.h"
#include "process/relay/ring.h"
#include "process/relay/seal.h"
#include "fetch/fetch.h"

#define SENDERS_MOST 256 /* that are remembered (Y3) */
#define PEERS_MOST   64  /* with trouble (Y2) */

/* a server that has asked this one */
struct sender {
	uint8_t salt[SEAL_SALT];
	uint64_t number; /* the last */
	int64_t at_ms;   /* when; 0: free */
};

/* a server that this one cannot reach */
struct peer {
	char id[ULID_LENGTH + 1];
	int failures;
	int64_t next_us;
};

struct relay {
	struct tail_source source; /* first */
	struct app *app;
	struct leases *leases;
	bool serves;
	struct rings rings;
	struct sealer sealer;
	pthread_mutex_t asking; /* of the two below */
	struct fetch *fetch;    /* NULL: not asked yet */
	struct peer peers[PEERS_MOST];
	pthread_mutex_t answering; /* of the senders */
	struct sender senders[SENDERS_MOST];
	_Atomic uint64_t taken, given, refused, fallback;
};

/* ---- peer.c ---- */
/* The answer's bytes; empty: there is none (Y2). */
struct slice peer_ask(struct relay *y, struct run *r, const struct lease_owner *owner, const struct tail_ask *ask);

#endif
