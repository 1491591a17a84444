/* `thorpe call`: runs an access pattern of a design that is being served, and shows what it did.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/call.h"
#include "cli/commands.h"
#include "cli/operator.h"
#include "json/json.h"

#define ROLES_MAX     16
#define TOKEN_SECONDS 60
#define NEAR          4 /* letters of difference that still count as a slip */

struct call_options {
	struct operator_options server;
	const char *as;
	const char *roles[ROLES_MAX];
	size_t role_count;
	const char *claims[ROLES_MAX];
	size_t claim_count;
	bool explain;
};

static const struct flag flags[] = {
	FLAG_TEXT("as", "SUBJECT", struct call_options, as,
		  "as this caller, by the design's rules (as an operator, who may do everything)"),
	FLAG_LIST("role", "ROLE", struct call_options, roles, role_count, "a role of that caller; repeatable"),
	FLAG_LIST("claim", "NAME=VALUE", struct call_options, claims, claim_count, "a claim of that caller; repeatable"),
	FLAG_SWITCH("explain", struct call_options, explain, "show each request to the database, and what it cost"),
	OPERATOR_FLAGS(struct call_options),
	FLAG_END,
};

struct call {
	const struct call_options *options;
	struct operator_talk talk;
	const char *pattern; /* NULL: list them */
	char **with;         /* name=value */
	int with_count;
};

/* ---- asking ---- */

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

/* 7, true and ["a"] are what they look like; acme is a text. */
static void add_claim(struct buf *b, const char *text, bool first)
{
	const char *equals = strchr(text, '=');
	struct slice value = slice_str(equals + 1);
	const struct json *j = json_parse(b->arena, value);

	if (!first)
		buf_byte(b, ',');
	json_string(b, slice_make(text, (size_t)(equals - text)));
	buf_byte(b, ':');
	if (j)
		json_write(b, j);
	else
		json_string(b, value);
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
	buf_lit(b, "],\"claims\":{");
	for (size_t i = 0; i < o->claim_count; i++)
		add_claim(b, o->claims[i], i == 0);
	buf_lit(b, "}}");
}

static struct slice body_of(struct call *c)
{
	struct buf b;

	buf_init(&b, c->talk.arena);
	buf_lit(&b, "{\"pattern\":");
	json_string(&b, slice_str(c->pattern));
	add_with(c, &b);
	if (c->options->as || c->options->role_count || c->options->claim_count)
		add_as(c->options, &b);
	buf_printf(&b, ",\"explain\":%s}", c->options->explain ? "true" : "false");
	return buf_slice(&b);
}

/* ---- complaints ---- */

/* The member `name` of the elements of a list, nearest to `meant`; empty when none is near. *there: it is among
 * them. */
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

/* True: the server does not have the design; a message has said so. */
static bool complain_of_design(struct call *c)
{
	struct client_reply r;
	struct slice near;
	bool there;

	if (!operator_ask(&c->talk, "GET", (struct slice){ 0 }, (struct slice){ 0 }, &r) || r.status != 200)
		return false;
	near = nearest(c->talk.arena, json_get(json_parse(c->talk.arena, r.body), "designs"), "design", c->talk.design,
		       &there);
	if (there)
		return false;
	if (near.n)
		complain(0, "the server has no design '%s'; did you mean '%.*s'?", c->talk.design, SLICE_ARG(near));
	else
		complain(0, "the server has no design '%s'", c->talk.design);
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

static int report_refusal(struct call *c, const struct client_reply *r)
{
	if (r->status == 404 && complain_of_design(c))
		return EXIT_REFUSED;
	operator_complain(&c->talk, r);
	print_parts(json_get(json_parse(c->talk.arena, r->body), "errors"));
	return EXIT_REFUSED;
}

/* ---- the command ---- */

static int make_call(void *ctx)
{
	struct call *c = ctx;
	struct slice path = arena_printf(c->talk.arena, "/%s%s", c->talk.design, c->pattern ? "/call" : "");
	struct client_reply r;
	struct buf out;

	if (!operator_ask(&c->talk, c->pattern ? "POST" : "GET", path, c->pattern ? body_of(c) : (struct slice){ 0 }, &r))
		return EXIT_REFUSED;
	if (r.status != 200)
		return report_refusal(c, &r);
	buf_init(&out, c->talk.arena);
	if (c->pattern)
		call_print(&out, r.body);
	else
		call_print_patterns(&out, r.body, slice_str(c->talk.design));
	fwrite(out.p, 1, out.n, stdout);
	return 0;
}

static int check_words(const struct call *c)
{
	for (int i = 0; i < c->with_count; i++)
		if (!strchr(c->with[i], '='))
			return complain(EXIT_USAGE, "'%s' is not NAME=VALUE; a pattern of several words needs quotes",
					c->with[i]);
	for (size_t i = 0; i < c->options->claim_count; i++)
		if (!strchr(c->options->claims[i], '='))
			return complain(EXIT_USAGE, "'%s' is not a claim such as tenant=acme", c->options->claims[i]);
	if ((c->options->role_count || c->options->claim_count) && !c->options->as)
		return complain(EXIT_USAGE, "--role and --claim need --as: whose?");
	return 0;
}

static int run(void *options, char **words, int count)
{
	struct call c = { .options = options, .with = words + 2, .with_count = count > 2 ? count - 2 : 0 };
	int status;

	c.pattern = count > 1 ? words[1] : NULL;
	status = check_words(&c);
	if (status)
		return status;
	c.talk.options = &c.options->server;
	return operator_run(&c.talk, words[0], &(struct operator_token){ "thorpe-call", TOKEN_SECONDS }, make_call, &c);
}

const struct command command_call = {
	.name = "call",
	.summary = "run an access pattern of a design, and see what it costs",
	.usage = "DESIGN [PATTERN [NAME=VALUE]...] [options]",
	.about = "Runs an access pattern on the running server. Without a pattern, lists the design's access patterns.",
	.flags = flags,
	.examples = "  thorpe call social\n"
		    "  thorpe call social \"user posts\" user_id=alice --explain",
	.least_words = 1,
	.most_words = -1,
	.lacking = "which design? thorpe call DESIGN PATTERN [NAME=VALUE]...",
	.size = sizeof(struct call_options),
	.run = run,
};
