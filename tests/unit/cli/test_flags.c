/* Options of commands: rows to values, words, complaints and help.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "cli/command.h"

enum colour { RED, GREEN };

struct options {
	const char *name, *list[2];
	size_t count;
	bool loud;
	unsigned number;
	enum colour colour;
	size_t length; /* of what --measure was given */
};

static bool measure(void *options, const char *value, char *why, size_t n)
{
	size_t length = value ? strlen(value) : 0;

	((struct options *)options)->length = length;
	if (length >= 4)
		snprintf(why, n, "'%s' is too long", value);
	return length < 4;
}

static const char *const colours[] = { "red", "green", NULL };

static const struct flag flags[] = {
	FLAG_TEXT("name", "TEXT", struct options, name, "a text"),
	FLAG_LIST("also", "TEXT", struct options, list, count, "several"),
	FLAG_SWITCH("loud", struct options, loud, "a switch"),
	FLAG_NUMBER("number", "N", struct options, number, 2, 5, "a number"),
	FLAG_CHOICE("colour", "red|green", struct options, colour, colours, "a choice"),
	FLAG_READ("measure", "TEXT", measure, "something else"),
	FLAG_END,
};

static struct options got;
static char *got_words[8];
static int got_count;

static int remember(void *options, char **words, int count)
{
	got = *(struct options *)options;
	memcpy(got_words, words, (size_t)count * sizeof(*words));
	got_count = count;
	return 7;
}

static const struct options defaults = { .name = "nothing", .colour = GREEN };

static const struct command command = {
	.name = "test",
	.summary = "a test",
	.usage = "WORD\nWORD WORD",
	.about = "Tests.",
	.flags = flags,
	.examples = "  thorpe test x",
	.least_words = 1,
	.most_words = 2,
	.lacking = "which word?",
	.size = sizeof(struct options),
	.defaults = &defaults,
	.run = remember,
};

/* Runs the command with `fd` (1 or 2) caught in `out`. */
static int run(char out[2048], int fd, const char *const *args)
{
	int count = 0, saved, status, fds[2];
	char *argv[16];
	ssize_t n;

	for (; args[count]; count++)
		argv[count] = (char *)args[count];
	fflush(stdout);
	assert_int_equal(pipe(fds), 0);
	saved = dup(fd);
	dup2(fds[1], fd);
	status = command_run(&command, count, argv);
	fflush(stdout);
	dup2(saved, fd);
	close(saved);
	close(fds[1]);
	n = read(fds[0], out, 2047);
	close(fds[0]);
	out[n > 0 ? n : 0] = 0;
	return status;
}

#define RUN(out, fd, ...) run(out, fd, (const char *const[]){ __VA_ARGS__, NULL })

static void each_kind_of_row_puts_its_value_where_it_says(void **state)
{
	char out[2048];

	(void)state;
	assert_int_equal(RUN(out, 2, "--name", "ann", "--also=x", "--also", "y", "--loud", "w", "--number", "5",
			     "--colour=red", "--measure", "abc"),
			 7);
	assert_string_equal(out, "");
	assert_string_equal(got.name, "ann");
	assert_int_equal(got.count, 2);
	assert_string_equal(got.list[0], "x");
	assert_string_equal(got.list[1], "y");
	assert_true(got.loud);
	assert_int_equal(got.number, 5);
	assert_int_equal(got.colour, RED);
	assert_int_equal(got.length, 3);
	assert_int_equal(RUN(out, 2, "w"), 7);
	assert_string_equal(got.name, "nothing");
	assert_int_equal(got.colour, GREEN);
	assert_false(got.loud);
}

static void words_keep_their_order_wherever_options_stand(void **state)
{
	char out[2048];

	(void)state;
	assert_int_equal(RUN(out, 2, "--name", "n", "one", "--loud", "two", "--number=3"), 7);
	assert_int_equal(got_count, 2);
	assert_string_equal(got_words[0], "one");
	assert_string_equal(got_words[1], "two");
	assert_int_equal(RUN(out, 2, "--loud"), 2);
	assert_string_equal(out, "thorpe: which word?\n");
	assert_int_equal(RUN(out, 2, "a", "b", "c"), 2);
	assert_string_equal(out, "thorpe: 'c' is one word too many; see 'thorpe test --help'.\n");
}

static void errors_come_with_advice(void **state)
{
	static const struct {
		const char *arg, *value, *says;
	} cases[] = {
		{ "--nmae", "x", "there is no option --nmae; did you mean --name?" },
		{ "--completely-different", "x", "there is no option --completely-different; see 'thorpe test --help'." },
		{ "-x", "x", "'-x' is not an option; see 'thorpe test --help'." },
		{ "--loud=yes", "x", "--loud takes no value." },
		{ "--number", "6", "--number: '6' is not a number from 2 to 5." },
		{ "--number", "-3", "--number: '-3' is not a number from 2 to 5." },
		{ "--number", "3x", "--number: '3x' is not a number from 2 to 5." },
		{ "--colour", "blue", "--colour: 'blue' is not one of red, green." },
		{ "--colour", "", "--colour: '' is not one of red, green." },
		{ "--measure", "abcd", "--measure: 'abcd' is too long." },
	};
	char out[2048], expected[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(RUN(out, 2, "w", cases[i].arg, cases[i].value), 2);
		snprintf(expected, sizeof(expected), "thorpe: %s\n", cases[i].says);
		assert_string_equal(out, expected);
	}
	assert_int_equal(RUN(out, 2, "w", "--name"), 2);
	assert_string_equal(out, "thorpe: --name needs a value: --name TEXT.\n");
	assert_int_equal(RUN(out, 2, "w", "--also", "1", "--also", "2", "--also", "3"), 2);
	assert_string_equal(out, "thorpe: --also: it may be given 2 times at most.\n");
}

static void help_comes_from_the_rows(void **state)
{
	char out[2048];

	(void)state;
	assert_int_equal(RUN(out, 1, "w", "--help", "--no-such-option"), 0);
	assert_true(!strncmp(out, "Usage: thorpe test WORD\n       thorpe test WORD WORD\n\nTests.\n\n", 60));
	for (const struct flag *f = flags; f->name; f++) {
		char left[64];

		snprintf(left, sizeof(left), "  --%s%s%s ", f->name, f->arg ? " " : "", f->arg ? f->arg : "");
		assert_non_null(strstr(out, left));
		assert_non_null(strstr(out, f->help));
	}
	assert_non_null(strstr(out, "\nExample:\n  thorpe test x\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_row_puts_its_value_where_it_says),
		cmocka_unit_test(words_keep_their_order_wherever_options_stand),
		cmocka_unit_test(errors_come_with_advice),
		cmocka_unit_test(help_comes_from_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
