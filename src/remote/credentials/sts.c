/* AssumeRole and AssumeRoleWithWebIdentity: a form goes out, XML comes back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/credentials/sts.h"
#include "base/timestamp.h"
#include "remote/sign.h"
#include "wire/percent.h"

#define TIMEOUT_MS 10000
#define ATTEMPTS   3

static void add_field(struct buf *b, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(b, "&%s=", name);
	percent_encode(b, slice_str(value));
}

static struct slice form_of(struct lookup *l, const struct sts_ask *q)
{
	const char *session = q->session_name;
	struct buf b;

	if (!session)
		session = lookup_print(l, "thorpe-%lld", (long long)clock_now_ms(l->clock));
	buf_init(&b, l->arena);
	buf_printf(&b, "Action=%s&Version=2011-06-15", q->web_token ? "AssumeRoleWithWebIdentity" : "AssumeRole");
	add_field(&b, "RoleArn", q->role_arn);
	add_field(&b, "RoleSessionName", session);
	add_field(&b, "ExternalId", q->external_id);
	add_field(&b, "DurationSeconds", q->duration);
	add_field(&b, "WebIdentityToken", q->web_token);
	return buf_slice(&b);
}

/* The text between <name> and </name>. Nothing that is read here needs escapes. NULL: there is none. */
static const char *element(struct lookup *l, const char *xml, const char *name)
{
	const char *open = lookup_print(l, "<%s>", name), *close = lookup_print(l, "</%s>", name);
	const char *from = strstr(xml, open), *to;

	if (!from)
		return NULL;
	from += strlen(open);
	to = strstr(from, close);
	return to && to > from ? arena_cstr(l->arena, slice_make(from, (size_t)(to - from))) : NULL;
}

static bool find_endpoint(struct lookup *l, const char *region, struct endpoint *e, char *why, size_t n)
{
	const char *configured = settings_endpoint(l->settings, "STS", "sts");
	char url[PLACE_URL];

	if (configured)
		return endpoint_parse(configured, e, why, n);
	endpoint_amazon(ENDPOINT_STS, region, settings_env_is_true(l->settings, "AWS_USE_FIPS_ENDPOINT"), url);
	return endpoint_parse(url, e, why, n);
}

static enum found explain(struct lookup *l, const struct sts_ask *q, const struct lookup_answer *r)
{
	const char *code = element(l, r->text, "Code");

	if (!r->status)
		return lookup_trouble(l, "the role %s cannot be assumed: STS does not answer (%s)", q->role_arn, r->why);
	if (code && !strcmp(code, "AccessDenied"))
		return lookup_trouble(
			l,
			"the role %s cannot be assumed: STS says AccessDenied. Its trust policy must name the caller%s",
			q->role_arn, q->external_id ? ", and this external_id" : "");
	if (code && (!strcmp(code, "ExpiredToken") || !strcmp(code, "ExpiredTokenException")))
		return lookup_trouble(l, "the role %s cannot be assumed: the %s has expired", q->role_arn,
				      q->web_token ? "web identity token" : "source's session token");
	return lookup_trouble(l, "the role %s cannot be assumed: STS says %d %s", q->role_arn, r->status,
			      code ? code : "");
}

static bool read_keys(struct lookup *l, const char *xml, struct found_keys *k)
{
	const char *expires = element(l, xml, "Expiration");

	*k = (struct found_keys){ .id = element(l, xml, "AccessKeyId"),
				  .secret = element(l, xml, "SecretAccessKey"),
				  .token = element(l, xml, "SessionToken") };
	return k->id && k->secret && k->token && expires && time_parse(slice_str(expires), &k->expires_ms);
}

enum found sts_assume(struct lookup *l, const struct sts_ask *q, struct found_keys *k)
{
	const char *region = q->region && *q->region ? q->region : "us-east-1";
	struct slice form = form_of(l, q);
	const char *plain[] = { "Content-Type: application/x-www-form-urlencoded", NULL };
	const char *const *headers = plain;
	struct lookup_answer r;
	struct endpoint e;
	char why[600];

	if (!find_endpoint(l, region, &e, why, sizeof(why)))
		return lookup_trouble(l, "STS cannot be called: %s", why);
	if (!q->web_token) {
		struct sigv4_cache none = { 0 };
		struct sign_ask s = { .endpoint = &e,
				      .region = region,
				      .service = "sts",
				      .content_type = "application/x-www-form-urlencoded",
				      .body = form,
				      .now_ms = clock_now_ms(l->clock),
				      .id = q->with->id,
				      .secret = q->with->secret,
				      .token = q->with->token,
				      .cache = &none };

		headers = sign_headers(l->arena, &s);
		sigv4_forget(&none);
	}
	lookup_ask(l,
		   &(struct lookup_ask){ .with = l->fetch,
					 .method = "POST",
					 .url = e.url,
					 .headers = headers,
					 .body = form,
					 .timeout_ms = TIMEOUT_MS,
					 .attempts = ATTEMPTS },
		   &r);
	if (r.status != 200)
		return explain(l, q, &r);
	if (!read_keys(l, r.text, k))
		return lookup_trouble(l, "the role %s cannot be assumed: the answer of STS has no credentials",
				      q->role_arn);
	return FOUND_KEYS;
}
