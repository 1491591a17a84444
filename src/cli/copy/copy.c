/* `thorpe copy`: moves tables from one database to another, while they are used.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/alloc.h"
#include "cli/commands.h"
#include "cli/copy/copy_print.h"
#include "cli/copy/copy_side.h"
#include "cli/design_file.h"
#include "cli/secret.h"

#define TABLES_MOST 32

struct copy_flags {
	const char *from, *to, *secret_file;
	const char *designs[TABLES_MOST], *tables[TABLES_MOST];
	size_t design_count, table_count;
	bool follow, switch_, verify, dry_run, reopen, yes;
	struct copy_options options; /* what all tables share */
};

/* ---- flags ---- */

static bool read_number(const char *value, double least, double most, double *out)
{
	char *rest;

	*out = strtod(value, &rest);
	return rest != value && !*rest && isfinite(*out) && *out >= least && *out <= most;
}

static bool set_units(void *options, const char *value, char *why, size_t n)
{
	snprintf(why, n, "'%s' is not a number of write units a second, 1 or more", value);
	return read_number(value, 1, 1e9, &((struct copy_flags *)options)->options.units);
}

static bool set_patience(void *options, const char *value, char *why, size_t n)
{
	double v;

	snprintf(why, n, "'%s' is not a number of seconds of 1 to 86400", value);
	if (!read_number(value, 1, 86400, &v))
		return false;
	((struct copy_flags *)options)->options.patience_ms = (int64_t)(v * 1000);
	return true;
}

/* clang-format off */
static const struct flag flags[] = {
	FLAG_TEXT("from", "WHERE", struct copy_flags, from, "a data directory, aws, aws:REGION, https://…, or http:// on this machine"),
	FLAG_TEXT("to", "WHERE", struct copy_flags, to, "likewise; a missing directory is created"),
	FLAG_LIST("design", "FILE", struct copy_flags, designs, design_count, "the table of a design, and what belongs to it in <table>.thorpe; repeatable"),
	FLAG_LIST("table", "NAME", struct copy_flags, tables, table_count, "any other table; repeatable"),
	FLAG_SWITCH("follow", struct copy_flags, follow, "go on applying changes until Ctrl-C"),
	FLAG_SWITCH("switch", struct copy_flags, switch_, "let the source's servers refuse writes, copy the rest, and turn on the target's stream and TTL"),
	FLAG_SWITCH("reopen", struct copy_flags, reopen, "only let the source's servers accept writes again after a switch; needs no --to"),
	FLAG_SWITCH("verify", struct copy_flags, verify, "copy nothing; compare both sides item by item"),
	FLAG_SWITCH("dry-run", struct copy_flags, dry_run, "only print the plan"),
	FLAG_SWITCH("replace", struct copy_flags, options.replace, "delete the target's own items: it becomes what the source is"),
	FLAG_SWITCH("yes", struct copy_flags, yes, "replace without asking"),
	FLAG_SWITCH("settle", struct copy_flags, options.settle, "before the switch, finish at the source what its processors have left undone"),
	FLAG_SWITCH("drop-undone", struct copy_flags, options.drop_undone, "switch although processors are not finished: what they have left undone is lost"),
	FLAG_SWITCH("enable-stream", struct copy_flags, options.enable_stream, "turn on the source's stream if it has none"),
	FLAG_READ("units", "N", set_units, "use about N write units a second"),
	FLAG_NUMBER("parallel", "N", struct copy_flags, options.parallel, 1, COPY_PARALLEL_MOST, "threads for each table (8)"),
	FLAG_READ("patience", "SECONDS", set_patience, "how long to wait for a side that does not answer (60)"),
	FLAG_TEXT("secret-file", "FILE", struct copy_flags, secret_file, "the source's secret, if it is neither in its directory nor in <table>.thorpe"),
	FLAG_END,
};
/* clang-format on */

/* ---- a table ---- */

static atomic_bool stop;

static void on_signal(int signal_number)
{
	atomic_store(&stop, true);
	signal(signal_number, SIG_DFL); /* the second time it ends at once, which does no harm either */
}

struct task {
	struct copy_options options;
	struct copy_printer printer;
	struct copy_report report;
	enum copy_end end;
	pthread_t thread;
	bool started, verifies, reopens;
};

static void say(void *ctx, struct slice line)
{
	(void)ctx;
	copy_print_line(line);
}

static void progress(void *ctx, const struct copy_progress *p)
{
	copy_print_progress(&((struct task *)ctx)->printer, p);
}

static void tell(void *ctx, const char *what, struct slice key)
{
	struct task *t = ctx;

	printf("%.*s: %s: %.*s\n", SLICE_ARG(t->options.table), what, SLICE_ARG(key));
}

static void *run_task(void *arg)
{
	struct task *t = arg;

	if (t->reopens)
		t->end = copy_reopen(&t->options, &t->report);
	else
		t->end = t->verifies ? copy_compare(&t->options, tell, &t->report) : copy_run(&t->options, &t->report);
	return NULL;
}

static int tell_end(const struct task *t)
{
	const struct copy_progress *p = &t->report.last;
	struct slice name = t->options.table;

	switch (t->end) {
	case COPY_DONE:
		if (t->reopens) /* it has been said */
			return 0;
		if (t->verifies)
			printf("%.*s: %llu items, the same on both sides\n", SLICE_ARG(name),
			       (unsigned long long)p->items);
		else
			printf("%.*s: done. %llu items and %llu changes are at %s, which has its stream and TTL now\n",
			       SLICE_ARG(name), (unsigned long long)p->items, (unsigned long long)p->changes,
			       t->options.to.name);
		return 0;
	case COPY_CAUGHT_UP:
		printf("%.*s: caught up, %llu items and %llu changes so far. Run it again at any time; --switch when the source's writers have "
		       "stopped\n",
		       SLICE_ARG(name), (unsigned long long)p->items, (unsigned long long)p->changes);
		return EXIT_INCOMPLETE;
	case COPY_STOPPED:
		printf("%.*s: stopped, %llu items and %llu changes so far. The same command goes on\n", SLICE_ARG(name),
		       (unsigned long long)p->items, (unsigned long long)p->changes);
		return EXIT_INCOMPLETE;
	case COPY_UNDONE: return complain(EXIT_INCOMPLETE, "%s", t->report.why);
	case COPY_DIFFERS:
	case COPY_FAILED: break;
	}
	return complain(EXIT_REFUSED, "%s", t->report.why[0] ? t->report.why : "it failed");
}

/* Which of two statuses says more. */
static int worse(int a, int b)
{
	if (a == EXIT_REFUSED || b == EXIT_REFUSED)
		return EXIT_REFUSED;
	return a ? a : b;
}

static int run_all(struct task *tasks, size_t n)
{
	int status = 0;

	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	for (size_t i = 0; i < n; i++) {
		tasks[i].end = COPY_FAILED;
		tasks[i].started = pthread_create(&tasks[i].thread, NULL, run_task, &tasks[i]) == 0;
	}
	for (size_t i = 0; i < n; i++)
		if (tasks[i].started)
			pthread_join(tasks[i].thread, NULL);
	copy_print_end();
	for (size_t i = 0; i < n; i++)
		status = worse(status, tell_end(&tasks[i]));
	return status;
}

/* ---- the plan ---- */

static bool may_replace(const struct copy_flags *f, const struct copy_options *o, const struct copy_plan *p)
{
	bool goes_on = p->is_ours && p->phase != COPY_BEGINNING && p->phase != COPY_SWITCHED;
	char answer[16];

	if (!o->replace || !p->target_has_items || goes_on || f->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		fprintf(stderr, "thorpe: nothing was changed; --yes replaces the items of %.*s at %s.\n",
			SLICE_ARG(o->table), o->to.name);
		return false;
	}
	fprintf(stderr, "Replace the items of %.*s at %s by those at %s? What it has now is lost. [y/N] ",
		SLICE_ARG(o->table), o->to.name, o->from.name);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static int look_at_all(const struct copy_flags *f, struct task *tasks, size_t n, struct arena *a)
{
	for (size_t i = 0; i < n; i++) {
		const struct copy_options *o = &tasks[i].options;
		struct copy_report report;
		struct copy_plan plan;

		if (copy_look(o, a, &plan, &report) != COPY_DONE)
			return complain(EXIT_REFUSED, "%s", report.why);
		if (f->dry_run)
			copy_print_plan(o, &plan);
		else if (!may_replace(f, o, &plan))
			return EXIT_INCOMPLETE;
	}
	return 0;
}

/* ---- all of it ---- */

struct copying {
	struct copy_flags *flags;
	struct copy_end_point from, to;
	struct task *tasks;
	size_t count;
	struct arena arena;
};

static struct task *add_task(struct copying *x, struct slice table, const struct design *d)
{
	struct task *t = &x->tasks[x->count++];

	t->options = x->flags->options;
	t->options.from = x->from.side;
	t->options.to = x->flags->reopen ? x->from.side : x->to.side;
	t->options.table = table;
	t->options.design = d;
	t->options.mode = x->flags->follow ? COPY_FOLLOW : x->flags->switch_ ? COPY_SWITCH : COPY_ONCE;
	t->options.stop = &stop;
	t->options.say = say;
	t->options.progress = progress;
	t->options.ctx = t;
	t->verifies = x->flags->verify;
	t->reopens = x->flags->reopen;
	return t;
}

/* In a file of its own, in the source's directory, or in <table>.thorpe, whence it goes along by itself. */
static bool find_secret(struct copying *x, struct copy_options *o, char *why, size_t n)
{
	const char *file = x->flags->secret_file;
	char ignored[512];

	if (file || x->from.is_directory)
		o->has_secret =
			secret_load(file ? NULL : x->from.where, file, false, o->secret, ignored, sizeof(ignored));
	if (file && !o->has_secret) {
		snprintf(why, n, "%s", ignored);
		return false;
	}
	if (!o->has_secret && o->settle) /* for signatures of what is sent */
		(void)copy_side_secret(&x->from, o->table, o->secret);
	return true;
}

static bool add_tasks(struct copying *x, char *why, size_t n)
{
	const struct copy_flags *f = x->flags;

	for (size_t i = 0; i < f->design_count; i++) {
		const struct design *d = design_file_load(&x->arena, f->designs[i]);

		if (!d) {
			snprintf(why, n, "%s is not a usable design", f->designs[i]);
			return false;
		}
		if (!find_secret(x, &add_task(x, d->table, d)->options, why, n))
			return false;
	}
	for (size_t i = 0; i < f->table_count; i++)
		add_task(x, slice_str(f->tables[i]), NULL);
	return true;
}

/* A server of the directory takes the tokens of the old one. */
static void keep_secret(struct copying *x, const struct task *t)
{
	uint8_t secret[CALLER_SECRET_BYTES];
	char why[512];
	bool other;

	if (!t->options.design || t->end != COPY_DONE || t->verifies || t->reopens || !x->to.is_directory)
		return;
	if (!copy_side_secret(&x->to, t->options.table, secret))
		printf("%.*s: the source's secret is not known here (--secret-file says it): sessions and cursors end\n",
		       SLICE_ARG(t->options.table));
	else if (!secret_keep(x->to.where, secret, &other, why, sizeof(why)))
		printf("%.*s: sessions and cursors end, for %s\n", SLICE_ARG(t->options.table), why);
	else if (other)
		printf("%.*s: %s has a secret of its own, which stays: sessions and cursors of this design end\n",
		       SLICE_ARG(t->options.table), x->to.where);
}

static int copy(struct copying *x)
{
	enum copy_side_use use = x->flags->dry_run || x->flags->verify ? COPY_SIDE_LOOK : COPY_SIDE_TARGET;
	char why[1300];
	int status;

	if (!copy_side_open(&x->from, x->flags->from, COPY_SIDE_SOURCE, why, sizeof(why)) ||
	    (!x->flags->reopen && !copy_side_open(&x->to, x->flags->to, use, why, sizeof(why))) ||
	    !add_tasks(x, why, sizeof(why)))
		return complain(EXIT_REFUSED, "%s", why);
	status = x->flags->verify || x->flags->reopen ? 0 : look_at_all(x->flags, x->tasks, x->count, &x->arena);
	if (status || x->flags->dry_run)
		return status;
	status = run_all(x->tasks, x->count);
	for (size_t i = 0; i < x->count; i++)
		keep_secret(x, &x->tasks[i]);
	return status;
}

static int check_flags(const struct copy_flags *f)
{
	if (f->reopen && (!f->from || f->to || !f->design_count || f->table_count))
		return complain(EXIT_USAGE, "--reopen needs --from and --design, and nothing else");
	if (!f->from || (!f->to && !f->reopen))
		return complain(
			EXIT_USAGE,
			"from where, and to where? --from and --to: a directory, aws, aws:REGION, https://… or http:// on this "
			"machine");
	if (f->to && !strcmp(f->from, f->to))
		return complain(EXIT_USAGE, "--from and --to are the same");
	if (!f->design_count && !f->table_count)
		return complain(EXIT_USAGE, "which tables? --design FILE or --table NAME");
	if (f->design_count + f->table_count > TABLES_MOST)
		return complain(EXIT_USAGE, "%d tables at once are the most", TABLES_MOST);
	if (f->follow + f->switch_ + f->verify + f->dry_run + f->reopen > 1)
		return complain(EXIT_USAGE, "--follow, --switch, --verify, --dry-run and --reopen exclude one another");
	if (f->follow && copy_side_is_directory(f->from))
		return complain(
			EXIT_USAGE,
			"--follow is for a running server: nothing else can write to a directory while it is read");
	if (f->options.settle && f->options.drop_undone)
		return complain(EXIT_USAGE, "--settle and --drop-undone exclude each other");
	return 0;
}

static int run(void *options, char **words, int count)
{
	struct copying x = { .flags = options };
	int status = check_flags(x.flags);

	(void)words, (void)count;
	if (status)
		return status;
	x.tasks = mem_zalloc(TABLES_MOST * sizeof(*x.tasks));
	if (!x.tasks)
		return complain(EXIT_REFUSED, "out of memory");
	arena_init(&x.arena);
	status = copy(&x);
	copy_side_close(&x.from);
	copy_side_close(&x.to);
	arena_release(&x.arena);
	mem_free(x.tasks);
	return status;
}

/* clang-format off */
const struct command command_copy = {
	.name = "copy",
	.summary = "move a design's data between a directory, a server and DynamoDB while it is used",
	.usage = "--from WHERE --to WHERE (--design FILE | --table NAME)… [options]",
	.about = "Copies tables: every item, then the changes since, in order. You can stop it at any moment, even\n"
		 "with a kill; the same command goes on where it was. Tables that the target lacks are created.\n"
		 "docs/moving.md describes the whole procedure.\n\n"
		 "Without --follow or --switch it ends when it has caught up (from a directory, which nothing else can\n"
		 "write to: with the switch). While the target is being filled it has no stream and no TTL, so that no\n"
		 "processor takes copied items for new ones; --switch turns them on.\n\n"
		 "To move a design that is in use:\n"
		 "  1. thorpe copy … --follow           until it is at most a second behind; then Ctrl-C\n"
		 "  2. keep clients away from the source, and let its processors finish\n"
		 "  3. thorpe copy … --switch           some seconds\n"
		 "  4. start the servers of the target\n\n"
		 "Exits with 0 when the target is complete and switched (with --verify: when both sides are the same), 3\n"
		 "when something is left to do (it has caught up, was stopped, or processors are not finished), 1 when\n"
		 "it failed or something differs, 2 when the options are wrong.",
	.flags = flags,
	.examples = "  thorpe copy --from ./thorpe-data --to aws:eu-west-1 --design designs/social.yaml\n"
		    "  thorpe copy --from http://127.0.0.1:8000 --to aws:eu-west-1 --design designs/social.yaml --follow --units 2000\n"
		    "  thorpe copy --from aws --to ./copy --table Orders --table Customers",
	.size = sizeof(struct copy_flags),
	.run = run,
};
/* clang-format on */
