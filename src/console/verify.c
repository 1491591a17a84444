/* Runs the oracle on the items of a served design in a background thread; keeps the result until the next run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "console/verify.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "console/doc.h"
#include "oracle/oracle.h"

#define PASSES         4
#define SETTLE_MOST_MS 10000
#define SETTLE_STEP_MS 100
#define NICE           10 /* requests come first */

enum verify_state { VERIFY_NEVER, VERIFY_RUNNING, VERIFY_DONE, VERIFY_FAILED };

struct verify {
	const struct design *design;
	struct process *process; /* NULL: none */
	struct database *database;
	pthread_t thread;
	bool started; /* a thread runs or has ended, and must be joined */
	atomic_bool stop;
	pthread_mutex_t lock; /* of what follows */
	enum verify_state state;
	struct oracle_progress progress;
	struct oracle_summary summary;
	int64_t began_ms, ended_ms;
	struct arena arena;  /* of the findings */
	struct buf findings; /* objects with commas between them */
	size_t kept;
	uint64_t kinds[ORACLE_KINDS];
	char why[256];
};

/* ---- the thread ---- */

static void take_finding(void *ctx, const struct oracle_finding *f)
{
	struct verify *v = ctx;
	size_t before;

	pthread_mutex_lock(&v->lock);
	v->kinds[f->kind]++;
	before = v->findings.n;
	if (v->kept < CONSOLE_VERIFY_MOST) {
		ARENA_TRY(&v->arena, {
			oracle_finding_json(&v->findings, v->design, f);
			v->kept++;
		}, {
			v->findings.n = before; /* drop the incomplete finding */
		});
	}
	pthread_mutex_unlock(&v->lock);
}

static bool take_progress(void *ctx, const struct oracle_progress *p)
{
	struct verify *v = ctx;

	pthread_mutex_lock(&v->lock);
	v->progress = *p;
	pthread_mutex_unlock(&v->lock);
	return !atomic_load(&v->stop);
}

static void settle(void *ctx)
{
	struct timespec step = { .tv_nsec = SETTLE_STEP_MS * 1000000L };
	struct verify *v = ctx;

	for (int ms = 0; ms < SETTLE_MOST_MS && !atomic_load(&v->stop); ms += SETTLE_STEP_MS) {
		nanosleep(&step, NULL);
		if (!v->process || process_is_idle(v->process))
			return;
	}
}

static void *run_verify(void *arg)
{
	struct verify *v = arg;
	struct oracle_options o = { .now_ms = clock_now_ms(&clock_system),
				    .passes = PASSES,
				    .stream = true,
				    .notes = true,
				    .tell = take_finding,
				    .progress = take_progress,
				    .settle = settle,
				    .ctx = v };
	struct backend *b = database_open(v->database);
	struct oracle_summary summary = { 0 };
	char why[256] = "out of memory";
	bool ok;

#ifdef __linux__
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
#endif
	ok = b && oracle_check(b, v->design, &o, &summary, why, sizeof(why));
	backend_free(b);
	pthread_mutex_lock(&v->lock);
	v->state = ok ? VERIFY_DONE : VERIFY_FAILED;
	v->summary = summary;
	v->ended_ms = clock_now_ms(&clock_system);
	if (!ok)
		snprintf(v->why, sizeof(v->why), "%s", why);
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

/* ---- life ---- */

struct verify *verify_new(const struct design *d, struct process *p, struct database *database)
{
	struct verify *v = mem_zalloc(sizeof(*v));

	if (!v)
		return NULL;
	v->design = d;
	v->process = p;
	v->database = database;
	arena_init(&v->arena);
	buf_init(&v->findings, &v->arena);
	pthread_mutex_init(&v->lock, NULL);
	return v;
}

void verify_free(struct verify *v)
{
	if (!v)
		return;
	atomic_store(&v->stop, true);
	if (v->started)
		pthread_join(v->thread, NULL);
	pthread_mutex_destroy(&v->lock);
	arena_release(&v->arena);
	mem_free(v);
}

/* Drops the last findings. */
static void begin_verify(struct verify *v)
{
	arena_release(&v->arena);
	buf_init(&v->findings, &v->arena);
	memset(v->kinds, 0, sizeof(v->kinds));
	v->progress = (struct oracle_progress){ .pass = 1 };
	v->kept = 0;
	v->began_ms = clock_now_ms(&clock_system);
	v->state = VERIFY_RUNNING;
}

void verify_start(struct verify *v)
{
	bool running;

	pthread_mutex_lock(&v->lock);
	running = v->state == VERIFY_RUNNING;
	if (!running)
		begin_verify(v);
	pthread_mutex_unlock(&v->lock);
	if (running)
		return;
	if (v->started) /* the previous one has ended or is about to */
		pthread_join(v->thread, NULL);
	v->started = pthread_create(&v->thread, NULL, run_verify, v) == 0;
	if (v->started)
		return;
	pthread_mutex_lock(&v->lock);
	v->state = VERIFY_FAILED;
	v->ended_ms = v->began_ms;
	snprintf(v->why, sizeof(v->why), "no thread can be started");
	pthread_mutex_unlock(&v->lock);
}

/* ---- the document ---- */

static void put_kinds(struct buf *b, const struct verify *v)
{
	json_member_open(b, "kinds", '{');
	for (size_t i = 0; i < ORACLE_KINDS; i++)
		if (v->kinds[i])
			json_member_int(b, oracle_kind_name((enum oracle_kind)i), (int64_t)v->kinds[i]);
	json_close(b, '}');
}

struct slice verify_document(struct verify *v, struct arena *a)
{
	static const char *const states[] = { "never", "running", "done", "failed" };
	struct buf b;

	/* Makes room first: running out of memory with the lock held would leave it locked. */
	buf_init(&b, a);
	pthread_mutex_lock(&v->lock);
	{
		size_t n = v->findings.n + 4096;

		pthread_mutex_unlock(&v->lock);
		buf_room(&b, n + CONSOLE_VERIFY_MOST);
	}
	pthread_mutex_lock(&v->lock);
	json_open(&b, '{');
	doc_member_str(&b, "state", states[v->state]);
	if (v->state != VERIFY_NEVER)
		json_member_int(&b, "began_at", v->began_ms);
	if (v->state == VERIFY_RUNNING) {
		json_member_int(&b, "items", (int64_t)v->progress.items);
		json_member_int(&b, "of", (int64_t)v->progress.of);
		json_member_int(&b, "pass", v->progress.pass);
		json_member_bool(&b, "comparing", v->progress.comparing);
	} else if (v->state != VERIFY_NEVER) {
		json_member_int(&b, "ended_at", v->ended_ms);
		json_member_int(&b, "items", (int64_t)v->summary.items);
		json_member_int(&b, "differences", (int64_t)v->summary.differences);
		json_member_int(&b, "pending", (int64_t)v->summary.pending);
		json_member_int(&b, "notes", (int64_t)v->summary.notes);
		json_member_int(&b, "moved", (int64_t)v->summary.moved);
	}
	if (v->state == VERIFY_FAILED)
		doc_member_str(&b, "why", v->why);
	put_kinds(&b, v);
	json_member_open(&b, "findings", '[');
	/* Findings that did not fit are reported the next time. */
	if (b.cap - b.n > v->findings.n + 64)
		buf_put(&b, buf_slice(&v->findings));
	json_close(&b, ']');
	json_close(&b, '}');
	pthread_mutex_unlock(&v->lock);
	return buf_slice(&b);
}
