/* AWS Signature Version 4, the server's side: Authorization header and presigned query. wire/sigv4.h has the part
 * shared with clients.
 *
 * The checks come in DynamoDB's order and with its texts:
 *     both forms at once, no form at all, parameters missing                  sigv4_parse()
 *     date unreadable, expired or early; Host not signed; algorithm;
 *     credential scope; key unknown; signature wrong                          sigv4_verify()
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_HTTP_DOOR_SIGV4_H
#define THORPE_HTTP_DOOR_SIGV4_H

#include "base/error.h"
#include "http/door/keys.h"
#include "http/parse/request.h"
#include "wire/sigv4.h"

#define SIGV4_SKEW_S (15 * 60)

struct sigv4 {
	bool presigned;
	struct slice algorithm, credential, signed_headers, signature;
	struct slice date;    /* X-Amz-Date, or else Date */
	struct slice expires; /* presigned: X-Amz-Expires; may be absent */
	/* Parts of the credential, set by sigv4_verify(): */
	struct slice key_id, scope_date, region, service, terminator;
	struct slice iso_date; /* 20150830T123600Z */
};

/* Whether the request carries a signature of either form. */
bool sigv4_is_present(const struct http_request *r);
/* Errors: MISSING_AUTH_TOKEN, INVALID_SIGNATURE (both forms), INCOMPLETE_SIGNATURE. */
bool sigv4_parse(const struct http_request *r, struct sigv4 *s, struct error *e) MUST_CHECK;
/* Parses and verifies; `region` is the server's. Errors: as above, and UNRECOGNIZED_CLIENT. */
bool sigv4_verify(const struct http_request *r, const struct keys *keys, struct slice region, struct sigv4_cache *cache,
		  int64_t now_ms, struct error *e) MUST_CHECK;
/* The same except for the signature itself, which covers the body: for use before the body has arrived. */
bool sigv4_check_head(const struct http_request *r, const struct keys *keys, struct slice region, int64_t now_ms,
		      struct error *e) MUST_CHECK;
/* The pieces, for tests. */
struct slice sigv4_canonical_request(const struct http_request *r, const struct sigv4 *s);
/* 64 hexadecimal digits in the request's arena; needs the credential's parts and iso_date. */
struct slice sigv4_signature(const struct http_request *r, const struct sigv4 *s, struct slice secret,
			     struct sigv4_cache *cache);

#endif
