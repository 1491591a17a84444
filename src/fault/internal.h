/* Inside fault/: what holds, for all tables and for single ones.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_FAULT_INTERNAL_H
#define THORPE_FAULT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "fault/fault.h"

#define FAULT_CALLS 256 /* counts of calls, shared by those with the same hash */

/* The faults of one table, or of all that have no own. */
struct fault_entry {
	struct fault_entry *next;
	char *table; /* NULL: all */
	struct fault_rule rules[FAULT_KINDS];
	uint64_t calls[FAULT_CALLS]; /* by table and operation */
};

struct past;

struct faults {
	pthread_mutex_t lock; /* guards what follows, up to the counts */
	uint64_t seed;
	struct fault_entry all;
	struct fault_entry *tables;

	atomic_bool on;
	_Atomic uint64_t struck[FAULT_KINDS];

	/* ticker.c; set by faults_attach() */
	struct db *db;
	pthread_t thread;
	bool has_thread;
	pthread_cond_t changed; /* with `lock` */
	bool stopping;
	struct past *past; /* past.c; has a lock of its own */
};

/* The longest time of a fault, of any table; 0: it is set nowhere. With the lock. */
int64_t fault_longest_ms(const struct faults *f, enum fault_kind k);
/* Of both lags. With the lock. */
int64_t fault_longest_lag_ms(const struct faults *f);

/* ---- past.c: views of the database at moments that have passed ---- */
struct past *past_new(void);    /* NULL when memory is out */
void past_free(struct past *p); /* NULL is fine; nobody holds a view any more */
/* Takes a view of now, and lets go of those that are older than `keep_ms`, but for the youngest of these. keep_ms 0: of all. */
void past_take(struct past *p, struct store *s, int64_t keep_ms);
/* The youngest view that is at least so old; if none is, the oldest. NULL: there is none. It is let go with the arena. */
const struct store_view *past_view(struct past *p, int64_t age_ms, struct arena *a);

#endif
