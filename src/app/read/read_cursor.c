/* Cursors: a place, encrypted and signed, and bound to a pattern with its parameters.
 *
 *   OFFSET SIZE  MEANING
 *   0      16    tag
 *   16     n     AES-256-SIV (RFC 5297) of: 1 byte 0 or 1, then the payload; with 1 be32 of its size, then deflated
 * All of it in base64url without padding. What is signed along: the design's name, the pattern's, the parameters given.
 *
 * SIV needs no nonce: the same place of the same list always has the same cursor, so that a page has the same ETag each time and one
 * address at which caches can share it. What that tells: whether two cursors are the same place, which whoever has both can see anyway.
 * SPDX-License-Identifier: Apache-2.0 */
#include <libdeflate.h>
#include <openssl/evp.h>
#include <pthread.h>
#include "app/run/state.h"
#include "app/read/read_internal.h"
#include "value/base64.h"

#define TAG             16
#define CURSOR_MOST     (256 * 1024)
#define WORTH_DEFLATING 256

/* Looked up once, for that takes as long as the rest together; never freed. */
static const EVP_CIPHER *siv;

static void find_siv(void)
{
	siv = EVP_CIPHER_fetch(NULL, "AES-256-SIV", NULL);
}

static const EVP_CIPHER *cipher(struct run *r)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_siv);
	if (!siv)
		arena_out_of_memory(r->arena); /* OpenSSL 3 has it */
	return siv;
}

static void release_cipher(void *ctx)
{
	EVP_CIPHER_CTX_free(ctx);
}

static EVP_CIPHER_CTX *cipher_new(struct run *r)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();

	if (!ctx)
		arena_out_of_memory(r->arena);
	arena_defer(r->arena, release_cipher, ctx);
	return ctx;
}

bool cursor_malformed(struct run *r)
{
	r->problem = (struct problem){ 0 };
	return run_fail(r, PROBLEM_MALFORMED, "This is no cursor of this list with these parameters");
}

static struct slice signed_along(struct run *r, const struct access *access, const struct row *given)
{
	struct value params = given ? row_item(given) : VALUE_ABSENT;
	struct buf b;

	buf_init(&b, r->arena);
	buf_put(&b, r->design->name);
	buf_byte(&b, 0);
	buf_put(&b, access->name);
	buf_byte(&b, 0);
	buf_add(&b, params.p, params.n);
	return buf_slice(&b);
}

/* ---- large ones: many places of a merge look alike ---- */

static void release_compressor(void *c)
{
	libdeflate_free_compressor(c);
}

static void release_decompressor(void *d)
{
	libdeflate_free_decompressor(d);
}

static struct slice pack(struct run *r, struct slice payload)
{
	struct libdeflate_compressor *c;
	struct buf b;
	size_t n = 0;

	buf_init(&b, r->arena);
	if (payload.n > WORTH_DEFLATING) {
		c = libdeflate_alloc_compressor(6);
		if (!c)
			arena_out_of_memory(r->arena);
		arena_defer(r->arena, release_compressor, c);
		buf_byte(&b, 1);
		buf_be32(&b, (uint32_t)payload.n);
		n = libdeflate_deflate_compress(c, payload.p, payload.n, buf_room(&b, payload.n), payload.n);
	}
	if (!n) { /* or it would not get smaller */
		b.n = 0;
		buf_byte(&b, 0);
		buf_put(&b, payload);
	}
	b.n += n;
	return buf_slice(&b);
}

static bool unpack(struct run *r, struct slice packed, struct slice *payload)
{
	struct libdeflate_decompressor *d;
	size_t n, got;
	char *out;

	if (packed.n < 1)
		return false;
	*payload = slice_make(packed.p + 1, packed.n - 1);
	if (packed.p[0] == 0)
		return true;
	if (packed.n < 5)
		return false;
	n = read_be32(packed.p + 1);
	if (n > 64 * CURSOR_MOST)
		return false;
	d = libdeflate_alloc_decompressor();
	if (!d)
		arena_out_of_memory(r->arena);
	arena_defer(r->arena, release_decompressor, d);
	out = arena_alloc(r->arena, n);
	if (libdeflate_deflate_decompress(d, packed.p + 5, packed.n - 5, out, n, &got) != LIBDEFLATE_SUCCESS || got != n)
		return false;
	*payload = slice_make(out, n);
	return true;
}

/* ---- base64url ---- */

static struct slice to_url(struct arena *a, struct slice bytes)
{
	struct buf b;

	buf_init(&b, a);
	buf_base64(&b, bytes);
	while (b.n && b.p[b.n - 1] == '=')
		b.n--;
	for (size_t i = 0; i < b.n; i++)
		b.p[i] = b.p[i] == '+' ? '-' : b.p[i] == '/' ? '_' : b.p[i];
	return buf_slice(&b);
}

static bool from_url(struct arena *a, struct slice text, uint8_t **bytes, size_t *n)
{
	struct buf b;

	if (!text.n || text.n > CURSOR_MOST || text.n % 4 == 1 || memchr(text.p, '+', text.n) ||
	    memchr(text.p, '/', text.n) || memchr(text.p, '=', text.n))
		return false;
	buf_init(&b, a);
	buf_put(&b, text);
	for (size_t i = 0; i < b.n; i++)
		b.p[i] = b.p[i] == '-' ? '+' : b.p[i] == '_' ? '/' : b.p[i];
	while (b.n % 4)
		buf_byte(&b, '=');
	*bytes = arena_alloc(a, b.n / 4 * 3);
	return base64_decode(buf_slice(&b), *bytes, n);
}

/* ---- both ways ---- */

struct slice cursor_seal(struct run *r, const struct access *access, const struct row *given, struct slice payload)
{
	struct slice along = signed_along(r, access, given), packed = pack(r, payload);
	uint8_t *out = arena_alloc(r->arena, TAG + packed.n);
	EVP_CIPHER_CTX *ctx = cipher_new(r);
	int n;

	if (EVP_EncryptInit_ex(ctx, cipher(r), NULL, r->app->cursor_key, NULL) != 1 ||
	    EVP_EncryptUpdate(ctx, NULL, &n, (const uint8_t *)along.p, (int)along.n) != 1 ||
	    EVP_EncryptUpdate(ctx, out + TAG, &n, (const uint8_t *)packed.p, (int)packed.n) != 1 ||
	    EVP_EncryptFinal_ex(ctx, out + TAG + n, &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, out) != 1)
		arena_out_of_memory(r->arena); /* nothing else makes these fail */
	return to_url(r->arena, slice_make(out, TAG + packed.n));
}

bool cursor_open(struct run *r, const struct access *access, const struct row *given, struct slice cursor,
		 struct slice *payload)
{
	struct slice along = signed_along(r, access, given);
	EVP_CIPHER_CTX *ctx;
	uint8_t *bytes, *plain;
	size_t n;
	int got, more;

	if (!from_url(r->arena, cursor, &bytes, &n) || n < TAG + 1)
		return cursor_malformed(r);
	plain = arena_alloc(r->arena, n);
	ctx = cipher_new(r);
	if (EVP_DecryptInit_ex(ctx, cipher(r), NULL, r->app->cursor_key, NULL) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, bytes) != 1 ||
	    EVP_DecryptUpdate(ctx, NULL, &got, (const uint8_t *)along.p, (int)along.n) != 1 ||
	    EVP_DecryptUpdate(ctx, plain, &got, bytes + TAG, (int)(n - TAG)) != 1 || got != (int)(n - TAG) ||
	    EVP_DecryptFinal_ex(ctx, plain + got, &more) != 1 || !unpack(r, slice_make(plain, (size_t)got), payload))
		return cursor_malformed(r);
	return true;
}
