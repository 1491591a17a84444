/* Opening a client: where it is, in which region, and everything its calls share.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include "base/alloc.h"
#include "remote/credentials/lookup.h"
#include "remote/remote_internal.h"

#define CONNECTIONS   64
#define CREW          64 /* threads: as many as there are connections */
#define CONNECT_MS    3000
#define ATTEMPT_MS    10000
#define TOTAL_MS      30000
#define ATTEMPTS_MOST 20 /* that a setting can ask for */

static void complete(struct remote_options *o)
{
	o->clock = o->clock ? o->clock : &clock_system;
	o->env = o->env ? o->env : &settings_process_env;
	o->connections = !o->connections ? CONNECTIONS : o->connections > POOL_MOST ? POOL_MOST : o->connections;
	o->connect_ms = o->connect_ms ? o->connect_ms : CONNECT_MS;
	o->attempt_ms = o->attempt_ms ? o->attempt_ms : ATTEMPT_MS;
	o->total_ms = o->total_ms ? o->total_ms : TOTAL_MS;
}

/* ---- region and addresses ---- */

static void free_fetch(void *f)
{
	fetch_free(f);
}

static const char *instance_region(struct arena *a, const struct settings *s, const struct clock *clock)
{
	struct fetch *f = fetch_new(&(struct fetch_options){ .direct = true });
	struct lookup l = { .arena = a, .settings = s, .clock = clock, .region = "", .fetch = f, .direct = f };

	if (!f)
		return NULL;
	arena_defer(a, free_fetch, f);
	lookup_init(&l);
	return lookup_instance_region(&l);
}

static bool find_region(struct remote *r, const struct settings *s, const char *url, char *why, size_t n)
{
	const char *region = r->options.place.region[0] ? r->options.place.region : NULL;

	if (!region && url && endpoint_region(&r->database, r->region))
		return true;
	if (!region)
		region = settings_env(s, "AWS_REGION");
	if (!region)
		region = settings_find(s, "AWS_DEFAULT_REGION", "region");
	if (!region && url)
		region = "us-east-1"; /* any name: only for the signature */
	if (!region)
		region = instance_region(s->arena, s, r->options.clock);
	if (!region) {
		snprintf(why, n,
			 "no region was found: looked at AWS_REGION, AWS_DEFAULT_REGION, the profile '%s' in %s, and the instance this runs "
			 "on. Set AWS_REGION, or name it: aws:eu-west-1",
			 s->profile, s->config_path);
		return false;
	}
	if (!endpoint_is_region(region)) {
		snprintf(why, n, "'%.80s' is not a region such as eu-west-1", region);
		return false;
	}
	snprintf(r->region, sizeof(r->region), "%s", region);
	return true;
}

static bool find_addresses(struct remote *r, const struct settings *s, char *why, size_t n)
{
	const char *place = r->options.place.url[0] ? r->options.place.url : NULL;
	const char *url = place ? place : settings_endpoint(s, "DYNAMODB", "dynamodb");
	const char *streams = place ? NULL : settings_endpoint(s, "DYNAMODB_STREAMS", "dynamodb_streams");
	bool fips = settings_env_is_true(s, "AWS_USE_FIPS_ENDPOINT");
	char made[PLACE_URL];

	if (url && !endpoint_parse(url, &r->database, why, n))
		return false;
	if (!find_region(r, s, url, why, n))
		return false;
	r->amazon = !url || endpoint_region(&r->database, made);
	if (!url) {
		endpoint_amazon(ENDPOINT_DYNAMODB, r->region, fips, made);
		if (!endpoint_parse(made, &r->database, why, n))
			return false;
	}
	if (streams)
		return endpoint_parse(streams, &r->streams, why, n);
	r->streams = r->database;
	if (!r->amazon)
		return true;
	endpoint_amazon(ENDPOINT_STREAMS, r->region, fips, made);
	return endpoint_parse(made, &r->streams, why, n);
}

/* ---- life ---- */

static bool make_parts(struct remote *r, const char *ca_bundle)
{
	retry_quota_init(&r->quota);
	r->meter = meter_new();
	r->pool = pool_new(r->options.connections, &(struct fetch_options){ .ca_bundle = ca_bundle, .stop = &r->stop });
	r->keyring = keyring_new(&(struct keyring_options){ .env = r->options.env,
							    .clock = r->options.clock,
							    .region = r->region,
							    .ca_bundle = ca_bundle,
							    .local = r->database.loopback,
							    .stop = &r->stop });
	r->crew = crew_new(CREW);
	return r->meter && r->pool && r->keyring && r->crew;
}

static unsigned attempts_of(const struct settings *s)
{
	const char *text = settings_find(s, "AWS_MAX_ATTEMPTS", "max_attempts");
	long n = text ? strtol(text, NULL, 10) : 0;

	return n >= 1 && n <= ATTEMPTS_MOST ? (unsigned)n : RETRY_ATTEMPTS;
}

static bool set_up(struct remote *r, struct arena *a, char *why, size_t n)
{
	struct settings s;
	const char *bundle;

	settings_load(&s, a, r->options.env);
	if (!r->options.attempts)
		r->options.attempts = attempts_of(&s);
	if (!find_addresses(r, &s, why, n))
		return false;
	bundle = settings_find(&s, "AWS_CA_BUNDLE", "ca_bundle");
	if (make_parts(r, bundle))
		return true;
	snprintf(why, n, "out of memory");
	return false;
}

struct remote *remote_open(const struct remote_options *o, char *why, size_t n)
{
	struct remote *r = mem_zalloc(sizeof(*r));
	volatile bool ok = false;
	struct arena arena;

	snprintf(why, n, "out of memory");
	if (!r)
		return NULL;
	r->options = *o;
	pthread_mutex_init(&r->lent_lock, NULL);
	complete(&r->options);
	arena_init(&arena);
	ARENA_TRY(&arena, { ok = set_up(r, &arena, why, n); }, { });
	arena_release(&arena);
	if (ok)
		return r;
	remote_close(r);
	return NULL;
}

void remote_close(struct remote *r)
{
	struct remote_backend *b;

	if (!r)
		return;
	crew_free(r->crew);
	while ((b = r->spare)) {
		r->spare = b->next;
		remote_backend_free(&b->backend);
	}
	pthread_mutex_destroy(&r->lent_lock);
	pool_free(r->pool);
	keyring_free(r->keyring);
	meter_free(r->meter);
	mem_free(r);
}

void remote_stop(struct remote *r)
{
	atomic_store(&r->stop, true);
}

bool remote_has_credentials(struct remote *r, char *why, size_t n)
{
	struct credentials *c = NULL;
	bool ok = keyring_get(r->keyring, &c, clock_monotonic_us() + r->options.total_ms * 1000, why, n);

	credentials_give(c);
	return ok;
}

const char *remote_url(const struct remote *r)
{
	return r->database.url;
}

const char *remote_region(const struct remote *r)
{
	return r->region;
}

int64_t remote_clock_off_ms(const struct remote *r)
{
	return atomic_load_explicit(&r->off_ms, memory_order_relaxed);
}

void remote_metrics(struct remote *r, struct arena *a, struct remote_metrics *out)
{
	meter_read(r->meter, a, out);
	out->renewals = keyring_renewals(r->keyring);
	out->skew_ms = atomic_load(&r->skew_ms);
	out->retry_tokens = atomic_load(&r->quota.tokens);
	out->connections_busy = pool_busy(r->pool);
}

/* ---- backends ---- */

struct backend *remote_backend_new(struct remote *r)
{
	struct remote_backend *b = mem_zalloc(sizeof(*b));

	if (!b)
		return NULL;
	b->backend.call = remote_call;
	b->backend.execute_all = remote_execute_all;
	b->backend.free = remote_backend_free;
	b->remote = r;
	return &b->backend;
}

void remote_backend_free(struct backend *backend)
{
	struct remote_backend *b = (struct remote_backend *)backend;

	if (!b)
		return;
	credentials_give(b->credentials);
	sigv4_forget(&b->cache);
	gzip_release(&b->gzip);
	mem_free(b);
}

void remote_label(struct backend *backend, struct slice label)
{
	struct remote_backend *b = (struct remote_backend *)backend;
	size_t n = label.n < REMOTE_LABEL - 1 ? label.n : REMOTE_LABEL - 1;

	if (n)
		memcpy(b->label, label.p, n);
	b->label[n] = '\0';
}

bool remote_is_amazon(const struct remote *r)
{
	return r->amazon;
}
