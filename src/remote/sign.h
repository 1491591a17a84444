/* Headers of a signed POST.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_SIGN_H
#define THORPE_REMOTE_SIGN_H

#include "remote/place.h"
#include "wire/sigv4.h"

struct sign_ask {
	const struct endpoint *endpoint;
	const char *region, *service; /* "dynamodb", of streams, too */
	const char *content_type;
	const char *target; /* X-Amz-Target; NULL: none */
	struct slice body;
	int64_t now_ms; /* as the service's clock has it */
	const char *id, *secret;
	const char *token;         /* NULL: none; else it is signed with the rest */
	bool gzip;                 /* Accept-Encoding */
	struct sigv4_cache *cache; /* the caller clears it when the secret changes */
};
/* "Name: value", NULL at the end, for fetch.h; in the arena. Memory that runs out leaves by arena.h A1. */
const char *const *sign_headers(struct arena *a, const struct sign_ask *s);

#endif
