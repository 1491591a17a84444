/* Demo data for the designs that are served: one thread each, so that password hashes and syncs overlap.
 * SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "app/demo.h"
#include "cli/serve/serve_designs.h"
#include "base/clock.h"

#define PATIENCE_MS 2000 /* until it is worth a line */
#define LOOK_MS     20
#define WHY         300

struct load {
	struct app *app;
	const char *dir;
	pthread_t thread;
	bool started;
	atomic_bool ended;
	struct arena arena;
	struct demo_report report;
	struct slice accounts; /* who can log in, as the file says */
	bool played;
	char why[WHY]; /* empty: nothing to complain of */
};

static void close_file(void *f)
{
	fclose(f);
}

/* False: there is none, or `why` says what is wrong. */
static bool read_file(struct load *l, const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	size_t got = 1;

	if (!f) {
		if (errno != ENOENT)
			snprintf(l->why, WHY, "%s: %s", path, strerror(errno));
		return false;
	}
	arena_defer(&l->arena, close_file, f);
	while (got) {
		got = fread(buf_room(out, 65536), 1, 65536, f);
		out->n += got;
	}
	if (ferror(f))
		snprintf(l->why, WHY, "%s cannot be read", path);
	return !ferror(f);
}

static void load(struct load *l, struct backend *b)
{
	const char *path = arena_printf(&l->arena, "%s/%.*s.json%c", l->dir, SLICE_ARG(app_design(l->app)->name), 0).p;
	const char *why;
	const struct json *accounts;
	struct buf text;

	buf_init(&text, &l->arena);
	if (!read_file(l, path, &text))
		return;
	accounts = json_get(json_parse(&l->arena, buf_slice(&text)), "accounts");
	if (json_is(accounts, JSON_STRING))
		l->accounts = accounts->string;
	if (!demo_is_empty(l->app, b, &l->arena))
		return;
	l->played = demo_play(l->app, b, &l->arena, buf_slice(&text), &l->report, &why);
	if (!l->played)
		snprintf(l->why, WHY, "%.80s: %s", path, why);
}

static void *run(void *arg)
{
	struct load *l = arg;
	struct backend *b = database_open(app_database(l->app));

	if (!b)
		snprintf(l->why, WHY, "not enough memory for demo data");
	else
		ARENA_TRY(&l->arena, { load(l, b); }, { snprintf(l->why, WHY, "not enough memory for demo data"); });
	backend_free(b);
	atomic_store(&l->ended, true);
	return NULL;
}

static void print_progress(struct load *loads, size_t n)
{
	unsigned done = 0, total = 0;

	for (size_t i = 0; i < n; i++) {
		done += atomic_load(&loads[i].report.done) + atomic_load(&loads[i].report.failed);
		total += atomic_load(&loads[i].report.total);
	}
	log_say("  loading demo data: %u of %u steps", done, total);
}

static bool all_ended(const struct load *loads, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (loads[i].started && !atomic_load(&loads[i].ended))
			return false;
	return true;
}

static void await(struct load *loads, size_t n)
{
	int64_t told = clock_monotonic_us();

	while (!all_ended(loads, n)) {
		clock_pause_us(LOOK_MS * 1000);
		if (clock_monotonic_us() - told > PATIENCE_MS * 1000) {
			print_progress(loads, n);
			told = clock_monotonic_us();
		}
	}
	for (size_t i = 0; i < n; i++)
		if (loads[i].started)
			pthread_join(loads[i].thread, NULL);
}

static void conclude(struct serve_designs *s, struct load *l, size_t i)
{
	unsigned failed = atomic_load(&l->report.failed), done = atomic_load(&l->report.done);
	struct slice name = s->list[i]->name;

	if (l->why[0])
		log_warn("demo data: %s", l->why);
	s->accounts[i] = arena_copy(&s->arena, l->accounts);
	if (!l->played)
		return;
	if (failed)
		log_say("  demo data of %.*s: %u steps loaded, %u failed", SLICE_ARG(name), done, failed);
	else
		log_say("  demo data of %.*s: %u steps loaded", SLICE_ARG(name), done);
}

static void load_all(struct serve_designs *s, const char *dir)
{
	struct load *loads = arena_array(&s->arena, struct load, s->count);

	for (size_t i = 0; i < s->count; i++) {
		struct load *l = &loads[i];

		l->app = s->apps[i];
		l->dir = dir;
		arena_init(&l->arena);
		l->started = pthread_create(&l->thread, NULL, run, l) == 0;
		if (!l->started)
			snprintf(l->why, WHY, "no thread could be started");
	}
	await(loads, s->count);
	for (size_t i = 0; i < s->count; i++)
		conclude(s, &loads[i], i);
	for (size_t i = 0; i < s->count; i++)
		arena_release(&loads[i].arena);
}

void serve_demo(struct serve_designs *s, const char *dir)
{
	ARENA_TRY(&s->arena, { load_all(s, dir); }, { log_warn("not enough memory for demo data"); });
}
