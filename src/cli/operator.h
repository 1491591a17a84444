/* Where the running server is, and how to prove to it that an operator is asking: the options that commands which talk to it share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_OPERATOR_H
#define THORPE_CLI_OPERATOR_H

#include "app/auth/caller.h"
#include "base/arena.h"
#include "cli/flags.h"

/* the first member of a command's options */
struct operator_options {
	const char *endpoint, *data, *secret_file, *token, *backend;
	const struct design *design; /* operator_design() has loaded it; NULL: only its name is known */
};

bool operator_set_endpoint(void *options, const char *value, char *why, size_t n);
bool operator_set_data(void *options, const char *value, char *why, size_t n);
bool operator_set_secret_file(void *options, const char *value, char *why, size_t n);
bool operator_set_backend(void *options, const char *value, char *why, size_t n);
bool operator_set_token(void *options, const char *value, char *why, size_t n);

#define OPERATOR_FLAGS                                                                                               \
	{ "endpoint", "URL", "the server (http://127.0.0.1:8000)", operator_set_endpoint },                          \
		{ "data", "DIR", "the server's data directory, for its secret (./thorpe-data)", operator_set_data }, \
		{ "secret-file", "FILE", "the server's --secret-file instead", operator_set_secret_file },           \
		{ "backend", "WHERE", "the server's --backend instead: its servers share a secret there",            \
		  operator_set_backend },                                                                            \
	{                                                                                                            \
		"token", "TOKEN", "an operator's token, instead of making one", operator_set_token                   \
	}

/* Whether a design was given as a file: it has a '/', or ends with .yaml or .yml. */
bool operator_is_file(const char *design);
/* A design that was given as a file becomes its name. False: what is wrong has been printed. */
bool operator_design(struct operator_options *o, struct arena *a, const char **design);
/* The secret that all servers of a table elsewhere have. `d` NULL: false, and nothing more to say than that. */
bool operator_shared_secret(struct arena *a, const struct design *d, const char *backend,
			    uint8_t secret[CALLER_SECRET_BYTES], char *why, size_t n);
/* The token given, or a new one for a minute or ten. False with a sentence in `why`. */
bool operator_token(const struct operator_options *o, struct arena *a, const char *design, const char *subject,
		    int64_t seconds, struct slice *token, char *why, size_t n);
/* http://…/api, without a slash at its end. */
struct slice operator_base(const struct operator_options *o, struct arena *a);
/* "--data", "--token"…: where the token came from, for a server that does not take it. */
const char *operator_proof(const struct operator_options *o);

#endif
