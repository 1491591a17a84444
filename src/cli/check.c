/* `thorpe check`: loads designs and says what is wrong with them and what a reviewer would say.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "design/isolation.h"

struct check_options {
	bool json, watch;
};

static const struct flag flags[] = {
	FLAG_SWITCH("json", struct check_options, json, "print a JSON array of findings, for machines"),
	FLAG_SWITCH("watch", struct check_options, watch, "check again whenever a file changes, until Ctrl-C"),
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
	if (d && !r->json)
		isolation_report(d, &r->out);
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
	fflush(stdout);
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

/* ---- --watch ---- */

#define WATCH_MS 20 /* a look is a system call for each file: nobody notices it, and nobody waits */

/* What tells one version of a file from the next; zero: there is none. Editors write a new file and rename it. */
struct version {
	ino_t inode;
	off_t size;
	int64_t modified_s, modified_ns;
};

static struct version version_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return (struct version){ 0 };
	return (struct version){ st.st_ino, st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec };
}

/* Whether a file differs from `seen`, which is brought up to date. */
static bool have_changed(char **paths, int count, struct version *seen)
{
	bool changed = false;

	for (int i = 0; i < count; i++) {
		struct version now = version_of(paths[i]);

		changed = changed || now.inode != seen[i].inode || now.size != seen[i].size ||
			  now.modified_s != seen[i].modified_s || now.modified_ns != seen[i].modified_ns;
		seen[i] = now;
	}
	return changed;
}

static void pause_a_moment(void)
{
	struct timespec t = { .tv_nsec = WATCH_MS * 1000000L };

	nanosleep(&t, NULL);
}

/* Returns only when its output is closed. */
static int watch(char **paths, int count, bool json)
{
	static struct version seen[64];
	bool screen = !json && isatty(STDOUT_FILENO);

	if (count > (int)(sizeof(seen) / sizeof(*seen)))
		return complain(EXIT_USAGE, "--watch takes at most %zu files", sizeof(seen) / sizeof(*seen));
	(void)have_changed(paths, count, seen);
	while (!ferror(stdout)) {
		if (screen)
			fputs("\033[H\033[2J", stdout);
		(void)check(paths, count, json);
		while (!have_changed(paths, count, seen))
			pause_a_moment();
		do /* a file that is still being written */
			pause_a_moment();
		while (have_changed(paths, count, seen));
	}
	return EXIT_REFUSED;
}

static int run(void *options, char **words, int count)
{
	const struct check_options *o = options;

	return (o->watch ? watch : check)(words, count, o->json);
}

const struct command command_check = {
	.name = "check",
	.summary = "review designs: errors, and what an expert would object to",
	.usage = "FILE... [--json] [--watch]",
	.about = "Loads each design and prints its errors, with their lines, and what a reviewer of single-table\n"
		 "designs would object to. docs/design-check.md explains every rule.\n\n"
		 "Exits with 0 when there is no error, 1 when there is one, 2 when the options are wrong.",
	.flags = flags,
	.examples = "  thorpe check designs/social.yaml\n"
		    "  thorpe check my.yaml --watch",
	.least_words = 1,
	.most_words = -1,
	.lacking = "which design? thorpe check FILE",
	.size = sizeof(struct check_options),
	.run = run,
};
