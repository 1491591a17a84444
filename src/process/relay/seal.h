/* What servers of one table send one another: encrypted, and of this table's servers for certain.
 *
 * Form: 16 bytes salt, 12 bytes number, the text under AES-256-GCM, 16 bytes tag. The key is HMAC-SHA256 of the salt under a
 * key made of the servers' secret. A sender draws its salt once and counts: no key meets a number twice.
 *
 * `about` is not sent and must be the same at both ends: what the text is for.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_RELAY_SEAL_H
#define THORPE_PROCESS_RELAY_SEAL_H

#include <stdatomic.h>
#include "base/error.h"
#include "base/buf.h"

#define SEAL_KEY    32
#define SEAL_SALT   16
#define SEAL_NUMBER 12
#define SEAL_HEAD   (SEAL_SALT + SEAL_NUMBER)
#define SEAL_TAG    16

struct sealer {
	uint8_t key[SEAL_KEY];
	uint8_t salt[SEAL_SALT];
	_Atomic uint64_t number;
};

/* False: there is no randomness. */
bool sealer_init(struct sealer *s, struct slice secret) MUST_CHECK;
void sealer_release(struct sealer *s);

/* Any thread. Empty: it failed (OpenSSL). */
struct slice seal(struct sealer *s, struct arena *a, struct slice about, struct slice text);
/* False: damaged, of another table, or about something else. */
bool seal_open(const struct sealer *s, struct arena *a, struct slice about, struct slice sealed,
	       struct slice *text) MUST_CHECK;
/* Of a sealed text that has been opened: whose, and the how many-eth. */
struct slice seal_salt(struct slice sealed);
uint64_t seal_number(struct slice sealed);

#endif
