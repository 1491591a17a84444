/* Keys and certificate from their files: at the start, and again at each SIGHUP.
 *
 * All or nothing: unless every file can be used, what was in use before stays, and the log says why.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_SERVE_SERVE_RELOAD_H
#define THORPE_CLI_SERVE_SERVE_RELOAD_H

#include "http/server.h"

struct serve_reload {
	const char *keys_file, *tls_cert, *tls_key; /* NULL: none */
	struct server *server;
};

/* Both are the caller's, and NULL where there is no file. False with a sentence in `why`. */
bool serve_reload_load(const struct serve_reload *r, struct keys **keys, struct tls_context **tls, char *why,
		       size_t n) MUST_CHECK;
/* From now on at each SIGHUP of the server. */
void serve_reload_start(struct serve_reload *r, struct server *s);

#endif
