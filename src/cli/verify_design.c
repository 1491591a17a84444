/* `thorpe verify --design`: asks the oracle, and prints what it says.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <time.h>
#include "base/clock.h"
#include "cli/remote.h"
#include "cli/verify.h"
#include "oracle/oracle.h"

#define PASSES 4             /* on a running server */
#define SETTLE_MS 1500       /* positions of processors are written within a second */
#define PROGRESS_US 2000000

struct asking {
	const struct verify_options *options;
	const struct design *design;
	struct arena arena;     /* of one finding */
	int64_t told_us;        /* when progress was last told */
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

static void print_finding(void *ctx, const struct oracle_finding *f)
{
	static const char *const words[] = { "", "pending: ", "note: " };
	struct asking *x = ctx;
	struct buf b;

	arena_clear(&x->arena);
	buf_init(&b, &x->arena);
	if (x->options->json) {
		oracle_finding_json(&b, x->design, f);
	} else {
		buf_printf(&b, "%s%s: %.*s", words[f->weight], oracle_kind_name(f->kind), SLICE_ARG(f->sentence));
		if (value_present(f->key)) {
			buf_lit(&b, " (");
			put_key(&b, x->design, f->key);
			buf_byte(&b, ')');
		}
	}
	buf_byte(&b, '\n');
	fwrite(b.p, 1, b.n, stdout);
}

static bool print_progress(void *ctx, const struct oracle_progress *p)
{
	struct asking *x = ctx;
	int64_t now = clock_monotonic_us();

	if (now - x->told_us < PROGRESS_US)
		return true;
	x->told_us = now;
	if (p->comparing)
		fprintf(stderr, "%.*s: comparing what %llu items say of one another\n", SLICE_ARG(x->design->name),
			(unsigned long long)p->items);
	else if (p->pass > 1)
		fprintf(stderr, "%.*s: looking again, %llu of %llu items\n", SLICE_ARG(x->design->name), (unsigned long long)p->items,
			(unsigned long long)p->of);
	else
		fprintf(stderr, "%.*s: %llu of %llu items\n", SLICE_ARG(x->design->name), (unsigned long long)p->items,
			(unsigned long long)p->of);
	return true;
}

static void settle(void *ctx)
{
	struct timespec t = { .tv_sec = SETTLE_MS / 1000, .tv_nsec = SETTLE_MS % 1000 * 1000000L };

	(void)ctx;
	nanosleep(&t, NULL);
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

static const struct design *load(struct arena *a, const char *path)
{
	struct findings findings;
	struct source source;
	const struct design *d;
	struct buf out;

	findings_init(&findings, a);
	d = design_load_file(a, path, &source, &findings);
	if (!d) {
		buf_init(&out, a);
		findings_sort(&findings);
		findings_print(&out, &findings, &source);
		fwrite(out.p, 1, out.n, stderr);
	}
	return d;
}

static int ask(const struct verify_options *o, struct backend *b, const struct design *d)
{
	struct asking x = { .options = o, .design = d, .told_us = clock_monotonic_us() };
	struct oracle_options options = { .now_ms = clock_now_ms(&clock_system), .stream = true, .notes = true,
					  .tell = print_finding, .progress = print_progress, .ctx = &x };
	struct oracle_summary summary;
	char why[512];
	bool ok;

	if (o->endpoint) {
		options.passes = PASSES;
		options.settle = settle;
	}
	arena_init(&x.arena);
	ok = oracle_check(b, d, &options, &summary, why, sizeof(why));
	arena_release(&x.arena);
	if (!ok)
		return complain(EXIT_REFUSED, "%.*s: %s", SLICE_ARG(d->name), why);
	print_summary(&x, &summary);
	return summary.differences ? EXIT_REFUSED : 0;
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
	struct db_options db_options = { .no_background = true, .shadow = true, .dir = o->data };
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
	backend_local_free(b);
	api_free(api);
	db_close(api_options.db);
	return status;
}

static int ask_endpoint(const struct verify_options *o, const struct design *const *list)
{
	struct backend *b = remote_new(o->endpoint);
	int status = b ? ask_all(o, b, list) : complain(EXIT_REFUSED, "out of memory");

	remote_free(b);
	return status;
}

int verify_designs(const struct verify_options *o)
{
	const struct design *list[SERVE_DESIGNS_MAX];
	struct arena arena;
	int status = 0;

	arena_init(&arena);
	for (size_t i = 0; i < o->design_count; i++) {
		list[i] = load(&arena, o->designs[i]);
		if (!list[i])
			status = complain(EXIT_REFUSED, "%s is no design that can be used", o->designs[i]);
	}
	if (!status)
		status = o->endpoint ? ask_endpoint(o, list) : ask_directory(o, list);
	arena_release(&arena);
	return status;
}
