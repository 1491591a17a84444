/* The credentials of a container: ECS (a path on the host's service) and EKS (an address and a token).
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/credentials/lookup.h"
#include "wire/loopback.h"
#include <curl/curl.h>

#define ECS_HOST   "http://169.254.170.2"
#define TIMEOUT_MS 2000
#define ATTEMPTS   3

/* Plain text goes to this machine and its host only. */
static bool is_allowed(const char *url)
{
	static const char *const hosts[] = { "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", NULL };
	char *scheme = NULL, *host = NULL;
	CURLU *u = curl_url();
	bool ok = false;

	if (u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
	    curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
		ok = !strcmp(scheme, "https") || (!strcmp(scheme, "http") && host_is_loopback(host));
		for (size_t i = 0; !ok && !strcmp(scheme, "http") && hosts[i]; i++)
			ok = !strcmp(host, hosts[i]);
	}
	curl_free(scheme);
	curl_free(host);
	curl_url_cleanup(u);
	return ok;
}

/* The Authorization header, or NULL: none. False: a token file that cannot be read. */
static bool find_token(struct lookup *l, const char **header)
{
	const char *path = settings_env(l->settings, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *token = settings_env(l->settings, "AWS_CONTAINER_AUTHORIZATION_TOKEN");

	if (path)
		token = settings_read_file(l->arena, path);
	if (path && !token)
		return false;
	*header = token ? lookup_print(l, "Authorization: %.*s", (int)strcspn(token, "\r\n"), token) : NULL;
	return true;
}

enum found lookup_container(struct lookup *l, struct found_keys *k)
{
	const char *relative = settings_env(l->settings, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *url = settings_env(l->settings, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
	const char *headers[2] = { NULL, NULL };
	struct lookup_answer r;

	*k = (struct found_keys){ 0 };
	if (relative)
		url = lookup_print(l, ECS_HOST "%s", relative);
	if (!url)
		return lookup_nothing(l, "a container (AWS_CONTAINER_CREDENTIALS_FULL_URI)");
	if (!is_allowed(url))
		return lookup_trouble(
			l, "the address of AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this machine");
	if (!find_token(l, &headers[0]))
		return lookup_trouble(l, "the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read");
	lookup_ask(l,
		   &(struct lookup_ask){ .with = l->direct,
					 .method = "GET",
					 .url = url,
					 .headers = headers,
					 .timeout_ms = TIMEOUT_MS,
					 .attempts = ATTEMPTS },
		   &r);
	if (!r.status)
		return lookup_trouble(l, "cannot get the container's credentials: its service does not answer (%s)",
				      r.why);
	if (r.status != 200)
		return lookup_trouble(l, "cannot get the container's credentials: its service says %d", r.status);
	if (!lookup_read_keys(l, json_parse(l->arena, slice_str(r.text)), "Token", k))
		return lookup_trouble(l, "cannot get the container's credentials: the answer of its service has none");
	k->source = "the container";
	return FOUND_KEYS;
}
