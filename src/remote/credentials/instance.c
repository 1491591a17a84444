/* The role of an EC2 instance, by version 2 of its metadata service: a token first, then everything with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/credentials/lookup.h"

#define ROLES         "/latest/meta-data/iam/security-credentials/"
#define LATE_MS       1000
#define ATTEMPTS_MOST 10

static const char *base_url(struct lookup *l)
{
	const char *url =
		settings_find(l->settings, "AWS_EC2_METADATA_SERVICE_ENDPOINT", "ec2_metadata_service_endpoint");
	const char *mode = settings_find(l->settings, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE",
					 "ec2_metadata_service_endpoint_mode");
	size_t n;

	if (!url)
		url = mode && (!strcmp(mode, "IPv6") || !strcmp(mode, "ipv6")) ? "http://[fd00:ec2::254]"
									       : "http://169.254.169.254";
	n = strlen(url);
	while (n && url[n - 1] == '/')
		n--;
	return lookup_print(l, "%.*s", (int)n, url);
}

static long number_or(const char *text, long otherwise, long most)
{
	long v = text ? strtol(text, NULL, 10) : 0;

	return v < 1 ? otherwise : v > most ? most : v;
}

static void ask_instance(struct lookup *l, const char *method, const char *path, const char *header,
			 struct lookup_answer *r)
{
	const char *headers[] = { header, NULL };
	long seconds = number_or(settings_find(l->settings, "AWS_METADATA_SERVICE_TIMEOUT", "metadata_service_timeout"),
				 1, 60);
	long attempts = number_or(settings_find(l->settings, "AWS_METADATA_SERVICE_NUM_ATTEMPTS",
						"metadata_service_num_attempts"),
				  1, ATTEMPTS_MOST);

	lookup_ask(l,
		   &(struct lookup_ask){ .with = l->direct,
					 .method = method,
					 .url = lookup_print(l, "%s%s", base_url(l), path),
					 .headers = headers,
					 .timeout_ms = seconds * LATE_MS,
					 .attempts = (unsigned)attempts },
		   r);
}

/* The header with a session's token; NULL: there is no such service here. */
static const char *session(struct lookup *l)
{
	struct lookup_answer r;

	if (settings_env_is_true(l->settings, "AWS_EC2_METADATA_DISABLED"))
		return NULL;
	ask_instance(l, "PUT", "/latest/api/token", "x-aws-ec2-metadata-token-ttl-seconds: 21600", &r);
	if (r.status != 200 || !*r.text || strpbrk(r.text, "\r\n"))
		return NULL;
	return lookup_print(l, "x-aws-ec2-metadata-token: %s", r.text);
}

enum found lookup_instance(struct lookup *l, struct found_keys *k)
{
	const char *header, *role;
	struct lookup_answer r;

	*k = (struct found_keys){ 0 };
	if (settings_env_is_true(l->settings, "AWS_EC2_METADATA_DISABLED"))
		return lookup_nothing(l, "not at the instance's role (AWS_EC2_METADATA_DISABLED is set)");
	header = session(l);
	if (!header)
		return lookup_nothing(l, "the instance's role (%s does not answer)", base_url(l));
	ask_instance(l, "GET", ROLES, header, &r);
	if (r.status == 404 || (r.status == 200 && !*r.text))
		return lookup_nothing(l, "the instance, which has no role");
	if (r.status != 200)
		return lookup_trouble(l, "cannot get the instance's role: the metadata service says %d %s", r.status,
				      r.why);
	role = lookup_print(l, "%.*s", (int)strcspn(r.text, "\r\n"), r.text);
	ask_instance(l, "GET", lookup_print(l, ROLES "%s", role), header, &r);
	if (r.status != 200 || !lookup_read_keys(l, json_parse(l->arena, slice_str(r.text)), "Token", k))
		return lookup_trouble(
			l, "cannot get the credentials of the instance's role %s: the metadata service says %d %s",
			role, r.status, r.why);
	k->source = lookup_print(l, "the instance's role %s", role);
	return FOUND_KEYS;
}

const char *lookup_instance_region(struct lookup *l)
{
	const char *header = session(l);
	struct lookup_answer r;

	if (!header)
		return NULL;
	ask_instance(l, "GET", "/latest/meta-data/placement/region", header, &r);
	return r.status == 200 && endpoint_is_region(r.text) ? r.text : NULL;
}
