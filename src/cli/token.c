/* `thorpe token`: a token for a design's REST API, for development and operators.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/auth/caller.h"
#include "base/clock.h"
#include "cli/commands.h"
#include "cli/design_file.h"
#include "cli/operator.h"
#include "cli/secret.h"
#include "cli/serve/serve.h"
#include "process/send/send.h"

#define ROLES_MAX  32
#define CLAIMS_MAX 32
#define DAY        (24 * 3600)
#define LONGEST    (3660 * (int64_t)DAY)

struct token_options {
	struct token_request q;
	struct slice roles[ROLES_MAX];
	struct token_claim claims[CLAIMS_MAX];
	const char *data, *secret_file, *backend;
	bool webhook_secret;
};

/* Text becomes JSON, which is UTF-8. */
static bool is_text(const char *value)
{
	volatile bool ok = false;
	struct arena a;
	struct buf b;

	arena_init(&a);
	ARENA_TRY(&a, {
		buf_init(&b, &a);
		json_string(&b, slice_str(value));
		ok = *value && json_parse(&a, buf_slice(&b));
	}, {});
	arena_release(&a);
	return ok;
}

static bool set_subject(void *options, const char *value, char *why, size_t n)
{
	struct token_options *o = options;

	snprintf(why, n, "'%s' cannot be a subject", value);
	o->q.subject = slice_str(value);
	return is_text(value);
}

static bool set_role(void *options, const char *value, char *why, size_t n)
{
	struct token_options *o = options;

	snprintf(why, n, "'%s' cannot be a role, or is one too many", value);
	if (o->q.role_count == ROLES_MAX || !is_text(value))
		return false;
	o->roles[o->q.role_count++] = slice_str(value);
	return true;
}

/* tenant=acme */
static bool set_claim(void *options, const char *value, char *why, size_t n)
{
	struct token_options *o = options;
	const char *equals = strchr(value, '=');

	snprintf(why, n, "'%s' is not a claim such as tenant=acme, or is one too many", value);
	if (o->q.claim_count == CLAIMS_MAX || !equals || equals == value || !is_text(value))
		return false;
	o->claims[o->q.claim_count++] =
		(struct token_claim){ slice_make(value, (size_t)(equals - value)), slice_str(equals + 1) };
	return true;
}

/* 90s, 30m, 1h, 7d; a number alone is seconds. */
static bool set_expires(void *options, const char *value, char *why, size_t n)
{
	static const struct {
		const char *unit;
		int64_t seconds;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", DAY } };
	struct token_options *o = options;
	long long count;
	char *end;

	errno = 0;
	count = strtoll(value, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (*value >= '0' && *value <= '9' && !errno && !strcmp(end, units[i].unit) && count > 0 &&
		    count <= LONGEST / units[i].seconds) {
			o->q.seconds = count * units[i].seconds;
			return true;
		}
	snprintf(why, n, "'%s' is not a time such as 90s, 30m, 1h or 7d, of ten years at most", value);
	return false;
}

/* clang-format off */
static const struct flag flags[] = {
	FLAG_READ("subject", "S", set_subject, "the caller, as 'caller' in the design's rules"),
	FLAG_READ("role", "R", set_role, "a role of the caller; repeatable"),
	FLAG_READ("claim", "NAME=VALUE", set_claim, "a claim that the design declares, as 'caller.name'; repeatable"),
	FLAG_SWITCH("operator", struct token_options, q.operator_, "may do everything, even what no rule allows"),
	FLAG_SWITCH("webhook-secret", struct token_options, webhook_secret, "instead of a token, print the secret that signs the design's webhooks"),
	FLAG_READ("expires", "TIME", set_expires, "how long the token is valid: 90s, 30m, 1h, 7d (1h)"),
	FLAG_TEXT("data", "DIR", struct token_options, data, "the server's data directory, which holds its secret (" SERVE_DEFAULT_DATA ")"),
	FLAG_TEXT("secret-file", "FILE", struct token_options, secret_file, "the server's --secret-file instead, made if missing"),
	FLAG_TEXT("backend", "WHERE", struct token_options, backend, "the server's --backend instead: its servers share a secret there"),
	FLAG_END,
};
/* clang-format on */

static bool is_name(const char *design)
{
	return *design && strspn(design, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(design);
}

/* The design's name; empty after a complaint. */
static struct slice name_of(struct arena *a, const char *design)
{
	const struct design *d;

	if (!operator_is_file(design)) {
		if (is_name(design))
			return slice_str(design);
		complain(0, "'%s' is neither the name of a design nor a .yaml file", design);
		return SLICE("");
	}
	d = design_file_load(a, design);
	return d ? d->name : SLICE("");
}

static bool load_secret(struct arena *a, const char *design, const struct token_options *o,
			uint8_t secret[CALLER_SECRET_BYTES], char *why, size_t n)
{
	if (o->backend)
		return operator_shared_secret(a, design_file_load(a, design), o->backend, secret, why, n);
	return secret_load(o->data, o->secret_file, true, secret, why, n);
}

static int print_token(const char *design, struct token_options *o)
{
	uint8_t secret[CALLER_SECRET_BYTES];
	volatile int status = EXIT_REFUSED;
	struct slice name;
	struct arena a;
	struct slice token;
	char why[512];

	_Static_assert(SECRET_BYTES == CALLER_SECRET_BYTES, "one secret");
	arena_init(&a);
	ARENA_TRY(&a, {
		name = name_of(&a, design);
		if (name.n && !load_secret(&a, design, o, secret, why, sizeof(why))) {
			complain(0, "%s", why);
		} else if (name.n) {
			token = o->webhook_secret ? send_secret(&a, name, secret) : caller_token(&a, name, secret, &o->q);
			printf("%.*s\n", SLICE_ARG(token));
			status = 0;
		}
	}, { complain(0, "out of memory"); });
	arena_release(&a);
	return status;
}

static int check_options(const struct token_options *o, const char *design)
{
	if (o->webhook_secret && (o->q.subject.n || o->q.operator_ || o->q.role_count || o->q.claim_count))
		return complain(EXIT_USAGE, "--webhook-secret goes without --subject, --role, --claim and --operator");
	if (!o->webhook_secret && !o->q.subject.n && !o->q.operator_)
		return complain(EXIT_USAGE, "whose token? --subject S, or --operator");
	if (o->backend && !operator_is_file(design))
		return complain(EXIT_USAGE, "--backend needs the design's file, which names its table");
	if (o->backend && o->secret_file)
		return complain(EXIT_USAGE, "--backend and --secret-file exclude each other");
	if (!o->backend && !o->secret_file &&
	    access(o->data, F_OK) != 0) /* no server would accept a new secret's tokens */
		return complain(EXIT_REFUSED,
				"there is no data directory %s; give --data DIR, or, if the server runs with --in-memory, "
				"start it with --secret-file FILE and give the same here",
				o->data);
	return 0;
}

static int run(void *options, char **words, int count)
{
	struct token_options *o = options;
	int status = check_options(o, words[0]);

	(void)count;
	if (status)
		return status;
	o->q.roles = o->roles;
	o->q.claims = o->claims;
	o->q.now_ms = clock_now_ms(&clock_system);
	return print_token(words[0], o);
}

static const struct token_options defaults = { .q = { .seconds = 3600 }, .data = SERVE_DEFAULT_DATA };

const struct command command_token = {
	.name = "token",
	.summary = "print a token for the REST API of a design",
	.usage = "DESIGN --subject S [--role R]... [options]\n"
		 "DESIGN --operator [options]",
	.about = "Prints a token for the REST API of a design, given by its name or its file. The token is signed\n"
		 "with the server's secret, which is made if there is none yet.",
	.flags = flags,
	.examples =
		"  thorpe token social --subject alice --role admin\n"
		"  thorpe token desk --subject alice --claim tenant=acme\n"
		"  thorpe token designs/social.yaml --operator --expires 7d\n"
		"  thorpe token social --webhook-secret\n"
		"  thorpe token social --subject alice --secret-file secret   # of 'thorpe serve --in-memory --secret-file secret'\n"
		"  curl -H \"Authorization: Bearer $(thorpe token social --subject alice)\" \\\n"
		"       http://127.0.0.1:8000/api/social/me",
	.least_words = 1,
	.most_words = 1,
	.lacking = "which design? thorpe token DESIGN --subject S",
	.size = sizeof(struct token_options),
	.defaults = &defaults,
	.run = run,
};
