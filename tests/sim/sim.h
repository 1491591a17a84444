/* A simulation: one design, one seed, some clients of its API, its processors, and a machine that sometimes dies
 * (machine.h).
 *
 *     main.c      seeds, designs, what is printed
 *     world.c     the server: database, app, processors; starts, dies, starts again, settles
 *     client.c    a client: draws requests and sends them
 *     draw.c      values, identities, callers, bodies: from the design alone
 *     session.c   clients that log in, and their sessions
 *     raw.c       writes through the database's own API that do or do not fit the design
 *     ledger.c    requests and replies, and whether the stream explains them
 *     check.c     what must hold at the end
 *     decide.c    whether a write's reasons still hold when it is made
 *     again.c     whether doing everything again removes anything
 *     held.c      disabled parts, and why
 *     history.c   the history, for people
 *
 * All randomness comes from the seed, so a failing seed fails again; `recording` only adds a history for people.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TESTS_SIM_SIM_H
#define THORPE_TESTS_SIM_SIM_H

#include "api/local.h"
#include "app/app.h"
#include "machine.h"
#include "memory.h"
#include "process/process.h"

/* What may happen. Each part can be disabled, to see whether a failure needs it (--without). */
#define SIM_PART_MAP(X)                                                                                            \
	X(CRASHES, "crashes")     /* the process dies at a write */                                                \
	X(PAUSES, "pauses")       /* an operator pauses and resumes processors */                                  \
	X(REPLAYS, "replays")     /* an operator replays them */                                                   \
	X(SPLITS, "splits")       /* the shards of the stream end, and their children continue */                  \
	X(JUMPS, "jumps")         /* the date is set forward, so that things expire */                             \
	X(BACKWARDS, "backwards") /* and back, by up to an hour */                                                 \
	X(BATCHES, "batches")     /* POST /batch */                                                                \
	X(DELETES, "deletes")                                                                                      \
	X(ORPHANS, "orphans") /* deletions that leave counted items, because the design says so */                 \
	X(ACTIONS, "actions")                                                                                      \
	X(WRONG, "wrong")       /* bodies with values that are not allowed, or none */                             \
	X(CASCADES, "cascades") /* deletions with a cascade */                                                     \
	X(REFUSALS, "refusals") /* deletions that the design may refuse (`refuse while`) */                        \
	X(INTERNAL, "internal") /* operators write entities meant for processors and companions only */            \
	X(MANAGED, "managed")   /* operators set attributes meant for actions and processors only */               \
	X(HASHES, "hashes")     /* values with a '#' */                                                            \
	X(NULLS, "nulls")       /* null for attributes that have a default */                                      \
	X(DECIDE, "decide")     /* checks whether a request is still allowed when it writes (decide.c) */          \
	X(AGAIN, "again")       /* at the end processors do everything again (again.c) */                          \
	X(RECOUNTS, "recounts") /* replays of processors that count */                                             \
	X(CROWDS, "crowds")     /* one request many times: more items than one deletion removes at once */         \
	X(FOUNDING, "founding") /* a third of the runs begin with some items of every entity, made by operators */ \
	X(SESSIONS, "sessions") /* clients log in, and use their tokens (session.c) */                             \
	X(RAW, "raw")           /* writes of an SDK that fit the design */                                         \
	X(UNFIT, "unfit")       /* writes of an SDK that do not */
enum sim_part {
#define X(id, name) SIM_##id,
	SIM_PART_MAP(X)
#undef X
		SIM_PARTS
};

struct options {
	unsigned without;      /* 1 << enum sim_part */
	size_t clients, steps; /* 0: drawn */
	bool recording, all, quiet;
};

#define RAW_DELETED_MOST 512
#define SESSIONS_MOST    8

struct session; /* session.h */

struct pool; /* draw.c */
struct ledger;

struct sim {
	const struct options *options;
	const struct design *design;
	const char *file;
	uint64_t seed;
	struct random random; /* what clients do */
	struct arena arena;   /* as long as the run */
	struct pool *pool;
	struct ledger *ledger;
	/* the server */
	struct db *db;
	struct api *api;
	struct database_local database;
	struct app *app;
	struct process *process;
	struct backend *backend; /* of the first fiber */
	struct fiber *ticker;
	bool stopping;
	unsigned lives; /* number of starts */
	size_t steps, steps_left, requests, acknowledged, busy, items, unfit, raw_deletes;
	struct value *unfit_keys; /* keys of unfit items written by an SDK, `unfit` of them (RAW_DELETED_MOST at most) */
	struct value *raw_deleted; /* keys of what an SDK has deleted, raw_deletes of them (RAW_DELETED_MOST at most) */
	struct session *sessions;  /* SESSIONS_MOST of them */
	size_t session_count;
	/* the problems */
	struct buf problems;
	size_t problem_count;
	struct buf history;
};

/* Whether a part is enabled in this run. */
bool sim_may(const struct sim *s, enum sim_part p);
/* Reports a problem. */
void sim_problem(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a line to the history, if recording. */
void sim_note(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- history.c ---- */
void history_watch(void *sim, const struct machine_write *w);
void history_log(void *sim, const char *line);
/* Prints all of it, or, with problems, lines about the items they name. */
void history_print(struct sim *s);

/* ---- world.c ---- */
/* False: it died while starting, or failed (a problem). */
bool world_start(struct sim *s);
void world_stop(struct sim *s);
/* Runs until no work is left. False: a problem. */
bool world_settle(struct sim *s);
/* A request to the design's API. */
void world_ask(struct sim *s, struct backend *b, struct arena *a, struct app_request *q, struct app_reply *reply);

/* ---- draw.c ---- */
struct pool *sim_pool_new(struct sim *s);
#define DRAW_SAID 8
/* the request's earlier value of an attribute */
struct draw_said {
	size_t attribute;
	struct slice text;
};
/* a request being drawn */
struct draw {
	struct sim *sim;
	struct arena *arena;
	struct caller caller;
	bool wrong; /* some values may be wrong */
	bool sure;  /* only names known items */
	struct draw_said said[DRAW_SAID];
	size_t said_count;
	bool is_caller_said;
};
/* Draws the caller. */
void draw_caller(struct draw *d);
/* A value for the attribute of the entity: text as in a path; empty: none is known. */
struct slice draw_identity(struct draw *d, const struct entity *e, struct slice attribute);
/* A path with its placeholders filled in; false: a value is not known yet. `params`: of the entity (NULL: of none).
 * `cut`: without the placeholders at its end. */
bool draw_path(struct draw *d, const struct template *t, const struct entity *e, bool cut, struct buf *out);
void draw_value(struct draw *d, const struct entity *e, const struct attribute *a, struct buf *out);
enum body_kind { BODY_CREATE, BODY_POST, BODY_UPDATE, BODY_ACTION };
void draw_body(struct draw *d, const struct entity *e, enum body_kind kind, const struct action *action,
	       struct buf *out);
/* The entity's weight in this run, 0 to 10. */
unsigned pool_weight(const struct sim *s, const struct entity *e);
/* Remembers identities that a reply shows. */
void pool_learn(struct sim *s, const struct entity *e, const struct json *item);

/* ---- client.c ---- */
void *client_run(void *sim);
/* Before clients start: creates some items of each entity, and runs some actions. Clients alone would rarely create
 * deeply dependent items. */
void client_found(struct sim *s);
void *operator_run(void *sim);
void operator_control(struct sim *s, struct backend *b, struct arena *a, struct slice processor, const char *verb,
		      const char *body);
/* Whether repeating the processor's work would give a different result. */
bool operator_recounts(const struct design *d, struct slice processor);

/* Whether other items count on it, and the design does not say what happens to them when it is deleted. */
bool entity_leaves_orphans(const struct design *d, const struct entity *e);

/* ---- raw.c ---- */
void raw_write(struct sim *s, struct backend *b, struct arena *a);

/* ---- decide.c ---- */
/* the decision of a request; fiber_work() points to it */
struct decision {
	struct app_request *request;
	const struct entity *entity;
	int64_t date_us; /* when it began: what has expired since was there for it */
	int status;      /* the status it would get now; 0: it may write */
	struct slice why;
	bool is_over; /* it has written */
};
void decide_watch(struct sim *s, const struct machine_write *w);

/* ---- check.c ---- */
void check_all(struct sim *s);

/* ---- again.c ---- */
/* Processes all changes again from the first. Items that are then gone should not have existed before: a processor
 * failed to remove them. */
void again_check(struct sim *s);

#endif
