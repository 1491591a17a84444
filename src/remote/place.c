/* Addresses: parsing them, and making Amazon's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/place.h"
#include "wire/loopback.h"
#include <curl/curl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool refuse_place(char *why, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool refuse_place(char *why, size_t n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, n, fmt, ap);
	va_end(ap);
	return false;
}

bool endpoint_is_region(const char *region)
{
	size_t n = strlen(region);

	return n && n < PLACE_REGION && region[0] != '-' && strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

/* ---- reading one ---- */

struct parts {
	char *scheme, *host, *port, *path, *user, *query, *fragment;
};

static void split(CURLU *u, struct parts *p)
{
	*p = (struct parts){ 0 };
	curl_url_get(u, CURLUPART_SCHEME, &p->scheme, 0);
	curl_url_get(u, CURLUPART_HOST, &p->host, 0);
	curl_url_get(u, CURLUPART_PORT, &p->port, CURLU_NO_DEFAULT_PORT);
	curl_url_get(u, CURLUPART_PATH, &p->path, 0);
	curl_url_get(u, CURLUPART_USER, &p->user, 0);
	curl_url_get(u, CURLUPART_QUERY, &p->query, 0);
	curl_url_get(u, CURLUPART_FRAGMENT, &p->fragment, 0);
}

static void release(struct parts *p)
{
	curl_free(p->scheme);
	curl_free(p->host);
	curl_free(p->port);
	curl_free(p->path);
	curl_free(p->user);
	curl_free(p->query);
	curl_free(p->fragment);
}

static bool fill(const struct parts *p, struct endpoint *e)
{
	const char *path = p->path && *p->path ? p->path : "/";
	int host = snprintf(e->host, sizeof(e->host), "%s%s%s", p->host, p->port ? ":" : "", p->port ? p->port : "");
	int path_n = snprintf(e->path, sizeof(e->path), "%s", path);
	int url = snprintf(e->url, sizeof(e->url), "%s://%s%s", p->scheme, e->host, path);

	return host > 0 && host < PLACE_URL && path_n < PLACE_URL && url < PLACE_URL;
}

static bool take_parts(const struct parts *p, const char *url, struct endpoint *e, char *why, size_t n)
{
	if (!p->scheme || !p->host || !*p->host)
		return refuse_place(why, n, "'%s' is not an address such as https://host", url);
	if (p->user || p->query || p->fragment) /* not shown: it may hold a password */
		return refuse_place(why, n, "%s", "the address of a database has neither a user, nor '?', nor '#'");
	e->loopback = host_is_loopback(p->host);
	if (strcmp(p->scheme, "https") != 0 && strcmp(p->scheme, "http") != 0)
		return refuse_place(why, n, "'%s' begins with neither https:// nor http://", url);
	if (!strcmp(p->scheme, "http") && !e->loopback)
		return refuse_place(why, n,
				    "%s is plain text and not on this machine: use https, or a loopback address such as "
				    "http://127.0.0.1:8000",
				    url);
	return fill(p, e) || refuse_place(why, n, "%s", "the address of the database is too long");
}

bool endpoint_parse(const char *url, struct endpoint *e, char *why, size_t n)
{
	CURLU *u = curl_url();
	bool ok = false;
	struct parts p;

	*e = (struct endpoint){ 0 };
	if (!u)
		return refuse_place(why, n, "%s", "out of memory");
	if (strstr(url, "://") && curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK) {
		split(u, &p);
		ok = take_parts(&p, url, e, why, n);
		release(&p);
	} else {
		refuse_place(why, n, "'%s' is not an address such as https://host", url);
	}
	curl_url_cleanup(u);
	return ok;
}

/* ---- Amazon's ---- */

static const char *domain_of(const char *region)
{
	static const struct {
		const char *prefix, *domain;
	} partitions[] = {
		{ "cn-", "amazonaws.com.cn" },    { "us-isob-", "sc2s.sgov.gov" }, { "us-isof-", "csp.hci.ic.gov" },
		{ "eu-isoe-", "cloud.adc-e.uk" }, { "us-iso-", "c2s.ic.gov" },     { "eusc-", "amazonaws.eu" },
	};

	for (size_t i = 0; i < sizeof(partitions) / sizeof(partitions[0]); i++)
		if (!strncmp(region, partitions[i].prefix, strlen(partitions[i].prefix)))
			return partitions[i].domain;
	return "amazonaws.com";
}

void endpoint_amazon(enum endpoint_service s, const char *region, bool fips, char url[PLACE_URL])
{
	/* clang-format off */
	static const char *const names[] = {
		[ENDPOINT_DYNAMODB] = "dynamodb", [ENDPOINT_STREAMS] = "streams.dynamodb", [ENDPOINT_STS] = "sts",
		[ENDPOINT_SSO] = "portal.sso",    [ENDPOINT_OIDC] = "oidc",
	};
	/* clang-format on */
	/* clang-format off */
	static const char *const with_fips[] = {
		[ENDPOINT_DYNAMODB] = "dynamodb-fips", [ENDPOINT_STREAMS] = "streams.dynamodb-fips", [ENDPOINT_STS] = "sts-fips",
		[ENDPOINT_SSO] = "portal.sso",         [ENDPOINT_OIDC] = "oidc",
	};
	/* clang-format on */

	snprintf(url, PLACE_URL, "https://%s.%s.%s", fips ? with_fips[s] : names[s], region, domain_of(region));
}

static bool take_region(const char *from, char region[PLACE_REGION])
{
	size_t n = strcspn(from, ".");
	const char *rest = from + n;

	if (!n || n >= PLACE_REGION || strncmp(rest, ".amazonaws.", 11) != 0)
		return false;
	memcpy(region, from, n);
	region[n] = '\0';
	return endpoint_is_region(region);
}

bool endpoint_region(const struct endpoint *e, char region[PLACE_REGION])
{
	static const char *const before[] = { "dynamodb.", "dynamodb-fips.", ".ddb.", NULL };

	for (size_t i = 0; before[i]; i++) {
		const char *at = strstr(e->host, before[i]);

		if (at && (at == e->host || before[i][0] == '.') && take_region(at + strlen(before[i]), region))
			return true;
	}
	return false;
}

/* ---- what --backend says ---- */

bool remote_parse(const char *text, struct remote_place *p, char *why, size_t n)
{
	struct endpoint e;

	*p = (struct remote_place){ 0 };
	if (!strcmp(text, "aws"))
		return true;
	if (!strncmp(text, "aws:", 4)) {
		if (!endpoint_is_region(text + 4))
			return refuse_place(
				why, n,
				"'%s' is not a region: write aws:eu-west-1, or aws for the region of AWS_REGION or the profile",
				text + 4);
		snprintf(p->region, sizeof(p->region), "%s", text + 4);
		return true;
	}
	if (!strstr(text, "://"))
		return refuse_place(why, n,
				    "'%s' is not a backend: write aws, aws:REGION, https://HOST, or http://127.0.0.1:PORT",
				    text);
	if (!endpoint_parse(text, &e, why, n))
		return false;
	snprintf(p->url, sizeof(p->url), "%s", e.url);
	return true;
}
