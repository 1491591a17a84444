/* Failed logins, counted in memory (servers that share a table count there: caller_attempt.c). Guessing becomes slow,
 * and the guesses of others lock no one out.
 *
 * An attempt is a name and an address (of IPv6 the /64). These rules decide whether its password is compared:
 *
 *   R1  A pair of name and address has 5 free failures. Then it waits 1, 2, 4… seconds, up to a quarter of an hour,
 *       from one attempt to the next. A success clears it. Failures at other addresses do not count here: by this
 *       rule an attacker elsewhere does not slow the owner.
 *   R2  A pair that had a success within 30 days is known. Only its own failures make it wait, and never more than 15
 *       seconds. A neighbour at the same address (an office, a provider's gateway) who guesses at the same name cannot
 *       be distinguished from the owner before the password is compared: the two share these attempts.
 *   R3  An address that fails with many names is slowed: 100 failures, then one every 5 seconds. Known pairs are
 *       exempt. (One guess at each of many names stays below R1.)
 *   R4  A name with more than 50 recent failures, from any addresses, is under attack; one failure is forgotten every
 *       72 seconds. Unknown addresses then have no free failures: each network (IPv4 /24, IPv6 /48) has one attempt,
 *       and after a failure waits 1, 2, 4… minutes, up to a quarter of an hour. Known pairs are exempt. So distributed
 *       guessing is bounded by the number of the attacker's networks, some 5 attempts an hour each. Strangers share no
 *       common limit: an attacker who keeps at that limit would lock the owner out of every new address. The first
 *       attempt from a new network is always compared.
 *
 * An attempt counts as a failure from its beginning, so that a thousand at once are not a thousand guesses:
 *
 *     throttle_begin()     0: compare the password, and then
 *     throttle_passed()    it was right; or
 *     throttle_undo()      it could not be compared (the database failed); or nothing: it was wrong
 *
 * Memory: four tables of fixed size, 5 MB at most. A new entry replaces the one with the fewest failures, the oldest
 * of those: a flood of single failures replaces its own kind, not entries that have failed often. Known pairs have
 * their own table, which only right passwords fill. Keys are salted digests: no name is kept, and no client can aim at
 * the entry of another.
 * Any thread.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_AUTH_THROTTLE_H
#define THORPE_APP_AUTH_THROTTLE_H

#include "base/slice.h"

#define THROTTLE_LONGEST_S       900
#define THROTTLE_KNOWN_LONGEST_S 15
#define THROTTLE_PAIRS           65536 /* entries; the other tables have fewer */

struct throttle;
struct throttle *throttle_new(void); /* NULL: out of memory */
void throttle_free(struct throttle *t);

struct throttle_attempt {
	struct slice name;    /* empty: never waits */
	struct slice address; /* as text, without its port; empty: none, and only R1 applies */
	bool is_shared;       /* caller_attempt_begin() counted it for all servers, not here */
};

/* Seconds until the next attempt is allowed; 0: now. Changes nothing. */
int throttle_wait(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms);
/* The same; 0: the attempt has begun, and counts as a failure. */
int throttle_begin(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms);
/* Takes the failure back, clears the pair, and makes it known. Other failures of the address and the name stay. */
void throttle_passed(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms);
void throttle_undo(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms);
/* How many entries are in use. */
size_t throttle_count(struct throttle *t);

#endif
