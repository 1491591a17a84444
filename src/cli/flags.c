/* Reads options by their rows, and prints the rows as help.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/flags.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void complain_of_unknown(const struct flag *table, const char *arg, size_t n, const char *command)
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
}

bool flags_number(const char *text, unsigned long long fewest, unsigned long long most, unsigned long long *out,
		  char *why, size_t n)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && *out >= fewest && *out <= most)
		return true;
	snprintf(why, n, "'%s' is not a number from %llu to %llu", text, fewest, most);
	return false;
}

static bool read_choice(const struct flag *f, int *member, const char *value, char *why, size_t n)
{
	const char *between = "";
	size_t used;

	for (int i = 0; f->words[i]; i++)
		if (*value && !strcmp(f->words[i], value)) {
			*member = i;
			return true;
		}
	used = (size_t)snprintf(why, n, "'%s' is not one of", value);
	for (int i = 0; f->words[i] && used < n; i++)
		if (*f->words[i]) {
			used += (size_t)snprintf(why + used, n - used, "%s %s", between, f->words[i]);
			between = ",";
		}
	return false;
}

static bool read_list(const struct flag *f, void *options, const char *value, char *why, size_t n)
{
	size_t *count = (size_t *)((char *)options + f->count_at);
	const char **list = (const char **)((char *)options + f->at);

	if (*count == f->most) {
		snprintf(why, n, "it may be given %zu times at most", f->most);
		return false;
	}
	list[(*count)++] = value;
	return true;
}

static bool read_number(const struct flag *f, unsigned *member, const char *value, char *why, size_t n)
{
	unsigned long long number;

	if (!flags_number(value, f->least, f->limit, &number, why, n))
		return false;
	*member = (unsigned)number;
	return true;
}

static bool read_value(const struct flag *f, void *options, const char *value, char *why, size_t n)
{
	void *member = (char *)options + f->at;

	switch (f->kind) {
	case FLAG_IS_SWITCH: *(bool *)member = true; return true;
	case FLAG_IS_TEXT: *(const char **)member = value; return true;
	case FLAG_IS_LIST: return read_list(f, options, value, why, n);
	case FLAG_IS_NUMBER: return read_number(f, member, value, why, n);
	case FLAG_IS_CHOICE: return read_choice(f, member, value, why, n);
	case FLAG_IS_READ: break;
	}
	return f->read(options, value, why, n);
}

/* The option at argv[*i], and its value, which may be the argument after it. False: explained. */
static bool take_flag(const struct flag *table, void *options, int argc, char **argv, int *i, const char *command)
{
	const char *arg = argv[*i] + 2, *equals = strchr(arg, '='), *value = equals ? equals + 1 : NULL;
	size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
	const struct flag *f = find(table, arg, n);
	char why[512];

	if (!f) {
		complain_of_unknown(table, arg, n, command);
		return false;
	}
	if (f->arg && !value && *i + 1 < argc)
		value = argv[++*i];
	if (f->arg && !value)
		complain(0, "--%s needs a value: --%s %s", f->name, f->name, f->arg);
	else if (!f->arg && value)
		complain(0, "--%s takes no value", f->name);
	else if (!read_value(f, options, value, why, sizeof(why)))
		complain(0, "--%s: %s", f->name, why);
	else
		return true;
	return false;
}

enum flags_result flags_parse(const struct flag *table, void *options, int argc, char **argv, int *words,
			      const char *command)
{
	*words = 0;
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return FLAGS_HELP;
		if (argv[i][0] != '-') {
			argv[(*words)++] = argv[i];
			continue;
		}
		if (argv[i][1] != '-') {
			complain(0, "'%s' is not an option; see 'thorpe %s --help'", argv[i], command);
			return FLAGS_WRONG;
		}
		if (!take_flag(table, options, argc, argv, &i, command))
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
