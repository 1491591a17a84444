/* The canonical request, the string to sign, and the key that is derived from a secret.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/sigv4.h"
#include <time.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "wire/percent.h"

/* ---- the canonical request ---- */

/* Without empty, '.' and '..' segments, and encoded once more than on the wire. */
static void add_path(struct buf *b, struct slice path)
{
	size_t start = b->n, i = 0;
	bool slash_at_end = path.n && path.p[path.n - 1] == '/';

	while (i < path.n) {
		struct slice segment;
		size_t from;

		while (i < path.n && path.p[i] == '/')
			i++;
		from = i;
		while (i < path.n && path.p[i] != '/')
			i++;
		segment = slice_make(path.p + from, i - from);
		if (!segment.n || slice_is(segment, "."))
			continue;
		if (slice_is(segment, "..")) {
			while (b->n > start && b->p[--b->n] != '/')
				;
			continue;
		}
		buf_byte(b, '/');
		percent_encode(b, segment);
	}
	if (b->n == start || slash_at_end)
		buf_byte(b, '/');
}

struct param {
	struct slice name, value; /* encoded */
};

static int by_name(const void *x, const void *y)
{
	const struct param *a = x, *b = y;
	int c = slice_cmp(a->name, b->name);

	return c ? c : slice_cmp(a->value, b->value);
}

static struct slice encoded(struct arena *a, struct slice s)
{
	struct buf b;

	buf_init(&b, a);
	percent_encode(&b, percent_decode(a, s));
	return buf_slice(&b);
}

static size_t split_query(struct arena *a, struct slice query, struct param **out)
{
	size_t count = 0, pairs = 1;
	struct slice pair, name;

	for (size_t i = 0; i < query.n; i++)
		pairs += query.p[i] == '&';
	*out = arena_array(a, struct param, pairs);
	while (slice_next(&query, '&', &pair)) {
		if (!pair.n)
			continue;
		slice_next(&pair, '=', &name); /* `pair` is then the value */
		(*out)[count++] = (struct param){ encoded(a, name), encoded(a, pair) };
	}
	return count;
}

static void add_query(struct buf *b, const struct sigv4_message *m)
{
	struct param *params;
	size_t n;
	bool first = true;

	if (!m->query.n)
		return;
	n = split_query(b->arena, m->query, &params);
	if (n)
		qsort(params, n, sizeof(*params), by_name);
	for (size_t i = 0; i < n; i++) {
		if (m->presigned && slice_is(params[i].name, "X-Amz-Signature"))
			continue;
		if (!first)
			buf_byte(b, '&');
		first = false;
		buf_put(b, params[i].name);
		buf_byte(b, '=');
		buf_put(b, params[i].value);
	}
}

/* Runs of spaces count as one. */
static void add_value(struct buf *b, struct slice v)
{
	for (size_t i = 0; i < v.n; i++)
		if (v.p[i] != ' ' || !i || v.p[i - 1] != ' ')
			buf_byte(b, (uint8_t)v.p[i]);
}

static void add_header(struct buf *b, const struct sigv4_message *m, struct slice name)
{
	bool first = true;

	buf_put(b, name);
	buf_byte(b, ':');
	for (size_t i = 0; i < m->header_count; i++) {
		if (!slice_equal(m->headers[i].name, name))
			continue;
		if (!first)
			buf_byte(b, ',');
		first = false;
		add_value(b, m->headers[i].value);
	}
	buf_byte(b, '\n');
}

static void add_signed_headers(struct buf *b, const struct sigv4_message *m)
{
	struct slice rest = m->signed_headers, name;

	while (slice_next(&rest, ';', &name))
		if (name.n)
			add_header(b, m, name);
}

static void add_hash(struct buf *b, struct slice s)
{
	uint8_t hash[SIGV4_HASH];

	if (EVP_Digest(s.p ? s.p : "", s.n, hash, NULL, EVP_sha256(), NULL) != 1)
		arena_out_of_memory(b->arena);
	buf_hex(b, slice_make(hash, sizeof(hash)));
}

struct slice sigv4_canonical(struct arena *a, const struct sigv4_message *m)
{
	struct buf b;

	buf_init(&b, a);
	buf_put(&b, m->method);
	buf_byte(&b, '\n');
	add_path(&b, m->path);
	buf_byte(&b, '\n');
	add_query(&b, m);
	buf_byte(&b, '\n');
	add_signed_headers(&b, m);
	buf_byte(&b, '\n');
	buf_put(&b, m->signed_headers);
	buf_byte(&b, '\n');
	if (m->payload.n)
		buf_put(&b, m->payload);
	else
		add_hash(&b, m->body);
	return buf_slice(&b);
}

/* ---- the signature ---- */

static void hmac(struct arena *a, struct slice key, struct slice text, uint8_t out[SIGV4_HASH])
{
	unsigned n = SIGV4_HASH;

	if (!HMAC(EVP_sha256(), key.p, (int)key.n, (const uint8_t *)text.p, text.n, out, &n))
		arena_out_of_memory(a);
}

static void derive_key(struct arena *a, const struct sigv4_scope *s, struct slice secret, uint8_t key[SIGV4_HASH])
{
	const struct slice parts[] = { s->date, s->region, s->service, s->terminator };
	struct slice first = arena_printf(a, "AWS4%.*s", SLICE_ARG(secret));

	hmac(a, first, parts[0], key);
	for (size_t i = 1; i < sizeof(parts) / sizeof(parts[0]); i++)
		hmac(a, slice_make(key, SIGV4_HASH), parts[i], key);
	OPENSSL_cleanse((char *)first.p, first.n);
}

static const uint8_t *signing_key(struct arena *a, const struct sigv4_key *key, const struct sigv4_scope *s,
				  struct sigv4_cache *c)
{
	struct slice credential = key->credential;
	size_t n = sizeof(c->entries) / sizeof(c->entries[0]), i;
	uint8_t *fresh;

	if (credential.n >= sizeof(c->entries[0].scope)) {
		fresh = arena_alloc(a, SIGV4_HASH);
		derive_key(a, s, key->secret, fresh);
		return fresh;
	}
	for (i = 0; i < n; i++)
		if (slice_is(credential, c->entries[i].scope))
			return c->entries[i].key;
	i = c->next++ % n;
	c->entries[i].scope[0] = '\0'; /* not to be found half made if memory runs out */
	derive_key(a, s, key->secret, c->entries[i].key);
	memcpy(c->entries[i].scope, credential.p, credential.n);
	c->entries[i].scope[credential.n] = '\0';
	return c->entries[i].key;
}

struct slice sigv4_time(struct arena *a, int64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[32];
	struct tm tm;

	gmtime_r(&t, &tm);
	strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
	return arena_copy(a, slice_str(text));
}

void sigv4_forget(struct sigv4_cache *cache)
{
	OPENSSL_cleanse(cache, sizeof(*cache));
}

struct slice sigv4_sign(struct arena *a, const struct sigv4_message *m, const struct sigv4_key *key,
			const struct sigv4_scope *s, struct slice iso_date, struct sigv4_cache *cache)
{
	uint8_t hash[SIGV4_HASH];
	struct buf to_sign, hex;

	buf_init(&to_sign, a);
	buf_printf(&to_sign, SIGV4_ALGORITHM "\n%.*s\n%.*s/%.*s/%.*s/%.*s\n", SLICE_ARG(iso_date), SLICE_ARG(s->date),
		   SLICE_ARG(s->region), SLICE_ARG(s->service), SLICE_ARG(s->terminator));
	add_hash(&to_sign, sigv4_canonical(a, m));
	hmac(a, slice_make(signing_key(a, key, s, cache), SIGV4_HASH), buf_slice(&to_sign), hash);
	buf_init(&hex, a);
	buf_hex(&hex, slice_make(hash, sizeof(hash)));
	return buf_slice(&hex);
}
