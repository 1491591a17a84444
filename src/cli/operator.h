/* Commands that talk to a running server: where it is, the token that proves an operator is asking, and one request.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_OPERATOR_H
#define THORPE_CLI_OPERATOR_H

#include "app/auth/caller.h"
#include "base/arena.h"
#include "cli/client.h"
#include "cli/flags.h"

/* Filled by OPERATOR_FLAGS; all may be NULL. */
struct operator_options {
	const char *endpoint, *data, *secret_file, *token, *backend;
};

/* The rows, for a command whose options struct T has a member `server` of this type. */
#define OPERATOR_FLAGS(T)                                                                                      \
	FLAG_TEXT("endpoint", "URL", T, server.endpoint, "the server (http://127.0.0.1:8000)"),                \
		FLAG_TEXT("data", "DIR", T, server.data,                                                       \
			  "the server's data directory, for its secret (./thorpe-data)"),                      \
		FLAG_TEXT("secret-file", "FILE", T, server.secret_file, "the server's --secret-file instead"), \
		FLAG_TEXT("backend", "WHERE", T, server.backend,                                               \
			  "the server's --backend instead: its servers share a secret there"),                 \
		FLAG_TEXT("token", "TOKEN", T, server.token, "an operator's token, instead of making one")

/* A conversation with the server about one design. Everything lives in its arena. */
struct operator_talk {
	const struct operator_options *options;
	struct arena *arena;
	const char *design; /* its name */
	struct slice token;
};

/* Whose token the conversation uses, and for how long it is valid. */
struct operator_token {
	const char *subject;
	int64_t seconds;
};
/* Leads one: finds the design's name (`design` is a name or a file), makes the token, calls talk(ctx), and releases the
 * arena. `t` has its options. Returns what talk() returns, or the exit status after a complaint. */
int operator_run(struct operator_talk *t, const char *design, const struct operator_token *token,
		 int (*talk)(void *ctx), void *ctx);
/* Sends a request to `path` below /api. False: there is no answer, which has been said. */
bool operator_ask(struct operator_talk *t, const char *method, struct slice path, struct slice body,
		  struct client_reply *r) MUST_CHECK;
/* Says why the server did not answer with 200, in the reply's own words where it has some. Returns the exit status. */
int operator_complain(const struct operator_talk *t, const struct client_reply *r);

/* Whether a design was given as a file: it has a '/', or ends with .yaml or .yml. */
bool operator_is_file(const char *design);
/* The secret that all servers of a table elsewhere share. False with a sentence in `why`, also where `d` is NULL. */
bool operator_shared_secret(struct arena *a, const struct design *d, const char *backend,
			    uint8_t secret[CALLER_SECRET_BYTES], char *why, size_t n);

#endif
