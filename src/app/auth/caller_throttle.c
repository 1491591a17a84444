/* Failed logins in memory: four tables of salted digests. A digest has several places that it can be in; a place with
 * level 0 is free.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sys/random.h>
#include "app/auth/throttle_rules.h"
#include "base/alloc.h"

#define WAYS 8 /* places of one digest */

struct entry {
	uint8_t key[THROTTLE_KEY_BYTES];
	struct throttle_level is;
};

struct throttle {
	pthread_mutex_t lock;
	uint8_t salt[THROTTLE_SALT_BYTES];
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

/* ---- places, under the lock ---- */

static struct entry *table_of(struct throttle *t, enum throttle_kind kind, size_t *n)
{
	*n = kind == THROTTLE_ADDRESS || kind == THROTTLE_NAME ? THROTTLE_PAIRS / 4 : THROTTLE_PAIRS;
	switch (kind) {
	case THROTTLE_ADDRESS: return t->addresses;
	case THROTTLE_NAME: return t->names;
	case THROTTLE_KNOWN: return t->known;
	default: return t->pairs;
	}
}

/* The first of the WAYS places of a key. */
static struct entry *set_of(struct throttle *t, enum throttle_kind kind, const struct throttle_keys *k)
{
	size_t n, at;
	struct entry *table = table_of(t, kind, &n);

	memcpy(&at, k->of[kind], sizeof(at));
	return table + at % (n / WAYS) * WAYS;
}

static struct entry *find_entry(struct throttle *t, enum throttle_kind kind, const struct throttle_keys *k)
{
	struct entry *set = set_of(t, kind, k);

	for (int i = 0; i < WAYS; i++)
		if (set[i].is.level > 0 && !memcmp(set[i].key, k->of[kind], THROTTLE_KEY_BYTES))
			return &set[i];
	return NULL;
}

/* Entries of the pairs' table are compared as pairs: a network that failed often stays, too. */
static struct entry *make_room(struct throttle *t, enum throttle_kind kind, const struct throttle_keys *k,
			       int64_t now_ms)
{
	struct entry *set = set_of(t, kind, k), *least = set;

	for (int i = 1; i < WAYS; i++) {
		double level = throttle_level_now(&set[i].is, kind, now_ms),
		       of_least = throttle_level_now(&least->is, kind, now_ms);

		if (level < of_least || (level == of_least && set[i].is.at_ms < least->is.at_ms))
			least = &set[i];
	}
	memcpy(least->key, k->of[kind], THROTTLE_KEY_BYTES);
	return least;
}

static void load(struct throttle *t, const struct throttle_keys *k, struct throttle_levels *l)
{
	*l = (struct throttle_levels){ .has_address = k->has_address };
	for (enum throttle_kind i = 0; i < THROTTLE_KINDS; i++) {
		const struct entry *e = find_entry(t, i, k);

		if (e)
			l->of[i] = e->is;
	}
}

static void store(struct throttle *t, const struct throttle_keys *k, const struct throttle_levels *l, int64_t now_ms)
{
	for (enum throttle_kind i = 0; i < THROTTLE_KINDS; i++) {
		struct entry *e = find_entry(t, i, k);

		if (!e && l->of[i].level <= 0)
			continue;
		if (!e)
			e = make_room(t, i, k, now_ms);
		e->is = l->of[i];
	}
}

/* ---- from outside ---- */

int throttle_wait(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms)
{
	struct throttle_levels l;
	struct throttle_keys k;

	if (!throttle_make_keys(t->salt, a, &k))
		return 0;
	pthread_mutex_lock(&t->lock);
	load(t, &k, &l);
	pthread_mutex_unlock(&t->lock);
	return throttle_seconds(throttle_levels_wait(&l, now_ms));
}

int throttle_begin(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms)
{
	struct throttle_levels l;
	struct throttle_keys k;
	int64_t wait;

	if (!throttle_make_keys(t->salt, a, &k))
		return 0;
	pthread_mutex_lock(&t->lock);
	load(t, &k, &l);
	wait = throttle_levels_wait(&l, now_ms);
	if (!wait) {
		throttle_levels_count(&l, 1, now_ms);
		store(t, &k, &l, now_ms);
	}
	pthread_mutex_unlock(&t->lock);
	return throttle_seconds(wait);
}

/* Loads the levels of an attempt, has them changed, and stores them. */
static void change(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms,
		   void (*fn)(struct throttle_levels *l, int64_t now_ms))
{
	struct throttle_levels l;
	struct throttle_keys k;

	if (!throttle_make_keys(t->salt, a, &k))
		return;
	pthread_mutex_lock(&t->lock);
	load(t, &k, &l);
	fn(&l, now_ms);
	store(t, &k, &l, now_ms);
	pthread_mutex_unlock(&t->lock);
}

static void take_back(struct throttle_levels *l, int64_t now_ms)
{
	throttle_levels_count(l, -1, now_ms);
}

void throttle_undo(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms)
{
	change(t, a, now_ms, take_back);
}

void throttle_passed(struct throttle *t, const struct throttle_attempt *a, int64_t now_ms)
{
	change(t, a, now_ms, throttle_levels_pass);
}

void throttle_learn(struct throttle *t, const struct throttle_attempt *a, const struct throttle_levels *l,
		    int64_t now_ms)
{
	struct throttle_keys k;

	if (!throttle_make_keys(t->salt, a, &k))
		return;
	pthread_mutex_lock(&t->lock);
	store(t, &k, l, now_ms);
	pthread_mutex_unlock(&t->lock);
}

size_t throttle_count(struct throttle *t)
{
	size_t n = 0;

	pthread_mutex_lock(&t->lock);
	for (enum throttle_kind kind = 0; kind < THROTTLE_KINDS; kind++) {
		size_t places;
		const struct entry *table = table_of(t, kind, &places);

		for (size_t i = 0; kind != THROTTLE_NETWORK && i < places; i++)
			n += table[i].is.level > 0;
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}
