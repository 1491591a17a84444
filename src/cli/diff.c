/* `thorpe diff`: what changed between two versions of a design.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/design_file.h"
#include "evolve/diff.h"

struct diff_options {
	bool json;
};

static const struct flag flags[] = {
	FLAG_SWITCH("json", struct diff_options, json, "print a JSON array of changes, for machines"),
	FLAG_END,
};

static int compare(struct arena *a, const struct diff_options *o, char **words)
{
	const struct design *before = design_file_load(a, words[0]);
	const struct design *after = before ? design_file_load(a, words[1]) : NULL;
	struct diff x;
	struct buf b;

	if (!after)
		return EXIT_REFUSED;
	diff_designs(a, before, after, &x);
	buf_init(&b, a);
	if (o->json)
		diff_json(&b, &x);
	else
		diff_print(&b, &x);
	if (fwrite(b.p, 1, b.n, stdout) != b.n || fflush(stdout))
		return complain(EXIT_REFUSED, "cannot write the changes");
	return x.most > DIFF_NOTHING ? EXIT_INCOMPLETE : 0;
}

static int run(void *options, char **words, int count)
{
	const struct diff_options *o = options;
	volatile int status = EXIT_REFUSED;
	struct arena a;

	(void)count;
	arena_init(&a);
	ARENA_TRY(&a, { status = compare(&a, o, words); }, { status = complain(EXIT_REFUSED, "out of memory"); });
	arena_release(&a);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.summary = "compare two versions of a design, and say what each change means for stored items",
	.usage = "OLD NEW [--json]",
	.about = "Compares two design files. Each change is one of:\n"
		 "  nothing   it holds for what is written from now on\n"
		 "  table     the database builds or drops an index, or changes a setting\n"
		 "  judge     items may not fit; those have to be looked for\n"
		 "  leave     the items of an entity that is no more stay in the table, unseen\n"
		 "  rewrite   computed attributes, index keys and companions have to be made again\n"
		 "  count     a counter has to be counted again\n"
		 "  guard     unique values need guards\n"
		 "  convert   stored values get another name or form\n"
		 "  move      items get other keys in the table\n"
		 "  cannot    DynamoDB cannot change this in a table\n"
		 "'email: string, was mail' says that an attribute was called mail; 'was: Account' does for an entity.\n"
		 "Nothing is read from a table, and nothing is changed. Exits with 0 if nothing has to be done for the\n"
		 "items, with 3 if something has to.",
	.flags = flags,
	.examples = "  thorpe diff old.yaml social.yaml\n"
		    "  git show HEAD:social.yaml > old.yaml && thorpe diff old.yaml social.yaml --json\n",
	.least_words = 2,
	.most_words = 2,
	.lacking = "give the old file and the new one",
	.size = sizeof(struct diff_options),
	.run = run,
};
