/* A token in a file (AWS_WEB_IDENTITY_TOKEN_FILE, as in EKS and CI) becomes a role.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/credentials/sts.h"

static const char *setting(struct lookup *l, const char *profile, bool with_env, const char *variable, const char *key)
{
	const char *v = with_env ? settings_env(l->settings, variable) : NULL;

	return v ? v : settings_get(l->settings, profile, key, SETTINGS_BOTH);
}

static const char *trimmed(struct lookup *l, const char *text)
{
	size_t n = strlen(text);

	while (n && strchr(" \t\r\n", text[n - 1]))
		n--;
	return arena_cstr(l->arena, slice_make(text, n));
}

enum found lookup_web_identity(struct lookup *l, const char *profile, bool with_env, struct found_keys *k)
{
	const char *path = setting(l, profile, with_env, "AWS_WEB_IDENTITY_TOKEN_FILE", "web_identity_token_file");
	struct sts_ask q = { .region = l->region,
			     .role_arn = setting(l, profile, with_env, "AWS_ROLE_ARN", "role_arn"),
			     .session_name =
				     setting(l, profile, with_env, "AWS_ROLE_SESSION_NAME", "role_session_name") };
	const char *token;
	enum found f;

	if (!path)
		return with_env ? lookup_nothing(l, "a web identity (AWS_WEB_IDENTITY_TOKEN_FILE)") : FOUND_NOTHING;
	if (!q.role_arn)
		return lookup_trouble(
			l,
			"there is a web identity token in %s and no role for it: set AWS_ROLE_ARN, or role_arn in the profile",
			path);
	token = settings_read_file(l->arena, settings_path(l->settings, path));
	if (!token)
		return lookup_trouble(l, "the web identity token in %s cannot be read", path);
	q.web_token = trimmed(l, token);
	f = sts_assume(l, &q, k);
	if (f == FOUND_KEYS)
		k->source = lookup_print(l, "the web identity token in %s", path);
	return f;
}
