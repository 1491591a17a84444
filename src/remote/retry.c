/* Which errors are worth another attempt, how long to wait, and the tokens that bound all of it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "remote/retry.h"
#include <openssl/rand.h>

static struct slice code_of(const struct json *reason)
{
	const struct json *code = json_get(reason, "Code");

	return json_is(code, JSON_STRING) ? code->string : SLICE("None");
}

/* Whether throttling is the only reason. */
static bool is_only_throttled(const struct json *reasons)
{
	static const char *const throttling[] = { "ThrottlingError", "ProvisionedThroughputExceeded", NULL };
	bool any = false;

	for (size_t i = 0; json_is(reasons, JSON_ARRAY) && i < reasons->count; i++) {
		struct slice code = code_of(&reasons->items[i]);

		if (slice_is_one_of(code, throttling))
			any = true;
		else if (!slice_is(code, "None"))
			return false;
	}
	return any;
}

enum retry_kind retry_kind_of(int status, struct slice error, struct slice message, const struct json *body)
{
	static const char *const throttled[] = { "ThrottlingException",
						 "Throttling",
						 "ThrottledException",
						 "RequestThrottledException",
						 "RequestThrottled",
						 "TooManyRequestsException",
						 "ProvisionedThroughputExceededException",
						 "RequestLimitExceeded",
						 "BandwidthLimitExceeded",
						 "SlowDown",
						 NULL };
	/* TransactionInProgress: an earlier attempt with the same token is still under way. */
	static const char *const transient[] = { "RequestTimeout", "RequestTimeoutException", "PriorRequestNotComplete",
						 "TransactionInProgressException", NULL };
	static const char *const skewed[] = { "RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture", NULL };
	static const char *const expired[] = { "ExpiredTokenException", "ExpiredToken", "UnrecognizedClientException",
					       "InvalidClientTokenId", NULL };

	if (slice_is_one_of(error, throttled))
		return RETRY_THROTTLED;
	if (slice_is(error, "TransactionCanceledException"))
		return is_only_throttled(json_get(body, "CancellationReasons")) ? RETRY_THROTTLED : RETRY_NOT;
	if (slice_is_one_of(error, skewed) || (slice_is(error, "InvalidSignatureException") &&
					       (slice_contains(message, SLICE("Signature expired")) ||
						slice_contains(message, SLICE("Signature not yet current")))))
		return RETRY_SKEWED;
	if (slice_is_one_of(error, expired))
		return RETRY_EXPIRED;
	if (status == 500 || status == 502 || status == 503 || status == 504 || slice_is_one_of(error, transient))
		return RETRY_TRANSIENT;
	return status == 429 ? RETRY_THROTTLED : RETRY_NOT;
}

int64_t retry_pause_ms(const struct retry_pauses *p, enum retry_kind kind, unsigned n, double chance, int64_t after_ms)
{
	int64_t base = p->base_ms ? p->base_ms : RETRY_BASE_MS, most;

	if (kind == RETRY_THROTTLED)
		base = p->throttled_ms ? p->throttled_ms : RETRY_THROTTLED_MS;
	most = n > 20 ? RETRY_LONGEST_MS : base << (n - 1);
	if (most > RETRY_LONGEST_MS)
		most = RETRY_LONGEST_MS;
	most = (int64_t)((double)most * chance);
	if (after_ms <= most)
		return most;
	return after_ms < most + RETRY_AFTER_MOST_MS ? after_ms : most + RETRY_AFTER_MOST_MS;
}

double retry_chance(void)
{
	uint32_t bits = 0;

	if (RAND_bytes((unsigned char *)&bits, sizeof(bits)) != 1)
		return 0.5;
	return bits / 4294967296.0;
}

void retry_quota_init(struct retry_quota *q)
{
	atomic_init(&q->tokens, RETRY_TOKENS);
}

int retry_quota_take(struct retry_quota *q, enum retry_kind kind)
{
	int cost = kind == RETRY_THROTTLED ? RETRY_COST_THROTTLED : RETRY_COST;
	int has_now = atomic_load(&q->tokens);

	while (has_now >= cost)
		if (atomic_compare_exchange_weak(&q->tokens, &has_now, has_now - cost))
			return cost;
	return 0;
}

void retry_quota_give(struct retry_quota *q, int cost)
{
	int gain = cost ? cost : 1, has_now = atomic_load(&q->tokens);

	while (has_now < RETRY_TOKENS) {
		int then = has_now + gain > RETRY_TOKENS ? RETRY_TOKENS : has_now + gain;

		if (atomic_compare_exchange_weak(&q->tokens, &has_now, then))
			return;
	}
}
