/* Runs simulations: for each seed every design, or one.
 *
 *     sim [--seed X] [--seeds N] [--seconds N] [--without PART[,PART…]] [--history] [--twice] DESIGN.yaml…
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "held.h"

#define DESIGNS_MOST 64

static const char *const part_names[] = {
#define X(id, name) [SIM_##id] = name,
	SIM_PART_MAP(X)
#undef X
};

bool sim_may(const struct sim *s, enum sim_part p)
{
	return !(s->options->without >> p & 1);
}

static void add_line(struct buf *b, const char *fmt, va_list ap)
{
	buf_put(b, arena_vprintf(b->arena, fmt, ap));
	buf_lit(b, "\n");
}

void sim_problem(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	s->problem_count++;
	if (s->problem_count > 20)
		return;
	va_start(ap, fmt);
	add_line(&s->problems, fmt, ap);
	va_end(ap);
}

/* ---- one run ---- */

static void live(struct sim *s, size_t clients)
{
	struct fiber *fibers[16];

	for (size_t i = 0; i < clients; i++)
		fibers[i] = fiber_new(arena_cstr(&s->arena, arena_printf(&s->arena, "client %zu", i + 1)), client_run, s);
	fibers[clients] = fiber_new("operator", operator_run, s);
	for (size_t i = 0; i <= clients; i++)
		fiber_join(fibers[i]);
}

static void plan_death(struct sim *s)
{
	if (sim_may(s, SIM_CRASHES) && s->lives < 6 && random_percent(&s->random, 60))
		memory_set_death((long)random_below(&s->random, 150), random_percent(&s->random, 50));
}

static void run(struct sim *s)
{
	size_t clients = s->options->clients ? s->options->clients : 1 + random_below(&s->random, 5);

	s->pool = pool_new(s);
	s->steps_left = s->options->steps ? s->options->steps : 20 + random_below(&s->random, 300);
	s->steps = s->steps_left;
	do {
		memory_revive();
		plan_death(s);
		if (world_start(s))
			live(s, clients);
		if (memory_is_dead()) {
			sim_note(s, "the process dies");
			world_stop(s);
			continue;
		}
		memory_set_death(-1, false);
		if (!s->problem_count && world_settle(s))
			check_all(s);
	} while (memory_is_dead());
	world_stop(s);
}

struct outcome {
	size_t problems, requests, acknowledged, lives;
	uint64_t hash;
};

static struct outcome simulate(const struct options *o, const struct design *d, const char *file, uint64_t seed)
{
	struct sim s = { .options = o, .design = d, .file = file, .seed = seed };
	struct outcome out;

	arena_init(&s.arena);
	buf_init(&s.problems, &s.arena);
	buf_init(&s.history, &s.arena);
	s.random.state = seed * 31 + 7;
	machine_begin(seed);
	if (o->recording)
		machine_set_watch(history_watch, history_log, &s);
	run(&s);
	out = (struct outcome){ s.problem_count, s.requests, s.acknowledged, s.lives, fiber_trace_hash() };
	memory_forget();
	machine_end();
	if (o->recording)
		history_print(&s);
	if (s.problem_count && !o->quiet)
		printf("seed %llu, %s: %zu problems\n%.*s", (unsigned long long)seed, file, s.problem_count, (int)s.problems.n, s.problems.p);
	fflush(stdout);
	arena_release(&s.arena);
	return out;
}

/* ---- the command ---- */

static const struct design *load(struct arena *a, const char *path)
{
	struct findings findings;
	struct source source;
	const struct design *d;
	struct buf out;

	findings_init(&findings, a);
	d = design_load_file(a, path, &source, &findings);
	if (d)
		return d;
	buf_init(&out, a);
	findings_print(&out, &findings, &source);
	fprintf(stderr, "%.*s", (int)out.n, out.p);
	exit(2);
}

/* "crashes,raw", or "all". */
static unsigned parts_named(const char *list)
{
	unsigned parts = 0;

	for (const char *p = list; *p;) {
		size_t n = strcspn(p, ","), i = 0;

		while (i < SIM_PARTS && (strncmp(part_names[i], p, n) || part_names[i][n]))
			i++;
		if (i == SIM_PARTS && strncmp(p, "all", n)) {
			fprintf(stderr, "sim: there is no part %.*s\n", (int)n, p);
			exit(2);
		}
		parts |= i == SIM_PARTS ? ~0u : 1u << i;
		p += n + (p[n] == ',');
	}
	return parts;
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct options o = { .without = held_parts() };
	const struct design *designs[DESIGNS_MOST];
	const char *files[DESIGNS_MOST];
	uint64_t first = 1, seeds = 1, failed = 0, runs = 0, requests = 0, acknowledged = 0, lives = 0;
	double started = seconds_now(), most = 0;
	bool twice = false;
	struct arena a;
	size_t n = 0;

	arena_init(&a);
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--seed"))
			first = strtoull(value, NULL, 10), i++;
		else if (!strcmp(argv[i], "--seeds"))
			seeds = strtoull(value, NULL, 10), i++;
		else if (!strcmp(argv[i], "--seconds"))
			most = strtod(value, NULL), i++;
		else if (!strcmp(argv[i], "--clients"))
			o.clients = strtoul(value, NULL, 10), i++;
		else if (!strcmp(argv[i], "--steps"))
			o.steps = strtoul(value, NULL, 10), i++;
		else if (!strcmp(argv[i], "--without"))
			o.without |= parts_named(value), i++;
		else if (!strcmp(argv[i], "--with"))
			o.without &= ~parts_named(value), i++;
		else if (!strcmp(argv[i], "--history"))
			o.recording = true;
		else if (!strcmp(argv[i], "--all"))
			o.recording = o.all = true;
		else if (!strcmp(argv[i], "--twice"))
			twice = true;
		else if (n < DESIGNS_MOST)
			files[n++] = argv[i];
	}
	for (size_t i = 0; i < n; i++)
		designs[i] = load(&a, files[i]);
	for (uint64_t seed = first; seed < first + seeds && (most == 0 || seconds_now() - started < most); seed++)
		for (size_t i = 0; i < n; i++) {
			struct outcome x = simulate(&o, designs[i], files[i], seed);

			if (twice) {
				struct outcome y = simulate(&o, designs[i], files[i], seed);

				if (x.hash != y.hash) {
					printf("seed %llu, %s: two runs differ\n", (unsigned long long)seed, files[i]);
					x.problems++;
				}
			}
			failed += x.problems != 0;
			runs++;
			requests += x.requests;
			acknowledged += x.acknowledged;
			lives += x.lives;
		}
	printf("%llu runs, %llu requests (%llu acknowledged), %llu starts, %.1f s: %llu failed\n", (unsigned long long)runs,
	       (unsigned long long)requests, (unsigned long long)acknowledged, (unsigned long long)lives, seconds_now() - started,
	       (unsigned long long)failed);
	arena_release(&a);
	return failed ? 1 : 0;
}
