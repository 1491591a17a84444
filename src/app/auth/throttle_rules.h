/* The rules of throttle.h for the levels of one attempt, wherever these are stored.
 *
 * Invariants
 *   T1  A level of 0 means no entry.
 *   T2  A level is the number of failures at `at_ms`; after that it falls by the rule of its kind. A known pair has 1.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_THROTTLE_RULES_H
#define THORPE_APP_AUTH_THROTTLE_RULES_H

#include "app/auth/throttle.h"
#include "base/error.h"

#define THROTTLE_KEY_BYTES  16
#define THROTTLE_SALT_BYTES 16

enum throttle_kind { THROTTLE_PAIR, THROTTLE_NETWORK, THROTTLE_ADDRESS, THROTTLE_NAME, THROTTLE_KNOWN, THROTTLE_KINDS };

/* Salted digests of all that an attempt counts for. */
struct throttle_keys {
	uint8_t of[THROTTLE_KINDS][THROTTLE_KEY_BYTES];
	bool has_address;
};
/* False: the attempt is not counted: it has no name, or a digest failed. */
bool throttle_make_keys(const uint8_t salt[THROTTLE_SALT_BYTES], const struct throttle_attempt *a,
			struct throttle_keys *k) MUST_CHECK;

struct throttle_level {
	int64_t at_ms;
	double level; /* T1, T2 */
};
struct throttle_levels {
	struct throttle_level of[THROTTLE_KINDS];
	bool has_address;
};

/* The level now; a clock that was set back has not moved. */
double throttle_level_now(const struct throttle_level *l, enum throttle_kind kind, int64_t now_ms);
/* When it falls to 0. */
int64_t throttle_level_ends(const struct throttle_level *l, enum throttle_kind kind);
/* Milliseconds until the next attempt is allowed. */
int64_t throttle_levels_wait(const struct throttle_levels *l, int64_t now_ms);
/* One failure more (1), or one taken back (-1). */
void throttle_levels_count(struct throttle_levels *l, double n, int64_t now_ms);
/* A success: takes the failure back, clears the pair, and makes it known. */
void throttle_levels_pass(struct throttle_levels *l, int64_t now_ms);
/* Milliseconds as the seconds of Retry-After. */
int throttle_seconds(int64_t ms);

/* ---- the levels in memory (caller_throttle.c), for decisions made elsewhere ---- */
/* Remembers a decision, to continue from it when decisions can no longer be made elsewhere. */
void throttle_learn(struct throttle *t, const struct throttle_attempt *a, const struct throttle_levels *l,
		    int64_t now_ms);

#endif
