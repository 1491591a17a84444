/* A small HTTP client for the commands that ask a running server.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_CLIENT_H
#define THORPE_CLI_CLIENT_H

#include "base/buf.h"
#include "base/error.h"

struct client_request {
	const char *method, *url;
	struct slice token; /* Bearer; empty: none */
	struct slice body;  /* JSON; empty: none */
};

struct client_reply {
	long status;
	struct slice body; /* in the arena */
};

/* False: no answer, and `why` is a sentence. */
bool client_send(struct arena *a, const struct client_request *q, struct client_reply *r, char *why,
		 size_t n) MUST_CHECK;

#endif
