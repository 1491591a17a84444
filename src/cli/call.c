/* `thorpe call`: runs an access pattern of a design that is being served, and shows what it did.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/call.h"
#include "cli/client.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/operator.h"
#include "json/json.h"

#define ROLES_MAX     16
#define TOKEN_SECONDS 60
#define WHY           512
#define NEAR          4 /* letters of difference that still count as a slip */

struct call_options {
	struct operator_options server; /* first: operator.h */
	const char *as;
	const char *roles[ROLES_MAX];
	size_t role_count;
	bool explain;
};

static bool set_as(void *options, const char *value, char *why, size_t n)
{
	(void)why, (void)n;
	((struct call_options *)options)->as = value;
	return true;
}

static bool set_explain(void *options, const char *value, char *why, size_t n)
{
	(void)value, (void)why, (void)n;
	((struct call_options *)options)->explain = true;
	return true;
}

static bool set_role(void *options, const char *value, char *why, size_t n)
{
	struct call_options *o = options;

	if (o->role_count == ROLES_MAX) {
		snprintf(why, n, "more than %d roles", ROLES_MAX);
		return false;
	}
	o->roles[o->role_count++] = value;
	return true;
}

static const struct flag flags[] = {
	{ "as", "SUBJECT", "as this caller, by the design's rules (as an operator, who may do everything)", set_as },
	{ "role", "ROLE", "a role of that caller; repeatable", set_role },
	{ "explain", NULL, "show each request to the database, and what it cost", set_explain },
	OPERATOR_FLAGS,
	{ 0 },
};

static void print_help(void)
{
	puts("Usage: thorpe call DESIGN [PATTERN [NAME=VALUE]...] [options]\n\n"
	     "Runs an access pattern on the running server. Without a pattern, lists the design's access patterns.\n");
	flags_print(flags);
	puts("\nExamples:\n"
	     "  thorpe call social\n"
	     "  thorpe call social \"user posts\" user_id=alice --explain");
}

struct call {
	struct arena arena;
	struct call_options options;
	const char *design, *pattern; /* pattern NULL: list them */
	char **with;                  /* name=value */
	int with_count;
	struct slice token;
};

/* ---- asking ---- */

static bool make_token(struct call *c, char *why)
{
	return operator_token(&c->options.server, &c->arena, c->design, "thorpe-call", TOKEN_SECONDS, &c->token, why,
			      WHY);
}

static bool ask(struct call *c, const char *method, const char *path, struct slice body, struct client_reply *r,
		char *why)
{
	struct client_request q = { .method = method, .token = c->token, .body = body };

	q.url = arena_printf(&c->arena, "%.*s%s%c", SLICE_ARG(operator_base(&c->options.server, &c->arena)), path, 0).p;
	return client_send(&c->arena, &q, r, why, WHY);
}

static void add_with(struct call *c, struct buf *b)
{
	buf_lit(b, ",\"with\":{");
	for (int i = 0; i < c->with_count; i++) {
		const char *equals = strchr(c->with[i], '=');

		if (i)
			buf_byte(b, ',');
		json_string(b, slice_make(c->with[i], (size_t)(equals - c->with[i])));
		buf_byte(b, ':');
		json_string(b, slice_str(equals + 1));
	}
	buf_byte(b, '}');
}

static void add_as(const struct call_options *o, struct buf *b)
{
	buf_lit(b, ",\"as\":{\"subject\":");
	json_string(b, slice_str(o->as ? o->as : ""));
	buf_lit(b, ",\"roles\":[");
	for (size_t i = 0; i < o->role_count; i++) {
		if (i)
			buf_byte(b, ',');
		json_string(b, slice_str(o->roles[i]));
	}
	buf_lit(b, "]}");
}

static struct slice body_of(struct call *c)
{
	struct buf b;

	buf_init(&b, &c->arena);
	buf_lit(&b, "{\"pattern\":");
	json_string(&b, slice_str(c->pattern));
	add_with(c, &b);
	if (c->options.as || c->options.role_count)
		add_as(&c->options, &b);
	buf_printf(&b, ",\"explain\":%s}", c->options.explain ? "true" : "false");
	return buf_slice(&b);
}

/* ---- complaints ---- */

/* The member `name` of the elements of a list, nearest to `meant`; empty when none is near. *there: it is among them. */
static struct slice nearest(struct arena *a, const struct json *list, const char *name, const char *meant, bool *there)
{
	struct slice found = { 0 };
	size_t best = NEAR + 1;

	*there = false;
	for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->count; i++) {
		const struct json *j = json_get(&list->items[i], name);
		size_t d;

		if (!json_is(j, JSON_STRING))
			continue;
		d = flags_distance(meant, arena_cstr(a, j->string), NEAR);
		*there |= !d;
		if (d < best) {
			best = d;
			found = j->string;
		}
	}
	return found;
}

/* True: the server does not have the design, and that has been said. */
static bool complain_of_design(struct call *c)
{
	struct client_reply r;
	char why[WHY];
	struct slice near;
	bool there;

	if (!ask(c, "GET", "", (struct slice){ 0 }, &r, why) || r.status != 200)
		return false;
	near = nearest(&c->arena, json_get(json_parse(&c->arena, r.body), "designs"), "design", c->design, &there);
	if (there)
		return false;
	if (near.n)
		complain(0, "the server has no design '%s'; did you mean '%.*s'?", c->design, SLICE_ARG(near));
	else
		complain(0, "the server has no design '%s'", c->design);
	return true;
}

static void print_parts(const struct json *parts)
{
	for (uint32_t i = 0; json_is(parts, JSON_ARRAY) && i < parts->count; i++) {
		const struct json *name = json_get(&parts->items[i], "attribute"),
				  *what = json_get(&parts->items[i], "detail");

		if (json_is(name, JSON_STRING) && json_is(what, JSON_STRING))
			fprintf(stderr, "  %.*s: %.*s\n", SLICE_ARG(name->string), SLICE_ARG(what->string));
	}
}

static int refuse(struct call *c, const struct client_reply *r)
{
	const struct json *problem = json_parse(&c->arena, r->body), *detail = json_get(problem, "detail");

	if (r->status == 401)
		return complain(EXIT_REFUSED, "the server does not take this token: is %s what it runs with?",
				operator_proof(&c->options.server));
	if (r->status == 404 && complain_of_design(c))
		return EXIT_REFUSED;
	if (!json_is(detail, JSON_STRING))
		detail = json_get(problem, "title");
	if (json_is(detail, JSON_STRING))
		complain(0, "%.*s", SLICE_ARG(detail->string));
	else
		complain(0, "the server answered with %ld", r->status);
	print_parts(json_get(problem, "errors"));
	return EXIT_REFUSED;
}

/* ---- the command ---- */

static int run(struct call *c)
{
	const char *path = arena_printf(&c->arena, "/%s%s%c", c->design, c->pattern ? "/call" : "", 0).p;
	struct client_reply r;
	char why[WHY];
	struct buf out;

	if (!make_token(c, why))
		return complain(EXIT_REFUSED, "%s", why);
	if (!ask(c, c->pattern ? "POST" : "GET", path, c->pattern ? body_of(c) : (struct slice){ 0 }, &r, why))
		return complain(EXIT_REFUSED, "%s", why);
	if (r.status != 200)
		return refuse(c, &r);
	buf_init(&out, &c->arena);
	if (c->pattern)
		call_print(&out, r.body);
	else
		call_print_patterns(&out, r.body, slice_str(c->design));
	fwrite(out.p, 1, out.n, stdout);
	return 0;
}

static int check(const struct call *c)
{
	if (!c->design)
		return complain(EXIT_USAGE, "which design? thorpe call DESIGN PATTERN [NAME=VALUE]...");
	if (strspn(c->design, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != strlen(c->design))
		return complain(EXIT_USAGE, "'%s' is not the name of a design", c->design);
	for (int i = 0; i < c->with_count; i++)
		if (!strchr(c->with[i], '='))
			return complain(EXIT_USAGE, "'%s' is not NAME=VALUE; a pattern of several words needs quotes",
					c->with[i]);
	if (c->options.role_count && !c->options.as)
		return complain(EXIT_USAGE, "--role needs --as: whose role?");
	return 0;
}

int command_call(int argc, char **argv)
{
	struct call c = { 0 };
	int words = flags_words_first(flags, argc, argv);
	volatile int status = 0;

	switch (flags_parse(flags, &c.options, argc - words, argv + words, "call")) {
	case FLAGS_HELP: print_help(); return 0;
	case FLAGS_WRONG: return EXIT_USAGE;
	case FLAGS_OK: break;
	}
	c.design = words > 0 ? argv[0] : NULL;
	c.pattern = words > 1 ? argv[1] : NULL;
	c.with = argv + 2;
	c.with_count = words > 2 ? words - 2 : 0;
	arena_init(&c.arena);
	ARENA_TRY(&c.arena, {
		status = operator_design(&c.options.server, &c.arena, &c.design) ? check(&c) : EXIT_REFUSED;
		if (!status)
			status = run(&c);
	}, { status = complain(EXIT_REFUSED, "out of memory"); });
	arena_release(&c.arena);
	return status;
}
