/* Failed logins: four tables of salted digests, each a number of places that a digest can be in.
 *
 * Invariants
 *   T1  A place with level 0 is free.
 *   T2  A level is a number of failures at `at_ms`, from where on it goes down by its table's rule; 1 of a known pair.
 * SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/random.h>
#include "app/throttle.h"
#include "base/alloc.h"

#define KEY_BYTES 16
#define SALT_BYTES 16
#define WAYS 8 /* places that one digest can be in */
#define SECOND INT64_C(1000)
#define DAY (86400 * SECOND)

#define PAIR_FREE 5
#define ADDRESS_FREE 100
#define ADDRESS_EVERY (5 * SECOND)
#define NAME_FREE 50
#define NAME_EVERY (72 * SECOND)
#define NETWORK_FIRST (60 * SECOND)

enum kind { PAIR, NETWORK, ADDRESS, NAME, KNOWN, KINDS };

/* How failures are forgotten: all at once when the last is that old, or one by one. */
static const struct {
	int64_t memory_ms, every_ms;
} rules[KINDS] = {
	[PAIR] = { .memory_ms = DAY },
	[NETWORK] = { .memory_ms = 3600 * SECOND },
	[ADDRESS] = { .every_ms = ADDRESS_EVERY },
	[NAME] = { .every_ms = NAME_EVERY },
	[KNOWN] = { .memory_ms = 30 * DAY },
};

struct entry {
	uint8_t key[KEY_BYTES];
	int64_t at_ms;
	double level; /* T1, T2 */
};

struct throttle {
	pthread_mutex_t lock;
	uint8_t salt[SALT_BYTES];
	struct entry pairs[THROTTLE_PAIRS]; /* and networks */
	struct entry addresses[THROTTLE_PAIRS / 4];
	struct entry names[THROTTLE_PAIRS / 4];
	struct entry known[THROTTLE_PAIRS];
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

/* ---- keys ---- */

struct keys {
	uint8_t of[KINDS][KEY_BYTES];
	bool has_address;
};

/* Both parts with their lengths, or "ab" + "c" would be "a" + "bc". */
static bool digest(const struct throttle *t, enum kind kind, struct slice name, struct slice place, uint8_t out[KEY_BYTES])
{
	uint64_t head[3] = { kind, name.n, place.n };
	uint8_t made[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1 &&
		  EVP_DigestUpdate(ctx, t->salt, sizeof(t->salt)) == 1 && EVP_DigestUpdate(ctx, head, sizeof(head)) == 1 &&
		  EVP_DigestUpdate(ctx, name.p, name.n) == 1 && EVP_DigestUpdate(ctx, place.p, place.n) == 1 &&
		  EVP_DigestFinal_ex(ctx, made, NULL) == 1;

	EVP_MD_CTX_free(ctx);
	if (ok)
		memcpy(out, made, KEY_BYTES);
	return ok;
}

struct place { /* what an address counts as, and the network it is in */
	char text[64];
	struct slice client, network;
};

static void read_place(struct slice address, struct place *p)
{
	struct in6_addr v6;
	struct in_addr v4;
	bool mapped;

	snprintf(p->text, sizeof(p->text), "%.*s", (int)(address.n < 63 ? address.n : 63), address.n ? address.p : "");
	p->client = p->network = slice_str(p->text);
	mapped = inet_pton(AF_INET6, p->text, &v6) == 1;
	if (mapped && !IN6_IS_ADDR_V4MAPPED(&v6)) {
		memcpy(p->text, &v6, 8);
		p->client = slice_make(p->text, 8);
		p->network = slice_make(p->text, 6);
		return;
	}
	if (mapped)
		memcpy(&v4, v6.s6_addr + 12, 4);
	else if (inet_pton(AF_INET, p->text, &v4) != 1)
		return;
	memcpy(p->text, &v4, 4);
	p->client = slice_make(p->text, 4);
	p->network = slice_make(p->text, 3);
}

static bool make_keys(const struct throttle *t, const struct throttle_attempt *a, struct keys *k)
{
	static const struct slice none = { "", 0 };
	struct place p;

	if (!a->name.n)
		return false;
	read_place(a->address, &p);
	k->has_address = a->address.n > 0;
	return digest(t, PAIR, a->name, p.client, k->of[PAIR]) && digest(t, NETWORK, a->name, p.network, k->of[NETWORK]) &&
	       digest(t, ADDRESS, none, p.client, k->of[ADDRESS]) && digest(t, NAME, a->name, none, k->of[NAME]) &&
	       digest(t, KNOWN, a->name, p.client, k->of[KNOWN]);
}

/* ---- places, under the lock ---- */

static struct entry *table_of(struct throttle *t, enum kind kind, size_t *n)
{
	*n = kind == ADDRESS || kind == NAME ? THROTTLE_PAIRS / 4 : THROTTLE_PAIRS;
	switch (kind) {
	case ADDRESS: return t->addresses;
	case NAME: return t->names;
	case KNOWN: return t->known;
	default: return t->pairs;
	}
}

/* The first of the WAYS places of a key. */
static struct entry *set_of(struct throttle *t, enum kind kind, const uint8_t key[KEY_BYTES])
{
	size_t n, at;
	struct entry *table = table_of(t, kind, &n);

	memcpy(&at, key, sizeof(at));
	return table + at % (n / WAYS) * WAYS;
}

/* What is left of the failures; a clock that was set back has not moved. */
static double level_of(const struct entry *e, enum kind kind, int64_t now_ms)
{
	int64_t age = now_ms > e->at_ms ? now_ms - e->at_ms : 0;
	double left = e->level;

	if (rules[kind].memory_ms && age >= rules[kind].memory_ms)
		return 0;
	if (rules[kind].every_ms)
		left -= (double)age / (double)rules[kind].every_ms;
	return left > 0 ? left : 0;
}

static struct entry *look(struct throttle *t, enum kind kind, const struct keys *k)
{
	struct entry *set = set_of(t, kind, k->of[kind]);

	for (int i = 0; i < WAYS; i++)
		if (set[i].level > 0 && !memcmp(set[i].key, k->of[kind], KEY_BYTES))
			return &set[i];
	return NULL;
}

static double failures(struct throttle *t, enum kind kind, const struct keys *k, int64_t now_ms)
{
	const struct entry *e = look(t, kind, k);

	return e ? level_of(e, kind, now_ms) : 0;
}

/* Those of the pairs' table are compared as pairs: a network that failed often stays, too. */
static struct entry *make_room(struct throttle *t, enum kind kind, const struct keys *k, int64_t now_ms)
{
	struct entry *set = set_of(t, kind, k->of[kind]), *least = set;

	for (int i = 1; i < WAYS; i++) {
		double level = level_of(&set[i], kind, now_ms), of_least = level_of(least, kind, now_ms);

		if (level < of_least || (level == of_least && set[i].at_ms < least->at_ms))
			least = &set[i];
	}
	memcpy(least->key, k->of[kind], KEY_BYTES);
	least->level = 0;
	return least;
}

static void add(struct throttle *t, enum kind kind, const struct keys *k, double n, int64_t now_ms)
{
	struct entry *e = look(t, kind, k);
	double level = e ? level_of(e, kind, now_ms) : 0;

	if (!e && n < 0)
		return;
	if (!e)
		e = make_room(t, kind, k, now_ms);
	e->level = level + n > 0 ? level + n : 0;
	if (n > 0 || rules[kind].every_ms) /* what is taken back does not make the wait longer */
		e->at_ms = now_ms;
}

/* ---- the rules, under the lock ---- */

static int64_t doubled(int64_t first_ms, double times, int64_t longest_ms)
{
	int64_t ms = first_ms;

	for (int i = 1; i < times && ms < longest_ms; i++)
		ms *= 2;
	return ms < longest_ms ? ms : longest_ms;
}

/* Until the entry's next attempt, when `free` failures cost nothing. */
static int64_t wait_after(struct throttle *t, enum kind kind, const struct keys *k, double free_, int64_t first_ms,
			  int64_t longest_ms, int64_t now_ms)
{
	const struct entry *e = look(t, kind, k);
	double level = e ? level_of(e, kind, now_ms) : 0;
	int64_t wait, age;

	if (level < free_ || level <= 0)
		return 0;
	wait = doubled(first_ms, level - free_ + 1, longest_ms);
	age = now_ms > e->at_ms ? now_ms - e->at_ms : 0;
	return wait > age ? wait - age : 0;
}

static int64_t wait_of_address(struct throttle *t, const struct keys *k, int64_t now_ms) /* R3 */
{
	double over = failures(t, ADDRESS, k, now_ms) - (ADDRESS_FREE - 1);

	return over > 0 ? (int64_t)(over * ADDRESS_EVERY) + 1 : 0;
}

static int64_t longer(int64_t x, int64_t y)
{
	return x > y ? x : y;
}

static int64_t wait_ms(struct throttle *t, const struct keys *k, int64_t now_ms)
{
	bool known = failures(t, KNOWN, k, now_ms) > 0;
	int64_t wait = wait_after(t, PAIR, k, PAIR_FREE, SECOND,
				  (known ? THROTTLE_KNOWN_LONGEST_S : THROTTLE_LONGEST_S) * SECOND, now_ms); /* R1, R2 */

	if (known || !k->has_address)
		return wait;
	wait = longer(wait, wait_of_address(t, k, now_ms));
	if (failures(t, NAME, k, now_ms) > NAME_FREE) /* R4 */
		wait = longer(wait, wait_after(t, NETWORK, k, 1, NETWORK_FIRST, THROTTLE_LONGEST_S * SECOND, now_ms));
	return wait;
}

static int seconds(int64_t ms)
{
	return (int)((ms + SECOND - 1) / SECOND);
}

/* ---- from outside ---- */

int throttle_wait(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms)
{
	struct keys k;
	int64_t wait;

	if (!make_keys(t, a, &k))
		return 0;
	pthread_mutex_lock(&t->lock);
	wait = wait_ms(t, &k, now_ms);
	pthread_mutex_unlock(&t->lock);
	return seconds(wait);
}

static void count(struct throttle *t, const struct keys *k, double n, int64_t now_ms)
{
	add(t, PAIR, k, n, now_ms);
	if (!k->has_address)
		return;
	add(t, NETWORK, k, n, now_ms);
	add(t, ADDRESS, k, n, now_ms);
	add(t, NAME, k, n, now_ms);
}

int throttle_begin(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms)
{
	struct keys k;
	int64_t wait;

	if (!make_keys(t, a, &k))
		return 0;
	pthread_mutex_lock(&t->lock);
	wait = wait_ms(t, &k, now_ms);
	if (!wait)
		count(t, &k, 1, now_ms);
	pthread_mutex_unlock(&t->lock);
	return seconds(wait);
}

void throttle_undo(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms)
{
	struct keys k;

	if (!make_keys(t, a, &k))
		return;
	pthread_mutex_lock(&t->lock);
	count(t, &k, -1, now_ms);
	pthread_mutex_unlock(&t->lock);
}

static void make_known(struct throttle *t, const struct keys *k, int64_t now_ms)
{
	struct entry *e = look(t, KNOWN, k);

	if (!e)
		e = make_room(t, KNOWN, k, now_ms);
	e->level = 1;
	e->at_ms = now_ms;
}

void throttle_passed(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms)
{
	struct entry *e;
	struct keys k;

	if (!make_keys(t, a, &k))
		return;
	pthread_mutex_lock(&t->lock);
	count(t, &k, -1, now_ms);
	for (enum kind i = PAIR; i <= NETWORK; i++)
		if ((e = look(t, i, &k)))
			e->level = 0;
	if (k.has_address)
		make_known(t, &k, now_ms);
	pthread_mutex_unlock(&t->lock);
}

size_t throttle_count(struct throttle *t)
{
	size_t n = 0;

	pthread_mutex_lock(&t->lock);
	for (enum kind kind = PAIR; kind < KINDS; kind++) {
		size_t places;
		const struct entry *table = table_of(t, kind, &places);

		for (size_t i = 0; kind != NETWORK && i < places; i++)
			n += table[i].level > 0;
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}
