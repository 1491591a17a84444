/* Decodes and compares user and password.
 * SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "http/door/basic.h"

#define SCHEME    "Basic "
#define TEXT_MOST 1024 /* in base64; key and secret of AWS are 61 characters together */

bool basic_is_present(struct slice authorization)
{
	return authorization.n >= sizeof(SCHEME) - 1 && !strncasecmp(authorization.p, SCHEME, sizeof(SCHEME) - 1);
}

bool basic_is_confidential(bool tls, struct slice peer)
{
	return tls || slice_starts(peer, SLICE("127.")) || slice_is(peer, "::1") ||
	       slice_starts(peer, SLICE("::ffff:127."));
}

/* The number of bytes that the padding stands for. */
static size_t padding_of(struct slice text)
{
	size_t n = 0;

	while (n < 2 && n < text.n && text.p[text.n - 1 - n] == '=')
		n++;
	return n;
}

/* Into `out`; 0: not base64, or nothing. */
static size_t decode(struct slice text, uint8_t out[TEXT_MOST])
{
	int n;

	if (!text.n || text.n > TEXT_MOST || text.n % 4)
		return 0;
	n = EVP_DecodeBlock(out, (const uint8_t *)text.p, (int)text.n);
	return n < 0 ? 0 : (size_t)n - padding_of(text);
}

bool basic_verify(struct slice authorization, const struct keys *keys)
{
	size_t skip = sizeof(SCHEME) - 1, n;
	uint8_t text[TEXT_MOST];
	struct slice secret, given;
	const uint8_t *colon;
	bool same;

	n = decode(slice_make(authorization.p + skip, authorization.n - skip), text);
	colon = n ? memchr(text, ':', n) : NULL;
	if (!colon)
		return false;
	secret = keys_secret(keys, slice_make((const char *)text, (size_t)(colon - text)));
	given = slice_make((const char *)colon + 1, n - (size_t)(colon - text) - 1);
	same = secret.p && secret.n == given.n && !CRYPTO_memcmp(secret.p, given.p, given.n);
	OPENSSL_cleanse(text, sizeof(text));
	return same;
}
