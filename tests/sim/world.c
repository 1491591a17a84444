/* The server of a simulation: `thorpe serve` without HTTP. SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include "app/db/provision.h"
#include "ledger.h"
#include "split_stream.h"

#define SETTLE_STEP_US 1000000
#define SETTLE_MOST    600 /* steps: twice the time of eight attempts of one change */
#define SETTLE_QUIET   4   /* steps without a change */

static void *tick(void *arg)
{
	struct sim *s = arg;
	struct backend *b = backend_local_new(s->api);

	while (!s->stopping) {
		app_tick(s->app, b, false);
		(void)fiber_wait(&s->stopping, fiber_now_us() + 1000000);
	}
	app_tick(s->app, b, true);
	backend_free(b);
	return NULL;
}

static bool fail(struct sim *s, const char *what, const char *why)
{
	if (!memory_is_dead())
		sim_problem(s, "%s: %s", what, why);
	return false;
}

static bool provision(struct sim *s)
{
	struct error e = { 0 };

	if (provision_table(s->backend, s->design, &s->arena, &e) != PROVISION_FAILED)
		return true;
	return fail(s, "the table cannot be made", arena_cstr(&s->arena, e.message));
}

bool world_start(struct sim *s)
{
	struct db_options o = { .durability = DURABILITY_RELAXED };
	struct app_options a = { .design = s->design, .database = &s->database.base };
	char why[256] = "";

	s->lives++;
	s->stopping = false;
	if (db_open(&o, &s->db, why, sizeof(why)) != STORE_OPENED)
		return fail(s, "the database cannot be opened", why);
	ledger_died(s);
	s->api = api_new(&(struct api_options){ .db = s->db });
	database_local_init(&s->database, s->api);
	if (sim_may(s, SIM_SPLITS)) {
		split_stream_show(&s->database);
		s->database.base.poll_ms = 3000; /* nothing is written when a shard ends */
		s->database.base.poll_most_ms = 10000;
	}
	s->backend = database_open(&s->database.base);
	if (!provision(s))
		return false;
	memset(a.secret, 9, sizeof(a.secret));
	s->app = app_new(&a);
	s->process = process_new(&(struct process_options){ .app = s->app });
	if (!process_start(s->process, why, sizeof(why)))
		return fail(s, "the processors do not start", why);
	s->ticker = fiber_new("ticker", tick, s);
	return true;
}

void world_stop(struct sim *s)
{
	s->stopping = true;
	if (s->ticker) {
		fiber_wake(&s->stopping, true);
		fiber_join(s->ticker);
		s->ticker = NULL;
	}
	process_free(s->process);
	s->process = NULL;
	if (s->app)
		app_free(s->app);
	s->app = NULL;
	backend_free(s->backend);
	s->backend = NULL;
	db_close(s->db);
	s->db = NULL;
	if (s->api)
		api_free(s->api);
	s->api = NULL;
}

bool world_settle(struct sim *s)
{
	uint64_t latest = 0;
	int quiet = 0;

	for (int i = 0; i < SETTLE_MOST; i++) {
		uint64_t now = db_metrics(s->db).last_sequence;

		quiet = (s->design->stream == STREAM_NONE || process_is_idle(s->process)) && now == latest ? quiet + 1
													   : 0;
		latest = now;
		if (quiet == SETTLE_QUIET)
			return true;
		fiber_sleep(SETTLE_STEP_US);
	}
	for (size_t i = 0; i < process_reading_count(s->process); i++) {
		struct process_reading r = process_reading(s->process, i);

		if (r.backlog || r.lag_ms)
			sim_problem(s, "%.*s does not come to an end: %llu changes wait, %llu retries",
				    SLICE_ARG(r.name), (unsigned long long)r.backlog, (unsigned long long)r.retries);
	}
	if (!s->problem_count)
		sim_problem(s, "the processors do not come to an end");
	return false;
}

void world_ask(struct sim *s, struct backend *b, struct arena *a, struct app_request *q, struct app_reply *reply)
{
	q->base = arena_printf(a, "/api/%.*s", SLICE_ARG(s->design->name));
	q->client = SLICE("127.0.0.1");
	ARENA_TRY(a, { app_handle(s->app, b, a, q, reply);
	}, { abort();
	});
}
