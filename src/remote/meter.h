/* A client's counters since it was opened, for /metrics.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_METER_H
#define THORPE_REMOTE_METER_H

#include "remote/remote.h"

struct meter;
struct meter *meter_new(void); /* NULL: memory */
void meter_free(struct meter *m);

/* one call, when it has ended */
struct meter_call {
	const char *operation;
	const char *label;
	unsigned attempts, throttles;
	unsigned trips;                     /* 0: made while another one was waited for */
	unsigned troubles[REMOTE_TROUBLES]; /* attempts that failed, by kind */
	bool failed;                        /* no answer in the end, or 5xx, or throttled */
	int64_t us;
	double read_units, write_units;
};
void meter_add(struct meter *m, const struct meter_call *c);
/* Fills the counters of `out`; `uses` are in the arena. */
void meter_read(struct meter *m, struct arena *a, struct remote_metrics *out);

#endif
