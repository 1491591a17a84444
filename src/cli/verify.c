/* `thorpe verify`: a data directory against itself, and items against their design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/verify.h"
#include <stdio.h>
#include "cli/commands.h"

static bool set_data(void *options, const char *value, char *why, size_t n)
{
	(void)why, (void)n;
	((struct verify_options *)options)->data = value;
	return true;
}

static bool set_endpoint(void *options, const char *value, char *why, size_t n)
{
	(void)why, (void)n;
	((struct verify_options *)options)->endpoint = value;
	return true;
}

static bool add_design(void *options, const char *value, char *why, size_t n)
{
	struct verify_options *o = options;

	if (o->design_count == SERVE_DESIGNS_MAX) {
		snprintf(why, n, "at most %d designs", SERVE_DESIGNS_MAX);
		return false;
	}
	o->designs[o->design_count++] = value;
	return true;
}

#define SWITCH_FLAG(field)                                                             \
	static bool set_##field(void *options, const char *value, char *why, size_t n) \
	{                                                                              \
		(void)value, (void)why, (void)n;                                       \
		((struct verify_options *)options)->field = true;                      \
		return true;                                                           \
	}
SWITCH_FLAG(json)
SWITCH_FLAG(repair)
SWITCH_FLAG(yes)

static const struct flag flags[] = {
	{ "data", "DIR", "the data directory (" SERVE_DEFAULT_DATA ")", set_data },
	{ "design", "FILE", "compare the items with this design; repeatable", add_design },
	{ "endpoint", "URL", "with --design: a running server, or any DynamoDB, instead of a directory", set_endpoint },
	{ "backend", "WHERE", "the same: aws, aws:REGION, https://…, or http:// on this machine", set_endpoint },
	{ "json", NULL, "with --design: one JSON object per line", set_json },
	{ "repair", NULL, "with --design: repair what follows from the items, after printing the plan", set_repair },
	{ "yes", NULL, "with --repair: do not ask", set_yes },
	{ 0 },
};

static void print_help(void)
{
	puts("Usage: thorpe verify [--data DIR]\n"
	     "       thorpe verify --design FILE… [--data DIR | --endpoint URL] [--json] [--repair [--yes]]\n\n"
	     "Without a design: compares every index with its table, and recounts the numbers of items and\n"
	     "bytes that the database keeps. It does not know the counters of a design.\n\n"
	     "With a design: compares the items with what the design says of them: attributes, derived values\n"
	     "and keys, counters, guards, companions, copies, and what deletions should have removed.\n"
	     "docs/verify.md lists all kinds of findings.\n\n"
	     "A directory must not be in use. Only --repair changes it: otherwise a temporary copy is read,\n"
	     "which links to its table files (in TMPDIR; it needs as much room as the journal of a server\n"
	     "that was killed). An endpoint (aws, aws:REGION, https://…, http://127.0.0.1:…) is read with the\n"
	     "credentials that AWS's own tools would use; items that change meanwhile are read again.\n\n"
	     "Prints a line for each finding. Exits with 0 when nothing differs, 1 when something differs or\n"
	     "cannot be read, 2 when the options are wrong.\n");
	flags_print(flags);
	puts("\nExamples:\n"
	     "  thorpe verify --data ./thorpe-data                         # of a server that is stopped\n"
	     "  thorpe verify --design designs/social.yaml --endpoint http://127.0.0.1:8000");
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

static int verify_directory(const struct verify_options *o)
{
	struct db_options db_options = { .no_background = true, .shadow = true, .dir = o->data };
	struct db *db = NULL;
	char why[1024] = "";
	int status;

	if (db_open(&db_options, &db, why, sizeof(why)) != STORE_OPENED)
		return complain(EXIT_REFUSED, "%s", why);
	status = verify(db);
	db_close(db);
	return status;
}

int command_verify(int argc, char **argv)
{
	struct verify_options o = { 0 };

	switch (flags_parse(flags, &o, argc, argv, "verify")) {
	case FLAGS_HELP: print_help(); return 0;
	case FLAGS_WRONG: return EXIT_USAGE;
	case FLAGS_OK: break;
	}
	if (!o.design_count && (o.endpoint || o.json || o.repair))
		return complain(EXIT_USAGE, "--%s needs a --design",
				o.endpoint ? "endpoint"
				: o.json   ? "json"
					   : "repair");
	if (o.endpoint && o.data)
		return complain(EXIT_USAGE, "--data and --endpoint are two places: take one");
	if (o.yes && !o.repair)
		return complain(EXIT_USAGE, "--yes goes with --repair");
	if (!o.data)
		o.data = SERVE_DEFAULT_DATA;
	return o.design_count ? verify_designs(&o) : verify_directory(&o);
}
