/* Creates the tables of a design at an endpoint, and shows the plan first.
 *
 *     struct deploy_want want;
 *     deploy_want(design, &options, &arena, &want);              // the design's table, and <table>.thorpe beside it
 *     deploy_look(backend, &want, &arena, &plan, &failure);      // what is there, what is missing, what cannot be changed
 *     deploy_run(backend, &want, &progress, &arena, &failure);   // does it
 *
 * Invariants
 *   D1  Nothing is deleted, turned off or made smaller. A difference that cannot be changed is an obstacle: if
 *       there is one, nothing is done at all.
 *   D2  deploy_run() decides each step from the current state: it may be killed at any point and run again, and two
 *       may run at once. When it returns DEPLOY_DONE, everything is usable: no table or index is still being built.
 *   D3  Looking only reads. (With `probes` it sends one UpdateContinuousBackups that names no table, which every
 *       service refuses; the error shows whether it has the operation.)
 *
 * deploy_cloudformation() and deploy_terraform() describe the same for those tools; they make no calls. Running out
 * of memory leaves by arena.h A1.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_DEPLOY_DEPLOY_H
#define THORPE_DEPLOY_DEPLOY_H

#include "request/backend.h"
#include "design/design.h"

/* ---- the wanted tables ---- */

struct deploy_tag {
	struct slice key, value;
};

/* zero: the defaults */
struct deploy_options {
	bool no_recovery;              /* without point-in-time recovery */
	bool no_protection;            /* without deletion protection */
	const struct deploy_tag *tags; /* besides thorpe:design */
	size_t tag_count;
	bool probes; /* the endpoint may lack operations */
};

struct deploy_table {
	const struct design
		*as; /* its name, keys, indexes, stream, TTL and billing; for the table beside it nothing else is set */
	bool recovery, protection;
	const struct deploy_tag *tags;
	size_t tag_count;
};

#define DEPLOY_TABLES 2
struct deploy_want {
	const struct design *design;
	struct deploy_table tables[DEPLOY_TABLES]; /* the design's own, then the one beside it */
	bool probes;
};
/* `o` and the design must live as long as the arena. */
void deploy_want(const struct design *d, const struct deploy_options *o, struct arena *a, struct deploy_want *out);

/* Whether it can be a tag: up to 128 and 256 characters of those AWS allows, not "aws:…". */
bool deploy_tag_is_valid(const struct deploy_tag *t);

/* ---- the plan ---- */

/* in the order in which they are applied to a table */
enum deploy_act {
	DEPLOY_CREATE,
	DEPLOY_WAIT, /* another change is under way */
	DEPLOY_PROTECT,
	DEPLOY_RECOVERY,
	DEPLOY_TAG,
	DEPLOY_STREAM,
	DEPLOY_INDEX,
	DEPLOY_TTL, /* last: it may be refused for an hour */
};

struct deploy_step {
	enum deploy_act act;
	size_t table;                     /* index into deploy_want.tables */
	const struct design_index *index; /* DEPLOY_INDEX */
	struct slice words;               /* "index GSI1: GSI1PK, GSI1SK; all attributes": what is missing */
	const struct slice *details;      /* DEPLOY_CREATE: what the new table has */
	size_t detail_count;
};

enum deploy_weight {
	DEPLOY_OBSTACLE, /* cannot be changed; the words say what to do */
	DEPLOY_NOTE,     /* differs, and is left unchanged */
};

struct deploy_remark {
	enum deploy_weight weight;
	size_t table;
	struct slice words;
};

struct deploy_plan {
	const struct deploy_step *steps; /* by table, each in the order of its acts; none: nothing to do */
	size_t step_count;
	const struct deploy_remark *remarks;
	size_t remark_count, obstacle_count;
	struct slice arns[DEPLOY_TABLES]; /* empty: the table does not exist */
	double table_bytes, index_bytes;  /* stored bytes as the service reports them (it counts every six hours) */
};

struct deploy_failure {
	const char *operation; /* the refused operation; NULL: `words` says it all */
	struct slice table;
	struct backend_reply reply;
	struct slice words; /* for a person; empty: see `reply` */
};

/* False: the failure, in the arena. */
bool deploy_look(struct backend *b, const struct deploy_want *w, struct arena *a, struct deploy_plan *plan,
		 struct deploy_failure *f) MUST_CHECK;

/* ---- running it ---- */

struct deploy_progress {
	void (*say)(void *ctx, struct slice line); /* "SocialMediaApp: TTL: by expires_at": after it was requested */
	void *ctx;
	int64_t most_ms; /* how long to retry the same refusal; 0: half an hour */
};

enum deploy_end {
	DEPLOY_DONE,
	DEPLOY_BLOCKED, /* there is an obstacle: f->words */
	DEPLOY_FAILED,
};
enum deploy_end deploy_run(struct backend *b, const struct deploy_want *w, const struct deploy_progress *p,
			   struct arena *a, struct deploy_failure *f) MUST_CHECK;

/* ---- costs ---- */

/* negative: as the design declares it */
struct deploy_load {
	double reads, writes; /* calls a second */
	double storage_gb;
	double item_bytes; /* 0: 1,024 */
};

/* a month of 730 hours */
struct deploy_cost {
	bool declared;                  /* the design says something about its traffic, or the load does */
	double read_units, write_units; /* a second */
	double shards;                  /* stream shards that are read; 0: none */
	double storage_gb, growth_gb;   /* mean storage during the month; growth per month, including indexes */
	double recovery_gb;
	/* dollars: */
	double reads, writes, storage, recovery, stream, beside, total;
};
/* `p`: the plan from deploy_look(); NULL: none. */
void deploy_cost(const struct deploy_want *w, const struct deploy_plan *p, const struct deploy_load *l, struct arena *a,
		 struct deploy_cost *out);
/* "us-east-1, September 2026 (https://…)" */
extern const char deploy_prices[];

/* ---- as text ---- */

struct slice deploy_cloudformation(const struct deploy_want *w, struct arena *a); /* JSON */
struct slice deploy_terraform(const struct deploy_want *w, struct arena *a);
/* The permissions that servers need, or those for deploying. `region` "*": any. */
struct slice deploy_policy(const struct deploy_want *w, bool of_deploying, const char *region, struct arena *a);

#endif
