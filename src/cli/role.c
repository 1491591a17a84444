/* `thorpe role`: gives an account of a design that is being served a role: the way to the first admin.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/operator.h"
#include "json/json.h"

#define TOKEN_SECONDS 60

struct role_options {
	struct operator_options server;
};

static const struct flag flags[] = {
	OPERATOR_FLAGS(struct role_options),
	FLAG_END,
};

static struct slice body_of(struct arena *a, const char *name, const char *role)
{
	struct buf b;

	buf_init(&b, a);
	json_open(&b, '{');
	json_member_string(&b, "name", slice_str(name));
	json_member_string(&b, "role", slice_str(role));
	json_close(&b, '}');
	return buf_slice(&b);
}

struct giving {
	struct operator_talk talk;
	char **words;
};

static int give(void *ctx)
{
	struct giving *g = ctx;
	struct operator_talk *talk = &g->talk;
	const char *name = g->words[1];
	const struct json *reply;
	struct client_reply r;

	if (!operator_ask(talk, "POST", arena_printf(talk->arena, "/%s/role", talk->design),
			  body_of(talk->arena, name, g->words[2]), &r))
		return EXIT_REFUSED;
	if (r.status != 200)
		return operator_complain(talk, &r);
	reply = json_parse(talk->arena, r.body);
	printf("%s is now %.*s (subject %.*s)\n", name, SLICE_ARG(json_get_text(reply, "role")),
	       SLICE_ARG(json_get_text(reply, "subject")));
	return 0;
}

static int run(void *options, char **words, int count)
{
	const struct role_options *o = options;
	struct giving g = { .talk = { .options = &o->server }, .words = words };

	(void)count;
	return operator_run(&g.talk, words[0], &(struct operator_token){ "", TOKEN_SECONDS }, give, &g);
}

const struct command command_role = {
	.name = "role",
	.summary = "give an account of a design a role: the first admin",
	.usage = "DESIGN NAME ROLE [options]",
	.about = "Gives an account of a design that is being served a role. DESIGN is its name or its file, NAME\n"
		 "whatever the account logs in with. It holds from the next request, without another login.",
	.flags = flags,
	.examples = "  thorpe role social ann@example.com admin\n"
		    "  thorpe role designs/wavyblog.yaml ann author --endpoint https://api.example.com --backend aws",
	.least_words = 3,
	.most_words = 3,
	.lacking = "thorpe role DESIGN NAME ROLE",
	.size = sizeof(struct role_options),
	.run = run,
};
