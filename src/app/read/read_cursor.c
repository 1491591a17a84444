/* Cursors: a place, encrypted, signed, and bound to a pattern with its parameters.
 *
 *   OFFSET SIZE  MEANING
 *   0      16    tag
 *   16     n     AES-256-SIV (RFC 5297) of: 1 byte 0 or 1, then the payload; with 1 be32 of its size, then deflated
 * All in base64url without padding. Signed along: the names of the design and the pattern, the parameters given.
 *
 * SIV needs no nonce: the same place of the same list always has the same cursor. So a page has the same ETag each
 * time, and one address at which caches can share it. Two equal cursors show that their places are equal, and nothing
 * else. SPDX-License-Identifier: Apache-2.0 */
#include <libdeflate.h>
#include <openssl/evp.h>
#include <pthread.h>
#include "app/run/state.h"
#include "app/read/read_internal.h"
#include "value/base64.h"

#define TAG             16
#define CURSOR_MOST     (256 * 1024)
#define WORTH_DEFLATING 256

/* Looked up once, which takes as long as all the rest; never freed. */
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
	return run_fail(r, PROBLEM_MALFORMED, "This is not a cursor of this list with these parameters");
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

/* ---- large ones: the places of a merge look alike ---- */

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
	if (!n) { /* small, or it would not get smaller */
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

/* ---- both ways ---- */

struct slice cursor_seal(struct run *r, const struct access *access, const struct row *given, struct slice payload)
{
	struct slice along = signed_along(r, access, given), packed = pack(r, payload);
	uint8_t *out = arena_alloc(r->arena, TAG + packed.n);
	EVP_CIPHER_CTX *ctx = cipher_new(r);
	struct buf b;
	int n;

	if (EVP_EncryptInit_ex(ctx, cipher(r), NULL, r->app->cursor_key, NULL) != 1 ||
	    EVP_EncryptUpdate(ctx, NULL, &n, (const uint8_t *)along.p, (int)along.n) != 1 ||
	    EVP_EncryptUpdate(ctx, out + TAG, &n, (const uint8_t *)packed.p, (int)packed.n) != 1 ||
	    EVP_EncryptFinal_ex(ctx, out + TAG + n, &n) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG, out) != 1)
		arena_out_of_memory(r->arena); /* nothing else makes these fail */
	buf_init(&b, r->arena);
	base64url_put(&b, slice_make(out, TAG + packed.n));
	return buf_slice(&b);
}

bool cursor_open(struct run *r, const struct access *access, const struct row *given, struct slice cursor,
		 struct slice *payload)
{
	struct slice along = signed_along(r, access, given);
	EVP_CIPHER_CTX *ctx;
	struct slice sealed;
	uint8_t *tag, *plain;
	int got, more, n;

	if (cursor.n > CURSOR_MOST || !base64url_decode(r->arena, cursor, &sealed) || sealed.n < TAG + 1)
		return cursor_malformed(r);
	tag = arena_alloc(r->arena, TAG);
	memcpy(tag, sealed.p, TAG);
	n = (int)sealed.n - TAG;
	plain = arena_alloc(r->arena, sealed.n);
	ctx = cipher_new(r);
	if (EVP_DecryptInit_ex(ctx, cipher(r), NULL, r->app->cursor_key, NULL) != 1 ||
	    EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG, tag) != 1 ||
	    EVP_DecryptUpdate(ctx, NULL, &got, (const uint8_t *)along.p, (int)along.n) != 1 ||
	    EVP_DecryptUpdate(ctx, plain, &got, (const uint8_t *)sealed.p + TAG, n) != 1 || got != n ||
	    EVP_DecryptFinal_ex(ctx, plain + got, &more) != 1 || !unpack(r, slice_make(plain, (size_t)got), payload))
		return cursor_malformed(r);
	return true;
}
