/* Addresses: of a bucket, which signs them itself, or our own, for a directory:
 *
 *     /media/<design>/<id>?type=…&size=…&until=…&name=…&sign=…
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include "app/file/file_internal.h"
#include "app/run/state.h"
#include "base/log.h"
#include "value/base64.h"
#include "wire/percent.h"

#define SHOWN_S      3600 /* an address is valid so long … */
#define WINDOW_S     900 /* … from the beginning of such a period, so that it is the same for a while: browsers cache it */
#define SIGN_BYTES   24
#define DESIGN_CHARS 64
#define WHY          512

bool file_make_key(struct app *app)
{
	struct slice text = arena_printf(&app->arena, "files:%.*s", SLICE_ARG(app->design->name));
	unsigned n = 0;

	return HMAC(EVP_sha256(), app->secret, sizeof(app->secret), (const uint8_t *)text.p, text.n, app->file_key, &n) &&
	       n == sizeof(app->file_key);
}

/* ---- our own ---- */
static struct slice sign(const struct app *app, struct arena *a, const char *verb, const struct file_pass *p)
{
	uint8_t made[EVP_MAX_MD_SIZE];
	struct buf text, out;

	buf_init(&text, a);
	buf_part(&text, slice_str(verb));
	buf_part(&text, p->id);
	buf_part(&text, p->type);
	buf_part(&text, p->name);
	buf_printf(&text, "%lld %lld", (long long)p->size, (long long)p->until_s);
	if (!HMAC(EVP_sha256(), app->file_key, sizeof(app->file_key), (const uint8_t *)text.p, text.n, made, NULL))
		arena_out_of_memory(a);
	buf_init(&out, a);
	base64url_put(&out, slice_make((const char *)made, SIGN_BYTES));
	return buf_slice(&out);
}

static struct slice own_url(struct run *r, const char *verb, const struct file_pass *p)
{
	struct buf b;

	buf_init(&b, r->arena);
	buf_lit(&b, FILE_URL_BASE);
	percent_encode(&b, r->design->name);
	buf_printf(&b, "/%.*s?type=", SLICE_ARG(p->id));
	percent_encode(&b, p->type);
	buf_printf(&b, "&size=%lld&until=%lld", (long long)p->size, (long long)p->until_s);
	if (p->name.n) {
		buf_lit(&b, "&name=");
		percent_encode(&b, p->name);
	}
	buf_lit(&b, "&sign=");
	buf_put(&b, sign(r->app, r->arena, verb, p));
	return buf_slice(&b);
}

static struct slice query_value(struct arena *a, struct slice query, const char *name)
{
	struct slice pair, key;

	while (slice_next(&query, '&', &pair)) {
		slice_next(&pair, '=', &key);
		if (slice_is(key, name))
			return pair.p ? percent_decode(a, pair) : SLICE("");
	}
	return SLICE("");
}

static int64_t number_of(struct slice s)
{
	int64_t n = 0;

	if (!s.n || s.n > 18)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		n = n * 10 + (s.p[i] - '0');
	}
	return n;
}

bool file_pass_read(const struct app *app, struct arena *a, const char *verb, struct slice id, struct slice query,
		    struct file_pass *out)
{
	struct slice given = query_value(a, query, "sign"), made;

	*out = (struct file_pass){ .id = id,
				   .type = query_value(a, query, "type"),
				   .name = query_value(a, query, "name"),
				   .size = number_of(query_value(a, query, "size")),
				   .until_s = number_of(query_value(a, query, "until")) };
	made = sign(app, a, verb, out);
	return app->media && given.n == made.n && !CRYPTO_memcmp(given.p, made.p, made.n) &&
	       clock_now_ms(app->clock) / 1000 < out->until_s;
}

/* ---- Content-Disposition ---- */
/* The name without what a header or a file system could take for something else (RFC 6266, 8187). */
struct slice file_disposition(struct arena *a, struct slice type, struct slice name)
{
	struct buf b;

	buf_init(&b, a);
	buf_str(&b, media_kind_is_shown(type) ? "inline" : "attachment");
	if (!name.n)
		return buf_slice(&b);
	buf_lit(&b, "; filename*=UTF-8''");
	percent_encode(&b, name);
	return buf_slice(&b);
}

/* ---- for clients ---- */
struct slice file_url(struct run *r, struct value v)
{
	int64_t from_s = r->now_ms / 1000 / WINDOW_S * WINDOW_S;
	struct file_pass p = { .id = file_id(v), .until_s = from_s + SHOWN_S };
	struct slice url = SLICE("");
	char why[WHY] = "";

	if (!r->app || !r->app->media || !p.id.n)
		return url;
	p.type = beside_text(v, "type");
	p.name = beside_text(v, "name");
	p.size = beside_number(v, "size");
	if (!media_is_bucket(r->app->media))
		return own_url(r, FILE_GET_TYPE, &p);
	if (!media_download_url(r->app->media, r->arena,
				&(struct media_address){ .file = file_name(r, p.id),
							 .from_s = from_s,
							 .seconds = SHOWN_S,
							 .type = p.type,
							 .disposition = file_disposition(r->arena, p.type, p.name) },
				&url, why, sizeof(why)))
		log_warn("%.*s: no address of a file: %s", SLICE_ARG(r->design->name), why);
	return url;
}

struct slice file_upload_url(struct run *r, const struct file_ask *q, struct slice id, int64_t until_ms)
{
	struct file_pass p = { .id = id, .type = q->type, .size = q->size, .until_s = until_ms / 1000 };
	struct media_address at = { .file = file_name(r, id),
				    .from_s = r->now_ms / 1000,
				    .seconds = until_ms / 1000 - r->now_ms / 1000,
				    .type = q->type,
				    .size = q->size };
	struct slice url = SLICE("");
	char why[WHY] = "";

	if (!media_is_bucket(r->app->media))
		return own_url(r, FILE_PUT_TYPE, &p);
	if (media_upload_url(r->app->media, r->arena, &at, &url, why, sizeof(why)))
		return url;
	log_warn("%.*s: no address for an upload: %s", SLICE_ARG(r->design->name), why);
	(void)run_fail(r, PROBLEM_BUSY, "files cannot be uploaded at the moment");
	r->problem.retry_after = 5;
	return url;
}
