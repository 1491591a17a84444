/* `thorpe COMMAND …`: finds the command and hands over.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/permissions.h"

#define NEAR 3 /* letters of difference that no longer count as a slip */

static const struct flag no_flags[] = { FLAG_END };

static int run_version(void *options, char **words, int count)
{
	(void)options, (void)words, (void)count;
	puts("thorpe " THORPE_VERSION);
	return 0;
}

static const struct command command_version = {
	.name = "version",
	.summary = "print the version",
	.usage = "",
	.about = "Prints the version.",
	.flags = no_flags,
	.examples = "  thorpe version",
	.run = run_version,
};

static int run_help(void *options, char **words, int count);

static const struct command command_help = {
	.name = "help",
	.summary = "print this, or the help of a command",
	.usage = "[COMMAND]",
	.about = "Lists the commands, or prints the help of one.",
	.flags = no_flags,
	.examples = "  thorpe help serve",
	.most_words = 1,
	.run = run_help,
};

const struct command *const commands[] = {
	&command_serve,
	&command_new,
	&command_check,
	&command_lsp,
	&command_schema,
	&command_doc,
	&command_client,
	&command_call,
	&command_processors,
	&command_deploy,
	&command_diff,
	&command_copy,
	&command_token,
	&command_role,
	&command_verify,
	&command_salvage,
	&command_version,
	&command_help,
	NULL,
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int complain_of_unknown(const char *name)
{
	const char *nearest = NULL;
	size_t best = NEAR;

	for (size_t i = 0; commands[i]; i++) {
		size_t d = flags_distance(name, commands[i]->name, best);

		if (d < best) {
			best = d;
			nearest = commands[i]->name;
		}
	}
	if (nearest)
		return complain(EXIT_USAGE, "there is no command '%s'; did you mean '%s'?", name, nearest);
	return complain(EXIT_USAGE, "there is no command '%s'; see 'thorpe help'", name);
}

static void print_commands(void)
{
	puts("Thorpe runs single-table designs: the DynamoDB API, a REST API for each design, and a console.\n\n"
	     "Usage: thorpe COMMAND [options]\n");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n'thorpe COMMAND --help' says more. To begin:\n\n"
	     "  thorpe serve --design designs/social.yaml --demo designs/demo\n"
	     "  curl http://127.0.0.1:8000/api        # in another terminal, this and the next\n"
	     "  AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_PAGER= \\\n"
	     "    aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000 --region us-east-1\n\n"
	     "Exit codes: 0 done; 1 refused, failed, or an error was found; 2 wrong options; 3 done in part.");
}

static int run_help(void *options, char **words, int count)
{
	const struct command *about = count ? find(words[0]) : NULL;
	char *help[] = { (char *)"--help" };

	(void)options;
	if (about)
		return command_run(about, 1, help);
	if (count)
		return complain_of_unknown(words[0]);
	print_commands();
	return 0;
}

int main(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		print_commands();
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return run_help(NULL, NULL, 0);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return run_version(NULL, NULL, 0);
	permissions_close();
	c = find(argv[1]);
	return c ? command_run(c, argc - 2, argv + 2) : complain_of_unknown(argv[1]);
}
