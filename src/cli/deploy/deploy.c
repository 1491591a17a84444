/* `thorpe deploy`: the tables of a design, where they are to be: what would be done, then doing it.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/deploy/deploy_print.h"
#include "cli/design_file.h"
#include "remote/remote.h"

#define TAGS_MAX      48 /* a table has at most 50 */
#define MONTH_SECONDS (730.0 * 3600)

enum deploy_format { FORMAT_NONE, FORMAT_CLOUDFORMATION, FORMAT_TERRAFORM, FORMAT_POLICY, FORMAT_DEPLOY_POLICY };

struct deploy_flags {
	const char *backend;
	enum deploy_format format;
	struct remote_place place;
	struct deploy_options options;
	struct deploy_tag tags[TAGS_MAX];
	struct deploy_load load;
	bool yes, dry_run;
};

/* ---- flags ---- */

static bool set_backend(void *options, const char *value, char *why, size_t n)
{
	struct deploy_flags *f = options;

	f->backend = value;
	return remote_parse(value, &f->place, why, n);
}

static bool set_tag(void *options, const char *value, char *why, size_t n)
{
	struct deploy_flags *f = options;
	const char *equals = strchr(value, '=');
	struct deploy_tag tag;

	snprintf(why, n,
		 "'%s' is not a tag as in team=search: a key, =, a value, of letters, digits, spaces and _ . : / = + - @",
		 value);
	if (!equals)
		return false;
	tag = (struct deploy_tag){ slice_make(value, (size_t)(equals - value)), slice_str(equals + 1) };
	if (!deploy_tag_is_valid(&tag))
		return false;
	for (size_t i = 0; i < f->options.tag_count; i++)
		if (slice_equal(f->tags[i].key, tag.key)) {
			snprintf(why, n, "the tag %.*s is given twice", SLICE_ARG(tag.key));
			return false;
		}
	if (slice_is(tag.key, "thorpe:design")) {
		snprintf(why, n, "the tag thorpe:design is always set, to the design's name");
		return false;
	}
	if (f->options.tag_count == TAGS_MAX) {
		snprintf(why, n, "'%s' is one tag too many: there can be %d", value, TAGS_MAX);
		return false;
	}
	f->tags[f->options.tag_count++] = tag;
	return true;
}

/* A number that is not negative, and what follows it. */
static bool read_number(const char *value, double *out, const char **rest)
{
	char *end;

	errno = 0;
	*out = strtod(value, &end);
	*rest = end;
	return value[0] >= '0' && value[0] <= '9' && !errno && isfinite(*out);
}

static bool read_rate(const char *value, double *out, char *why, size_t n)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = { { "", 1 },         { "/s", 1 },       { "/second", 1 },
		      { "/min", 60 },    { "/minute", 60 }, { "/h", 3600 },
		      { "/hour", 3600 }, { "/day", 86400 }, { "/month", MONTH_SECONDS } };
	const char *rest;

	if (read_number(value, out, &rest)) {
		if (*rest == 'k' || *rest == 'M')
			*out *= *rest++ == 'k' ? 1e3 : 1e6;
		for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
			if (!strcmp(rest, units[i].unit)) {
				*out /= units[i].seconds;
				return true;
			}
	}
	snprintf(why, n, "'%s' is not a rate as in 50 (a second), 50/s, 3000/day or 20M/month", value);
	return false;
}

static bool set_reads(void *options, const char *value, char *why, size_t n)
{
	return read_rate(value, &((struct deploy_flags *)options)->load.reads, why, n);
}

static bool set_writes(void *options, const char *value, char *why, size_t n)
{
	return read_rate(value, &((struct deploy_flags *)options)->load.writes, why, n);
}

static bool set_storage(void *options, const char *value, char *why, size_t n)
{
	const char *rest;

	snprintf(why, n, "'%s' is not a number of gigabytes", value);
	return read_number(value, &((struct deploy_flags *)options)->load.storage_gb, &rest) && !*rest;
}

static bool set_item_size(void *options, const char *value, char *why, size_t n)
{
	struct deploy_flags *f = options;
	const char *rest;

	snprintf(why, n, "'%s' is not a number of bytes of 1 to 409600", value);
	return read_number(value, &f->load.item_bytes, &rest) && !*rest && f->load.item_bytes >= 1 &&
	       f->load.item_bytes <= 409600;
}

/* As enum deploy_format; the first is none that may be asked for. */
static const char *const formats[] = { "", "cloudformation", "terraform", "policy", "deploy-policy", NULL };

/* clang-format off */
static const struct flag flags[] = {
	FLAG_READ("backend", "WHERE", set_backend, "where to create the tables: aws, aws:REGION, https://…, or http:// on this machine"),
	FLAG_SWITCH("yes", struct deploy_flags, yes, "do not ask"),
	FLAG_SWITCH("dry-run", struct deploy_flags, dry_run, "only print the plan: exits with 3 when there is something to do"),
	FLAG_READ("tag", "KEY=VALUE", set_tag, "a tag for the tables, besides thorpe:design; repeatable"),
	FLAG_SWITCH("no-pitr", struct deploy_flags, options.no_recovery, "do not turn on point-in-time recovery"),
	FLAG_SWITCH("no-deletion-protection", struct deploy_flags, options.no_protection, "do not turn on deletion protection"),
	FLAG_READ("reads", "RATE", set_reads, "for the cost: reading calls, as 50 (a second), 3000/day, 20M/month (the design's traffic)"),
	FLAG_READ("writes", "RATE", set_writes, "for the cost: writing calls"),
	FLAG_READ("storage", "GB", set_storage, "for the cost: stored data, indexes included"),
	FLAG_READ("item-size", "BYTES", set_item_size, "for the cost: the average size of an item (1024)"),
	FLAG_CHOICE("format", "FORMAT", struct deploy_flags, format, formats, "print text and call nothing: cloudformation, terraform, policy, deploy-policy"),
	FLAG_END,
};
/* clang-format on */

/* ---- text ---- */

static int print_text(const struct deploy_flags *f, const struct deploy_want *w, struct arena *a)
{
	const char *region = f->place.region[0] ? f->place.region : "*";
	struct slice text;

	if (f->format == FORMAT_CLOUDFORMATION)
		text = deploy_cloudformation(w, a);
	else if (f->format == FORMAT_TERRAFORM)
		text = deploy_terraform(w, a);
	else
		text = deploy_policy(w, f->format == FORMAT_DEPLOY_POLICY, region, a);
	fwrite(text.p, 1, text.n, stdout);
	return fflush(stdout) ? complain(EXIT_REFUSED, "could not print it: %s", strerror(errno)) : 0;
}

/* ---- doing it ---- */

struct deploying {
	const struct deploy_flags *flags;
	const struct deploy_want *want;
	struct remote *remote;
	struct backend *backend;
	struct arena *arena;
};

static int tell_failure(const struct deploying *x, const struct deploy_failure *f)
{
	struct backend_reply reply = f->reply;

	if (f->words.n)
		return complain(EXIT_REFUSED, "%.*s%s%.*s", SLICE_ARG(f->table), f->table.n ? ": " : "",
				SLICE_ARG(f->words));
	return complain(EXIT_REFUSED, "%.*s: %s: %.*s", SLICE_ARG(f->table), f->operation,
			SLICE_ARG(remote_explain(x->remote, x->arena, &reply)));
}

static bool may_do_it(const struct deploying *x)
{
	char answer[16];

	if (x->flags->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		fprintf(stderr, "thorpe: nothing was changed; --yes does it.\n");
		return false;
	}
	fprintf(stderr, "\nDo this at %s? [y/N] ", remote_url(x->remote));
	if (fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	fprintf(stderr, "Nothing was changed.\n");
	return false;
}

static void print_progress(void *ctx, struct slice line)
{
	(void)ctx;
	printf("%.*s\n", SLICE_ARG(line));
	fflush(stdout);
}

static int do_it(const struct deploying *x)
{
	struct deploy_progress progress = { .say = print_progress };
	struct deploy_failure failure = { 0 };

	if (deploy_run(x->backend, x->want, &progress, x->arena, &failure) != DEPLOY_DONE)
		return tell_failure(x, &failure);
	printf("done: `thorpe serve --design … --backend %s` can use it\n", x->flags->backend);
	return 0;
}

static int deploy(const struct deploying *x)
{
	struct deploy_failure failure = { 0 };
	struct deploy_plan plan;
	struct deploy_cost cost;

	if (!deploy_look(x->backend, x->want, x->arena, &plan, &failure))
		return tell_failure(x, &failure);
	deploy_cost(x->want, &plan, &x->flags->load, x->arena, &cost);
	deploy_print_plan(x->want, &plan, remote_url(x->remote), remote_region(x->remote));
	deploy_print_cost(x->want, &cost, &x->flags->load);
	fflush(stdout);
	if (plan.obstacle_count)
		return complain(EXIT_REFUSED,
				"nothing was changed: something is there that cannot be changed, see above");
	if (!plan.step_count)
		return 0;
	if (x->flags->dry_run || !may_do_it(x))
		return EXIT_INCOMPLETE;
	return do_it(x);
}

static int deploy_at(const struct deploy_flags *f, struct deploy_want *w, struct arena *a)
{
	/* More patience than a server has: no client waits. */
	struct remote_options options = {
		.place = f->place, .connections = 1, .attempts = 8, .attempt_ms = 30000, .total_ms = 120000
	};
	struct deploying x = { .flags = f, .want = w, .arena = a };
	char why[1300];
	int status;

	x.remote = remote_open(&options, why, sizeof(why));
	if (!x.remote)
		return complain(EXIT_REFUSED, "%s", why);
	w->probes = !remote_is_amazon(x.remote);
	x.backend = remote_has_credentials(x.remote, why, sizeof(why)) ? remote_backend_new(x.remote) : NULL;
	status = x.backend ? deploy(&x) : complain(EXIT_REFUSED, "%s", why);
	backend_free(x.backend);
	remote_close(x.remote);
	return status;
}

static int check_flags(const struct deploy_flags *f)
{
	if (!f->backend && !f->format)
		return complain(EXIT_USAGE, "where? --backend aws, aws:REGION, https://… or http:// on this machine; "
					    "or --format to print text");
	if (f->yes && f->dry_run)
		return complain(EXIT_USAGE, "--yes and --dry-run exclude each other");
	if (f->format && (f->yes || f->dry_run))
		return complain(EXIT_USAGE, "--format and --%s exclude each other", f->yes ? "yes" : "dry-run");
	return 0;
}

static int run(void *options, char **words, int count)
{
	struct deploy_flags *f = options;
	struct deploy_want want;
	const struct design *d;
	struct arena arena;
	int status = check_flags(f);

	(void)count;
	if (status)
		return status;
	f->options.tags = f->tags;
	arena_init(&arena);
	d = design_file_load(&arena, words[0]);
	if (d)
		deploy_want(d, &f->options, &arena, &want);
	if (!d)
		status = complain(EXIT_REFUSED, "%s is not a usable design", words[0]);
	else
		status = f->format ? print_text(f, &want, &arena) : deploy_at(f, &want, &arena);
	arena_release(&arena);
	return status;
}

static const struct deploy_flags defaults = { .load = { .reads = -1, .writes = -1, .storage_gb = -1 } };

const struct command command_deploy = {
	.name = "deploy",
	.summary = "create the tables of a design on AWS or elsewhere, after showing the cost",
	.usage = "FILE --backend WHERE [--dry-run | --yes] [options]\n"
		 "FILE --format cloudformation|terraform|policy|deploy-policy [options]",
	.about = "Creates the table of a design and the one beside it (<table>.thorpe) where servers keep leases\n"
		 "and positions: with keys, indexes, stream, TTL, point-in-time recovery, deletion protection and\n"
		 "tags. Tables that exist are brought up to date. It first prints the plan and its cost per month,\n"
		 "then asks.\n\n"
		 "It never deletes anything. If something cannot be changed, it says what to do instead and changes\n"
		 "nothing. You can interrupt it at any point and run it again.\n\n"
		 "--format prints the same tables for other tools; 'policy' prints the IAM policy that servers need,\n"
		 "'deploy-policy' the one that this command needs.\n\n"
		 "Exits with 0 when everything is as the design says, 3 when there is something to do and it was not\n"
		 "done (--dry-run, or no --yes without a terminal), 1 when it failed, 2 when the options are wrong.",
	.flags = flags,
	.examples = "  thorpe deploy designs/social.yaml --backend aws:eu-west-1 --dry-run\n"
		    "  thorpe deploy designs/social.yaml --backend aws:eu-west-1 --tag team=social --yes\n"
		    "  thorpe deploy designs/social.yaml --format terraform > social.tf",
	.least_words = 1,
	.most_words = 1,
	.lacking = "which design? thorpe deploy FILE --backend WHERE",
	.size = sizeof(struct deploy_flags),
	.defaults = &defaults,
	.run = run,
};
