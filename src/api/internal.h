/* Inside api/: the process-wide state.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_INTERNAL_H
#define THORPE_API_INTERNAL_H

#include "api/op.h"

/* Upper bounds of the latency histogram, microseconds; the last bucket is everything above. */
#define LATENCY_BUCKETS 10
extern const int64_t latency_bound_us[LATENCY_BUCKETS];

struct op_metrics {
	_Atomic uint64_t calls, client_errors, server_errors;
	_Atomic uint64_t latency_us;
	_Atomic uint64_t latency_bucket[LATENCY_BUCKETS + 1];
};

struct api {
	struct db *db;
	char region[64];
	char endpoint[256];
	struct faults *faults;      /* NULL: none */
	struct op_metrics *metrics; /* by position in the table of operations */
	_Atomic uint64_t unknown_calls;
	const struct slice *elsewhere; /* api_list_also() */
	size_t elsewhere_count;
};

/* Counts a finished call. `i`: the operation's row. */
void metrics_count(struct api *api, size_t i, int status, int64_t us);

/* ---- fault.c ---- */
/* Refuses, as DynamoDB would, a request that the handler accepted: throttling, conflicts. Called after the handler. */
bool fault_spares(struct op_state *s, struct error *e) MUST_CHECK;
/* The past view that a read of the table, or of its index (NULL: none), sees; NULL: the present. Requires s->fault. */
const struct store_view *fault_view(struct op_state *s, const struct table *t, const struct index *i, bool consistent);
/* Fills the throttling error of the table, or of its index (NULL: none). */
void fault_set_throttled(struct op_state *s, const struct table *t, const struct index *i, bool writes, struct error *e);

#endif
