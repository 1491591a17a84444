/* Parses flags by their table.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/flags.h"

#define WORD_MOST   64
#define HELP_INDENT 30
#define HELP_WIDTH  80 /* of the text beside the options */
#define NEAR        3  /* letters of difference that still count as a slip */

int complain(int status, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = strlen(text);
	fprintf(stderr, "thorpe: %s%s\n", text, n && strchr(".?!", text[n - 1]) ? "" : ".");
	return status;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t flags_distance(const char *a, const char *b, size_t most)
{
	size_t row[WORD_MOST + 1], na = strlen(a), nb = strlen(b);

	if (na > WORD_MOST || nb > WORD_MOST)
		return most + 1;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t above = row[j];

			row[j] = least(least(row[j] + 1, row[j - 1] + 1), diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return least(row[nb], most + 1);
}

static const struct flag *find(const struct flag *table, const char *name, size_t n)
{
	for (; table->name; table++)
		if (strlen(table->name) == n && memcmp(table->name, name, n) == 0)
			return table;
	return NULL;
}

static enum flags_result unknown(const struct flag *table, const char *arg, size_t n, const char *command)
{
	char name[WORD_MOST + 1];
	const char *nearest = NULL;
	size_t best = NEAR + 1;

	snprintf(name, sizeof(name), "%.*s", (int)n, arg);
	for (; table->name; table++) {
		size_t d = flags_distance(name, table->name, NEAR);

		if (d < best && d < strlen(table->name)) {
			best = d;
			nearest = table->name;
		}
	}
	if (nearest)
		complain(0, "there is no option --%s; did you mean --%s?", name, nearest);
	else
		complain(0, "there is no option --%s; see 'thorpe %s --help'", name, command);
	return FLAGS_WRONG;
}

static enum flags_result set(const struct flag *f, void *options, const char *value)
{
	char why[512];

	if (f->set(options, value, why, sizeof(why)))
		return FLAGS_OK;
	complain(0, "--%s: %s", f->name, why);
	return FLAGS_WRONG;
}

enum flags_result flags_parse(const struct flag *table, void *options, int argc, char **argv, const char *command)
{
	for (int i = 0; i < argc; i++) {
		const char *arg = argv[i], *equals = strchr(arg, '='), *value;
		const struct flag *f;
		size_t n;

		if (!strcmp(arg, "--help") || !strcmp(arg, "-h"))
			return FLAGS_HELP;
		if (strncmp(arg, "--", 2)) {
			complain(0, "'%s' is not an option; see 'thorpe %s --help'", arg, command);
			return FLAGS_WRONG;
		}
		arg += 2;
		n = equals ? (size_t)(equals - arg) : strlen(arg);
		f = find(table, arg, n);
		if (!f)
			return unknown(table, arg, n, command);
		value = equals ? equals + 1 : NULL;
		if (f->arg && !value)
			value = i + 1 < argc ? argv[++i] : NULL;
		if (!f->arg != !value) {
			complain(0, f->arg ? "--%s needs a value: --%s %s" : "--%s takes no value", f->name, f->name,
				 f->arg);
			return FLAGS_WRONG;
		}
		if (set(f, options, value) != FLAGS_OK)
			return FLAGS_WRONG;
	}
	return FLAGS_OK;
}

/* How many bytes of `text` fit a line: up to the last space before HELP_WIDTH, or all of it. */
static size_t line_of(const char *text)
{
	size_t n = strlen(text), space = 0;

	if (n <= HELP_WIDTH)
		return n;
	for (size_t i = 0; i <= HELP_WIDTH; i++)
		if (text[i] == ' ')
			space = i;
	return space ? space : n;
}

void flags_print(const struct flag *table)
{
	for (; table->name; table++) {
		const char *help = table->help;
		char left[WORD_MOST];

		snprintf(left, sizeof(left), "--%s%s%s", table->name, table->arg ? " " : "",
			 table->arg ? table->arg : "");
		for (const char *first = left; *help; first = "") {
			size_t n = line_of(help);

			printf("  %-*s %.*s\n", HELP_INDENT, first, (int)n, help);
			help += n + (help[n] == ' ');
		}
	}
}

static bool takes_value(const struct flag *table, const char *arg)
{
	for (const struct flag *f = table; f->name; f++)
		if (!strcmp(f->name, arg + 2))
			return f->arg != NULL;
	return false;
}

int flags_words_first(const struct flag *table, int argc, char **argv)
{
	int words = 0;

	for (int i = 0; i < argc; i++) {
		char *word = argv[i];

		if (!strncmp(word, "-", 1)) {
			i += !strncmp(word, "--", 2) && takes_value(table, word);
			continue;
		}
		memmove(argv + words + 1, argv + words, (size_t)(i - words) * sizeof(*argv));
		argv[words++] = word;
	}
	return words;
}

int flags_operands_first(int argc, char **argv)
{
	int n = 0;

	for (int i = 0; i < argc; i++)
		if (argv[i][0] != '-') {
			char *operand = argv[i];

			memmove(argv + n + 1, argv + n, (size_t)(i - n) * sizeof(*argv));
			argv[n++] = operand;
		}
	return n;
}
