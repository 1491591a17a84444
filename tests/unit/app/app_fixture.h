/* A design in a database of its own, in memory, and a run to call things with.
 *
 *     struct app_fixture f;
 *     app_fixture_open(&f, "entities:\n  Note: …");   the head (design, table, key) is put before it
 *     struct run *r = app_fixture_run(&f, "alice");   NULL: anonymous; "!": an operator
 *     app_fixture_close(&f);
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_APP_FIXTURE_H
#define THORPE_TESTS_APP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "api/local.h"
#include "app/app.h"
#include "app/run/state.h"
#include "design/row.h"
#include "app/db/provision.h"
#include "app/run/run.h"

struct app_fixture {
	struct db *db;
	struct api *api;
	struct database_local database;
	struct backend *backend;
	struct arena arena;
	struct app app;
	const struct design *design;
};

#define APP_FIXTURE_HEAD                                                                                     \
	"design: test\ntitle: Test\ntable: Test\nkey: [PK, SK]\nindexes:\n  GSI1: {key: [GSI1PK, GSI1SK]}\n" \
	"  GSI2: {key: [GSI2PK, GSI2SK]}\nttl: expires_at\nstream: new and old images\n"

static inline const struct design *app_fixture_design(struct arena *a, struct slice text, struct slice file)
{
	struct source s = { .file = file, .text = text };
	struct findings findings;
	const struct design *d;
	struct buf out;

	findings_init(&findings, a);
	d = design_load(a, s, NULL, NULL, &findings);
	if (d)
		return d;
	buf_init(&out, a);
	findings_print(&out, &findings, &s);
	fail_msg("%.*s", SLICE_ARG(buf_slice(&out)));
	return NULL;
}

/* `yaml`: everything after the head above; or a whole design when it begins with "design:". */
static inline void app_fixture_open_with(struct app_fixture *f, const char *yaml, const struct db_options *options)
{
	struct error e = { 0 };
	struct slice text;
	char why[256];

	memset(f, 0, sizeof(*f));
	arena_init(&f->arena);
	arena_init(&f->app.arena);
	assert_int_equal(db_open(options, &f->db, why, sizeof(why)), STORE_OPENED);
	f->api = api_new(&(struct api_options){ .db = f->db });
	database_local_init(&f->database, f->api);
	f->app.database = &f->database.base;
	f->backend = database_open(&f->database.base);
	text = arena_printf(&f->arena, "%s%s", strncmp(yaml, "design:", 7) ? APP_FIXTURE_HEAD : "", yaml);
	f->design = app_fixture_design(&f->arena, text, SLICE("test.yaml"));
	f->app.design = f->design;
	memset(f->app.cursor_key, 7, sizeof(f->app.cursor_key));
	memset(f->app.secret, 9, sizeof(f->app.secret));
	assert_true(provision_table(f->backend, f->design, &f->arena, &e) != PROVISION_FAILED);
}

#define APP_FIXTURE_NOW 1768473000000 /* 2026-01-15T10:30:00Z */

static inline int64_t app_fixture_now(void *ctx)
{
	(void)ctx;
	return APP_FIXTURE_NOW;
}

/* The database has the runs' time, too: by the system's it would sweep away what the tests have just put. */
static inline void app_fixture_open(struct app_fixture *f, const char *yaml)
{
	static const struct clock clock = { .now_ms = app_fixture_now };

	app_fixture_open_with(f, yaml, &(struct db_options){ .clock = &clock });
}

/* The same, without the thread that removes expired items. */
static inline void app_fixture_open_still(struct app_fixture *f, const char *yaml)
{
	static const struct clock clock = { .now_ms = app_fixture_now };

	app_fixture_open_with(f, yaml, &(struct db_options){ .clock = &clock, .no_background = true });
}

static inline void app_fixture_close(struct app_fixture *f)
{
	arena_release(&f->app.arena);
	arena_release(&f->arena);
	backend_free(f->backend);
	db_close(f->db);
	api_free(f->api);
}

static inline struct run *app_fixture_run(struct app_fixture *f, const char *subject)
{
	struct run *r = arena_zalloc(&f->arena, sizeof(*r));

	r->app = &f->app;
	r->design = f->design;
	r->backend = f->backend;
	r->arena = &f->arena;
	r->now_ms = APP_FIXTURE_NOW;
	if (subject && !strcmp(subject, "!"))
		r->caller.operator_ = true;
	else if (subject)
		r->caller.subject = slice_str(subject);
	return r;
}

#endif
