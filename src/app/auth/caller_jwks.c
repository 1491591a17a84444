/* The keys of an outside issuer, cached.
 *
 * Invariant: `fetching` is true while one thread, which does not hold the lock, fetches the keys. Threads without a
 * key wait for it; threads with a key that is merely old do not.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include "app/auth/jwks.h"
#include "base/alloc.h"
#include "base/log.h"

#define KEYS_MOST 100
#define AGAIN_MS  60000 /* for an unknown id */
#define RETRY_MS  5000  /* when there are no keys at all */
#define OLD_MS    3600000

struct key_set {
	struct jwk keys[KEYS_MOST];
	size_t count;
};

struct jwks {
	char *url;
	pthread_mutex_t lock;
	pthread_cond_t fetched;
	struct key_set *set; /* NULL: never fetched */
	bool fetching, tried;
	int64_t tried_ms, fetched_ms;
};

static void set_free(struct key_set *s)
{
	for (size_t i = 0; s && i < s->count; i++)
		jwk_release(&s->keys[i]);
	mem_free(s);
}

static void set_read(struct key_set *s, struct arena *a, const struct json *keys)
{
	for (size_t i = 0; i < keys->count && s->count < KEYS_MOST; i++)
		s->count += jwk_read(a, &keys->items[i], &s->keys[s->count]);
}

/* NULL: not a JWKS document, or out of memory. */
static struct key_set *set_parse(struct slice text)
{
	struct key_set *volatile set = NULL;
	const struct json *keys;
	struct arena a;

	arena_init(&a);
	ARENA_TRY(&a, {
		keys = json_get(json_parse(&a, text), "keys");
		if (json_is(keys, JSON_ARRAY))
			set = mem_zalloc(sizeof(*set));
		if (set)
			set_read(set, &a, keys);
	}, {
		set_free(set);
		set = NULL;
	});
	arena_release(&a);
	return set;
}

struct jwks *jwks_new(struct slice url)
{
	struct jwks *j = mem_zalloc(sizeof(*j));

	if (!j)
		return NULL;
	j->url = mem_strndup(url.p, url.n);
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->fetched, NULL);
	if (j->url)
		return j;
	jwks_free(j);
	return NULL;
}

void jwks_free(struct jwks *j)
{
	if (!j)
		return;
	set_free(j->set);
	pthread_cond_destroy(&j->fetched);
	pthread_mutex_destroy(&j->lock);
	mem_free(j->url);
	mem_free(j);
}

/* ---- under the lock ---- */

static const struct jwk *find_key(const struct jwks *j, struct slice kid, enum jwt_alg alg)
{
	const struct jwk *found = NULL;

	for (size_t i = 0; j->set && i < j->set->count; i++) {
		const struct jwk *k = &j->set->keys[i];

		if (!jwk_is_for(k, alg) || (kid.n && !slice_is(kid, k->kid)))
			continue;
		if (kid.n)
			return k;
		if (found) /* no id, and more than one candidate */
			return NULL;
		found = k;
	}
	return found;
}

/* A clock that was set back counts as time passed. */
static bool passed(int64_t since_ms, int64_t now_ms, int64_t ms)
{
	return now_ms < since_ms || now_ms - since_ms >= ms;
}

static bool is_due(const struct jwks *j, bool found, int64_t now_ms)
{
	if (!j->set)
		return !j->tried || passed(j->tried_ms, now_ms, RETRY_MS);
	if (found && !passed(j->fetched_ms, now_ms, OLD_MS))
		return false;
	return passed(j->tried_ms, now_ms, AGAIN_MS);
}

/* Releases the lock while it fetches. */
static void fetch(struct jwks *j, int64_t now_ms)
{
	struct key_set *set = NULL;
	char *text;
	size_t n = 0;

	j->fetching = j->tried = true;
	j->tried_ms = now_ms;
	pthread_mutex_unlock(&j->lock);
	text = jwks_fetch(j->url, &n);
	if (text) {
		set = set_parse(slice_make(text, n));
		if (!set)
			log_warn("the answer of %s is not a JWKS document", j->url);
		mem_free(text);
	}
	pthread_mutex_lock(&j->lock);
	if (set) {
		set_free(j->set);
		j->set = set;
		j->fetched_ms = now_ms;
	}
	j->fetching = false;
	pthread_cond_broadcast(&j->fetched);
}

enum jwks_answer jwks_find(struct jwks *j, struct slice kid, enum jwt_alg alg, int64_t now_ms, EVP_PKEY **out)
{
	enum jwks_answer answer = JWKS_UNREACHABLE;
	const struct jwk *k;

	*out = NULL;
	pthread_mutex_lock(&j->lock);
	k = find_key(j, kid, alg);
	if (!j->fetching && is_due(j, k != NULL, now_ms))
		fetch(j, now_ms);
	else
		while (!k && j->fetching)
			pthread_cond_wait(&j->fetched, &j->lock);
	k = find_key(j, kid, alg);
	if (k && EVP_PKEY_up_ref(k->key) == 1) {
		*out = k->key;
		answer = JWKS_FOUND;
	} else if (j->set) {
		answer = JWKS_UNKNOWN;
	}
	pthread_mutex_unlock(&j->lock);
	return answer;
}

bool jwks_may_block(struct jwks *j, struct slice kid, enum jwt_alg alg, int64_t now_ms)
{
	bool found, blocks;

	pthread_mutex_lock(&j->lock);
	found = find_key(j, kid, alg) != NULL;
	blocks = j->fetching ? !found : is_due(j, found, now_ms);
	pthread_mutex_unlock(&j->lock);
	return blocks;
}
