/* What the files of app/ share of a running design. Everything but what is marked has been made before the first request and is
 * read only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_APP_INTERNAL_H
#define THORPE_APP_APP_INTERNAL_H

#include "app/app.h"

struct gather;      /* write_gather.c: adds that wait; has its own lock */
struct idempotency; /* idempotency.c: replies of the last ten minutes; has its own lock */
struct route_table; /* routes.c */
struct read_known;

struct app;

struct gather *gather_new(void);
void gather_free(struct gather *g);
struct idempotency *idempotency_new(void);
void idempotency_free(struct idempotency *i);
struct slice app_index_make(const struct app *app, struct arena *a); /* app_index.c: the reply of GET /api/<design> */

size_t app_body_needs(const struct design *d); /* app_body.c */

struct app {
	struct arena arena; /* of what lives as long as the app */
	const struct design *design;
	struct database *database;
	const struct clock *clock;
	uint8_t secret[CALLER_SECRET_BYTES];
	uint8_t cursor_key[64];          /* derived from the secret and the design's name */
	struct callers_state *callers;   /* shared, locked */
	struct gather *gather;           /* shared, locked */
	struct idempotency *idempotency; /* shared, locked */
	struct guesses *guesses;         /* shared, locked; NULL: the database is near, and nothing is rehearsed */
	struct lag *lag;                 /* shared, locked; NULL: the database is near, or no index decides anything */
	const struct route_table *routes;
	struct slice index;
	size_t body_bytes;              /* app_body.c */
	const struct read_known *reads; /* read.h: of the access patterns */
	_Atomic bool keeper_runs;       /* what follows from a write is left to the keeper */
	_Atomic bool deletions_settled; /* no marker is known to wait (deleting.h) */
	_Atomic bool moved;             /* writes are refused (db/moved.h) */
	int64_t sweep_ms;               /* when unfinished deletions are looked for again: the ticking thread's */
	int64_t looked_ms;              /* when the marker of a move was last looked for: the ticking thread's */
	app_operators *operators;       /* NULL: there is nothing below /processors. Set while no request is running */
	void *operators_ctx;
};

#endif
