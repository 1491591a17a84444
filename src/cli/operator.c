/* Talks to a running server as an operator.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/operator.h"

#include <stdio.h>
#include <string.h>

#include "app/db/shared_secret.h"
#include "base/clock.h"
#include "cli/design_file.h"
#include "cli/secret.h"
#include "cli/serve/serve.h"
#include "json/json.h"
#include "remote/remote.h"

#define WHY       512
#define NAME_MADE "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

bool operator_is_file(const char *design)
{
	const char *dot = strrchr(design, '.');

	return strchr(design, '/') || (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")));
}

/* In the words of remote/, which know what to do. */
static void tell_no_secret(struct remote *remote, const struct design *d, const struct error *e, char *why, size_t n)
{
	struct backend *b = remote_backend_new(remote);
	char name[300];

	snprintf(name, sizeof(name), "%.*s.thorpe", SLICE_ARG(d->table));
	if (!b || (remote_has_table(b, d->table, why, n) && remote_has_table(b, slice_str(name), why, n)))
		snprintf(why, n, "%.*s", SLICE_ARG(e->message));
	remote_backend_free(b);
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
	if (ok && !b) {
		snprintf(why, n, "out of memory");
		ok = false;
	}
	if (ok && !(ok = shared_secret_load(b, d, a, secret, &e)))
		tell_no_secret(database.remote, d, &e, why, n);
	backend_free(b);
	database_remote_close(&database);
	return ok;
}

/* The token given, or a new one. `d` NULL: the design was given by its name. */
static bool make_token(struct operator_talk *t, const struct design *d, const struct token_request *q, char *why,
		       size_t n)
{
	const struct operator_options *o = t->options;
	uint8_t secret[CALLER_SECRET_BYTES];

	if (o->token) {
		t->token = slice_str(o->token);
		return true;
	}
	if (o->backend && !operator_shared_secret(t->arena, d, o->backend, secret, why, n))
		return false;
	if (!o->backend && !secret_load(o->data ? o->data : SERVE_DEFAULT_DATA, o->secret_file, false, secret, why, n))
		return false;
	t->token = caller_token(t->arena, slice_str(t->design), secret, q);
	return true;
}

static int begin_talk(struct operator_talk *t, const char *design, const struct operator_token *token)
{
	struct token_request q = { .subject = slice_str(token->subject),
				   .operator_ = true,
				   .now_ms = clock_now_ms(&clock_system),
				   .seconds = token->seconds };
	const struct design *d = NULL;
	char why[WHY];

	t->design = design;
	if (operator_is_file(design)) {
		d = design_file_load(t->arena, design);
		if (!d)
			return EXIT_REFUSED;
		t->design = arena_cstr(t->arena, d->name);
	}
	if (strspn(t->design, NAME_MADE) != strlen(t->design))
		return complain(EXIT_USAGE, "'%s' is not the name of a design", t->design);
	if (!make_token(t, d, &q, why, sizeof(why)))
		return complain(EXIT_REFUSED, "%s", why);
	return 0;
}

int operator_run(struct operator_talk *t, const char *design, const struct operator_token *token,
		 int (*talk)(void *ctx), void *ctx)
{
	volatile int status = 0;
	struct arena arena;

	arena_init(&arena);
	t->arena = &arena;
	ARENA_TRY(&arena, {
		status = begin_talk(t, design, token);
		if (!status)
			status = talk(ctx);
	}, { status = complain(EXIT_REFUSED, "out of memory"); });
	arena_release(&arena);
	return status;
}

bool operator_ask(struct operator_talk *t, const char *method, struct slice path, struct slice body,
		  struct client_reply *r)
{
	const char *base = t->options->endpoint ? t->options->endpoint : "http://127.0.0.1:8000";
	struct client_request q = { .method = method, .token = t->token, .body = body };
	size_t n = strlen(base);
	char why[WHY];

	while (n && base[n - 1] == '/')
		n--;
	q.url = arena_printf(t->arena, "%.*s/api%.*s%c", (int)n, base, SLICE_ARG(path), 0).p;
	if (client_send(t->arena, &q, r, why, sizeof(why)))
		return true;
	complain(0, "%s", why);
	return false;
}

/* Where the token came from. */
static const char *proof(const struct operator_options *o)
{
	return o->token ? "--token" : o->backend ? "--backend" : o->secret_file ? "--secret-file" : "--data";
}

int operator_complain(const struct operator_talk *t, const struct client_reply *r)
{
	const struct json *problem = json_parse(t->arena, r->body), *text = json_get(problem, "detail");

	if (r->status == 401)
		return complain(EXIT_REFUSED, "the server refuses this token: does it run with the same %s?",
				proof(t->options));
	if (!json_is(text, JSON_STRING))
		text = json_get(problem, "title");
	if (json_is(text, JSON_STRING))
		return complain(EXIT_REFUSED, "%.*s", SLICE_ARG(text->string));
	return complain(EXIT_REFUSED, "the server answered with %ld", r->status);
}
