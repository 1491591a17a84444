/* Loads keys and certificate, and hands new ones to the server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/serve/serve_reload.h"

#include "base/audit.h"
#include "base/log.h"

#define WHY 512

bool serve_reload_load(const struct serve_reload *r, struct keys **keys, struct tls_context **tls, char *why, size_t n)
{
	*keys = NULL;
	*tls = NULL;
	if (r->keys_file && !(*keys = keys_load(r->keys_file, why, n)))
		return false;
	if (r->tls_cert && !(*tls = tls_context_new(r->tls_cert, r->tls_key, why, n))) {
		keys_free(*keys);
		*keys = NULL;
		return false;
	}
	return true;
}

static void on_hangup(void *ctx)
{
	struct serve_reload *r = ctx;
	struct tls_context *tls;
	struct keys *keys;
	char why[WHY];

	audit_reopen();
	if (!r->keys_file && !r->tls_cert) {
		log_info("SIGHUP: there are no keys and no certificate to reload");
		return;
	}
	if (!serve_reload_load(r, &keys, &tls, why, sizeof(why))) {
		log_error("SIGHUP: %s; keys and certificate stay as they were", why);
		return;
	}
	if (!server_replace(r->server, keys, tls))
		log_error("SIGHUP: not enough memory; keys and certificate stay as they were");
	keys_free(keys);
	tls_context_free(tls);
}

void serve_reload_start(struct serve_reload *r, struct server *s)
{
	r->server = s;
	server_on_hangup(s, on_hangup, r);
}
