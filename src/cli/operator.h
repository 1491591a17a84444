/* Where the running server is, and how to prove to it that an operator is asking: the options that commands which talk to it share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_OPERATOR_H
#define THORPE_CLI_OPERATOR_H

#include "base/arena.h"
#include "cli/flags.h"

struct operator_options { /* the first member of a command's options */
	const char *endpoint, *data, *secret_file, *token;
};

bool operator_set_endpoint(void *options, const char *value, char *why, size_t n);
bool operator_set_data(void *options, const char *value, char *why, size_t n);
bool operator_set_secret_file(void *options, const char *value, char *why, size_t n);
bool operator_set_token(void *options, const char *value, char *why, size_t n);

#define OPERATOR_FLAGS                                                                                                \
	{ "endpoint", "URL", "the server (http://127.0.0.1:8000)", operator_set_endpoint },                           \
	{ "data", "DIR", "the server's data directory, for its secret (./thorpe-data)", operator_set_data },          \
	{ "secret-file", "FILE", "the secret, where the server was given --secret-file", operator_set_secret_file },  \
	{ "token", "TOKEN", "an operator's token instead", operator_set_token }

/* The token given, or a new one for a minute or ten. False with a sentence in `why`. */
bool operator_token(const struct operator_options *o, struct arena *a, const char *design, const char *subject, int64_t seconds,
		    struct slice *token, char *why, size_t n);
/* http://…/api, without a slash at its end. */
struct slice operator_base(const struct operator_options *o, struct arena *a);
/* "--data", "--token"…: where the token came from, for a server that does not take it. */
const char *operator_proof(const struct operator_options *o);

#endif
