/* Demo data: a file of requests that are played to a design whose table is empty.
 *
 *     {"about": "…", "accounts": "log in as alice / wonderland",
 *      "steps": [{"as": "alice", "roles": ["user"], "method": "POST", "path": "/users", "body": {…}, "at": "-3 days"}]}
 *
 * Each step is a request to the REST API below /api/<design>, under all its rules. `as` is the caller, by default an
 * operator; `claims` are those of its token. `at` is the time of the request: a timestamp, or an age, so that the data stays recent.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_DEMO_H
#define THORPE_APP_DEMO_H

#include <stdatomic.h>
#include "app/app.h"

struct demo_report {
	atomic_uint total, done, failed; /* steps; may be read while the file is played */
	struct slice accounts;           /* the file's sentence, in the arena; empty: none */
};

/* Whether the design's table has no item; false if it cannot be read. */
bool demo_is_empty(struct app *app, struct backend *b, struct arena *a);
/* Plays the text of a file. A step that fails is logged as a warning, and the next one follows. False: the text is not
 * demo data, and `why` says so in a sentence. Running out of memory leaves by arena.h A1; within a step it fails the
 * step. */
bool demo_play(struct app *app, struct backend *b, struct arena *a, struct slice text, struct demo_report *report,
	       const char **why) MUST_CHECK;
/* "2026-01-15T10:30:00Z", "now", or an age before `now_ms`: "-3 days", "-2 hours 10 minutes". False: none of these. */
bool demo_time(struct slice text, int64_t now_ms, int64_t *ms) MUST_CHECK;

#endif
