/* IAM Identity Center: exchanges the token of `aws sso login` for the credentials of a role.
 *
 * A token of an sso-session comes with a refresh token. The renewed tokens replace both in the file, as with AWS's
 * own tools: each refresh token works once.
 * SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/timestamp.h"
#include "remote/credentials/lookup.h"
#include "wire/percent.h"

#define TIMEOUT_MS 10000
#define ATTEMPTS   3
#define RENEW_MS   (5 * 60 * 1000) /* before its end */

struct login {
	const char *profile, *session; /* session: NULL in the old form */
	const char *start_url, *region, *account, *role;
	const char *path; /* of the token's file */
	const struct json *file;
	const char *token;
};

static enum found read_profile(struct lookup *l, const char *profile, struct login *g)
{
	*g = (struct login){ .profile = profile,
			     .session = lookup_setting(l, profile, "sso_session"),
			     .account = lookup_setting(l, profile, "sso_account_id"),
			     .role = lookup_setting(l, profile, "sso_role_name") };
	if (!g->session && !lookup_setting(l, profile, "sso_start_url"))
		return FOUND_NOTHING;
	g->start_url = g->session ? settings_get_of(l->settings, "sso-session", g->session, "sso_start_url")
				  : lookup_setting(l, profile, "sso_start_url");
	g->region = g->session ? settings_get_of(l->settings, "sso-session", g->session, "sso_region")
			       : lookup_setting(l, profile, "sso_region");
	if (!g->account || !g->role)
		return FOUND_NOTHING; /* a token alone is for other services */
	if (!g->start_url || !g->region || !endpoint_is_region(g->region))
		return lookup_trouble(l, "the profile '%s' needs sso_start_url and sso_region%s%s", profile,
				      g->session ? " in its sso-session " : "", g->session ? g->session : "");
	g->path = lookup_cache_file(l, "~/.aws/sso/cache", g->session ? g->session : g->start_url, EVP_sha1());
	return FOUND_KEYS;
}

static enum found log_in_again(struct lookup *l, const struct login *g, const char *what)
{
	return lookup_trouble(l, "the SSO token of profile '%s' %s: run `aws sso login --profile %s`", g->profile, what,
			      g->profile);
}

/* "2026-11-18T12:00:00Z"; older tools wrote "…UTC". */
static bool read_time(struct lookup *l, const char *text, int64_t *ms)
{
	size_t n = text ? strlen(text) : 0;

	if (n > 3 && !strcmp(text + n - 3, "UTC"))
		text = lookup_print(l, "%.*sZ", (int)n - 3, text);
	return n && time_parse(slice_str(text), ms);
}

static const char *service_url(struct lookup *l, enum endpoint_service s, const char *variable, const char *service,
			       const char *region)
{
	const char *configured = settings_endpoint(l->settings, variable, service);
	struct endpoint e;
	char url[PLACE_URL], why[600];

	if (!configured) {
		endpoint_amazon(s, region, false, url);
		configured = url;
	}
	return endpoint_parse(configured, &e, why, sizeof(why))
		       ? lookup_print(l, "%.*s", (int)strlen(e.url) - (e.url[strlen(e.url) - 1] == '/'), e.url)
		       : NULL;
}

/* ---- renewing the token ---- */

/* Written to a temporary file first, so that no reader sees half of it. A failure does no harm until the next
 * renewal. */
static void keep_login(struct lookup *l, const struct login *g, const struct json *answer, int64_t seconds)
{
	static const char *const kept[] = { "startUrl", "region", "clientId", "clientSecret", "registrationExpiresAt",
					    NULL };
	const char *path = lookup_print(l, "%s.%d.tmp", g->path, (int)getpid()),
		   *refresh = lookup_text(l, answer, "refreshToken");
	char expires[TIME_TEXT_MAX];
	struct buf b;
	bool ok;
	int fd;

	buf_init(&b, l->arena);
	json_open(&b, '{');
	for (size_t i = 0; kept[i]; i++)
		if (lookup_text(l, g->file, kept[i]))
			json_member_word(&b, kept[i], lookup_text(l, g->file, kept[i]));
	json_member_word(&b, "refreshToken", refresh ? refresh : lookup_text(l, g->file, "refreshToken"));
	json_member_word(&b, "accessToken", g->token);
	time_format(clock_now_ms(l->clock) + seconds * 1000, expires);
	json_member_word(&b, "expiresAt", expires);
	json_close(&b, '}');
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	ok = write(fd, b.p, b.n) == (ssize_t)b.n;
	ok = !close(fd) && ok;
	if (!ok || rename(path, g->path))
		unlink(path);
}

static bool renew(struct lookup *l, struct login *g)
{
	const char *refresh = lookup_text(l, g->file, "refreshToken"), *id = lookup_text(l, g->file, "clientId"),
		   *secret = lookup_text(l, g->file, "clientSecret"), *token;
	const char *url = service_url(l, ENDPOINT_OIDC, "SSO_OIDC", "sso_oidc", g->region);
	const char *headers[] = { "Content-Type: application/json", NULL };
	const struct json *answer, *seconds;
	struct lookup_answer r;
	struct buf b;

	if (!g->session || !refresh || !id || !secret || !url)
		return false;
	buf_init(&b, l->arena);
	json_open(&b, '{');
	json_member_word(&b, "grantType", "refresh_token");
	json_member_word(&b, "clientId", id);
	json_member_word(&b, "clientSecret", secret);
	json_member_word(&b, "refreshToken", refresh);
	json_close(&b, '}');
	lookup_ask(l,
		   &(struct lookup_ask){ .with = l->fetch,
					 .method = "POST",
					 .url = lookup_print(l, "%s/token", url),
					 .headers = headers,
					 .body = buf_slice(&b),
					 .timeout_ms = TIMEOUT_MS,
					 .attempts = 1 },
		   &r);
	answer = r.status == 200 ? json_parse(l->arena, slice_str(r.text)) : NULL;
	token = lookup_text(l, answer, "accessToken");
	seconds = json_get(answer, "expiresIn");
	if (!token || !json_is(seconds, JSON_INT))
		return false;
	g->token = token;
	keep_login(l, g, answer, seconds->integer);
	return true;
}

static enum found find_token(struct lookup *l, struct login *g)
{
	const char *text = settings_read_file(l->arena, g->path);
	int64_t now = clock_now_ms(l->clock), ends = 0;

	if (!text)
		return log_in_again(l, g, "is not there");
	g->file = json_parse(l->arena, slice_str(text));
	g->token = lookup_text(l, g->file, "accessToken");
	if (!g->token || !read_time(l, lookup_text(l, g->file, "expiresAt"), &ends))
		return log_in_again(l, g, "cannot be read");
	if (now < ends - RENEW_MS || renew(l, g) || now < ends)
		return FOUND_KEYS;
	return log_in_again(l, g, "has expired");
}

/* ---- the role ---- */

static bool read_role(struct lookup *l, const char *text, struct found_keys *k)
{
	const struct json *role = json_get(json_parse(l->arena, slice_str(text)), "roleCredentials");
	const struct json *ends = json_get(role, "expiration");

	*k = (struct found_keys){ .id = lookup_text(l, role, "accessKeyId"),
				  .secret = lookup_text(l, role, "secretAccessKey"),
				  .token = lookup_text(l, role, "sessionToken"),
				  .expires_ms = json_is(ends, JSON_INT) ? ends->integer : 0 };
	return k->id && k->secret && k->token && k->expires_ms;
}

enum found lookup_sso(struct lookup *l, const char *profile, struct found_keys *k)
{
	struct lookup_answer r;
	struct login g;
	struct buf query;
	const char *url, *headers[2] = { NULL, NULL };
	enum found f = read_profile(l, profile, &g);

	*k = (struct found_keys){ 0 };
	if (f == FOUND_KEYS)
		f = find_token(l, &g);
	if (f != FOUND_KEYS)
		return f;
	url = service_url(l, ENDPOINT_SSO, "SSO", "sso", g.region);
	if (!url)
		return lookup_trouble(l,
				      "the address of SSO (AWS_ENDPOINT_URL_SSO) is neither https nor on this machine");
	headers[0] = lookup_print(l, "x-amz-sso_bearer_token: %s", g.token);
	buf_init(&query, l->arena);
	buf_lit(&query, "role_name=");
	percent_encode(&query, slice_str(g.role));
	buf_lit(&query, "&account_id=");
	percent_encode(&query, slice_str(g.account));
	lookup_ask(l,
		   &(struct lookup_ask){ .with = l->fetch,
					 .method = "GET",
					 .headers = headers,
					 .timeout_ms = TIMEOUT_MS,
					 .attempts = ATTEMPTS,
					 .url = lookup_print(l, "%s/federation/credentials?%.*s", url,
							     SLICE_ARG(buf_slice(&query))) },
		   &r);
	if (r.status == 401)
		return log_in_again(l, &g, "is not valid any more");
	if (r.status == 403 || r.status == 404)
		return lookup_trouble(l, "the profile '%s' may not use the role %s in account %s", profile, g.role,
				      g.account);
	if (r.status != 200)
		return lookup_trouble(l, "cannot get the credentials of profile '%s': SSO says %d %s", profile,
				      r.status, r.why);
	if (!read_role(l, r.text, k))
		return lookup_trouble(l, "cannot get the credentials of profile '%s': the answer of SSO has none",
				      profile);
	k->source = lookup_print(l, "SSO (profile '%s')", profile);
	return FOUND_KEYS;
}
