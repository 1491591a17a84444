/* AWS Signature Version 4, shared by the signing and the verifying side: computes a message's signature.
 *
 * Both sides must describe the message exactly as sent: the path and the query, the value of each signed header,
 * and the body.
 *
 * Lifetime: results live in the arena. Running out of memory leaves by arena.h A1.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_WIRE_SIGV4_H
#define THORPE_WIRE_SIGV4_H

#include "base/arena.h"
#include "wire/header.h"

#define SIGV4_ALGORITHM  "AWS4-HMAC-SHA256"
#define SIGV4_TERMINATOR "aws4_request"
#define SIGV4_HASH       32
#define SIGV4_UNSIGNED   "UNSIGNED-PAYLOAD" /* S3: the signature does not cover the body */

struct sigv4_message {
	struct slice method;      /* "POST" */
	struct slice path, query; /* as sent; the query without its '?' */
	const struct http_header *headers;
	size_t header_count;         /* at least the signed ones */
	struct slice signed_headers; /* "host;x-amz-date": lower case, sorted */
	struct slice body;
	struct slice payload; /* stands for the body's hash; empty: it is computed */
	bool presigned;       /* exclude the query's X-Amz-Signature */
};

struct sigv4_scope {
	struct slice date; /* 20150830 */
	struct slice region, service, terminator;
};

struct sigv4_key {
	struct slice credential; /* key id and scope, which name the derived key in a cache */
	struct slice secret;
};

/* Caches the keys derived from a secret, which change once a day. Belongs to one thread; zero: empty. */
struct sigv4_cache {
	struct {
		char scope[160]; /* the credential: key id/date/region/service/terminator */
		uint8_t key[SIGV4_HASH];
	} entries[8];
	unsigned next;
};

/* A time as signatures have it, in seconds since 1970: 20150830T123600Z. */
struct slice sigv4_time(struct arena *a, int64_t seconds);
/* Call when the keys change: a key may have a new secret. */
void sigv4_forget(struct sigv4_cache *cache);

/* The text to hash. Not terminated. */
struct slice sigv4_canonical(struct arena *a, const struct sigv4_message *m);
/* 64 hexadecimal digits. `iso_date`: sigv4_time(). */
struct slice sigv4_sign(struct arena *a, const struct sigv4_message *m, const struct sigv4_key *key,
			const struct sigv4_scope *s, struct slice iso_date, struct sigv4_cache *cache);

#endif
