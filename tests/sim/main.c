/* Runs simulations: for each seed every design, or one.
 *
 *     sim [--seed X] [--seeds N] [--seconds N] [--design TEXT] [--with PART,…] [--without PART,…] [--clients N] [--steps N]
 *         [--twice] [--first] [--history | --all] FILE.yaml…
 *
 * --seed is the first of --seeds; --design takes the files whose name has that text; --with and --without enable and
 * disable parts (sim.h, held.h); --twice runs everything twice and compares; --first stops at the first failure,
 * without explaining it; --history shows lines relevant to a failure, --all all lines. For the first failures it
 * searches and shows a smaller failing run. SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "held.h"
#include "session.h"

#define DESIGNS_MOST   64
#define CLIENTS_MOST   12
#define EXPLAINED_MOST 3 /* failures whose history is shown */

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
	struct fiber *fibers[CLIENTS_MOST + 1];

	for (size_t i = 0; i < clients; i++)
		fibers[i] =
			fiber_new(arena_cstr(&s->arena, arena_printf(&s->arena, "client %zu", i + 1)), client_run, s);
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

	s->pool = sim_pool_new(s);
	s->sessions = arena_array(&s->arena, struct session, SESSIONS_MOST);
	s->steps_left = s->options->steps ? s->options->steps : 20 + random_below(&s->random, 300);
	s->steps = s->steps_left;
	do {
		bool founds = !s->lives && s->seed % 3 == 0 && sim_may(s, SIM_FOUNDING);

		memory_revive();
		if (!founds)
			plan_death(s);
		if (world_start(s)) {
			if (founds) {
				client_found(s);
				plan_death(s);
			}
			live(s, clients);
		}
		if (memory_is_dead()) {
			sim_note(s, "the process dies");
			world_stop(s);
			continue;
		}
		memory_set_death(-1, false);
		if (!s->problem_count && world_settle(s))
			check_all(s);
		if (!s->problem_count && !s->unfit)
			again_check(s);
	} while (memory_is_dead());
	world_stop(s);
}

struct outcome {
	size_t problems, requests, acknowledged, lives, items, steps;
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
	if (o->recording || sim_may(&s, SIM_DECIDE))
		machine_set_watch(history_watch, history_log, &s);
	run(&s);
	out = (struct outcome){ s.problem_count, s.requests, s.acknowledged,    s.lives,
				s.items,         s.steps,    fiber_trace_hash() };
	memory_forget();
	machine_end();
	if (o->recording)
		history_print(&s);
	if (s.problem_count && !o->quiet)
		printf("seed %llu, %s: %zu problems\n%.*s", (unsigned long long)seed, file, s.problem_count,
		       (int)s.problems.n, s.problems.p);
	fflush(stdout);
	arena_release(&s.arena);
	return out;
}

/* ---- a failure ---- */

/* Tries a few runs with fewer parts, clients and steps: a smaller failing run is easier to understand. */
static struct options shrink(const struct options *o, const struct design *d, const char *file, uint64_t seed)
{
	struct options best = *o, next;

	best.quiet = true;
	best.recording = best.all = false;
	for (size_t i = 0; i < SIM_PARTS; i++) {
		next = best;
		next.without |= 1u << i;
		if (next.without != best.without && simulate(&next, d, file, seed).problems)
			best = next;
	}
	for (size_t clients = 1; clients < 4; clients++) {
		next = best;
		next.clients = clients;
		if (simulate(&next, d, file, seed).problems) {
			best = next;
			break;
		}
	}
	for (size_t steps = simulate(&best, d, file, seed).steps; steps > 10; steps = steps * 4 / 5) {
		next = best;
		next.steps = steps;
		if (simulate(&next, d, file, seed).problems)
			best = next;
	}
	return best;
}

static void put_parts(const char *word, unsigned parts)
{
	const char *between = word;

	for (size_t i = 0; i < SIM_PARTS; i++)
		if (parts >> i & 1) {
			printf("%s%s", between, part_names[i]);
			between = ",";
		}
}

static void put_command(const struct options *o, const char *file, uint64_t seed)
{
	printf("make sim SEED=%llu DESIGN=%s", (unsigned long long)seed, file);
	put_parts(" WITH=", held_parts() & ~o->without);
	put_parts(" WITHOUT=", o->without & ~held_parts() & ((1u << SIM_PARTS) - 1));
	if (o->clients)
		printf(" CLIENTS=%zu", o->clients);
	if (o->steps)
		printf(" STEPS=%zu", o->steps);
	printf("\n");
}

static void explain(const struct options *o, const struct design *d, const char *file, uint64_t seed)
{
	struct options small = shrink(o, d, file, seed);

	printf("\nto see it again: ");
	put_command(o, file, seed);
	printf("a smaller one:   ");
	put_command(&small, file, seed);
	small.recording = true;
	small.quiet = false;
	(void)simulate(&small, d, file, seed);
	printf("\n");
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

struct command {
	struct options options;
	struct arena arena;
	const struct design *designs[DESIGNS_MOST];
	const char *files[DESIGNS_MOST], *only;
	size_t count;
	uint64_t first, seeds;
	double seconds;
	bool twice, first_only;
	/* the result */
	uint64_t runs, failed, hash;
	struct outcome total;
};

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

static void read_arguments(struct command *c, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--seed"))
			c->first = number(value), i++;
		else if (!strcmp(argv[i], "--seeds"))
			c->seeds = number(value), i++;
		else if (!strcmp(argv[i], "--seconds"))
			c->seconds = strtod(value, NULL), i++;
		else if (!strcmp(argv[i], "--clients"))
			c->options.clients = number(value) < CLIENTS_MOST ? number(value) : CLIENTS_MOST, i++;
		else if (!strcmp(argv[i], "--steps"))
			c->options.steps = number(value), i++;
		else if (!strcmp(argv[i], "--without"))
			c->options.without |= parts_named(value), i++;
		else if (!strcmp(argv[i], "--with"))
			c->options.without &= ~parts_named(value), i++;
		else if (!strcmp(argv[i], "--design"))
			c->only = value, i++;
		else if (!strcmp(argv[i], "--history"))
			c->options.recording = true;
		else if (!strcmp(argv[i], "--all"))
			c->options.recording = c->options.all = true;
		else if (!strcmp(argv[i], "--twice"))
			c->twice = true;
		else if (!strcmp(argv[i], "--first"))
			c->first_only = true;
		else if (c->count < DESIGNS_MOST)
			c->files[c->count++] = argv[i];
	}
}

static void one(struct command *c, size_t i, uint64_t seed)
{
	struct outcome x = simulate(&c->options, c->designs[i], c->files[i], seed);

	if (c->twice && simulate(&c->options, c->designs[i], c->files[i], seed).hash != x.hash) {
		printf("seed %llu, %s: two runs differ\n", (unsigned long long)seed, c->files[i]);
		c->failed++;
	}
	if (x.problems && !c->options.recording && !c->first_only && c->failed < EXPLAINED_MOST)
		explain(&c->options, c->designs[i], c->files[i], seed);
	c->failed += x.problems != 0;
	c->runs++;
	c->total.requests += x.requests;
	c->total.acknowledged += x.acknowledged;
	c->total.lives += x.lives;
	c->total.items += x.items;
	c->hash = (c->hash ^ x.hash) * UINT64_C(0x100000001b3);
}

int main(int argc, char **argv)
{
	struct command c = { .options = { .without = held_parts() }, .first = 1, .seeds = 1 };
	double started = seconds_now();

	arena_init(&c.arena);
	fiber_begin(0); /* so that loading draws no real random numbers either */
	read_arguments(&c, argc, argv);
	for (size_t i = 0; i < c.count; i++)
		c.designs[i] = load(&c.arena, c.files[i]);
	fiber_end();
	for (uint64_t seed = c.first; seed < c.first + c.seeds; seed++)
		for (size_t i = 0; i < c.count && (c.seconds == 0 || seconds_now() - started < c.seconds); i++)
			if ((!c.only || strstr(c.files[i], c.only)) && !(c.first_only && c.failed))
				one(&c, i, seed);
	printf("%llu runs from seed %llu, %zu requests (%zu acknowledged), %zu starts, %zu items checked, %.1f s, trace %016llx: %llu failed\n",
	       (unsigned long long)c.runs, (unsigned long long)c.first, c.total.requests, c.total.acknowledged,
	       c.total.lives, c.total.items, seconds_now() - started, (unsigned long long)c.hash,
	       (unsigned long long)c.failed);
	arena_release(&c.arena);
	return c.failed ? 1 : 0;
}
