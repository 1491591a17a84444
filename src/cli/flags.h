/* Options of a command: one row each, and everything made from the rows: parsing, `--help`, and the option that was
 * probably meant. Nothing else in cli/ looks at an argument that begins with a dash.
 *
 * A row says what the option is called, what its value is called, where the value goes and what it does. Most rows
 * need no code: the value goes to a member of the command's options struct (FLAG_TEXT, FLAG_SWITCH, FLAG_LIST,
 * FLAG_NUMBER, FLAG_CHOICE). A value with a grammar of its own has a reader (FLAG_READ).
 *
 *   static const struct flag flags[] = {
 *           FLAG_TEXT("data", "DIR", struct my_options, data, "the data directory"),
 *           FLAG_SWITCH("json", struct my_options, json, "print JSON"),
 *           FLAG_END,
 *   };
 *
 * The macros check the member's type at compile time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_CLI_FLAGS_H
#define THORPE_CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

enum flag_kind { FLAG_IS_SWITCH, FLAG_IS_TEXT, FLAG_IS_LIST, FLAG_IS_NUMBER, FLAG_IS_CHOICE, FLAG_IS_READ };

/* Reads the value into the options struct. False with a sentence in `why`, which needs no "--name:". */
typedef bool flag_reader(void *options, const char *value, char *why, size_t n);

struct flag {
	const char *name; /* without the dashes; NULL ends the table */
	const char *arg;  /* what the help calls the value; NULL: a switch */
	const char *help; /* begins in lower case, no full stop; the default stands in parentheses */
	enum flag_kind kind;
	size_t at;                       /* the member's offset in the options struct */
	size_t count_at, most;           /* LIST: offset of its size_t count, and how many fit */
	unsigned long long least, limit; /* NUMBER: the range, both ends included */
	const char *const *words; /* CHOICE: what may be said; the member gets the position. Ends with NULL; "" is
					  * the place of a value that cannot be asked for */
	flag_reader *read;
};

/* The offset of a member, if it has this type. */
#define FLAG_AT(T, member, type) (offsetof(T, member) + 0 * sizeof((type *)NULL == &((T *)NULL)->member))

#define FLAG_SWITCH(name_, T, member, help_)                                                         \
	{                                                                                            \
		.name = name_, .help = help_, .kind = FLAG_IS_SWITCH, .at = FLAG_AT(T, member, bool) \
	}
#define FLAG_TEXT(name_, arg_, T, member, help_)                                                                        \
	{                                                                                                               \
		.name = name_, .arg = arg_, .help = help_, .kind = FLAG_IS_TEXT, .at = FLAG_AT(T, member, const char *) \
	}
/* Repeatable: `member` is an array of texts, `count` a size_t. */
#define FLAG_LIST(name_, arg_, T, member, count, help_)                                           \
	{                                                                                         \
		.name = name_, .arg = arg_, .help = help_, .kind = FLAG_IS_LIST,                  \
		.at = FLAG_AT(T, member[0], const char *), .count_at = FLAG_AT(T, count, size_t), \
		.most = sizeof(((T *)NULL)->member) / sizeof(((T *)NULL)->member[0])              \
	}
#define FLAG_NUMBER(name_, arg_, T, member, least_, limit_, help_)                                                     \
	{                                                                                                              \
		.name = name_, .arg = arg_, .help = help_, .kind = FLAG_IS_NUMBER, .at = FLAG_AT(T, member, unsigned), \
		.least = least_, .limit = limit_                                                                       \
	}
/* `member` is an enum whose values are the positions in `words_`. */
#define FLAG_CHOICE(name_, arg_, T, member, words_, help_)                                                         \
	{                                                                                                          \
		.name = name_, .arg = arg_, .help = help_, .kind = FLAG_IS_CHOICE,                                 \
		.at = offsetof(T, member) + 0 * sizeof(char[sizeof(((T *)NULL)->member) == sizeof(int) ? 1 : -1]), \
		.words = words_                                                                                    \
	}
#define FLAG_READ(name_, arg_, reader, help_)                                                   \
	{                                                                                       \
		.name = name_, .arg = arg_, .help = help_, .kind = FLAG_IS_READ, .read = reader \
	}
#define FLAG_END             \
	{                    \
		.name = NULL \
	}

enum flags_result { FLAGS_OK, FLAGS_HELP, FLAGS_WRONG };

/* Takes --name value, --name=value, -h and --help, wherever they stand. What is left are the words: they move to the
 * front of argv in their order, and *words is how many there are. FLAGS_WRONG has been explained on stderr. */
enum flags_result flags_parse(const struct flag *table, void *options, int argc, char **argv, int *words,
			      const char *command);
/* The rows as the help shows them. */
void flags_print(const struct flag *table);

/* For readers. A number without a sign and within the range; otherwise false with a sentence. */
bool flags_number(const char *text, unsigned long long least, unsigned long long most, unsigned long long *out,
		  char *why, size_t n);

/* How many letters have to be changed, added or left out to make `a` of `b`; at most `most` + 1. */
size_t flags_distance(const char *a, const char *b, size_t most);

/* Prints "thorpe: <sentence>." to stderr and returns `status`. */
int complain(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define EXIT_REFUSED    1
#define EXIT_USAGE      2
#define EXIT_INCOMPLETE 3 /* done, and something is missing */

#endif
