/* Messages between the servers of a table: encrypted and authenticated.
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
/* The sender's salt and the message's number, of a text that has been opened. */
struct slice seal_salt(struct slice sealed);
uint64_t seal_number(struct slice sealed);

#endif
