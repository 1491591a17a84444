/* The adversary: produces on purpose the faults that DynamoDB has and Thorpe does not.
 *
 * A SPEC is a list of faults, such as "latency=5ms..20ms,throttle=5%,table=orders,conflict=50%,seed=42". Faults
 * before the first `table=` apply to all tables; those after `table=NAME` to that one, where they replace the same
 * fault for all tables. `none` removes the current faults.
 *
 * Whether a fault strikes is a function of the seed, the table, the operation, how often it was called before, and
 * the fault. So a client that sends the same requests in the same order gets the same faults; with several clients,
 * that holds for each table and operation in the order in which requests arrive.
 *
 * Only requests from outside have faults: http/ draws them for a call (api.h). A design's own calls in this process
 * have none. Threads: struct faults may be used by any thread; one lock, held for moments.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_FAULT_FAULT_H
#define THORPE_FAULT_FAULT_H

#include "base/buf.h"
#include "store/store.h"
#include "table/db.h"

enum fault_form {
	FAULT_CHANCE,      /* 5% */
	FAULT_TIME,        /* 2s */
	FAULT_RANGE,       /* 5ms, or 5ms..20ms */
	FAULT_CHANCE_TIME, /* 1%:200ms */
};

/*  enum suffix        name                 form          what it does */
#define FAULT_MAP(X)                                                                                                    \
	X(LATENCY, "latency", FAULT_RANGE, "every request is delayed by that time")                                     \
	X(SLOW, "slow", FAULT_CHANCE_TIME, "the request is executed at once, its reply delayed by that time")           \
	X(DROP, "drop", FAULT_CHANCE, "the connection is closed without a reply; nothing was done")                     \
	X(DROP_AFTER, "drop-after", FAULT_CHANCE,                                                                       \
	  "the request is executed, then the connection is closed without a reply")                                     \
	X(ERROR_BEFORE, "error-before", FAULT_CHANCE, "InternalServerError (500); nothing was done")                    \
	X(ERROR_AFTER, "error-after", FAULT_CHANCE, "the request is executed, then InternalServerError (500)")          \
	X(THROTTLE, "throttle", FAULT_CHANCE, "throttling, with its reasons; in batches per item, as unprocessed")      \
	X(CONFLICT, "conflict", FAULT_CHANCE, "TransactionConflict for writes and transactions")                        \
	X(INDEX_LAG, "index-lag", FAULT_TIME, "global indexes do not show newer writes")                                \
	X(READ_LAG, "read-lag", FAULT_TIME, "reads without ConsistentRead do not show newer writes")                    \
	X(SPLIT_SHARDS, "split-shards", FAULT_TIME, "interval at which a stream's shards are closed and get children")  \
	X(DUPLICATE_RECORDS, "duplicate-records", FAULT_CHANCE, "GetRecords repeats the previous page, then continues") \
	X(ITERATOR_EXPIRES, "iterator-expires", FAULT_TIME,                                                             \
	  "shard iterators expire after that time, instead of 15 minutes")                                              \
	X(TTL_DELAY, "ttl-delay", FAULT_TIME, "expired items are removed that much later")

enum fault_kind {
#define X(id, name, form, help) FAULT_##id,
	FAULT_MAP(X)
#undef X
		FAULT_KINDS
};

struct fault_rule {
	bool set;
	uint32_t chance;        /* in millionths */
	int64_t from_ms, to_ms; /* single times have both equal */
};

/* ---- parsing and printing (spec.c) ---- */

struct fault_section {
	struct slice table; /* empty: all tables */
	bool clears;        /* `none` */
	struct fault_rule rules[FAULT_KINDS];
};
struct fault_spec {
	struct fault_section *sections; /* at most one for each table */
	size_t count;
	bool has_seed;
	uint64_t seed;
};
/* In the arena; table names point into `text`. False with a sentence in `why`. */
bool fault_spec_parse(struct arena *a, struct slice text, struct fault_spec *out, char *why, size_t n) MUST_CHECK;
/* "throttle=5%,conflict=5%"; empty if nothing is set. */
void fault_rules_print(struct buf *out, const struct fault_rule *rules);
/* For --fault help. */
void fault_print_help(void);
const char *fault_name(enum fault_kind k);

/* ---- the current faults ---- */

struct faults;
/* NULL: out of memory. No faults at first. */
struct faults *faults_new(void);
void faults_free(struct faults *f); /* NULL is fine */

/* Each section replaces its table's faults and restarts their draws. A seed restarts all draws. `none` for all
 * tables ends the faults of every table. False: out of memory, and nothing has changed. */
bool faults_set(struct faults *f, const struct fault_spec *spec) MUST_CHECK;
/* Whether anything is set. A single load. */
bool faults_are_on(const struct faults *f);
/* The current faults as a SPEC. */
void faults_print(struct faults *f, struct buf *out);
/* The same as JSON, with how often each fault struck. */
void faults_show(struct faults *f, struct buf *out);
void faults_metrics(struct faults *f, struct buf *out);
void faults_count(struct faults *f, enum fault_kind k);

/* The time of a fault for this table, in milliseconds; 0: not set. */
int64_t faults_time_ms(struct faults *f, enum fault_kind k, struct slice table);

/* ---- one request ---- */

/* The draws of one request. */
struct fault_plan {
	struct faults *faults;
	uint64_t base;    /* all its draws come from it */
	int64_t delay_ms; /* before the request begins */
	int64_t hold_ms;  /* after it is done */
	bool hangs_up;    /* there is no reply */
	bool fails_before, fails_after;
};
/* Draws the faults of the request as a whole. `operation`: any number that identifies it. */
void faults_draw(struct faults *f, struct slice table, unsigned operation, struct fault_plan *out);
/* Whether the fault, which has a chance, strikes the i-th item of the request, an item of this table. Counts it.
 * The same question gets the same answer. */
bool fault_strikes(const struct fault_plan *p, enum fault_kind k, struct slice table, size_t i);

/* ---- faults that need a database ---- */

/* Starts the thread for lagging reads and splitting shards; it sleeps while there are none. False: out of memory or
 * threads. */
bool faults_attach(struct faults *f, struct db *db) MUST_CHECK;
/* Call before the database is closed: ends the thread and releases all views. Requests must have ended. */
void faults_detach(struct faults *f);

/* The database as of the time that index-lag or read-lag of this table says; NULL: as of now. Released with the
 * arena. */
const struct store_view *faults_past(struct faults *f, enum fault_kind lag, struct slice table, struct arena *a);

/* For struct db_options: how much later items of the table are removed. `ctx`: struct faults. */
int64_t faults_ttl_delay_ms(void *ctx, struct slice table);

#endif
