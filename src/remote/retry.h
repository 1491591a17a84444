/* When and whether a request that failed is made again, as AWS's SDKs do since November 2026.
 *
 *   - Four attempts at most. Before the i-th repetition a pause of 0 to 25 * 2^(i-1) ms (1,000 * 2^(i-1) after
 *     throttling, 20 s at most), evenly spread.
 *   - `x-amz-retry-after` (milliseconds) makes the pause longer: never shorter than the pause would be, nor longer by
 *     more than 5 s.
 *   - All calls of a client share 500 tokens. A repetition costs 14 (5 after throttling), which come back when it
 *     succeeds; a call that succeeds at once gives 1. Without tokens nothing is repeated: a service that is down is
 *     not asked four times as often as usual.
 *
 * Threads: a quota is shared by any.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_RETRY_H
#define THORPE_REMOTE_RETRY_H

#include <stdatomic.h>
#include "json/json.h"

#define RETRY_ATTEMPTS       4
#define RETRY_BASE_MS        25
#define RETRY_THROTTLED_MS   1000
#define RETRY_LONGEST_MS     20000
#define RETRY_AFTER_MOST_MS  5000
#define RETRY_TOKENS         500
#define RETRY_COST           14
#define RETRY_COST_THROTTLED 5

enum retry_kind {
	RETRY_NOT,       /* an answer: it would be the same again */
	RETRY_TRANSIENT, /* 5xx, a connection that broke */
	RETRY_THROTTLED,
	RETRY_SKEWED,  /* the clock differs from the server's */
	RETRY_EXPIRED, /* the credentials are not valid, or no longer */
};

/* For an error document. TransactionCanceledException counts as throttled if only throttling cancelled it; a
 * conflict goes to the caller, which may want something else by now. */
enum retry_kind retry_kind_of(int status, struct slice error, struct slice message, const struct json *body);

/* 0: the numbers above */
struct retry_pauses {
	int64_t base_ms, throttled_ms;
};
/* Before repetition `n` (1, 2, …). `chance` is even in [0, 1). `after_ms`: x-amz-retry-after, or -1. */
int64_t retry_pause_ms(const struct retry_pauses *p, enum retry_kind kind, unsigned n, double chance, int64_t after_ms);
double retry_chance(void);

struct retry_quota {
	atomic_int tokens;
};
void retry_quota_init(struct retry_quota *q);
/* The cost of a repetition, or 0 when there are too few tokens. */
int retry_quota_take(struct retry_quota *q, enum retry_kind kind);
/* `cost` of the last repetition, which succeeded; 0: the first attempt did. */
void retry_quota_give(struct retry_quota *q, int cost);

#endif
