/* The database in this process, through libthorpe: filling it, and calling it from many threads without HTTP.
 *
 *   embedded load DIR CREATE.json TEMPLATES FROM TO       relaxed, then synced by closing
 *   embedded run DIR TEMPLATES THREADS SECONDS START synced|relaxed
 *
 * Prints one JSON document.
 * SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "template.h"
#include "thorpe.h"

#define LOADERS   4
#define MAX_TIMES ((size_t)1 << 22)

struct worker {
	pthread_t thread;
	struct thorpe *db;
	struct templates templates;
	uint32_t *times;
	size_t done, errors, noted;
	char first_error[300];
};

static atomic_bool stop;
static atomic_uint next_s;
static uint32_t last_s;
static size_t times_each;

static struct thorpe *open_db(const char *dir, bool relaxed)
{
	struct thorpe *db;
	char why[300];

	if (!thorpe_open(&(struct thorpe_options){ .dir = dir, .relaxed = relaxed }, &db, why, sizeof(why)))
		quit("%s", why);
	return db;
}

static void call(struct worker *w, const struct template *t)
{
	uint64_t start = now_us();
	struct thorpe_reply r;

	thorpe_call(w->db, t->operation, t->text + t->body, t->size - t->body, &r);
	/* A batch that leaves something out has not done what is counted. */
	if (r.status != 200 || strstr(r.body, "\"PutRequest\"")) {
		if (!w->errors++)
			snprintf(w->first_error, sizeof(w->first_error), "%d %.200s", r.status, r.body);
	} else {
		w->done++;
		if (w->times && w->noted < times_each)
			w->times[w->noted++] = (uint32_t)(now_us() - start);
	}
	thorpe_reply_free(&r);
}

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		call(w, template_next(&w->templates, UINT32_MAX));
	return NULL;
}

static void *load_worker(void *arg)
{
	struct worker *w = arg;
	uint32_t s;

	while ((s = atomic_fetch_add(&next_s, 1)) < last_s)
		call(w, template_next(&w->templates, s));
	return NULL;
}

static struct worker *begin(struct thorpe *db, const char *path, unsigned n, uint64_t start, bool timed,
			    void *(*work)(void *))
{
	struct worker *all = mem_zalloc(n * sizeof(*all));

	if (!all)
		quit("out of memory");
	times_each = MAX_TIMES / n;
	for (unsigned i = 0; i < n; i++) {
		all[i].db = db;
		/* Loading takes every template for each s; there is one. */
		templates_read(&all[i].templates, path, start, timed ? i : 0, timed ? n : 1);
		if (timed && !(all[i].times = mem_alloc(times_each * sizeof(uint32_t))))
			quit("out of memory");
	}
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&all[i].thread, NULL, work, &all[i]))
			quit("cannot start a thread");
	return all;
}

/* Joins all; everything is gathered in the first. */
static void finish(struct worker *all, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		pthread_join(all[i].thread, NULL);
		if (all[i].errors)
			fprintf(stderr, "bench: %zu calls failed, the first with: %s\n", all[i].errors,
				all[i].first_error);
		if (!i)
			continue;
		all[0].done += all[i].done;
		all[0].errors += all[i].errors;
	}
}

static void print(struct worker *all, unsigned n, double seconds)
{
	uint32_t *times = mem_alloc(MAX_TIMES * sizeof(*times));
	size_t count = 0;

	if (!times)
		quit("out of memory");
	for (unsigned i = 0; i < n && all[i].times; i++) {
		memcpy(times + count, all[i].times, all[i].noted * sizeof(*times));
		count += all[i].noted;
	}
	printf("{\"requests\": %zu, \"errors\": %zu, \"seconds\": %.3f, \"rate\": %.1f, ", all[0].done, all[0].errors,
	       seconds, (double)all[0].done / seconds);
	print_latencies(times, count);
	printf("}\n");
	mem_free(times);
}

static int load(char **args)
{
	struct thorpe *db = open_db(args[0], true);
	struct worker *all;
	struct thorpe_reply r;
	char create[4096];
	FILE *f = fopen(args[1], "r");
	size_t n = f ? fread(create, 1, sizeof(create), f) : 0;
	uint64_t start = now_us();

	if (!n)
		quit("cannot read %s", args[1]);
	fclose(f);
	thorpe_call(db, "CreateTable", create, n, &r);
	if (r.status != 200 && !strstr(r.body, "ResourceInUse"))
		quit("CreateTable: %s", r.body);
	thorpe_reply_free(&r);
	atomic_store(&next_s, (uint32_t)strtoul(args[3], NULL, 10));
	last_s = (uint32_t)strtoul(args[4], NULL, 10);
	all = begin(db, args[2], LOADERS, 0, false, load_worker);
	finish(all, LOADERS);
	thorpe_close(db);
	print(all, LOADERS, (double)(now_us() - start) / 1e6);
	return all[0].errors != 0;
}

static int run(char **args)
{
	struct thorpe *db = open_db(args[0], !strcmp(args[5], "relaxed"));
	unsigned n = (unsigned)strtoul(args[2], NULL, 10);
	double seconds = strtod(args[3], NULL);
	struct worker *all;
	uint64_t start;

	if (!n || n > 1024)
		quit("1 to 1024 threads");
	all = begin(db, args[1], n, strtoull(args[4], NULL, 10), true, run_worker);
	start = now_us();
	while (now_us() - start < (uint64_t)(seconds * 1e6))
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	seconds = (double)(now_us() - start) / 1e6;
	atomic_store(&stop, true);
	finish(all, n);
	print(all, n, seconds);
	thorpe_close(db);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[1], "load"))
		return load(argv + 2);
	if (argc == 8 && !strcmp(argv[1], "run"))
		return run(argv + 2);
	quit("embedded load DIR CREATE.json TEMPLATES FROM TO | run DIR TEMPLATES THREADS SECONDS START synced|relaxed");
}
