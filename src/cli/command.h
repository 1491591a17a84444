/* A command of `thorpe`: one row with all that is known about it. `thorpe help`, `thorpe COMMAND --help` and the
 * checks of arguments come from the row; a command's own code begins in run(), with options that have been read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_COMMAND_H
#define THORPE_CLI_COMMAND_H

#include "cli/flags.h"

struct command {
	const char *name;
	const char *summary; /* one line, for `thorpe help` */
	const char *usage;   /* what follows "thorpe NAME "; a form per line */
	const char *about;   /* paragraphs before the options */
	const struct flag *flags;
	const char *examples; /* a command per line, indented by two */
	const char *notes;    /* after the examples; NULL: none */

	int least_words, most_words; /* arguments that are no options; most -1: any number */
	const char *lacking;         /* the complaint when there are fewer than least_words */

	size_t size;          /* of the options struct */
	const void *defaults; /* what it begins as; NULL: all zero */
	/* Returns the exit status. `words` has `count` texts, which live as long as the process. */
	int (*run)(void *options, char **words, int count);
};

/* All of them, in the order of `thorpe help`; ends with NULL. */
extern const struct command *const commands[];

/* Reads the arguments after the command's name and runs it, or prints its help. Returns the exit status. */
int command_run(const struct command *c, int argc, char **argv);

#endif
