/* From a command's row to its help and its options.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static void print_usage(const struct command *c)
{
	const char *line = c->usage, *before = "Usage: ";

	for (;;) {
		size_t n = strcspn(line, "\n");

		printf("%sthorpe %s%s%.*s\n", before, c->name, n ? " " : "", (int)n, line);
		if (!line[n])
			break;
		line += n + 1;
		before = "       ";
	}
}

static void print_help(const struct command *c)
{
	print_usage(c);
	printf("\n%s\n\n", c->about);
	flags_print(c->flags);
	printf("\n%s:\n%s\n", strchr(c->examples, '\n') ? "Examples" : "Example", c->examples);
	if (c->notes)
		printf("\n%s\n", c->notes);
}

static int check_words(const struct command *c, char **words, int count)
{
	if (count < c->least_words)
		return complain(EXIT_USAGE, "%s", c->lacking);
	if (c->most_words < 0 || count <= c->most_words)
		return 0;
	return complain(EXIT_USAGE, "'%s' is %s; see 'thorpe %s --help'", words[c->most_words],
			c->most_words ? "one word too many" : "not an option", c->name);
}

int command_run(const struct command *c, int argc, char **argv)
{
	void *options = mem_zalloc(c->size ? c->size : 1);
	int count = 0, status;

	if (!options)
		return complain(EXIT_REFUSED, "out of memory");
	if (c->defaults)
		memcpy(options, c->defaults, c->size);
	switch (flags_parse(c->flags, options, argc, argv, &count, c->name)) {
	case FLAGS_HELP:
		print_help(c);
		status = 0;
		break;
	case FLAGS_WRONG: status = EXIT_USAGE; break;
	default:
		status = check_words(c, argv, count);
		if (!status)
			status = c->run(options, argv, count);
	}
	mem_free(options);
	return status;
}
