/* Verifies a signature: date, scope, key, and the signature itself in constant time.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <time.h>

#include <openssl/crypto.h>

#include "http/door/sigv4.h"

#define ALGORITHM    SIGV4_ALGORITHM
#define SERVICE      "dynamodb"
#define TERMINATOR   SIGV4_TERMINATOR
#define ISO_LENGTH   16     /* 20150830T123600Z */
#define EXPIRES_MOST 604800 /* a week, as AWS allows */

static struct sigv4_message message_of(const struct http_request *r, const struct sigv4 *s)
{
	return (struct sigv4_message){
		.method = slice_str(http_method_str(r->method)),
		.path = r->path,
		.query = r->query,
		.headers = r->headers,
		.header_count = r->header_count,
		.signed_headers = s->signed_headers,
		.body = r->body,
		.presigned = s->presigned,
	};
}

struct slice sigv4_canonical_request(const struct http_request *r, const struct sigv4 *s)
{
	struct sigv4_message m = message_of(r, s);

	return sigv4_canonical(r->arena, &m);
}

struct slice sigv4_signature(const struct http_request *r, const struct sigv4 *s, struct slice secret,
			     struct sigv4_cache *cache)
{
	struct sigv4_message m = message_of(r, s);
	struct sigv4_scope scope = { s->scope_date, s->region, s->service, s->terminator };
	struct sigv4_key key = { s->credential, secret };

	return sigv4_sign(r->arena, &m, &key, &scope, s->iso_date, cache);
}

/* ---- the checks before it, in DynamoDB's order ---- */

/* ISO 8601's basic form, or the form of HTTP's Date header. */
static bool read_date(struct arena *a, struct slice text, time_t *t)
{
	char *cstr = arena_cstr(a, text);
	struct tm tm = { 0 };
	const char *end = NULL;

	if (text.n == ISO_LENGTH)
		end = strptime(cstr, "%Y%m%dT%H%M%SZ", &tm);
	else if (memchr(text.p, ',', text.n))
		end = strptime(cstr, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	if (!end || *end)
		return false;
	*t = timegm(&tm);
	return true;
}

static bool read_expires(const struct sigv4 *s, long *seconds)
{
	*seconds = SIGV4_SKEW_S;
	if (!s->expires.n)
		return true;
	*seconds = 0;
	for (size_t i = 0; i < s->expires.n; i++) {
		if (s->expires.p[i] < '0' || s->expires.p[i] > '9' || *seconds > EXPIRES_MOST)
			return false;
		*seconds = *seconds * 10 + (s->expires.p[i] - '0');
	}
	return *seconds > 0 && *seconds <= EXPIRES_MOST;
}

static bool check_date(struct arena *a, struct sigv4 *s, time_t now, struct error *e)
{
	time_t signed_at;
	long lifetime;

	if (!read_date(a, s->date, &signed_at))
		return error_set(e, a, ERR_INCOMPLETE_SIGNATURE,
				 "Date must be in ISO-8601 'basic format'. Got '%.*s'. "
				 "See http://en.wikipedia.org/wiki/ISO_8601",
				 SLICE_ARG(s->date));
	s->iso_date = sigv4_time(a, signed_at);
	if (!read_expires(s, &lifetime))
		return error_set(e, a, ERR_INCOMPLETE_SIGNATURE, "X-Amz-Expires must be a number of seconds up to %d",
				 EXPIRES_MOST);
	if (signed_at + lifetime < now)
		return error_set(e, a, ERR_INVALID_SIGNATURE,
				 "Signature expired: %.*s is now earlier than %.*s (%.*s - %ld min.)",
				 SLICE_ARG(s->iso_date), SLICE_ARG(sigv4_time(a, now - lifetime)),
				 SLICE_ARG(sigv4_time(a, now)), lifetime / 60);
	if (signed_at > now + SIGV4_SKEW_S)
		return error_set(e, a, ERR_INVALID_SIGNATURE,
				 "Signature not yet current: %.*s is still later than %.*s "
				 "(%.*s + 15 min.)",
				 SLICE_ARG(s->iso_date), SLICE_ARG(sigv4_time(a, now + SIGV4_SKEW_S)),
				 SLICE_ARG(sigv4_time(a, now)));
	return true;
}

static bool is_signed(const struct sigv4 *s, struct slice name)
{
	struct slice rest = s->signed_headers, header;

	while (slice_next(&rest, ';', &header))
		if (slice_equal(header, name))
			return true;
	return false;
}

/* Headers that determine the request's meaning must be signed, so that they cannot be changed in transit. */
static bool check_signed_headers(const struct http_request *r, const struct sigv4 *s, struct error *e)
{
	if (!is_signed(s, SLICE("host")))
		return error_set(e, r->arena, ERR_INVALID_SIGNATURE,
				 "'Host' must be a 'SignedHeader' in the AWS Authorization.");
	if (request_header(r, SLICE("x-amz-target")).p && !is_signed(s, SLICE("x-amz-target")))
		return error_set(e, r->arena, ERR_INVALID_SIGNATURE,
				 "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.");
	return true;
}

static bool split_credential(struct arena *a, struct sigv4 *s, struct error *e)
{
	struct slice *const parts[] = { &s->key_id, &s->scope_date, &s->region, &s->service, &s->terminator };
	struct slice rest = s->credential, part;
	size_t n = 0;

	while (rest.n && rest.p[rest.n - 1] == '/')
		rest.n--;
	for (; slice_next(&rest, '/', &part); n++)
		if (n < 5)
			*parts[n] = part;
	if (n == 5)
		return true;
	return error_set(e, a, ERR_INCOMPLETE_SIGNATURE,
			 "Credential must have exactly 5 slash-delimited elements, e.g. "
			 "keyid/date/region/service/term, got '%.*s'",
			 SLICE_ARG(s->credential));
}

static bool check_scope(struct arena *a, const struct sigv4 *s, struct slice region, struct error *e)
{
	struct slice day = slice_make(s->iso_date.p, 8);
	struct buf wrong;

	buf_init(&wrong, a);
	if (!slice_equal(s->region, region))
		buf_printf(&wrong, "Credential should be scoped to a valid region, not '%.*s'. ", SLICE_ARG(s->region));
	if (!slice_is(s->service, SERVICE))
		buf_lit(&wrong, "Credential should be scoped to correct service: '" SERVICE "'. ");
	if (!slice_is(s->terminator, TERMINATOR))
		buf_printf(&wrong, "Credential should be scoped with a valid terminator: '" TERMINATOR "', not '%.*s'. ",
			   SLICE_ARG(s->terminator));
	if (!slice_equal(s->scope_date, day))
		buf_printf(&wrong,
			   "Date in Credential scope does not match YYYYMMDD from ISO-8601 "
			   "version of date from HTTP: '%.*s' != '%.*s', from '%.*s'.",
			   SLICE_ARG(s->scope_date), SLICE_ARG(day), SLICE_ARG(s->iso_date));
	if (!wrong.n)
		return true;
	return error_set(e, a, ERR_INVALID_SIGNATURE, "%.*s", SLICE_ARG(buf_slice(&wrong)));
}

static bool check_algorithm(struct arena *a, const struct sigv4 *s, struct error *e)
{
	return slice_is(s->algorithm, ALGORITHM) ||
	       error_set(e, a, ERR_INCOMPLETE_SIGNATURE,
			 "Unsupported AWS 'algorithm': '%.*s' (only " ALGORITHM " for now). ", SLICE_ARG(s->algorithm));
}

/* Checks everything but the signature itself. Returns the client's secret, or NULL bytes with the error set. */
static struct slice check_claims(const struct http_request *r, const struct keys *keys, struct slice region,
				 int64_t now_ms, struct sigv4 *s, struct error *e)
{
	struct arena *a = r->arena;
	struct slice secret = { 0 };

	if (!sigv4_parse(r, s, e) || !check_date(a, s, (time_t)(now_ms / 1000), e) || !check_signed_headers(r, s, e) ||
	    !check_algorithm(a, s, e) || !split_credential(a, s, e) || !check_scope(a, s, region, e))
		return secret;
	secret = keys_secret(keys, s->key_id);
	if (!secret.p)
		(void)!error_set(e, a, ERR_UNRECOGNIZED_CLIENT,
				 "The security token included in the request is invalid.");
	return secret;
}

bool sigv4_check_head(const struct http_request *r, const struct keys *keys, struct slice region, int64_t now_ms,
		      struct error *e)
{
	struct sigv4 s;

	return check_claims(r, keys, region, now_ms, &s, e).p;
}

bool sigv4_verify(const struct http_request *r, const struct keys *keys, struct slice region, struct sigv4_cache *cache,
		  int64_t now_ms, struct error *e)
{
	struct slice secret, expected;
	struct sigv4 s;

	secret = check_claims(r, keys, region, now_ms, &s, e);
	if (!secret.p)
		return false;
	expected = sigv4_signature(r, &s, secret, cache);
	if (s.signature.n != expected.n || CRYPTO_memcmp(s.signature.p, expected.p, expected.n))
		return error_set(e, r->arena, ERR_INVALID_SIGNATURE,
				 "The request signature we calculated does not match the signature you "
				 "provided. Check your AWS Secret Access Key and signing method. "
				 "Consult the service documentation for details.");
	return true;
}
