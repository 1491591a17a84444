/* A profile with role_arn: the credentials of its source_profile or credential_source assume the role.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/credentials/sts.h"

#define CHAIN_MOST 16 /* profiles whose sources have roles themselves */

static bool has_role(struct lookup *l, const char *profile)
{
	return lookup_setting(l, profile, "role_arn") && !lookup_setting(l, profile, "web_identity_token_file");
}

static enum found from_credential_source(struct lookup *l, const char *profile, const char *source, struct found_keys *k)
{
	enum found f;

	if (!strcmp(source, "Environment"))
		f = lookup_environment(l, k);
	else if (!strcmp(source, "EcsContainer"))
		f = lookup_container(l, k);
	else if (!strcmp(source, "Ec2InstanceMetadata"))
		f = lookup_instance(l, k);
	else
		return lookup_trouble(
			l,
			"the profile '%s' has credential_source = %s: it is Environment, EcsContainer or Ec2InstanceMetadata",
			profile, source);
	if (f == FOUND_NOTHING)
		return lookup_trouble(l, "the profile '%s' takes its credentials from %s, and there are none", profile,
				      source);
	return f;
}

static enum found assume(struct lookup *l, const char *profile, unsigned depth, struct found_keys *k);

static enum found from_source_profile(struct lookup *l, const char *profile, const char *source, unsigned depth,
				      struct found_keys *k)
{
	bool own = !strcmp(source, profile), keys = lookup_setting(l, source, "aws_access_key_id") != NULL;
	enum found f;

	if (!settings_has_profile(l->settings, source))
		return lookup_trouble(l, "the profile '%s' has source_profile = %s, and there is no such profile",
				      profile, source);
	if (depth >= CHAIN_MOST || (own && !keys))
		return lookup_trouble(l, "the source_profile of '%s' leads back to itself", profile);
	if (!keys && has_role(l, source))
		return assume(l, source, depth + 1, k);
	f = lookup_profile(l, source, k);
	if (f == FOUND_NOTHING)
		return lookup_trouble(l, "the profile '%s', which is the source_profile of '%s', has no credentials",
				      source, profile);
	return f;
}

static enum found assume(struct lookup *l, const char *profile, unsigned depth, struct found_keys *k)
{
	const char *source = lookup_setting(l, profile, "source_profile"),
		   *credential = lookup_setting(l, profile, "credential_source");
	const char *region = lookup_setting(l, profile, "region");
	struct found_keys with = { 0 };
	struct sts_ask q = { .region = region ? region : l->region,
			     .role_arn = lookup_setting(l, profile, "role_arn"),
			     .session_name = lookup_setting(l, profile, "role_session_name"),
			     .external_id = lookup_setting(l, profile, "external_id"),
			     .duration = lookup_setting(l, profile, "duration_seconds"),
			     .with = &with };
	enum found f;

	if (lookup_setting(l, profile, "mfa_serial"))
		return lookup_trouble(
			l,
			"the profile '%s' asks for a code (mfa_serial), which a server cannot type: use another profile, or "
			"export temporary credentials (`aws configure export-credentials --profile %s --format env`)",
			profile, profile);
	if (source && credential)
		return lookup_trouble(
			l, "the profile '%s' has both source_profile and credential_source: one of them is too many",
			profile);
	if (!source && !credential)
		return lookup_trouble(l,
				      "the profile '%s' has a role_arn and neither source_profile nor credential_source",
				      profile);
	f = credential ? from_credential_source(l, profile, credential, &with)
		       : from_source_profile(l, profile, source, depth, &with);
	if (f == FOUND_KEYS)
		f = sts_assume(l, &q, k);
	if (f == FOUND_KEYS)
		k->source = lookup_print(l, "the role of profile '%s'", profile);
	return f;
}

enum found lookup_role(struct lookup *l, const char *profile, struct found_keys *k)
{
	return has_role(l, profile) ? assume(l, profile, 0, k) : FOUND_NOTHING;
}
