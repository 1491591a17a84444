/* A running design: the state shared by all its requests (app.h creates it). Everything not marked otherwise is set
 * before the first request and then read-only.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_RUN_STATE_H
#define THORPE_APP_RUN_STATE_H

#include <stdatomic.h>
#include "app/run/run.h"
#include "request/database.h"

struct app_reply;
struct app_request;
struct clock;
struct media;

struct app {
	struct arena arena; /* lives as long as the app */
	const struct design *design;
	struct database *database;
	const struct clock *clock;
	uint8_t secret[CALLER_SECRET_BYTES];
	uint8_t cursor_key[64];        /* derived from the secret and the design's name */
	struct callers_state *callers; /* auth/caller.h; shared, has its own lock */
	struct mail_post *mail;        /* auth/mail.h: notes of tokens to send; shared, has its own lock */
	struct gather *gather;         /* write/write_gather.c: counts that wait; shared, has its own lock */
	struct idempotency *idempotency; /* rest/idempotency.c: replies of the last ten minutes; shared, has its own lock */
	struct guesses *guesses; /* db/guess.h; shared, has its own lock. NULL: the database is local, no rehearsals */
	struct lag *lag; /* db/lag.h; shared, has its own lock. NULL: the database is local, or no decision uses an index */
	const struct route_table *routes; /* rest/routes.h */
	/* Files of items (file/file.h): where they are; NULL: nowhere, no attribute is a file */
	struct media *media;
	uint8_t file_key[32];                /* of addresses; derived from the secret and the design's name */
	int64_t file_hold_ms;                /* a file is uploaded and taken within this time */
	int64_t file_caller_most;            /* bytes of one caller's files */
	int64_t file_tidy_ms, file_sweep_ms; /* times of the next searches; the ticking thread's */
	struct slice index;                  /* rest/app_index.c: the reply of GET /api/<design> */
	size_t body_bytes;                   /* rest/app_body.c */
	const struct read_known *reads;      /* read/read.h: by access pattern */
	_Atomic bool keeper_runs;            /* writes leave their effects to the keeper */
	/* Markers (write/deleting.h): `noted` counts what may have put one; a sweep that found none stores the count
	 * it began with, plus one. */
	_Atomic uint64_t deletions_noted, deletions_swept;
	_Atomic uint64_t renames_noted, renames_swept; /* the same for renames (write/renaming.h) */
	_Atomic bool ticks;                            /* app_tick() is called: it carries out what takes long */
	_Atomic bool moved;                            /* writes are refused (db/moved.h) */
	int64_t rename_ms;                             /* time of the next search for renames; the ticking thread's */
	int64_t sweep_ms;                              /* time of the next search for markers; the ticking thread's */
	int64_t looked_ms; /* time of the last search for the marker of a move; the ticking thread's */
	/* Answers requests below /processors; NULL: none. Set while no request is running. */
	void (*operators)(void *ctx, struct backend *b, struct arena *a, const struct app_request *q,
			  struct app_reply *reply);
	void *operators_ctx;
};

/* Whether the table is remote: a call is a round trip, and other servers may share the table. */
static inline bool run_is_remote(const struct run *r)
{
	return r->app && r->app->database && r->app->database->is_remote;
}

#endif
