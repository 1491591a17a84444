/* Looking for credentials: one function for each place where they may be, asked in botocore's order.
 *
 *     environment · role of the profile · web identity · SSO · credentials file · login · process · config file ·
 *     container · instance
 *
 * A source that is not configured finds nothing, and the next one is asked. A source that is configured but fails
 * ends the search: the next one's credentials could be for another identity.
 *
 * Invariants
 *   L1  `why` and `looked` hold no secret: neither keys nor tokens, nor what a service or a program answered.
 *
 * Lifetime: everything found is in the lookup's arena. Memory that runs out leaves by arena.h A1.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_CREDENTIALS_LOOKUP_H
#define THORPE_REMOTE_CREDENTIALS_LOOKUP_H

#include <openssl/evp.h>
#include <stdatomic.h>
#include "base/buf.h"
#include "base/clock.h"
#include "json/json.h"
#include "fetch/fetch.h"
#include "remote/place.h"
#include "remote/settings.h"

enum found { FOUND_NOTHING, FOUND_KEYS, FOUND_TROUBLE };

struct found_keys {
	const char *id, *secret;
	const char *token;  /* NULL: none */
	int64_t expires_ms; /* 0: never */
	const char *source; /* "the environment", "profile work" */
};

struct lookup {
	struct arena *arena;
	const struct settings *settings;
	const struct clock *clock;
	const char *region;      /* the client's; "" */
	struct fetch *fetch;     /* for services of the internet */
	struct fetch *direct;    /* for those of this machine and its host: past any proxy */
	bool local_only;         /* neither container nor instance */
	const atomic_bool *stop; /* NULL: none */
	struct buf looked;       /* where nothing was found, in words */
	struct slice why;        /* of FOUND_TROUBLE: a sentence that says what to do */
};

/* Initialises looked and why; the rest is the caller's. */
void lookup_init(struct lookup *l);
enum found lookup_all(struct lookup *l, struct found_keys *k);
/* What a profile has by itself, without its role: web identity, SSO, files, login, process. */
enum found lookup_profile(struct lookup *l, const char *profile, struct found_keys *k);

/* ---- the sources ---- */
enum found lookup_environment(struct lookup *l, struct found_keys *k);
enum found lookup_role(struct lookup *l, const char *profile, struct found_keys *k);
/* `with_env`: the variables count, too. */
enum found lookup_web_identity(struct lookup *l, const char *profile, bool with_env, struct found_keys *k);
enum found lookup_sso(struct lookup *l, const char *profile, struct found_keys *k);
enum found lookup_file(struct lookup *l, const char *profile, enum settings_file where, struct found_keys *k);
enum found lookup_login(struct lookup *l, const char *profile, struct found_keys *k);
enum found lookup_process(struct lookup *l, const char *profile, struct found_keys *k);
enum found lookup_container(struct lookup *l, struct found_keys *k);
enum found lookup_instance(struct lookup *l, struct found_keys *k);
/* The region of the instance this runs on, or NULL. */
const char *lookup_instance_region(struct lookup *l);

/* ---- what they share ---- */

/* Sets `why`, and is FOUND_TROUBLE. */
enum found lookup_trouble(struct lookup *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a place to `looked`, and is FOUND_NOTHING. */
enum found lookup_nothing(struct lookup *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct lookup_ask {
	struct fetch *with;
	const char *method, *url;
	const char *const *headers;
	struct slice body;
	long timeout_ms;   /* of one attempt */
	unsigned attempts; /* when there is no answer, or 5xx, or 429 */
};
struct lookup_answer {
	int status;       /* 0: none, and `why` is a clause */
	const char *text; /* NUL-terminated */
	const char *why;
};
void lookup_ask(struct lookup *l, const struct lookup_ask *q, struct lookup_answer *r);
/* The value of a key of the profile, in either file; NULL: none. */
const char *lookup_setting(struct lookup *l, const char *profile, const char *key);
/* The text of a member; NULL: there is none, or it is empty. */
const char *lookup_text(struct lookup *l, const struct json *obj, const char *name);
/* Reads the members in the answers of containers, instances and programs. False: some are missing. */
bool lookup_read_keys(struct lookup *l, const struct json *j, const char *token_name, struct found_keys *k);
const char *lookup_print(struct lookup *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The path where AWS's tools cache data of a name: DIRECTORY/hash of the name.json. A directory may begin with ~. */
const char *lookup_cache_file(struct lookup *l, const char *directory, const char *name, const EVP_MD *hash);

#endif
