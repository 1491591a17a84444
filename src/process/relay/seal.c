/* AES-256-GCM with OpenSSL.
 * SPDX-License-Identifier: Apache-2.0 */
#include "process/relay/seal.h"
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

static bool mac(const uint8_t *key, size_t key_bytes, struct slice text, uint8_t out[SEAL_KEY])
{
	unsigned n = SEAL_KEY;

	return HMAC(EVP_sha256(), key, (int)key_bytes, (const unsigned char *)text.p, text.n, out, &n) != NULL;
}

bool sealer_init(struct sealer *s, struct slice secret)
{
	atomic_init(&s->number, 0);
	return mac((const uint8_t *)secret.p, secret.n, SLICE("thorpe relay 1"), s->key) &&
	       RAND_bytes(s->salt, sizeof(s->salt)) == 1;
}

void sealer_release(struct sealer *s)
{
	OPENSSL_cleanse(s->key, sizeof(s->key));
}

static void put_number(uint64_t number, uint8_t out[SEAL_NUMBER])
{
	memset(out, 0, SEAL_NUMBER);
	for (int i = 0; i < 8; i++)
		out[SEAL_NUMBER - 1 - i] = (uint8_t)(number >> (8 * i));
}

struct slice seal_salt(struct slice sealed)
{
	return slice_make(sealed.p, SEAL_SALT);
}

uint64_t seal_number(struct slice sealed)
{
	uint64_t number = 0;

	for (int i = SEAL_NUMBER - 8; i < SEAL_NUMBER; i++)
		number = number << 8 | (uint8_t)sealed.p[SEAL_SALT + i];
	return number;
}

static bool encrypt(EVP_CIPHER_CTX *x, const uint8_t key[SEAL_KEY], struct slice about, struct slice text, uint8_t *out)
{
	int n;

	return EVP_EncryptInit_ex(x, EVP_aes_256_gcm(), NULL, key, out + SEAL_SALT) == 1 &&
	       EVP_EncryptUpdate(x, NULL, &n, (const uint8_t *)about.p, (int)about.n) == 1 &&
	       EVP_EncryptUpdate(x, out + SEAL_HEAD, &n, (const uint8_t *)text.p, (int)text.n) == 1 &&
	       EVP_EncryptFinal_ex(x, out + SEAL_HEAD + n, &n) == 1 &&
	       EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_GCM_GET_TAG, SEAL_TAG, out + SEAL_HEAD + text.n) == 1;
}

struct slice seal(struct sealer *s, struct arena *a, struct slice about, struct slice text)
{
	uint8_t *out = arena_alloc(a, SEAL_HEAD + text.n + SEAL_TAG), key[SEAL_KEY];
	EVP_CIPHER_CTX *x = text.n < INT32_MAX ? EVP_CIPHER_CTX_new() : NULL;
	bool ok;

	memcpy(out, s->salt, SEAL_SALT);
	put_number(atomic_fetch_add(&s->number, 1) + 1, out + SEAL_SALT);
	ok = x && mac(s->key, SEAL_KEY, slice_make(out, SEAL_SALT), key) && encrypt(x, key, about, text, out);
	EVP_CIPHER_CTX_free(x);
	OPENSSL_cleanse(key, sizeof(key));
	return ok ? slice_make(out, SEAL_HEAD + text.n + SEAL_TAG) : SLICE("");
}

static bool decrypt(EVP_CIPHER_CTX *x, const uint8_t key[SEAL_KEY], struct slice about, struct slice sealed,
		    uint8_t *out)
{
	const uint8_t *in = (const uint8_t *)sealed.p;
	size_t text = sealed.n - SEAL_HEAD - SEAL_TAG;
	int n;

	return EVP_DecryptInit_ex(x, EVP_aes_256_gcm(), NULL, key, in + SEAL_SALT) == 1 &&
	       EVP_DecryptUpdate(x, NULL, &n, (const uint8_t *)about.p, (int)about.n) == 1 &&
	       EVP_DecryptUpdate(x, out, &n, in + SEAL_HEAD, (int)text) == 1 &&
	       EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_GCM_SET_TAG, SEAL_TAG, (void *)(in + SEAL_HEAD + text)) == 1 &&
	       EVP_DecryptFinal_ex(x, out + n, &n) == 1;
}

bool seal_open(const struct sealer *s, struct arena *a, struct slice about, struct slice sealed, struct slice *text)
{
	uint8_t *out, key[SEAL_KEY];
	EVP_CIPHER_CTX *x;
	bool ok;

	if (sealed.n < SEAL_HEAD + SEAL_TAG || sealed.n > INT32_MAX)
		return false;
	out = arena_alloc(a, sealed.n);
	x = EVP_CIPHER_CTX_new();
	ok = x && mac(s->key, SEAL_KEY, seal_salt(sealed), key) && decrypt(x, key, about, sealed, out);
	EVP_CIPHER_CTX_free(x);
	OPENSSL_cleanse(key, sizeof(key));
	*text = slice_make(out, sealed.n - SEAL_HEAD - SEAL_TAG);
	return ok;
}
