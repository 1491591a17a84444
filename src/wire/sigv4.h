/* AWS Signature Version 4, what the signing and the verifying side share: a message becomes a signature.
 *
 * The message is described as it goes over the wire. Both sides must describe the same one: the path and the query as
 * sent, each header that is signed with the value as sent, the body as sent.
 *
 * Lifetime: results live in the arena. Memory that runs out leaves by arena.h A1.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_WIRE_SIGV4_H
#define THORPE_WIRE_SIGV4_H

#include "base/arena.h"
#include "wire/header.h"

#define SIGV4_ALGORITHM  "AWS4-HMAC-SHA256"
#define SIGV4_TERMINATOR "aws4_request"
#define SIGV4_HASH       32

struct sigv4_message {
	struct slice method;      /* "POST" */
	struct slice path, query; /* as sent; the query without its '?' */
	const struct http_header *headers;
	size_t header_count;         /* at least those that are signed */
	struct slice signed_headers; /* "host;x-amz-date": lower case, sorted */
	struct slice body;
	bool presigned; /* the query's X-Amz-Signature is no part of it */
};

struct sigv4_scope {
	struct slice date; /* 20150830 */
	struct slice region, service, terminator;
};

/* The keys derived from a secret change once a day: they are kept. Belongs to one thread; zero: empty. */
struct sigv4_cache {
	struct {
		char scope[160]; /* the credential: key id/date/region/service/terminator */
		uint8_t key[SIGV4_HASH];
	} entries[8];
	unsigned next;
};

/* To be called when the keys are others: a key may have got a new secret. */
void sigv4_forget(struct sigv4_cache *cache);

/* What is hashed. Not terminated. */
struct slice sigv4_canonical(struct arena *a, const struct sigv4_message *m);
/* 64 hexadecimal digits. `credential`: key id and scope, by which `cache` knows the derived key. `iso_date`:
 * 20150830T123600Z. */
struct slice sigv4_sign(struct arena *a, const struct sigv4_message *m, struct slice credential,
			const struct sigv4_scope *s, struct slice iso_date, struct slice secret,
			struct sigv4_cache *cache);

#endif
