/* Failed logins by name and address: a hash table of fixed size whose entries stand in the order of their last failure.
 *
 * Invariants
 *   T1  entry 0 is nobody; its `older` is the newest entry and its `newer` the oldest.
 *   T2  an entry is in one chain and in the order, or (failures == 0) in the free chain.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include "app/throttle.h"
#include "base/alloc.h"

#define BUCKETS 65536
#define KEY_BYTES 16
#define SALT_BYTES 16
#define NAME_FREE 5      /* failures without waiting */
#define ADDRESS_FREE 20
#define NAME_MEMORY_MS (24 * 3600 * INT64_C(1000))
#define ADDRESS_MEMORY_MS (3600 * INT64_C(1000))

struct entry {
	uint8_t key[KEY_BYTES];
	int64_t until_ms, failed_ms;
	uint32_t failures;
	uint32_t chain;        /* next of the bucket, or of the free ones */
	uint32_t newer, older;
};

struct throttle {
	pthread_mutex_t lock;
	uint8_t salt[SALT_BYTES]; /* so that nobody can aim at a bucket */
	uint32_t buckets[BUCKETS];
	uint32_t free, used;      /* used: entries handed out for the first time */
	size_t count;
	struct entry entries[THROTTLE_MOST + 1];
};

struct throttle *throttle_new(void)
{
	struct throttle *t = mem_zalloc(sizeof(*t));

	if (!t)
		return NULL;
	pthread_mutex_init(&t->lock, NULL);
	if (getrandom(t->salt, sizeof(t->salt), 0) == (ssize_t)sizeof(t->salt))
		return t;
	throttle_free(t);
	return NULL;
}

void throttle_free(struct throttle *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}

/* A digest instead of the name: of one size, and a memory dump shows no names. */
static bool make_key(const struct throttle *t, enum throttle_kind kind, struct slice who, uint8_t out[KEY_BYTES])
{
	uint8_t tag = (uint8_t)kind, digest[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1 &&
		  EVP_DigestUpdate(ctx, t->salt, sizeof(t->salt)) == 1 && EVP_DigestUpdate(ctx, &tag, 1) == 1 &&
		  EVP_DigestUpdate(ctx, who.p, who.n) == 1 && EVP_DigestFinal_ex(ctx, digest, NULL) == 1;

	EVP_MD_CTX_free(ctx);
	if (ok)
		memcpy(out, digest, KEY_BYTES);
	return ok;
}

static uint32_t *bucket_of(struct throttle *t, const uint8_t key[KEY_BYTES])
{
	return &t->buckets[(size_t)key[0] << 8 | key[1]];
}

/* The link that leads to the entry, or to 0. */
static uint32_t *find(struct throttle *t, const uint8_t key[KEY_BYTES])
{
	uint32_t *at = bucket_of(t, key);

	while (*at && memcmp(t->entries[*at].key, key, KEY_BYTES))
		at = &t->entries[*at].chain;
	return at;
}

static void leave_order(struct throttle *t, uint32_t i)
{
	struct entry *e = &t->entries[i];

	t->entries[e->newer].older = e->older;
	t->entries[e->older].newer = e->newer;
}

static void enter_order(struct throttle *t, uint32_t i) /* as the newest */
{
	struct entry *none = &t->entries[0], *e = &t->entries[i];

	e->newer = 0;
	e->older = none->older;
	t->entries[e->older].newer = i;
	none->older = i;
}

static void drop(struct throttle *t, uint32_t *link)
{
	uint32_t i = *link;
	struct entry *e = &t->entries[i];

	*link = e->chain;
	leave_order(t, i);
	e->failures = 0;
	e->chain = t->free;
	t->free = i;
	t->count--;
}

static uint32_t add(struct throttle *t, const uint8_t key[KEY_BYTES])
{
	uint32_t i, *bucket = bucket_of(t, key);
	struct entry *e;

	if (!t->free && t->used == THROTTLE_MOST)
		drop(t, find(t, t->entries[t->entries[0].newer].key));
	i = t->free;
	if (i)
		t->free = t->entries[i].chain;
	else
		i = ++t->used;
	e = &t->entries[i];
	memset(e, 0, sizeof(*e));
	memcpy(e->key, key, KEY_BYTES);
	e->chain = *bucket;
	*bucket = i;
	enter_order(t, i);
	t->count++;
	return i;
}

static int64_t wait_ms(enum throttle_kind kind, uint32_t failures)
{
	uint32_t without = kind == THROTTLE_NAME ? NAME_FREE : ADDRESS_FREE;
	uint32_t doubled;

	if (failures < without)
		return 0;
	doubled = failures - without;
	return (doubled >= 10 || 1 << doubled > THROTTLE_LONGEST_S ? THROTTLE_LONGEST_S : 1 << doubled) * INT64_C(1000);
}

static bool is_forgotten(const struct entry *e, enum throttle_kind kind, int64_t now_ms)
{
	return now_ms - e->failed_ms >= (kind == THROTTLE_NAME ? NAME_MEMORY_MS : ADDRESS_MEMORY_MS);
}

int throttle_wait(struct throttle *t, enum throttle_kind kind, struct slice who, int64_t now_ms)
{
	uint8_t key[KEY_BYTES];
	struct entry *e;
	uint32_t *link;
	int64_t left = 0;

	if (!who.n || !make_key(t, kind, who, key))
		return 0;
	pthread_mutex_lock(&t->lock);
	link = find(t, key);
	e = &t->entries[*link];
	if (*link && is_forgotten(e, kind, now_ms)) {
		drop(t, link);
	} else if (*link) {
		left = e->until_ms - now_ms;
		if (left <= 0 && wait_ms(kind, e->failures)) /* the others of this moment wait for how it ends */
			e->until_ms = now_ms + wait_ms(kind, e->failures + 1);
	}
	pthread_mutex_unlock(&t->lock);
	if (left <= 0)
		return 0;
	left = (left + 999) / 1000;
	return left > THROTTLE_LONGEST_S ? THROTTLE_LONGEST_S : (int)left; /* more only when the clock was set back */
}

void throttle_failed(struct throttle *t, enum throttle_kind kind, struct slice who, int64_t now_ms)
{
	uint8_t key[KEY_BYTES];
	struct entry *e;
	uint32_t i;

	if (!who.n || !make_key(t, kind, who, key))
		return;
	pthread_mutex_lock(&t->lock);
	i = *find(t, key);
	if (!i) {
		i = add(t, key);
	} else {
		leave_order(t, i);
		enter_order(t, i);
	}
	e = &t->entries[i];
	e->failures += e->failures < UINT32_MAX;
	e->failed_ms = now_ms;
	e->until_ms = now_ms + wait_ms(kind, e->failures);
	pthread_mutex_unlock(&t->lock);
}

void throttle_passed(struct throttle *t, enum throttle_kind kind, struct slice who, int64_t now_ms)
{
	uint8_t key[KEY_BYTES];
	uint32_t *link;

	if (!who.n || !make_key(t, kind, who, key))
		return;
	pthread_mutex_lock(&t->lock);
	link = find(t, key);
	if (*link && kind == THROTTLE_NAME)
		drop(t, link);
	else if (*link)
		t->entries[*link].until_ms = now_ms;
	pthread_mutex_unlock(&t->lock);
}

size_t throttle_count(struct throttle *t)
{
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = t->count;
	pthread_mutex_unlock(&t->lock);
	return n;
}

struct slice throttle_address(struct slice address, char out[64])
{
	struct in6_addr v6;
	char *text = out, *end;

	snprintf(out, 64, "%.*s", (int)(address.n < 63 ? address.n : 63), address.n ? address.p : "");
	if (*text == '[') {
		text++;
		text[strcspn(text, "]")] = 0;
	} else if ((end = strchr(text, ':')) && !strchr(end + 1, ':')) {
		*end = 0;
	}
	if (inet_pton(AF_INET6, text, &v6) == 1 && !IN6_IS_ADDR_V4MAPPED(&v6)) {
		memcpy(out, &v6, 8);
		return slice_make(out, 8);
	}
	return slice_str(text);
}
