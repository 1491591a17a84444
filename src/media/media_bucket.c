/* Files in a bucket: addresses that are signed for one request, for clients and for the server itself.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/log.h"
#include "media/media_internal.h"
#include "remote/credentials/keyring.h"
#include "remote/place.h"
#include "remote/pool.h"
#include "wire/percent.h"
#include "wire/sigv4.h"

#define CONNECTIONS  8
#define CONNECT_MS   3000
#define TOTAL_MS     10000
#define TRIES        3
#define OWN_SECONDS  300 /* the server's own addresses are valid so long */
#define WHY          512
#define REPLY_MOST   65536
#define PAUSE_US     100000
#define WAIT_US      INT64_C(10000000)
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

struct bucket {
	const struct clock *clock;
	char region[PLACE_REGION];
	struct endpoint at;   /* of the service, or with Amazon's own names of the bucket */
	char root[PLACE_URL]; /* of all paths: /bucket/prefix, or /prefix */
	char origin[PLACE_URL];
	struct keyring *keyring;
	struct pool *pool;
	pthread_mutex_t lock; /* of the following */
	struct credentials *mine;
	uint64_t generation; /* of the keys in the cache */
	struct sigv4_cache cache;
};

/* ---- opening ---- */
static bool is_plain(const char *s, const char *also)
{
	while (*s && (strchr(NAME_LETTERS, *s) || strchr(also, *s)))
		s++;
	return !*s;
}

/* s3://bucket/prefix */
static bool take_where(const char *where, char bucket[PLACE_REGION], char prefix[PLACE_URL / 2], char *why, size_t n)
{
	const char *name = where + 5, *slash = strchr(name, '/');
	size_t len = slash ? (size_t)(slash - name) : strlen(name);

	if (len >= 3 && len < PLACE_REGION) {
		snprintf(bucket, PLACE_REGION, "%.*s", (int)len, name);
		snprintf(prefix, PLACE_URL / 2, "%s", slash ? slash : "");
		for (size_t k = strlen(prefix); k && prefix[k - 1] == '/';)
			prefix[--k] = '\0';
		if (is_plain(bucket, "") && is_plain(prefix, "/") && !strstr(prefix, "//") && !strstr(prefix, "/."))
			return true;
	}
	snprintf(why, n, "'%.200s' is not s3://bucket or s3://bucket/prefix, of letters, digits and -_.", where);
	return false;
}

static bool find_region(struct bucket *b, const struct media_options *o, const struct settings *s, char *why, size_t n)
{
	const char *region = o->region ? o->region : settings_env(s, "AWS_REGION");

	if (!region)
		region = settings_find(s, "AWS_DEFAULT_REGION", "region");
	if (!region)
		region = "us-east-1";
	if (!endpoint_is_region(region) || strlen(region) >= sizeof(b->region)) {
		snprintf(why, n, "'%.80s' is not a region such as eu-west-1", region);
		return false;
	}
	snprintf(b->region, sizeof(b->region), "%s", region);
	return true;
}

/* A bucket is a name of the host at Amazon, unless it has a dot, which its certificates do not cover; elsewhere it is the
 * first part of the path. */
static bool find_address(struct bucket *b, const struct media_options *o, const struct settings *s, char *why, size_t n)
{
	const char *url = o->endpoint ? o->endpoint : settings_endpoint(s, "S3", "s3");
	char bucket[PLACE_REGION], prefix[PLACE_URL / 2], made[PLACE_URL];

	if (!take_where(o->where, bucket, prefix, why, n) || !find_region(b, o, s, why, n))
		return false;
	snprintf(b->root, sizeof(b->root), "/%s%s", bucket, prefix);
	if (url) {
		if (!endpoint_parse(url, &b->at, why, n))
			return false;
		if (strcmp(b->at.path, "/") != 0) {
			snprintf(why, n, "the endpoint of a bucket has no path: '%.200s'", url);
			return false;
		}
		return true;
	}
	if (strchr(bucket, '.')) {
		snprintf(made, sizeof(made), "https://s3.%s.amazonaws.com", b->region);
	} else {
		snprintf(made, sizeof(made), "https://%s.s3.%s.amazonaws.com", bucket, b->region);
		snprintf(b->root, sizeof(b->root), "%s", prefix);
	}
	return endpoint_parse(made, &b->at, why, n);
}

static bool set_up(struct bucket *b, const struct media_options *o, struct arena *a, char *why, size_t n)
{
	struct settings s;
	const char *bundle;

	settings_load(&s, a, NULL);
	if (!find_address(b, o, &s, why, n))
		return false;
	snprintf(b->origin, sizeof(b->origin), "%.*s", (int)(strlen(b->at.url) - strlen(b->at.path)), b->at.url);
	bundle = settings_find(&s, "AWS_CA_BUNDLE", "ca_bundle");
	b->pool = pool_new(CONNECTIONS, &(struct fetch_options){ .ca_bundle = bundle, .repeats = true });
	b->keyring = keyring_new(&(struct keyring_options){
		.clock = b->clock, .region = b->region, .ca_bundle = bundle, .local = b->at.loopback });
	if (b->pool && b->keyring)
		return keyring_get(b->keyring, &b->mine, clock_monotonic_us() + WAIT_US, why, n);
	snprintf(why, n, "not enough memory");
	return false;
}

struct bucket *bucket_open(const struct media_options *o, char *why, size_t n)
{
	struct bucket *b = mem_zalloc(sizeof(*b));
	volatile bool ok = false;
	struct arena a;

	if (!b)
		return NULL;
	b->clock = o->clock ? o->clock : &clock_system;
	pthread_mutex_init(&b->lock, NULL);
	arena_init(&a);
	ARENA_TRY(&a, { ok = set_up(b, o, &a, why, n); }, {});
	arena_release(&a);
	if (ok)
		return b;
	bucket_close(b);
	return NULL;
}

const char *bucket_origin(const struct bucket *b)
{
	return b->origin;
}

void bucket_close(struct bucket *b)
{
	if (!b)
		return;
	credentials_give(b->mine);
	keyring_free(b->keyring);
	pool_free(b->pool);
	sigv4_forget(&b->cache);
	pthread_mutex_destroy(&b->lock);
	mem_free(b);
}

/* ---- addresses ---- */
#define HEADERS_MOST 4
struct signing {
	struct bucket *bucket;
	struct arena *arena;
	const char *method;
	struct media_name file;
	int64_t from_s, seconds;
	struct http_header headers[HEADERS_MOST]; /* besides host, which comes in its place; by their names */
	size_t header_count;
	struct slice query; /* further parameters: &name=value… */
	char *why;
	size_t why_size;
};

static struct slice encoded(struct arena *a, struct slice s)
{
	struct buf b;

	buf_init(&b, a);
	percent_encode(&b, s);
	return buf_slice(&b);
}

static struct slice names_of(const struct signing *s)
{
	struct buf b;

	buf_init(&b, s->arena);
	for (size_t i = 0; i < s->header_count; i++)
		buf_printf(&b, "%s%.*s", i ? ";" : "", SLICE_ARG(s->headers[i].name));
	return buf_slice(&b);
}

/* With the lock held. */
static bool take_keys(struct bucket *b, char *why, size_t n)
{
	if (!keyring_get(b->keyring, &b->mine, clock_monotonic_us() + WAIT_US, why, n))
		return false;
	if (b->generation != b->mine->generation)
		sigv4_forget(&b->cache);
	b->generation = b->mine->generation;
	return true;
}

static struct slice sign(struct signing *s, const struct credentials *c)
{
	struct bucket *b = s->bucket;
	struct arena *a = s->arena;
	struct slice date = sigv4_time(a, s->from_s), day = slice_make(date.p, 8), names = names_of(s);
	struct slice path = arena_printf(a, "%s/%.*s/%.*s", b->root, SLICE_ARG(s->file.design), SLICE_ARG(s->file.id));
	struct sigv4_scope scope = { day, slice_str(b->region), SLICE("s3"), SLICE(SIGV4_TERMINATOR) };
	struct sigv4_key key = { .secret = slice_str(c->secret) };
	struct sigv4_message m = { .method = slice_str(s->method),
				   .path = path,
				   .signed_headers = names,
				   .headers = s->headers,
				   .header_count = s->header_count,
				   .payload = SLICE(SIGV4_UNSIGNED),
				   .presigned = true };
	struct buf q;

	key.credential = arena_printf(a, "%s/%.*s/%s/s3/" SIGV4_TERMINATOR, c->id, SLICE_ARG(day), b->region);
	buf_init(&q, a);
	buf_printf(&q, "X-Amz-Algorithm=" SIGV4_ALGORITHM "&X-Amz-Credential=%.*s&X-Amz-Date=%.*s&X-Amz-Expires=%lld",
		   SLICE_ARG(encoded(a, key.credential)), SLICE_ARG(date), (long long)s->seconds);
	if (c->token)
		buf_printf(&q, "&X-Amz-Security-Token=%.*s", SLICE_ARG(encoded(a, slice_str(c->token))));
	buf_printf(&q, "&X-Amz-SignedHeaders=%.*s%.*s", SLICE_ARG(encoded(a, names)), SLICE_ARG(s->query));
	m.query = buf_slice(&q);
	return arena_printf(a, "%s%.*s?%.*s&X-Amz-Signature=%.*s", b->origin, SLICE_ARG(path), SLICE_ARG(m.query),
			    SLICE_ARG(sigv4_sign(a, &m, &key, &scope, date, &b->cache)));
}

static void unlock(void *lock)
{
	pthread_mutex_t **held = lock;

	if (*held)
		pthread_mutex_unlock(*held);
	*held = NULL;
}

static bool make_url(struct signing *s, struct slice *url)
{
	pthread_mutex_t **held = arena_new(s->arena, pthread_mutex_t *);
	bool ok;

	*held = NULL;
	arena_defer(s->arena, unlock, held);
	pthread_mutex_lock(&s->bucket->lock);
	*held = &s->bucket->lock;
	ok = take_keys(s->bucket, s->why, s->why_size);
	if (ok)
		*url = sign(s, s->bucket->mine);
	unlock(held);
	return ok;
}

static void add_header(struct signing *s, struct slice name, struct slice value)
{
	s->headers[s->header_count++] = (struct http_header){ name, value };
}

bool media_upload_url(struct media *m, struct arena *a, const struct media_address *q, struct slice *url, char *why,
		      size_t n)
{
	struct signing s = { .bucket = m->bucket,
			     .arena = a,
			     .method = "PUT",
			     .file = q->file,
			     .from_s = q->from_s,
			     .seconds = q->seconds,
			     .why = why,
			     .why_size = n };

	add_header(&s, SLICE("content-length"), arena_printf(a, "%lld", (long long)q->size));
	add_header(&s, SLICE("content-type"), q->type);
	add_header(&s, SLICE("host"), slice_str(m->bucket->at.host));
	add_header(&s, SLICE("if-none-match"), SLICE("*"));
	return make_url(&s, url);
}

bool media_download_url(struct media *m, struct arena *a, const struct media_address *q, struct slice *url, char *why,
			size_t n)
{
	struct signing s = { .bucket = m->bucket,
			     .arena = a,
			     .method = "GET",
			     .file = q->file,
			     .from_s = q->from_s,
			     .seconds = q->seconds,
			     .why = why,
			     .why_size = n };

	add_header(&s, SLICE("host"), slice_str(m->bucket->at.host));
	s.query =
		arena_printf(a,
			     "&response-cache-control=%.*s&response-content-disposition=%.*s&response-content-type=%.*s",
			     SLICE_ARG(encoded(a, SLICE("private, max-age=31536000, immutable"))),
			     SLICE_ARG(encoded(a, q->disposition)), SLICE_ARG(encoded(a, q->type)));
	return make_url(&s, url);
}

/* ---- the server's own requests ---- */
static void free_body(void *p)
{
	struct fetch_reply *r = p;

	mem_free(r->body);
	r->body = NULL;
}

static bool is_worth_another(const struct fetch_reply *r)
{
	return r->end != FETCH_ANSWERED || r->status >= 500 || r->status == 429;
}

static bool send_once(struct bucket *b, const struct fetch_request *q, struct fetch_reply *r)
{
	struct fetch *f = pool_take(b->pool, clock_monotonic_us() + WAIT_US);

	if (!f)
		return false;
	fetch_send(f, q, r);
	pool_give(b->pool, f);
	return true;
}

/* *r: the last answer. False: there was none; it has been logged. */
static bool call(struct bucket *b, struct arena *a, const char *method, struct media_name file,
		 const char *const *headers, struct fetch_reply *r)
{
	char why[WHY] = "no connection is free";
	struct signing s = { .bucket = b,
			     .arena = a,
			     .method = method,
			     .file = file,
			     .from_s = clock_now_ms(b->clock) / 1000,
			     .seconds = OWN_SECONDS,
			     .why = why,
			     .why_size = sizeof(why) };
	struct slice url;
	bool ok = false;

	add_header(&s, SLICE("host"), slice_str(b->at.host));
	if (make_url(&s, &url)) {
		struct fetch_request q = { .method = method,
					   .url = arena_cstr(a, url),
					   .headers = headers,
					   .connect_ms = CONNECT_MS,
					   .total_ms = TOTAL_MS,
					   .most = REPLY_MOST,
					   .cut = true };

		for (int i = 0; i < TRIES && (!ok || is_worth_another(r)); i++) {
			if (i)
				clock_pause_us(PAUSE_US << i);
			if (ok)
				free_body(r);
			ok = send_once(b, &q, r);
		}
	}
	if (ok && r->end == FETCH_ANSWERED)
		return true;
	log_warn("media: the bucket does not answer: %s", ok ? r->why : why);
	if (ok)
		free_body(r);
	return false;
}

static enum media_end refused(struct bucket *b, const char *what, const struct fetch_reply *r)
{
	log_warn("media: the bucket at %s refuses to %s a file: status %d", b->at.url, what, r->status);
	return MEDIA_TROUBLE;
}

enum media_end bucket_look(struct bucket *b, struct arena *a, struct media_name f, struct media_look *out)
{
	static const char *const headers[] = { "Range: bytes=0-63", NULL };
	struct fetch_reply *r = arena_new(a, struct fetch_reply);

	*r = (struct fetch_reply){ 0 };
	if (!call(b, a, "GET", f, headers, r))
		return MEDIA_TROUBLE;
	arena_defer(a, free_body, r);
	if (r->status == 404)
		return MEDIA_NONE;
	/* Without the permission to list the bucket, S3 says this of a file that is not there. */
	if (r->status == 403) {
		log_info("media: the bucket refuses to show a file: it is not there, or the credentials lack s3:GetObject");
		return MEDIA_NONE;
	}
	if (r->status != 200 && r->status != 206)
		return refused(b, "show", r);
	out->size = r->total >= 0 ? r->total : (int64_t)r->n;
	out->type = arena_copy(a, slice_str(r->content_type));
	out->head_size = r->n < sizeof(out->head) ? r->n : sizeof(out->head);
	if (out->head_size)
		memcpy(out->head, r->body, out->head_size);
	return MEDIA_DONE;
}

enum media_end bucket_remove(struct bucket *b, struct arena *a, struct media_name f)
{
	struct fetch_reply r = { 0 };
	enum media_end end = MEDIA_DONE;

	if (!call(b, a, "DELETE", f, NULL, &r))
		return MEDIA_TROUBLE;
	if (r.status != 200 && r.status != 204 && r.status != 404)
		end = refused(b, "remove", &r);
	free_body(&r);
	return end;
}
