/* GET of a JWKS document, by https, or by http from this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/auth/jwks.h"
#include "base/alloc.h"
#include "base/log.h"
#include "fetch/fetch.h"
#include "fetch/limits.h"

char *jwks_fetch(const char *url, size_t *n)
{
	struct fetch_request q = { .method = "GET",
				   .url = url,
				   .connect_ms = FETCH_KEYS_MS,
				   .total_ms = FETCH_KEYS_MS,
				   .most = FETCH_KEYS_BYTES };
	struct fetch_reply r = { .end = FETCH_NO_MEMORY, .why = "out of memory" };
	struct fetch *f;

	if (!fetch_is_private(url)) { /* keys that came over a network in plain text could be forged */
		log_warn("keys are only fetched by https or from this machine, not from %s", url);
		return NULL;
	}
	f = fetch_new(&(struct fetch_options){ .repeats = true, .redirects = FETCH_KEYS_REDIRECTS });
	if (f)
		fetch_send(f, &q, &r);
	fetch_free(f);
	*n = r.n;
	if (r.end == FETCH_ANSWERED && r.status == 200 && r.n)
		return r.body;
	if (r.end != FETCH_ANSWERED)
		log_warn("cannot fetch keys from %s: %s", url, r.why);
	else
		log_warn("cannot fetch keys from %s: it answered %d with %zu bytes", url, r.status, r.n);
	mem_free(r.body);
	return NULL;
}
