/* The credentials of a client, found when they are first needed and renewed before they end.
 *
 * Invariants
 *   K1  Credentials that are handed out do not change. They live until the last holder has given them back.
 *   K2  One thread at a time looks for new ones. While the old ones are valid the others go on with them; when they
 *       are not, the others wait.
 *   K3  Renewal begins 15 minutes before the end, or when a quarter of the lifetime is left, whichever is later.
 *       Failing that, it is tried once a minute, and when they end, with a warning in the log; the old ones serve
 *       until then.
 *   K4  A failure is remembered for a second, so that many threads do not ask a broken service each for itself.
 *   K5  Memory that held a secret is wiped before it is freed, but for that of the arena used while looking.
 *
 * Threads: any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_CREDENTIALS_KEYRING_H
#define THORPE_REMOTE_CREDENTIALS_KEYRING_H

#include <stdatomic.h>
#include "base/clock.h"
#include "fetch/fetch.h"
#include "remote/settings.h"

struct credentials {
	char *id, *secret, *token;    /* token: NULL: none */
	char *source;                 /* for messages: "the profile 'work' in …" */
	int64_t found_ms, expires_ms; /* expires: 0: never */
	uint64_t generation;          /* another one for each renewal */
	atomic_uint holders;
};
void credentials_give(struct credentials *c); /* NULL is fine */

struct keyring_options {
	const struct settings_env *env; /* NULL: the process's. Read anew, as the files are, whenever credentials are looked for */
	const struct clock *clock;
	const char *region;    /* copied */
	const char *ca_bundle; /* copied; NULL: the system's */
	bool local; /* the endpoint is on this machine: the variables, a profile if AWS_PROFILE names one, or else made up
			  * credentials, which a Thorpe or a DynamoDB Local takes */
	const atomic_bool *stop; /* NULL: none */
};
struct keyring;
struct keyring *keyring_new(const struct keyring_options *o); /* NULL: memory */
void keyring_free(struct keyring *k);                         /* everything has been given back. NULL is fine */

/* Sets *mine (NULL at first) to the credentials to use now and releases the previous ones. False with a sentence in
 * `why`: there are none, or none came until `deadline_us` (clock_monotonic_us()); *mine is NULL then. */
bool keyring_get(struct keyring *k, struct credentials **mine, int64_t deadline_us, char *why, size_t n);
/* The service refuses these: the next keyring_get() looks for others. False: they were found a moment ago, so looking
 * again would give the same. */
bool keyring_spoil(struct keyring *k, const struct credentials *c);
uint64_t keyring_renewals(struct keyring *k);

#endif
