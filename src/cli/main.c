/* `thorpe COMMAND …`: finds the command and hands over.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/permissions.h"

static int command_help(int argc, char **argv);
static int command_version(int argc, char **argv);

static const struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "serve", "serve the DynamoDB API, the REST API of designs, and the console", command_serve },
	{ "check", "review designs: errors, and what an expert would object to", command_check },
	{ "doc", "list the routes and DynamoDB requests of a design's access patterns", command_doc },
	{ "call", "run an access pattern of a design, and see what it costs", command_call },
	{ "processors", "see what a design's processors do, pause, resume and replay them", command_processors },
	{ "deploy", "create the tables of a design on AWS or elsewhere, after showing the cost", command_deploy },
	{ "copy", "move a design's data between a directory, a server and DynamoDB while it is used", command_copy },
	{ "token", "print a token for the REST API of a design", command_token },
	{ "verify", "check a data directory: indexes against tables, items against a design", command_verify },
	{ "salvage", "copy everything that can be read from a damaged data directory", command_salvage },
	{ "version", "print the version", command_version },
	{ "help", "print this, or the help of a command", command_help },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int command_version(int argc, char **argv)
{
	(void)argc, (void)argv;
	puts("thorpe " THORPE_VERSION);
	return 0;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int command_help(int argc, char **argv)
{
	const struct command *about = argc > 0 ? find(argv[0]) : NULL;
	char *help[] = { (char *)"--help" };

	if (about && about->run != command_help && about->run != command_version)
		return about->run(1, help);
	puts("Thorpe runs single-table designs: the DynamoDB API, a REST API for each design, and a console.\n\nUsage: thorpe COMMAND [options]\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	puts("\n'thorpe COMMAND --help' says more. To begin:\n\n"
	     "  thorpe serve --design designs/social.yaml --demo designs/demo\n"
	     "  curl http://127.0.0.1:8000/api        # in another terminal, this and the next\n"
	     "  AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_PAGER= \\\n"
	     "    aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000 --region us-east-1\n\n"
	     "Exit codes: 0 done; 1 refused, failed, or an error was found; 2 wrong options; 3 done in part.");
	return 0;
}

static int unknown(const char *name)
{
	const char *nearest = NULL;
	size_t best = 3;

	for (size_t i = 0; i < COMMANDS; i++) {
		size_t d = flags_distance(name, commands[i].name, best);

		if (d < best) {
			best = d;
			nearest = commands[i].name;
		}
	}
	if (nearest)
		return complain(EXIT_USAGE, "there is no command '%s'; did you mean '%s'?", name, nearest);
	return complain(EXIT_USAGE, "there is no command '%s'; see 'thorpe help'", name);
}

int main(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		command_help(0, NULL);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return command_help(0, NULL);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V"))
		return command_version(0, NULL);
	permissions_close();
	c = find(argv[1]);
	return c ? c->run(argc - 2, argv + 2) : unknown(argv[1]);
}
