/* AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/timestamp.h"
#include "remote/credentials/lookup.h"

enum found lookup_environment(struct lookup *l, struct found_keys *k)
{
	const char *expires = settings_env(l->settings, "AWS_CREDENTIAL_EXPIRATION");

	*k = (struct found_keys){
		.id = settings_env(l->settings, "AWS_ACCESS_KEY_ID"),
		.secret = settings_env(l->settings, "AWS_SECRET_ACCESS_KEY"),
		.token = settings_env(l->settings, "AWS_SESSION_TOKEN"),
		.source = "the environment (AWS_ACCESS_KEY_ID)",
	};
	if (!k->id)
		return lookup_nothing(l, "the environment (AWS_ACCESS_KEY_ID)");
	if (!k->secret)
		return lookup_trouble(l,
				      "AWS_ACCESS_KEY_ID is set and AWS_SECRET_ACCESS_KEY is not: set both or neither");
	if (!k->token)
		k->token = settings_env(l->settings, "AWS_SECURITY_TOKEN");
	if (expires && !time_parse(slice_str(expires), &k->expires_ms))
		return lookup_trouble(l, "AWS_CREDENTIAL_EXPIRATION is not a time such as 2026-11-18T12:00:00Z");
	return FOUND_KEYS;
}
