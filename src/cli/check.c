/* `thorpe check`: loads designs and says what is wrong with them and what a reviewer would say.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "design/design.h"

struct check_options {
	bool json;
};

static const struct flag flags[] = {
	FLAG_SWITCH("json", struct check_options, json, "print a JSON array of findings, for machines"),
	FLAG_END,
};

struct report {
	struct arena arena;
	struct buf out;
	bool json, first;
	size_t files, errors, warnings;
};

static void check_file(struct report *r, const char *path)
{
	const struct design *d;
	struct findings findings;
	struct source source;

	findings_init(&findings, &r->arena);
	d = design_load_file(&r->arena, path, &source, &findings);
	if (d)
		design_check(d, &findings);
	findings_sort(&findings);
	if (r->json)
		findings_json_members(&r->out, &findings, &source, &r->first);
	else
		findings_print(&r->out, &findings, &source);
	r->files++;
	r->errors += findings_errors(&findings);
	for (size_t i = 0; i < findings.count; i++)
		r->warnings += findings.list[i].severity == SEVERITY_WARNING;
}

static void finish(struct report *r)
{
	if (r->json)
		buf_str(&r->out, r->first ? "]\n" : "\n]\n");
	else
		buf_printf(&r->out, "%zu design%s, %zu error%s, %zu warning%s\n", r->files, r->files == 1 ? "" : "s",
			   r->errors, r->errors == 1 ? "" : "s", r->warnings, r->warnings == 1 ? "" : "s");
	fwrite(r->out.p, 1, r->out.n, stdout);
}

static int check(char **paths, int count, bool json)
{
	struct report r = { .json = json, .first = true };
	volatile int status = EXIT_REFUSED;

	arena_init(&r.arena);
	ARENA_TRY(
		&r.arena,
		{
			buf_init(&r.out, &r.arena);
			if (json)
				buf_byte(&r.out, '[');
			for (int i = 0; i < count; i++)
				check_file(&r, paths[i]);
			finish(&r);
			status = r.errors ? EXIT_REFUSED : 0;
		},
		{ complain(0, "out of memory"); });
	arena_release(&r.arena);
	return status;
}

static int run(void *options, char **words, int count)
{
	return check(words, count, ((struct check_options *)options)->json);
}

const struct command command_check = {
	.name = "check",
	.summary = "review designs: errors, and what an expert would object to",
	.usage = "FILE... [--json]",
	.about = "Loads each design and prints its errors, with their lines, and what a reviewer of single-table\n"
		 "designs would object to. docs/design-check.md explains every rule.\n\n"
		 "Exits with 0 when there is no error, 1 when there is one, 2 when the options are wrong.",
	.flags = flags,
	.examples = "  thorpe check designs/social.yaml",
	.least_words = 1,
	.most_words = -1,
	.lacking = "which design? thorpe check FILE",
	.size = sizeof(struct check_options),
	.run = run,
};
