/* Where a design's table is: in this process (api/local.h), or at an endpoint (remote/).
 *
 * A database hands out backends. Each belongs to one thread at a time and ends with backend_free(), before the
 * database does. SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REQUEST_DATABASE_H
#define THORPE_REQUEST_DATABASE_H

#include "request/backend.h"

struct database {
	struct backend *(*open)(struct database *d); /* NULL: out of memory. Any thread */
	/* A rising number: if it changed, a stream may have new records. Any thread, cheap. */
	uint64_t (*latest)(struct database *d);
	/* Changes up to this sequence number are forgotten soon. NULL: those that are a day old. */
	uint64_t (*aging)(struct database *d);
	/* Others write too, and `latest` does not see it: a shard is polled this often while it has records, and
	 * less and less often, down to `poll_most_ms`, while it has none. 0: `latest` sees every write. */
	int poll_ms, poll_most_ms;
	/* The clock that dates the stream's records minus this machine's. NULL: the same clock. Any thread, cheap. */
	int64_t (*clock_off_ms)(struct database *d);
	bool is_remote; /* a call is a round trip: event loops leave it to a thread that may wait */
};

static inline struct backend *database_open(struct database *d)
{
	return d->open(d);
}

static inline uint64_t database_latest(struct database *d)
{
	return d->latest(d);
}

static inline int64_t database_clock_off_ms(struct database *d)
{
	return d->clock_off_ms ? d->clock_off_ms(d) : 0;
}

/* When to poll a shard again that had nothing new this many times in a row. */
static inline int64_t database_poll_us(const struct database *d, int empty)
{
	int64_t us = d->poll_ms * INT64_C(1000), most = d->poll_most_ms * INT64_C(1000);

	while (--empty > 0 && us < most)
		us += us / 2;
	return us < most ? us : most;
}

#endif
