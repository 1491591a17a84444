/* Keys in one of the settings files.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/credentials/lookup.h"

enum found lookup_file(struct lookup *l, const char *profile, enum settings_file where, struct found_keys *k)
{
	const struct settings *s = l->settings;
	const char *path = where == SETTINGS_CREDENTIALS ? s->credentials_path : s->config_path;

	*k = (struct found_keys){
		.id = settings_get(s, profile, "aws_access_key_id", where),
		.secret = settings_get(s, profile, "aws_secret_access_key", where),
		.token = settings_get(s, profile, "aws_session_token", where),
	};
	if (!k->id)
		return FOUND_NOTHING;
	if (!k->secret)
		return lookup_trouble(l, "the profile '%s' in %s has aws_access_key_id and no aws_secret_access_key",
				      profile, path);
	k->source = lookup_print(l, "the profile '%s' in %s", profile, path);
	return FOUND_KEYS;
}
