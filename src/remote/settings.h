/* Settings from the environment and the files of AWS's tools: ~/.aws/config and ~/.aws/credentials.
 *
 * The files are read as botocore reads them: `[profile NAME]`, `[default]`, `[sso-session NAME]` and `[services
 * NAME]` in the config file, `[NAME]` in the credentials file, which wins where both have a key. Lines that are
 * indented below a key without a value belong to it (`endpoint_url` below `dynamodb =` is "dynamodb.endpoint_url").
 * Names of keys are in lower case. Missing files count as empty; AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE and
 * AWS_PROFILE are respected.
 *
 * Lifetime: everything is in the arena given to settings_load(), and does not change. An empty variable or value
 * counts as none.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_SETTINGS_H
#define THORPE_REMOTE_SETTINGS_H

#include "base/arena.h"

/* how a variable of the environment is found; any thread */
struct settings_env {
	const char *(*get)(void *ctx, const char *name); /* NULL: not set */
	void *ctx;
};
extern const struct settings_env settings_process_env;

struct settings_section;

struct settings {
	struct arena *arena;
	const struct settings_env *env;
	const char *profile;                        /* AWS_PROFILE, or "default" */
	bool profile_is_named;                      /* AWS_PROFILE is set */
	const char *config_path, *credentials_path; /* "" where there is no home */
	const char *home;                           /* NULL: unknown */
	struct settings_section *config, *credentials;
};

/* `env`: NULL for the process's; must outlive the settings. */
void settings_load(struct settings *s, struct arena *a, const struct settings_env *env);

const char *settings_env(const struct settings *s, const char *name);
bool settings_env_is_true(const struct settings *s, const char *name);

enum settings_file { SETTINGS_CONFIG = 1, SETTINGS_CREDENTIALS = 2, SETTINGS_BOTH = 3 };
bool settings_has_profile(const struct settings *s, const char *profile);
/* The value of a key, or NULL. */
const char *settings_get(const struct settings *s, const char *profile, const char *key, enum settings_file where);
/* The same of another section of the config file: "sso-session", "services". */
const char *settings_get_of(const struct settings *s, const char *kind, const char *name, const char *key);
/* The variable, or else the key of the profile. */
const char *settings_find(const struct settings *s, const char *variable, const char *key);
/* The address that is configured for a service ("DYNAMODB", "dynamodb"): AWS_ENDPOINT_URL_…, AWS_ENDPOINT_URL, the
 * profile's services, the profile's endpoint_url. NULL: none, or they are to be ignored. */
const char *settings_endpoint(const struct settings *s, const char *variable_part, const char *service);
/* The path with "~/" resolved. */
const char *settings_path(const struct settings *s, const char *path);
/* A whole file, NUL-terminated, or NULL: it cannot be read, or has more than a megabyte. */
const char *settings_read_file(struct arena *a, const char *path);

#endif
