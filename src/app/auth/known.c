/* A table of fixed size: each place has the latest token.
 *
 * Tokens are compared by all their bytes, in a time that does not depend on them, and a hash that no client can
 * compute chooses their places: timing says nothing about the tokens of others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/known.h"
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "app/auth/caller.h"
#include "base/alloc.h"

#define PLACES     256
#define LOCKS      16
#define TOKEN_MOST 2048 /* larger ones are verified each time */

/* one block: this, the caller, the texts */
struct entry {
	_Atomic uint32_t uses; /* by the table, and by each request that reads it */
	size_t size;
	struct slice token;
	struct known_token known;
};

struct known {
	uint64_t seed;
	pthread_mutex_t locks[LOCKS];
	struct entry *places[PLACES];
};

struct known *known_new(void)
{
	struct known *k = mem_zalloc(sizeof(*k));

	if (!k)
		return NULL;
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_init(&k->locks[i], NULL);
	if (getrandom(&k->seed, sizeof(k->seed), 0) == (ssize_t)sizeof(k->seed))
		return k;
	known_free(k);
	return NULL;
}

static void drop_entry(void *ptr)
{
	struct entry *e = ptr;

	if (!e || atomic_fetch_sub_explicit(&e->uses, 1, memory_order_acq_rel) > 1)
		return;
	EVP_PKEY_free(e->known.key);
	OPENSSL_cleanse(e, e->size);
	mem_free(e);
}

void known_free(struct known *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < PLACES; i++)
		drop_entry(k->places[i]);
	for (size_t i = 0; i < LOCKS; i++)
		pthread_mutex_destroy(&k->locks[i]);
	mem_free(k);
}

static size_t place_of(const struct known *k, struct slice token)
{
	return XXH3_64bits_withSeed(token.p, token.n, k->seed) % PLACES;
}

/* As CRYPTO_memcmp(), eight bytes at a time: a token has some five hundred, and every request has one. */
static bool same_token(struct slice x, struct slice y)
{
	uint64_t a, b, differ = 0;
	size_t i = 0;

	if (x.n != y.n || x.n < sizeof(a))
		return false;
	for (; i + sizeof(a) <= x.n; i += sizeof(a)) {
		memcpy(&a, x.p + i, sizeof(a));
		memcpy(&b, y.p + i, sizeof(b));
		differ |= a ^ b;
	}
	memcpy(&a, x.p + x.n - sizeof(a), sizeof(a)); /* the rest, overlapping bytes compared before */
	memcpy(&b, y.p + y.n - sizeof(b), sizeof(b));
	differ |= a ^ b;
	return CRYPTO_memcmp(&differ, &(uint64_t){ 0 }, sizeof(differ)) == 0;
}

const struct known_token *known_find(struct known *k, struct arena *a, struct slice token, int64_t now_ms)
{
	size_t place = place_of(k, token);
	struct entry *e;

	pthread_mutex_lock(&k->locks[place % LOCKS]);
	e = k->places[place];
	if (e && (!same_token(e->token, token) || now_ms < e->known.from_ms || now_ms >= e->known.until_ms))
		e = NULL;
	if (e)
		atomic_fetch_add_explicit(&e->uses, 1, memory_order_relaxed);
	pthread_mutex_unlock(&k->locks[place % LOCKS]);
	if (!e)
		return NULL;
	arena_defer(a, drop_entry, e);
	return &e->known;
}

/* ---- adding ---- */

static struct entry *entry_new(struct slice token, const struct known_token *t)
{
	size_t size = sizeof(struct entry) + caller_copy_bytes(&t->caller) + token.n + t->kid.n;
	struct entry *e = mem_alloc(size);
	char *at;

	if (!e)
		return NULL;
	*e = (struct entry){ .uses = 1, .size = size, .known = *t };
	e->known.caller = caller_copy(&t->caller, e + 1);
	at = (char *)(e + 1) + caller_copy_bytes(&t->caller);
	e->token = slice_pack(&at, token);
	e->known.kid = slice_pack(&at, t->kid);
	return e;
}

void known_add(struct known *k, struct slice token, const struct known_token *t)
{
	size_t place = place_of(k, token);
	struct entry *e, *before;

	if (token.n > TOKEN_MOST || (t->key && EVP_PKEY_up_ref(t->key) != 1))
		return;
	e = entry_new(token, t);
	if (!e) {
		EVP_PKEY_free(t->key);
		return;
	}
	pthread_mutex_lock(&k->locks[place % LOCKS]);
	before = k->places[place];
	k->places[place] = e;
	pthread_mutex_unlock(&k->locks[place % LOCKS]);
	drop_entry(before);
}
