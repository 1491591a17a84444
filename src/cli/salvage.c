/* `thorpe salvage`: a copy of a damaged data directory, with all that can be had from it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/serve/serve.h"

struct salvage_options {
	const char *to;
	bool stop_at_damage;
};

static const struct flag flags[] = {
	FLAG_TEXT("to", "DIR", struct salvage_options, to, "the new directory (DIR.salvaged)"),
	FLAG_SWITCH("stop-at-damage", struct salvage_options, stop_at_damage,
		    "leave out everything after the first loss: older data, but of one moment"),
	FLAG_END,
};

static void tell(void *ctx, const char *sentence)
{
	(void)ctx;
	printf("  %s\n", sentence);
	fflush(stdout);
}

/* Indexes and counters after a loss. */
static bool compare(const char *dir)
{
	struct db_options options = { .dir = dir, .no_background = true };
	struct arena arena;
	struct buf report;
	struct db *db;
	char why[1024];
	bool agrees;

	if (db_open(&options, &db, why, sizeof(why)) != STORE_OPENED) {
		printf("  the copy cannot be opened: %s\n", why);
		return false;
	}
	arena_init(&arena);
	buf_init(&report, &arena);
	agrees = db_verify(db, &report);
	fwrite(report.n ? report.p : "", 1, report.n, stdout);
	arena_release(&arena);
	db_close(db);
	return agrees;
}

static void conclude(const char *from, const char *to, const struct store_salvaged *s, bool agrees)
{
	printf("%s holds %" PRIu64 " batches from RocksDB's files%s and %" PRIu64 " from the journal.\n", to,
	       s->in_files, s->is_repaired ? " (put together anew)" : "", s->applied);
	if (s->lost)
		printf("%" PRIu64 " acknowledged %s lost.\n", s->lost, s->lost == 1 ? "batch is" : "batches are");
	puts(agrees ? "All tables and indexes agree."
		    : "There are differences between tables and indexes: items are right where they differ.");
	printf("%s is as it was. To go on with the copy:\n\n  mv %s %s.damaged && mv %s %s\n", from, from, from, to,
	       from);
}

static int salvage(const char *from, struct salvage_options *o)
{
	struct store_salvaged result;
	char to[4096], why[1024] = "";
	size_t n = strlen(from);
	bool agrees;

	while (n > 1 && from[n - 1] == '/')
		n--;
	snprintf(to, sizeof(to), "%.*s.salvaged", (int)n, from);
	if (!o->to)
		o->to = to;
	printf("==> copying %s to %s\n", from, o->to);
	fflush(stdout);
	if (!store_salvage(&(struct store_salvage){ from, o->to, o->stop_at_damage, tell, NULL }, &result, why,
			   sizeof(why)))
		return complain(EXIT_REFUSED, "%s", why);
	puts("==> comparing indexes with their tables");
	fflush(stdout);
	agrees = compare(o->to);
	conclude(from, o->to, &result, agrees);
	return result.lost || !agrees ? EXIT_INCOMPLETE : 0;
}

static int run(void *options, char **words, int count)
{
	(void)count;
	return salvage(words[0], options);
}

const struct command command_salvage = {
	.name = "salvage",
	.summary = "copy everything that can be read from a damaged data directory",
	.usage = "DIR [--to NEW] [--stop-at-damage]",
	.about = "For a data directory that the server refuses because it is damaged. Makes a copy with everything\n"
		 "that can be read: RocksDB's files and every whole batch of the journal, including those after the\n"
		 "damage. DIR itself is not changed. Prints what was lost, and compares the indexes of the copy\n"
		 "with their tables.\n\n"
		 "Exits with 0 when nothing was lost and everything agrees, 3 when the copy was made but something\n"
		 "is missing, 1 when no copy could be made, 2 when the options are wrong.",
	.flags = flags,
	.examples = "  thorpe salvage ./thorpe-data --to ./thorpe-rescued",
	.least_words = 1,
	.most_words = 1,
	.lacking = "which data directory? thorpe salvage DIR",
	.size = sizeof(struct salvage_options),
	.run = run,
};
