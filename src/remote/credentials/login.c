/* `aws login`: the credentials that it has left in a file, as long as they are valid.
 *
 * They last a quarter of an hour. Renewing them needs a key that is bound to AWS's own tools, so a program that runs
 * longer asks those (credential_process).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/timestamp.h"
#include "remote/credentials/lookup.h"

static const char *file_of(struct lookup *l, const char *session)
{
	const char *directory = settings_env(l->settings, "AWS_LOGIN_CACHE_DIRECTORY");

	return lookup_cache_file(l, directory ? directory : "~/.aws/login/cache", session, EVP_sha256());
}

static enum found log_in_again(struct lookup *l, const char *profile, const char *what)
{
	return lookup_trouble(
		l,
		"the login of profile '%s' %s: run `aws login --profile %s`; for a server, make another profile with "
		"credential_process = aws configure export-credentials --profile %s --format process, which renews it",
		profile, what, profile, profile);
}

enum found lookup_login(struct lookup *l, const char *profile, struct found_keys *k)
{
	const char *session = settings_get(l->settings, profile, "login_session", SETTINGS_BOTH), *text, *ends;
	const struct json *token;

	*k = (struct found_keys){ 0 };
	if (!session)
		return FOUND_NOTHING;
	text = settings_read_file(l->arena, file_of(l, session));
	if (!text)
		return log_in_again(l, profile, "is not there");
	token = json_get(json_parse(l->arena, slice_str(text)), "accessToken");
	k->id = lookup_text(l, token, "accessKeyId");
	k->secret = lookup_text(l, token, "secretAccessKey");
	k->token = lookup_text(l, token, "sessionToken");
	ends = lookup_text(l, token, "expiresAt");
	if (!k->id || !k->secret || !k->token || !ends || !time_parse(slice_str(ends), &k->expires_ms))
		return log_in_again(l, profile, "cannot be read");
	if (k->expires_ms <= clock_now_ms(l->clock))
		return log_in_again(l, profile, "has expired");
	k->source = lookup_print(l, "the login of profile '%s'", profile);
	return FOUND_KEYS;
}
