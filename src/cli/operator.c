/* The server's address and an operator's token.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/operator.h"

#include <stdio.h>
#include <string.h>

#include "app/db/shared_secret.h"
#include "base/clock.h"
#include "cli/design_file.h"
#include "cli/secret.h"
#include "cli/serve/serve_backend.h"

#define OPERATOR_STRING(field)                                                           \
	bool operator_set_##field(void *options, const char *value, char *why, size_t n) \
	{                                                                                \
		(void)why, (void)n;                                                      \
		((struct operator_options *)options)->field = value;                     \
		return true;                                                             \
	}
OPERATOR_STRING(endpoint)
OPERATOR_STRING(data)
OPERATOR_STRING(secret_file)
OPERATOR_STRING(token)
OPERATOR_STRING(backend)

bool operator_is_file(const char *design)
{
	const char *dot = strrchr(design, '.');

	return strchr(design, '/') || (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")));
}

bool operator_design(struct operator_options *o, struct arena *a, const char **design)
{
	if (!*design || !operator_is_file(*design))
		return true;
	o->design = design_file_load(a, *design);
	if (o->design)
		*design = arena_cstr(a, o->design->name);
	return o->design;
}

bool operator_shared_secret(struct arena *a, const struct design *d, const char *backend,
			    uint8_t secret[CALLER_SECRET_BYTES], char *why, size_t n)
{
	struct database_remote database = { 0 };
	struct serve_backend where;
	struct error e = { 0 };
	struct backend *b;
	bool ok;

	if (!d) {
		snprintf(why, n, "--backend needs the design's file, which says what its table is called");
		return false;
	}
	if (!serve_backend_parse(backend, &where, why, n))
		return false;
	ok = database_remote_open(&database, where.where, why, n);
	b = ok ? database_open(&database.base) : NULL;
	if (ok && !(ok = b && shared_secret_load(b, d, a, secret, &e)))
		snprintf(why, n, "%.*s", SLICE_ARG(e.message));
	backend_free(b);
	database_remote_close(&database);
	return ok;
}

bool operator_token(const struct operator_options *o, struct arena *a, const char *design, const char *subject,
		    int64_t seconds, struct slice *token, char *why, size_t n)
{
	uint8_t secret[CALLER_SECRET_BYTES];

	if (o->token) {
		*token = slice_str(o->token);
		return true;
	}
	if (o->backend && !operator_shared_secret(a, o->design, o->backend, secret, why, n))
		return false;
	if (!o->backend && !secret_load(o->data ? o->data : "./thorpe-data", o->secret_file, false, secret, why, n))
		return false;
	*token = caller_token(a, slice_str(design), secret,
			      &(struct token_request){ .subject = slice_str(subject),
						       .operator_ = true,
						       .now_ms = clock_now_ms(&clock_system),
						       .seconds = seconds });
	return true;
}

struct slice operator_base(const struct operator_options *o, struct arena *a)
{
	const char *end = o->endpoint ? o->endpoint : "http://127.0.0.1:8000";
	size_t n = strlen(end);

	while (n && end[n - 1] == '/')
		n--;
	return arena_printf(a, "%.*s/api", (int)n, end);
}

const char *operator_proof(const struct operator_options *o)
{
	return o->token ? "--token" : o->backend ? "--backend" : o->secret_file ? "--secret-file" : "--data";
}
