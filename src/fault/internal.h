/* Shared by the files of fault/: the current faults, for all tables and for single ones.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_FAULT_INTERNAL_H
#define THORPE_FAULT_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "fault/fault.h"

#define FAULT_CALLS 256 /* call counters, shared by calls with the same hash */

/* The faults of one table, or of all tables without their own. */
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

/* The longest time of a fault in any table; 0: not set. Lock held. */
int64_t fault_longest_ms(const struct faults *f, enum fault_kind k);
/* The longer of both lags. Lock held. */
int64_t fault_longest_lag_ms(const struct faults *f);

/* ---- past.c: views of the database at past moments ---- */
struct past *past_new(void);    /* NULL: out of memory */
void past_free(struct past *p); /* NULL is fine; all views must have been released */
/* Takes a view of now, and releases those older than `keep_ms`, except the youngest of them. keep_ms 0: releases
 * all. */
void past_take(struct past *p, struct store *s, int64_t keep_ms);
/* The youngest view that is at least that old; if none is, the oldest. NULL: there is none. Released with the
 * arena. */
const struct store_view *past_view(struct past *p, int64_t age_ms, struct arena *a);

#endif
