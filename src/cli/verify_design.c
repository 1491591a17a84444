/* `thorpe verify --design`: asks the oracle, and prints what it says.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>
#include "api/local.h"
#include "app/db/provision.h"
#include "base/clock.h"
#include "cli/design_file.h"
#include "cli/verify.h"
#include "evolve/served.h"
#include "oracle/oracle.h"
#include "remote/remote.h"

#define PASSES      4    /* on a running server */
#define SETTLE_MS   1500 /* positions of processors are written within a second */
#define PROGRESS_US 2000000
#define CACHE       ((size_t)16 << 20) /* every item is read once */
#define ROUNDS      12                 /* of mending: what hangs on what was mended is mended after it */

struct asking {
	const struct verify_options *options;
	const struct design *design;
	struct backend *backend;
	struct arena arena; /* of one finding */
	int64_t told_us;    /* when progress was last printed */
	int64_t now_ms;
	uint64_t mendable;
	uint64_t mended; /* in this round */
	char why[512];   /* the first that could not be mended, though it should */
};

/* ---- printing ---- */

static void put_key(struct buf *b, const struct design *d, struct value key)
{
	const struct key_schema *k = &d->key;

	for (size_t i = 0; i < (size_t)k->hash_count + k->range_count; i++) {
		const struct key_attr *a = i < k->hash_count ? &k->hash[i] : &k->range[i - k->hash_count];
		struct value v = value_get(key, a->name);
		char text[NUMBER_TEXT_MAX];

		buf_printf(b, "%s%.*s=", i ? " " : "", SLICE_ARG(a->name));
		if (value_type(v) == VALUE_N) {
			struct number n = value_number(v);

			buf_add(b, text, number_format(&n, text));
		} else if (value_type(v) == VALUE_B) {
			buf_base64(b, value_bytes(v));
		} else {
			buf_put(b, value_bytes(v));
		}
	}
}

/* A line; `mend` is what would be, or was, done about it. */
static void print_line(struct asking *x, const struct oracle_finding *f, struct slice mend, bool done)
{
	static const char *const words[] = { "", "pending: ", "note: " };
	struct buf b;

	buf_init(&b, &x->arena);
	if (x->options->json) {
		oracle_finding_json(&b, x->design, f);
		if (mend.n) {
			b.n--;
			buf_str(&b, done ? ",\"mended\":" : ",\"mend\":");
			json_string(&b, mend);
			buf_byte(&b, '}');
		}
	} else {
		buf_printf(&b, "%s%s%s: %.*s", done ? "mended " : "", words[f->weight], oracle_kind_name(f->kind),
			   SLICE_ARG(f->sentence));
		if (value_present(f->key)) {
			buf_lit(&b, " (");
			put_key(&b, x->design, f->key);
			buf_byte(&b, ')');
		}
		if (mend.n)
			buf_printf(&b, "\n  %s%.*s", done ? "" : "would mend it: ", SLICE_ARG(mend));
	}
	buf_byte(&b, '\n');
	fwrite(b.p, 1, b.n, stdout);
}

static void print_finding(void *ctx, const struct oracle_finding *f)
{
	struct asking *x = ctx;
	struct slice mend = SLICE("");

	arena_clear(&x->arena);
	if (x->options->repair)
		mend = oracle_mend_words(&x->arena, x->design, f);
	x->mendable += mend.n > 0;
	print_line(x, f, mend, false);
}

static void mend_finding(void *ctx, const struct oracle_finding *f)
{
	struct asking *x = ctx;
	struct oracle_table table = { x->backend, x->design, x->now_ms };
	enum oracle_mending end;
	struct slice mend;

	arena_clear(&x->arena);
	mend = oracle_mend_words(&x->arena, x->design, f);
	if (!mend.n || x->why[0])
		return;
	if (oracle_mend(&table, f, &end, x->why, sizeof(x->why)) && end == ORACLE_MENDED) {
		x->mended++;
		print_line(x, f, mend, true);
	}
}

static bool print_progress(void *ctx, const struct oracle_progress *p)
{
	struct asking *x = ctx;
	int64_t now = clock_monotonic_us();

	if (now - x->told_us < PROGRESS_US)
		return true;
	x->told_us = now;
	if (p->comparing)
		fprintf(stderr, "%.*s: comparing what %llu items say about one another\n", SLICE_ARG(x->design->name),
			(unsigned long long)p->items);
	else if (p->pass > 1)
		fprintf(stderr, "%.*s: looking again, %llu of %llu items\n", SLICE_ARG(x->design->name),
			(unsigned long long)p->items, (unsigned long long)p->of);
	else
		fprintf(stderr, "%.*s: %llu of %llu items\n", SLICE_ARG(x->design->name), (unsigned long long)p->items,
			(unsigned long long)p->of);
	return true;
}

static void settle(void *ctx)
{
	(void)ctx;
	clock_pause_us(SETTLE_MS * 1000);
}

static const char *s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_summary(const struct asking *x, const struct oracle_summary *m)
{
	FILE *out = x->options->json ? stderr : stdout;

	fprintf(out, "%.*s: %llu item%s, ", SLICE_ARG(x->design->name), (unsigned long long)m->items, s(m->items));
	if (m->differences)
		fprintf(out, "%llu difference%s", (unsigned long long)m->differences, s(m->differences));
	else
		fprintf(out, "no differences");
	if (m->pending)
		fprintf(out, ", %llu pending", (unsigned long long)m->pending);
	if (m->notes)
		fprintf(out, ", %llu note%s", (unsigned long long)m->notes, s(m->notes));
	if (m->moved)
		fprintf(out, "; %llu that did not last moved meanwhile", (unsigned long long)m->moved);
	fprintf(out, "\n");
}

/* ---- asking ---- */

static bool check(struct asking *x, void (*tell)(void *ctx, const struct oracle_finding *f), struct oracle_summary *m)
{
	struct oracle_options options = { .stream = true,
					  .notes = tell == print_finding && !x->mended,
					  .tell = tell,
					  .progress = print_progress,
					  .ctx = x };
	char why[512];

	options.now_ms = x->now_ms = clock_now_ms(&clock_system);
	if (x->options->endpoint) {
		options.passes = PASSES;
		options.settle = settle;
	}
	if (oracle_check(x->backend, x->design, &options, m, why, sizeof(why)))
		return true;
	complain(0, "%.*s: %s", SLICE_ARG(x->design->name), why);
	return false;
}

/* ---- mending ---- */

static bool may_mend(const struct asking *x)
{
	char answer[16];

	if (x->options->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		fprintf(stderr, "thorpe: nothing was changed; --yes does it.\n");
		return false;
	}
	fprintf(stderr, "Mend %llu finding%s of %.*s? [y/N] ", (unsigned long long)x->mendable, s(x->mendable),
		SLICE_ARG(x->design->name));
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Check and mend in turn until there is nothing more to mend; then what is left. */
static bool mend_all(struct asking *x, struct oracle_summary *m)
{
	uint64_t all = 0;

	for (int i = 0; i < ROUNDS; i++) {
		x->mended = 0;
		if (!check(x, mend_finding, m))
			return false;
		all += x->mended;
		if (x->why[0])
			return complain(false, "%.*s: mending stopped: %s", SLICE_ARG(x->design->name), x->why);
		if (!x->mended)
			break;
	}
	x->mended = all; /* notes have been printed */
	fprintf(x->options->json ? stderr : stdout, "%.*s: mended %llu; what is left:\n", SLICE_ARG(x->design->name),
		(unsigned long long)all);
	return check(x, print_finding, m);
}

/* Whether nothing is left that the design before knew and this one does not. */
static bool fits(const struct oracle_summary *m)
{
	return !m->differences && !m->pending && !m->kinds[ORACLE_STRANGER] && !m->kinds[ORACLE_ATTRIBUTE_UNKNOWN];
}

/* From now on changes are told from this design: `thorpe serve`. */
static bool keep(struct asking *x)
{
	struct error e = { 0 };

	arena_clear(&x->arena);
	if (provision_beside(x->backend, x->design, &x->arena, &e) && served_keep(x->backend, x->design, &x->arena, &e))
		return true;
	return complain(false, "%.*s: %.*s", SLICE_ARG(x->design->name), SLICE_ARG(e.message));
}

static int ask(const struct verify_options *o, struct backend *b, const struct design *d)
{
	struct asking x = { .options = o, .design = d, .backend = b, .told_us = clock_monotonic_us() };
	struct oracle_summary summary;
	bool ok;

	arena_init(&x.arena);
	ok = check(&x, print_finding, &summary);
	if (ok)
		print_summary(&x, &summary);
	if (ok && x.mendable && may_mend(&x)) {
		ok = mend_all(&x, &summary);
		if (ok)
			print_summary(&x, &summary);
	}
	if (ok && o->repair && fits(&summary))
		ok = keep(&x);
	arena_release(&x.arena);
	return !ok || summary.differences ? EXIT_REFUSED : 0;
}

static int ask_all(const struct verify_options *o, struct backend *b, const struct design *const *list)
{
	int status = 0;

	for (size_t i = 0; i < o->design_count; i++) {
		int one = ask(o, b, list[i]);

		status = one ? one : status;
	}
	return status;
}

static int ask_directory(const struct verify_options *o, const struct design *const *list)
{
	/* Repairs change the directory itself, so no other process may have it open. */
	struct db_options db_options = {
		.no_background = true, .shadow = !o->repair, .dir = o->data, .cache_bytes = CACHE
	};
	struct api_options api_options = { 0 };
	struct backend *b = NULL;
	struct api *api = NULL;
	char why[1024] = "";
	int status;

	if (db_open(&db_options, &api_options.db, why, sizeof(why)) != STORE_OPENED)
		return complain(EXIT_REFUSED, "%s", why);
	api = api_new(&api_options);
	b = api ? backend_local_new(api) : NULL;
	status = b ? ask_all(o, b, list) : complain(EXIT_REFUSED, "out of memory");
	backend_free(b);
	api_free(api);
	db_close(api_options.db);
	return status;
}

/* More patience than a server has: no client waits. */
static int ask_endpoint(const struct verify_options *o, const struct design *const *list)
{
	struct remote_options options = { .connections = 1, .attempts = 8, .attempt_ms = 60000, .total_ms = 180000 };
	struct remote *remote;
	struct backend *b;
	char why[1300];
	int status;

	if (!remote_parse(o->endpoint, &options.place, why, sizeof(why)))
		return complain(EXIT_USAGE, "--endpoint, or --backend: %s", why);
	remote = remote_open(&options, why, sizeof(why));
	if (!remote)
		return complain(EXIT_REFUSED, "%s", why);
	if (!remote_has_credentials(remote, why, sizeof(why))) {
		remote_close(remote);
		return complain(EXIT_REFUSED, "%s", why);
	}
	b = remote_backend_new(remote);
	status = b ? 0 : complain(EXIT_REFUSED, "out of memory");
	for (size_t i = 0; !status && i < o->design_count; i++)
		if (!remote_has_table(b, list[i]->table, why, sizeof(why)))
			status = complain(EXIT_REFUSED, "%.*s: %s", SLICE_ARG(list[i]->name), why);
	if (!status)
		status = ask_all(o, b, list);
	backend_free(b);
	remote_close(remote);
	return status;
}

int verify_designs(const struct verify_options *o)
{
	const struct design *list[SERVE_DESIGNS_MAX];
	struct arena arena;
	int status = 0;

	arena_init(&arena);
	for (size_t i = 0; i < o->design_count; i++) {
		list[i] = design_file_load(&arena, o->designs[i]);
		if (!list[i])
			status = complain(EXIT_REFUSED, "%s is not a usable design", o->designs[i]);
	}
	if (!status)
		status = o->endpoint ? ask_endpoint(o, list) : ask_directory(o, list);
	arena_release(&arena);
	return status;
}
