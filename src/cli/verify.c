/* `thorpe verify`: a data directory against itself, and items against their design.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/verify.h"
#include <stdio.h>
#include "cli/commands.h"

static const struct flag flags[] = {
	FLAG_TEXT("data", "DIR", struct verify_options, data, "the data directory (" SERVE_DEFAULT_DATA ")"),
	FLAG_LIST("design", "FILE", struct verify_options, designs, design_count,
		  "compare the items with this design; repeatable"),
	FLAG_TEXT("endpoint", "URL", struct verify_options, endpoint,
		  "with --design: a running server, or any DynamoDB, instead of a directory"),
	FLAG_TEXT("backend", "WHERE", struct verify_options, endpoint,
		  "the same: aws, aws:REGION, https://…, or http:// on this machine"),
	FLAG_SWITCH("json", struct verify_options, json, "with --design: one JSON object per line"),
	FLAG_SWITCH("repair", struct verify_options, repair,
		    "with --design: repair what follows from the items, after printing the plan"),
	FLAG_SWITCH("yes", struct verify_options, yes, "with --repair: do not ask"),
	FLAG_END,
};

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

static int run(void *options, char **words, int count)
{
	struct verify_options *o = options;

	(void)words, (void)count;
	if (!o->design_count && (o->endpoint || o->json || o->repair))
		return complain(EXIT_USAGE, "--%s needs a --design",
				o->endpoint ? "endpoint"
				: o->json   ? "json"
					    : "repair");
	if (o->endpoint && o->data)
		return complain(EXIT_USAGE, "--data and --endpoint (or --backend) exclude each other");
	if (o->yes && !o->repair)
		return complain(EXIT_USAGE, "--yes goes with --repair");
	if (!o->data)
		o->data = SERVE_DEFAULT_DATA;
	return o->design_count ? verify_designs(o) : verify_directory(o);
}

const struct command command_verify = {
	.name = "verify",
	.summary = "check a data directory: indexes against tables, items against a design",
	.usage = "[--data DIR]\n"
		 "--design FILE… [--data DIR | --endpoint URL | --backend WHERE] [--json] [--repair [--yes]]",
	.about = "Without a design: compares every index with its table, and recounts the numbers of items and\n"
		 "bytes that the database keeps. It does not know the counters of a design.\n\n"
		 "With a design: compares the items with what the design says about them: attributes, derived values\n"
		 "and keys, counters, guards, companions, copies, and what deletions should have removed.\n"
		 "docs/verify.md lists all kinds of findings.\n\n"
		 "A directory must not be in use. Only --repair changes it: otherwise a temporary copy is read,\n"
		 "which links to its table files (in TMPDIR; it needs as much room as the journal of a server\n"
		 "that was killed). An endpoint (aws, aws:REGION, https://…, http://127.0.0.1:…) is read with the\n"
		 "credentials that AWS's own tools would use; items that change meanwhile are read again.\n\n"
		 "Prints a line for each finding. Exits with 0 when nothing differs, 1 when something differs or\n"
		 "cannot be read, 2 when the options are wrong.",
	.flags = flags,
	.examples = "  thorpe verify --data ./thorpe-data                         # of a server that is stopped\n"
		    "  thorpe verify --design designs/social.yaml --endpoint http://127.0.0.1:8000",
	.size = sizeof(struct verify_options),
	.run = run,
};
