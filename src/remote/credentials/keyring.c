/* Decides which thread looks for credentials, and when.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/credentials/keyring.h"
#include "base/cond.h"
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include "base/alloc.h"
#include "base/log.h"
#include "remote/credentials/lookup.h"
#include "remote/wait.h"

#define RENEW_MS  (15 * 60 * 1000)
#define AGAIN_US  (60 * 1000000LL) /* renewal failed, and the old ones are valid */
#define FAILED_US 1000000LL        /* there are none */
#define SPOILT_MS 5000             /* credentials found more recently than this are not looked for again */
#define LOOK_US   200000
#define WHY       1200

struct keyring {
	struct keyring_options options;
	char *region, *ca_bundle;
	pthread_mutex_t lock;
	pthread_cond_t looked;       /* broadcast when a search has ended */
	struct credentials *current; /* NULL: none yet */
	bool looking, spoilt;
	int64_t not_before_us; /* the next search */
	uint64_t generation;
	char why[WHY]; /* of the last failure; empty: none */
};

/* ---- credentials ---- */

static void wipe(char *text)
{
	if (text)
		OPENSSL_cleanse(text, strlen(text));
	mem_free(text);
}

void credentials_give(struct credentials *c)
{
	if (!c || atomic_fetch_sub(&c->holders, 1) != 1)
		return;
	wipe(c->id);
	wipe(c->secret);
	wipe(c->token);
	mem_free(c->source);
	mem_free(c);
}

static char *copy(const char *text)
{
	return text ? mem_strndup(text, strlen(text)) : NULL;
}

static struct credentials *credentials_new(const struct found_keys *f, int64_t now_ms)
{
	struct credentials *c = mem_zalloc(sizeof(*c));

	if (!c)
		return NULL;
	atomic_init(&c->holders, 1);
	c->found_ms = now_ms;
	c->expires_ms = f->expires_ms;
	c->id = copy(f->id);
	c->secret = copy(f->secret);
	c->token = copy(f->token);
	c->source = copy(f->source);
	if (c->id && c->secret && c->source && (c->token || !f->token))
		return c;
	credentials_give(c);
	return NULL;
}

static bool is_valid(const struct credentials *c, int64_t now_ms)
{
	return c && (!c->expires_ms || now_ms < c->expires_ms);
}

static bool is_fresh(const struct credentials *c, int64_t now_ms)
{
	int64_t quarter = c ? (c->expires_ms - c->found_ms) / 4 : 0, margin = quarter < RENEW_MS ? quarter : RENEW_MS;

	return c && (!c->expires_ms || now_ms < c->expires_ms - margin);
}

/* ---- looking ---- */

static bool has_named_source(const struct settings *s)
{
	return settings_env(s, "AWS_ACCESS_KEY_ID") || s->profile_is_named;
}

/* Secrets often get a trailing line break on their way into a container. */
static bool has_space(const char *text)
{
	return text && strpbrk(text, " \t\r\n");
}

static enum found look_everywhere(struct lookup *l, struct found_keys *f)
{
	enum found found = lookup_all(l, f);

	if (found == FOUND_KEYS && (has_space(f->id) || has_space(f->secret) || has_space(f->token)))
		return lookup_trouble(l, "the credentials of %s have a space or a line break in them: remove it",
				      f->source);
	return found;
}

static enum found look_in(struct lookup *l, bool local, struct found_keys *f)
{
	if (!local)
		return look_everywhere(l, f);
	if (!has_named_source(l->settings)) {
		*f = (struct found_keys){ .id = "local", .secret = "local", .source = "made up for this machine" };
		return FOUND_KEYS;
	}
	return look_everywhere(l, f);
}

/* Without the lock. */
static struct credentials *look_up(struct keyring *k, char why[WHY])
{
	struct fetch *far = fetch_new(&(struct fetch_options){ .ca_bundle = k->ca_bundle, .stop = k->options.stop });
	struct fetch *near =
		fetch_new(&(struct fetch_options){ .direct = true, .ca_bundle = k->ca_bundle, .stop = k->options.stop });
	struct credentials *volatile c = NULL;
	struct settings settings;
	struct found_keys f;
	struct arena arena;
	struct lookup l = { .arena = &arena,
			    .settings = &settings,
			    .clock = k->options.clock,
			    .region = k->region,
			    .fetch = far,
			    .direct = near,
			    .local_only = k->options.local,
			    .stop = k->options.stop };

	arena_init(&arena);
	snprintf(why, WHY, "out of memory");
	ARENA_TRY(&arena, {
		lookup_init(&l);
		settings_load(&settings, &arena, k->options.env);
		if (far && near && look_in(&l, k->options.local, &f) == FOUND_KEYS)
			c = credentials_new(&f, clock_now_ms(k->options.clock));
		else if (l.why.n)
			snprintf(why, WHY, "%.*s", SLICE_ARG(l.why));
	}, { });
	arena_release(&arena);
	fetch_free(far);
	fetch_free(near);
	return c;
}

/* After a failure. Once the old ones end, a minute would be an outage: then it is tried again at once. */
static int64_t pause_us(const struct keyring *k)
{
	int64_t now_ms = clock_now_ms(k->options.clock), left_us;

	if (!is_valid(k->current, now_ms) || k->spoilt)
		return FAILED_US;
	left_us = k->current->expires_ms ? (k->current->expires_ms - now_ms) * 1000 : AGAIN_US;
	return left_us < FAILED_US ? FAILED_US : left_us < AGAIN_US ? left_us : AGAIN_US;
}

/* With the lock, which is given up meanwhile. */
static void look_now(struct keyring *k)
{
	struct credentials *c, *old = NULL;
	char why[WHY];

	k->looking = true;
	pthread_mutex_unlock(&k->lock);
	c = look_up(k, why);
	pthread_mutex_lock(&k->lock);
	k->looking = false;
	if (c) {
		old = k->current;
		c->generation = ++k->generation;
		k->current = c;
		k->spoilt = false;
		k->why[0] = '\0';
		/* A source may keep returning the old credentials until shortly before their end. */
		k->not_before_us = clock_monotonic_us() + (is_fresh(c, c->found_ms) ? 0 : AGAIN_US);
	} else {
		memcpy(k->why, why, sizeof(k->why));
		k->not_before_us = clock_monotonic_us() + pause_us(k);
	}
	pthread_cond_broadcast(&k->looked);
	credentials_give(old);
}

static bool hand_out(struct keyring *k, struct credentials **mine)
{
	if (*mine != k->current) {
		credentials_give(*mine);
		*mine = k->current;
		atomic_fetch_add(&k->current->holders, 1);
	}
	return true;
}

static bool hand_nothing(struct keyring *k, struct credentials **mine, char *why, size_t n, const char *otherwise)
{
	credentials_give(*mine);
	*mine = NULL;
	snprintf(why, n, "%s", k->why[0] ? k->why : otherwise);
	return false;
}

static void warn_of_failure(struct keyring *k)
{
	log_warn("the credentials could not be renewed and are valid for %lld s more: %s",
		 (long long)((k->current->expires_ms - clock_now_ms(k->options.clock)) / 1000), k->why);
}

static bool get_locked(struct keyring *k, struct credentials **mine, int64_t deadline_us, char *why, size_t n)
{
	for (;;) {
		int64_t now_ms = clock_now_ms(k->options.clock), now_us = clock_monotonic_us();
		bool valid = is_valid(k->current, now_ms) && !k->spoilt;

		if (valid && (is_fresh(k->current, now_ms) || k->looking || now_us < k->not_before_us))
			return hand_out(k, mine);
		if (!k->looking && now_us < k->not_before_us && k->why[0])
			return hand_nothing(k, mine, why, n, "");
		if (k->looking) {
			if (now_us >= deadline_us || (k->options.stop && atomic_load(k->options.stop)))
				return hand_nothing(k, mine, why, n, "the credentials did not come in time");
			(void)cond_wait_until(&k->looked, &k->lock,
					      now_us + LOOK_US < deadline_us ? now_us + LOOK_US : deadline_us);
			continue;
		}
		look_now(k);
		if (valid && k->why[0])
			warn_of_failure(k);
		else if (!k->why[0] && !is_valid(k->current, clock_now_ms(k->options.clock))) {
			snprintf(k->why, sizeof(k->why), "the credentials of %s have expired: renew them there",
				 k->current->source);
			k->not_before_us = clock_monotonic_us() + FAILED_US;
		}
	}
}

bool keyring_get(struct keyring *k, struct credentials **mine, int64_t deadline_us, char *why, size_t n)
{
	bool ok;

	pthread_mutex_lock(&k->lock);
	ok = get_locked(k, mine, deadline_us, why, n);
	pthread_mutex_unlock(&k->lock);
	return ok;
}

bool keyring_spoil(struct keyring *k, const struct credentials *c)
{
	bool again = true;

	pthread_mutex_lock(&k->lock);
	if (k->current == c) {
		again = clock_now_ms(k->options.clock) - c->found_ms >= SPOILT_MS;
		if (again) {
			k->spoilt = true;
			k->not_before_us = 0;
		}
	}
	pthread_mutex_unlock(&k->lock);
	return again;
}

uint64_t keyring_renewals(struct keyring *k)
{
	uint64_t n;

	pthread_mutex_lock(&k->lock);
	n = k->generation;
	pthread_mutex_unlock(&k->lock);
	return n;
}

/* ---- life ---- */

struct keyring *keyring_new(const struct keyring_options *o)
{
	struct keyring *k = mem_zalloc(sizeof(*k));

	if (!k)
		return NULL;
	k->options = *o;
	pthread_mutex_init(&k->lock, NULL);
	cond_init(&k->looked);
	k->region = copy(o->region ? o->region : "");
	k->ca_bundle = copy(o->ca_bundle);
	if (k->region && (k->ca_bundle || !o->ca_bundle))
		return k;
	keyring_free(k);
	return NULL;
}

void keyring_free(struct keyring *k)
{
	if (!k)
		return;
	credentials_give(k->current);
	pthread_cond_destroy(&k->looked);
	pthread_mutex_destroy(&k->lock);
	mem_free(k->region);
	mem_free(k->ca_bundle);
	mem_free(k);
}
