/* Shared by the files of copy/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_COPY_INTERNAL_H
#define THORPE_COPY_INTERNAL_H

#include <pthread.h>
#include "base/ulid.h"
#include "copy/copy.h"

#define COPY_KEPT_MS \
	(23 * 3600 * \
	 INT64_C(1000))  /* a stream keeps 24 hours: a copy that was at its end within that time has missed nothing */
#define COPY_KEYS_MOST 3 /* of an index with several attributes a table's key has two */
#define COPY_SEQUENCE  48

/* under job.lock */
struct segment {
	char *at; /* the key to continue after, as JSON; NULL: from the start */
	bool done, busy;
};

/* under job.lock; while `busy`, only its worker changes it */
struct source_shard {
	struct source_shard *next;
	char *id, *parent;            /* "" : none */
	char sequence[COPY_SEQUENCE]; /* applied up to and including it; "": nothing */
	int64_t reached_ms;           /* all changes before this time have been applied, or were before the scan */
	bool ended, busy, listed;
	bool is_old;      /* closed before the copy began: its changes are in the items, and its sequence is unknown */
	bool from_oldest; /* the sequence has been trimmed, but nothing was missed */
	char *iterator;   /* NULL: a new one is needed */
	unsigned empties; /* polls in a row without records */
	int64_t lag_ms;   /* age of the last applied change; 0: nothing followed it */
	int64_t next_us;
};

/* a copy of one table */
struct job {
	const struct copy_options *o;
	struct slice table;
	pthread_mutex_t lock;
	atomic_bool halt;        /* failed or stopping: workers leave */
	atomic_bool follow_ends; /* workers of the stream leave */
	bool failed;             /* under lock, with why */
	char why[1024];

	/* the source, as found */
	char source[128]; /* identifies the table, however it is reached */
	char stream[256]; /* its ARN; "": none */
	char label[64];   /* its label, the same however it is reached */
	char view[32];
	char ttl[256];              /* the attribute of its TTL; "": off */
	char *keys[COPY_KEYS_MOST]; /* names of the key's attributes */
	size_t key_count;
	uint64_t about;

	/* the state (state.c) */
	char owner[ULID_LENGTH + 1];
	uint64_t beat;
	enum copy_phase phase; /* under lock */
	bool sweeps;           /* the target may have items that the source does not */
	struct segment *segments;
	size_t segment_count;
	struct source_shard *shards;
	bool lost;                /* C7, under lock */
	bool wants_list;          /* a shard has ended, or is gone; under lock */
	int64_t list_us;          /* when the shards were last listed */
	enum copy_mode following; /* the argument of copy_stream_follow() */
	const struct walk *walk;
	atomic_uint walk_next;
	atomic_uint_fast64_t walked;
	void (*tell)(void *ctx, const char *what, struct slice key); /* compare.c */
	bool is_over;   /* the switch was done before: report it again, with nothing to do */
	bool is_closed; /* servers of the source refuse writes (closed.c) */
	bool is_saved;  /* the state is in the table: the saver may run */

	/* numbers */
	atomic_uint_fast64_t items, bytes, changes, removed, differences;
	atomic_int_fast64_t change_us, lag_ms; /* when the last change came; how old it was */
	atomic_int throttled;

	/* the pace (write.c), under lock */
	double allowance;
	int64_t allowance_us;
};

/* The state of one thread; `at` selects the side that a call goes to. */
enum copy_at { COPY_FROM, COPY_TO };
struct copier {
	struct job *job;
	struct backend *backends[2];
	struct arena arena; /* of a page, or a step */
	bool has_last_word; /* may call even if the job is halted: to save the final state */
};

/* ---- calls (call.c) ---- */
bool copier_init(struct copier *c, struct job *j) MUST_CHECK; /* false: the job has failed */
void copier_release(struct copier *c);
/* Retries calls that may succeed later, for as long as the options allow; throttled calls forever. False: refused
 * (r->error) or, with an empty r->error, the job is halted. */
bool copier_call(struct copier *c, enum copy_at at, const char *operation, struct slice body,
		 struct backend_reply *r) MUST_CHECK;
/* stream.c: GetShardIterator at the source, after a sequence (empty: from the oldest record), and GetRecords. */
bool copy_take_iterator(struct copier *c, const struct source_shard *s, struct slice after,
			struct backend_reply *r) MUST_CHECK;
bool copy_get_records(struct copier *c, struct slice iterator, int limit, struct backend_reply *r) MUST_CHECK;
/* The same, but a refusal fails the job. */
bool copier_must(struct copier *c, enum copy_at at, const char *operation, struct slice body,
		 struct backend_reply *r) MUST_CHECK;
/* Fails the job because of a refusal. Returns false. */
bool copier_refused(struct copier *c, enum copy_at at, const char *operation, const struct backend_reply *r);
bool copy_job_fail(struct job *j, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* only the first counts; returns false */
void copy_job_say(struct job *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool copy_job_halted(struct job *j); /* also: stopped from outside */
/* False: halted during the pause. */
bool copy_job_pause(struct job *j, int64_t ms);
/* Runs fn() in `n` threads, each with a copier, until all have returned; every second and at the end it reports
 * progress, and asks watch(), if any, whether to go on. */
void copy_job_work(struct job *j, unsigned n, void (*fn)(struct copier *c), bool (*watch)(struct copier *c));
unsigned copy_job_parallel(const struct job *j);

struct buf copy_body(struct copier *c, struct slice table); /* {"TableName":"…" */
struct slice copy_beside(struct copier *c);                 /* <table>.thorpe */

/* ---- tables (table.c, finish.c) ---- */
/* *table NULL: it does not exist. */
bool copy_table_describe(struct copier *c, enum copy_at at, struct slice name, const struct json **table) MUST_CHECK;
/* Reads the source's description into the job. */
bool copy_table_read_source(struct copier *c, const struct json **table) MUST_CHECK;
/* Why the existing target cannot take the source's items; empty: it can. False: the job failed. */
bool copy_table_differs(struct copier *c, const struct json *from, const struct json *to, struct slice *why) MUST_CHECK;
bool copy_table_has_items(struct copier *c, enum copy_at at, struct slice name, bool *out) MUST_CHECK;
/* The attribute; empty: off. */
bool copy_table_ttl(struct copier *c, enum copy_at at, struct slice name, struct slice *attribute) MUST_CHECK;
bool copy_table_wait(struct copier *c, enum copy_at at,
		     struct slice name) MUST_CHECK;                           /* until it is ACTIVE, with its indexes */
bool copy_table_create(struct copier *c, const struct json *from) MUST_CHECK; /* without stream and TTL: C4 */
bool copy_table_create_beside(struct copier *c) MUST_CHECK;                   /* if it is not there */
bool copy_table_still(struct copier *c) MUST_CHECK;                           /* C4: stream and TTL of the target off */
bool copy_table_finish(struct copier *c) MUST_CHECK;                          /* … and as they should be */
bool copy_table_enable_source_stream(struct copier *c) MUST_CHECK;

/* ---- writes at the source (closed.c) ---- */
/* Makes the servers of the source's design refuse writes, or reports that it cannot. False: the job is halted. */
bool copy_source_close(struct copier *c) MUST_CHECK;
/* The last step of a switch, when all else is done (C8). False: writes were allowed again (--reopen), or the job is
 * halted. */
bool copy_source_leave(struct copier *c) MUST_CHECK;
/* Whether they accept writes, after a switch that had stopped them. Without a design they are not known: false. */
bool copy_source_is_open(struct copier *c, bool *out) MUST_CHECK;
/* Makes them accept writes again. `any`: even if another copy closed them. */
bool copy_source_open(struct copier *c, bool any) MUST_CHECK;

/* ---- the state (state.c) ---- */
enum state_found {
	STATE_NONE,
	STATE_OURS,
	STATE_OTHER /* of another source */,
	STATE_NEWER /* an unknown layout */
};
/* Reads into the job, except for STATE_NONE; *owner is in the arena, empty if the copy has no owner. */
bool copy_state_load(struct copier *c, enum state_found *found, struct slice *owner, uint64_t *beat) MUST_CHECK;
/* Becomes the owner: of a new state (`owner` and beat as none), or of the loaded one. False: the job failed,
 * possibly because another copy was quicker. */
bool copy_state_claim(struct copier *c, bool exists, struct slice owner, uint64_t beat) MUST_CHECK;
bool copy_state_save(struct copier *c) MUST_CHECK;
bool copy_state_leave(struct copier *c) MUST_CHECK; /* has no owner: another copy may continue at once */
void copy_state_reset(struct job *j);               /* forgets segments and shards */
void copy_state_put_item(struct buf *b, struct job *j, const char *owner); /* {"PK":…}; for tests, too */
bool copy_state_take(struct job *j, const struct json *item,
		     enum state_found *found) MUST_CHECK; /* likewise; false: memory */
void copy_job_release(struct job *j);

/* ---- writing (write.c) ---- */
/* of BatchWriteItem; keys are different */
struct batch {
	struct copier *copier;
	struct slice table;
	struct buf body;
	size_t count;
	double units;
};
void copy_batch_init(struct batch *b, struct copier *c, struct slice table);
bool copy_batch_put(struct batch *b, const struct json *item) MUST_CHECK;
bool copy_batch_delete(struct batch *b, const struct json *key) MUST_CHECK;
bool copy_batch_flush(struct batch *b) MUST_CHECK;

/* ---- walking over a table (walk.c) ---- */
struct walk {
	enum copy_at at;
	struct slice table;
	const char *more; /* of the Scan: ",\"Select\":\"COUNT\"" */
	bool (*page)(struct copier *c, const struct json *reply);
};
/* In parallel, each page once. */
bool copy_walk_all(struct copier *c, const struct walk *w) MUST_CHECK;

/* a table and its key */
struct keyed {
	struct slice table;
	const char *keys[COPY_KEYS_MOST];
	size_t count;
};
struct keyed copy_keyed_main(const struct job *j);
struct keyed copy_keyed_beside(struct copier *c);
/* The members of an item that are its key, in the arena. */
const struct json *copy_keyed_key(struct copier *c, const struct keyed *k, const struct json *item);
/* … as bytes, the same however they are written; empty: the job failed. */
struct slice copy_keyed_bytes(struct copier *c, const struct keyed *k, const struct json *item);
/* Projection of a Scan to the key. */
const char *copy_keyed_projection(struct copier *c, const struct keyed *k);
/* The items with the keys of these, strongly consistent, by copy_keyed_bytes(). */
struct map;
bool copy_keyed_get(struct copier *c, const struct keyed *k, enum copy_at at, const struct json *items,
		    struct map *found) MUST_CHECK;

/* ---- the phases ---- */
bool copy_scan_all(struct copier *c) MUST_CHECK; /* scan.c */
bool copy_sweep_all(struct copier *c)
	MUST_CHECK; /* sweep.c: removes what the source does not have. Before changes are applied: C1 */
bool copy_stream_begin(struct copier *c) MUST_CHECK; /* stream.c: the positions before the scan */
/* Until it has caught up, the source has been quiet, or it is stopped; job.lost: C7. */
bool copy_stream_follow(struct copier *c, enum copy_mode mode) MUST_CHECK;
bool copy_beside_bring(struct copier *c) MUST_CHECK; /* beside.c */
bool copy_beside_goes_along(struct slice pk, struct slice sk);
/* undone.c: whether the source's processors still have work, and which. */
bool copy_undone_look(struct copier *c, bool *any, char *why, size_t n) MUST_CHECK;
bool copy_undone_settle(struct copier *c) MUST_CHECK;
/* compare.c: counts job.differences. */
typedef void copy_compare_tell(void *ctx, const char *what, struct slice key);
bool copy_compare_all(struct copier *c, copy_compare_tell *tell) MUST_CHECK;

#endif
