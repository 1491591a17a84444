/* Demo data: a file of requests, played to a design whose table is empty.
 *
 *     {"about": "…", "accounts": "log in as alice / wonderland",
 *      "steps": [{"as": "alice", "roles": ["user"], "method": "POST", "path": "/users", "body": {…}, "at": "-3 days"}]}
 *
 * Each step is a request to the REST API below /api/<design>, with all its rules. `as` says who asks, and without it an operator
 * does; `at` says when it happened: a timestamp, or how long ago, so that the data does not age.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DEMO_H
#define THORPE_APP_DEMO_H

#include <stdatomic.h>
#include "app/app.h"

struct demo_report {
	atomic_uint total, done, failed; /* steps; `done` counts on while it runs, for who watches */
	struct slice accounts;           /* the file's sentence, in the arena; empty: none */
};

/* Whether the design's table has no item. False too when it cannot be asked. */
bool demo_is_empty(struct app *app, struct backend *b, struct arena *a);
/* Plays a file's text. A step that fails is a warning in the log, and the next one follows. False: it is no such file, and `why`
 * is a sentence. Memory running out leaves by arena.h A1, except within a step, which then has failed. */
bool demo_play(struct app *app, struct backend *b, struct arena *a, struct slice text, struct demo_report *report,
	       const char **why) MUST_CHECK;
/* "2026-01-15T10:30:00Z", "now", "-3 days", "-2 hours 10 minutes": before `now_ms`. False: none of these. */
bool demo_time(struct slice text, int64_t now_ms, int64_t *ms) MUST_CHECK;

#endif
