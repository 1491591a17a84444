/* `thorpe verify`: recounts a data directory and reports what does not agree.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/serve.h"

struct verify_options {
	const char *data;
};

static bool set_data(void *options, const char *value, char *why, size_t n)
{
	(void)why, (void)n;
	((struct verify_options *)options)->data = value;
	return true;
}

static const struct flag flags[] = {
	{ "data", "DIR", "the data directory (" SERVE_DEFAULT_DATA ")", set_data },
	{ 0 },
};

static void print_help(void)
{
	puts("Usage: thorpe verify [--data DIR]\n\n"
	     "Compares every index with its table and recounts all counters. The directory must\n"
	     "not be in use, and is not changed: a copy of it is looked at, which points to its\n"
	     "table files and is removed in the end (in TMPDIR; it takes as much room as the\n"
	     "journal of a server that was killed). Prints a line per difference; exits with 0\n"
	     "when there is none.\n");
	flags_print(flags);
}

static int verify(struct db *db)
{
	struct arena arena;
	struct buf report;
	bool agrees;

	arena_init(&arena);
	buf_init(&report, &arena);
	agrees = db_verify(db, &report);
	fwrite(report.n ? report.p : "", 1, report.n, stdout);
	if (report.n && report.p[report.n - 1] != '\n')
		putchar('\n');
	puts(agrees ? "all tables and indexes agree" : "there are differences");
	arena_release(&arena);
	return agrees ? 0 : EXIT_REFUSED;
}

int command_verify(int argc, char **argv)
{
	struct verify_options o = { .data = SERVE_DEFAULT_DATA };
	struct db_options db_options = { .no_background = true, .shadow = true };
	struct db *db = NULL;
	char why[1024] = "";
	int status;

	switch (flags_parse(flags, &o, argc, argv, "verify")) {
	case FLAGS_HELP:
		print_help();
		return 0;
	case FLAGS_WRONG:
		return EXIT_USAGE;
	case FLAGS_OK:
		break;
	}
	db_options.dir = o.data;
	if (db_open(&db_options, &db, why, sizeof(why)) != STORE_OPENED)
		return complain(EXIT_REFUSED, "%s", why);
	status = verify(db);
	db_close(db);
	return status;
}
