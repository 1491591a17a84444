/* Command-line flags from a table: parsing, help, and what was probably meant.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_FLAGS_H
#define THORPE_CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

struct flag {
	const char *name; /* without the dashes; NULL ends the table */
	const char *arg;  /* what the help calls its value; NULL: it takes none */
	const char *help;
	/* Takes the value (NULL when it has none). False with a sentence in `why`. */
	bool (*set)(void *options, const char *value, char *why, size_t n);
};

enum flags_result { FLAGS_OK, FLAGS_HELP, FLAGS_WRONG };

/* --name value, --name=value, -h and --help. FLAGS_WRONG has been explained on stderr. */
enum flags_result flags_parse(const struct flag *table, void *options, int argc, char **argv, const char *command);
/* Moves what does not begin with a dash to the front, in its order, and returns how many there are: for commands whose
 * flags take no values. */
int flags_operands_first(int argc, char **argv);
/* The same for commands whose flags do: a flag's value stays with it. */
int flags_words_first(const struct flag *table, int argc, char **argv);
void flags_print(const struct flag *table);

/* How many letters have to be changed, added or left out to make `a` of `b`; at most `most` + 1. */
size_t flags_distance(const char *a, const char *b, size_t most);

/* Prints "thorpe: <sentence>." to stderr and returns `status`. */
int complain(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define EXIT_REFUSED    1
#define EXIT_USAGE      2
#define EXIT_INCOMPLETE 3 /* done, and something is missing */

#endif
