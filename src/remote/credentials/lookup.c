/* The order of the sources, and what they share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/credentials/lookup.h"
#include "base/alloc.h"
#include "base/timestamp.h"
#include "remote/wait.h"

#define REPLY_MOST     (256 * 1024)
#define FIRST_PAUSE_MS 100

void lookup_init(struct lookup *l)
{
	buf_init(&l->looked, l->arena);
	l->why = SLICE("");
}

enum found lookup_trouble(struct lookup *l, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	l->why = arena_vprintf(l->arena, fmt, ap);
	va_end(ap);
	return FOUND_TROUBLE;
}

enum found lookup_nothing(struct lookup *l, const char *fmt, ...)
{
	va_list ap;

	if (l->looked.n)
		buf_lit(&l->looked, ", ");
	va_start(ap, fmt);
	buf_put(&l->looked, arena_vprintf(l->arena, fmt, ap));
	va_end(ap);
	return FOUND_NOTHING;
}

const char *lookup_print(struct lookup *l, const char *fmt, ...)
{
	struct slice s;
	va_list ap;

	va_start(ap, fmt);
	s = arena_vprintf(l->arena, fmt, ap);
	va_end(ap);
	return arena_cstr(l->arena, s);
}

const char *lookup_cache_file(struct lookup *l, const char *directory, const char *name, const EVP_MD *hash)
{
	uint8_t bytes[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	struct buf b;

	if (EVP_Digest(name, strlen(name), bytes, &n, hash, NULL) != 1)
		arena_out_of_memory(l->arena);
	buf_init(&b, l->arena);
	buf_hex(&b, slice_make(bytes, n));
	return settings_path(l->settings, lookup_print(l, "%s/%.*s.json", directory, SLICE_ARG(buf_slice(&b))));
}

/* ---- asking ---- */

static void free_text(void *p)
{
	mem_free(p);
}

static bool is_worth_another(const struct lookup_answer *r)
{
	return !r->status || r->status >= 500 || r->status == 429;
}

static void ask_once(struct lookup *l, const struct lookup_ask *q, struct lookup_answer *r)
{
	struct fetch_request request = { .method = q->method,
					 .url = q->url,
					 .headers = q->headers,
					 .body = q->body,
					 .connect_ms = q->timeout_ms,
					 .total_ms = q->timeout_ms,
					 .most = REPLY_MOST };
	struct fetch_reply reply;

	fetch_send(q->with, &request, &reply);
	if (reply.body)
		arena_defer(l->arena, free_text, reply.body);
	if (reply.end == FETCH_NO_MEMORY)
		arena_out_of_memory(l->arena);
	*r = (struct lookup_answer){ .status = reply.end == FETCH_ANSWERED ? reply.status : 0 };
	r->text = arena_cstr(l->arena, slice_make(reply.n ? reply.body : "", reply.n));
	r->why = lookup_print(l, "%s", reply.why);
}

void lookup_ask(struct lookup *l, const struct lookup_ask *q, struct lookup_answer *r)
{
	unsigned attempts = q->attempts ? q->attempts : 1;

	for (unsigned i = 0; i < attempts; i++) {
		if (i && !wait_ms((int64_t)FIRST_PAUSE_MS << (i - 1), l->stop))
			return;
		ask_once(l, q, r);
		if (!is_worth_another(r))
			return;
	}
}

const char *lookup_text(struct lookup *l, const struct json *obj, const char *name)
{
	const struct json *j = json_get(obj, name);

	return json_is(j, JSON_STRING) && j->string.n ? arena_cstr(l->arena, j->string) : NULL;
}

bool lookup_read_keys(struct lookup *l, const struct json *j, const char *token_name, struct found_keys *k)
{
	const struct json *expires = json_get(j, "Expiration");

	k->id = lookup_text(l, j, "AccessKeyId");
	k->secret = lookup_text(l, j, "SecretAccessKey");
	k->token = lookup_text(l, j, token_name);
	k->expires_ms = 0;
	if (json_is(expires, JSON_STRING) && expires->string.n && !time_parse(expires->string, &k->expires_ms))
		return false;
	return k->id && k->secret;
}

/* ---- the order ---- */

enum found lookup_profile(struct lookup *l, const char *profile, struct found_keys *k)
{
	enum found f = lookup_web_identity(l, profile, false, k);

	if (f == FOUND_NOTHING)
		f = lookup_sso(l, profile, k);
	if (f == FOUND_NOTHING)
		f = lookup_file(l, profile, SETTINGS_CREDENTIALS, k);
	if (f == FOUND_NOTHING)
		f = lookup_login(l, profile, k);
	if (f == FOUND_NOTHING)
		f = lookup_process(l, profile, k);
	if (f == FOUND_NOTHING)
		f = lookup_file(l, profile, SETTINGS_CONFIG, k);
	return f;
}

static enum found lookup_named(struct lookup *l, struct found_keys *k)
{
	const struct settings *s = l->settings;
	enum found f;

	if (s->profile_is_named && !settings_has_profile(s, s->profile))
		return lookup_trouble(l, "the profile '%s' (AWS_PROFILE) is neither in %s nor in %s", s->profile,
				      s->config_path, s->credentials_path);
	f = lookup_role(l, s->profile, k);
	if (f == FOUND_NOTHING)
		f = lookup_web_identity(l, s->profile, true, k);
	if (f == FOUND_NOTHING)
		f = lookup_profile(l, s->profile, k);
	if (f == FOUND_NOTHING)
		lookup_nothing(l, "the profile '%s' (in %s and %s)", s->profile, s->config_path, s->credentials_path);
	return f;
}

enum found lookup_all(struct lookup *l, struct found_keys *k)
{
	enum found f = lookup_environment(l, k);

	if (f == FOUND_NOTHING)
		f = lookup_named(l, k);
	if (f == FOUND_NOTHING && !l->local_only)
		f = lookup_container(l, k);
	if (f == FOUND_NOTHING && !l->local_only)
		f = lookup_instance(l, k);
	if (f == FOUND_NOTHING)
		lookup_trouble(l,
			       "no credentials were found: looked at %.*s. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, run "
			       "`aws configure` or `aws sso login`, or choose a profile with AWS_PROFILE",
			       SLICE_ARG(buf_slice(&l->looked)));
	return f;
}

const char *lookup_setting(struct lookup *l, const char *profile, const char *key)
{
	return settings_get(l->settings, profile, key, SETTINGS_BOTH);
}
