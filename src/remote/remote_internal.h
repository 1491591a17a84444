/* Shared by the files of remote/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_INTERNAL_H
#define THORPE_REMOTE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include "remote/credentials/keyring.h"
#include "remote/crew.h"
#include "remote/meter.h"
#include "remote/place.h"
#include "remote/pool.h"
#include "remote/remote.h"
#include "remote/repeat.h"
#include "remote/retry.h"
#include "wire/gzip.h"
#include "wire/sigv4.h"

/* constant after remote_open(), except members with their own locks */
struct remote {
	struct remote_options options; /* complete */
	struct endpoint database, streams;
	char region[PLACE_REGION];
	bool amazon; /* the endpoint is Amazon's own */
	struct pool *pool;
	struct keyring *keyring;
	struct meter *meter;
	struct retry_quota quota;
	struct crew *crew;
	pthread_mutex_t lent_lock;
	struct remote_backend *spare; /* for together.c: not in use */
	_Atomic int64_t skew_ms;      /* the service's clock minus ours, since it refused a signature for its time */
	_Atomic int64_t off_ms;       /* the same, by its replies: attempt.c */
	_Atomic int64_t asked_us;     /* the first call since the service answered last; 0: it answered */
	atomic_bool stop;
};

struct remote_backend {
	struct backend backend; /* first */
	struct remote *remote;
	struct credentials *credentials; /* those used last; NULL: none */
	uint64_t generation;             /* of the credentials that `cache` has keys of */
	struct sigv4_cache cache;
	struct gzip gzip;
	char label[REMOTE_LABEL];
	bool is_beside; /* its calls are made while another one's is waited for: no round trip of their own */
	struct remote_backend *next; /* spare */
};

/* ---- attempt.c: sending once ---- */

struct attempt {
	struct backend_reply reply; /* always filled, for lack of an answer with an error of remote.h */
	enum retry_kind kind;
	enum remote_trouble trouble; /* of every reply but 200 */
	bool maybe_done;             /* the service may have carried it out, and has not said so */
	int64_t retry_after_ms;      /* -1: not said */
	int64_t date_ms;             /* the service's clock; -1: not said */
};
/* With b->credentials. Memory that runs out leaves by arena.h A1, and nothing is lost by that. */
void attempt_make(struct remote_backend *b, struct arena *a, const struct repeat_plan *p, int64_t deadline_us,
		  struct attempt *t);

/* ---- together.c: the backend's execute_all ---- */
void remote_execute_all(struct backend *b, struct arena *a, const struct request *q, struct reply *replies, size_t n);

/* ---- call.c: the backend's call ---- */
void remote_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
		 struct backend_reply *reply);

#endif
