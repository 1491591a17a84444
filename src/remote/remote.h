/* A database at an address as a backend: Amazon DynamoDB, or anything that speaks its API, asked over HTTP.
 *
 *     struct remote_place place;
 *     remote_parse("aws:eu-west-1", &place, why, sizeof(why));
 *     struct remote *r = remote_open(&(struct remote_options){ .place = place }, why, sizeof(why));
 *     struct backend *b = remote_backend_new(r);      // one for each thread that asks
 *     …
 *     remote_backend_free(b);
 *     remote_close(r);
 *
 * Invariants
 *   R1  A call ends within `total_ms`, whatever the other side does.
 *   R2  A write whose call says 200 was done once. It was done at most once, whatever the call says: what could have
 *       an effect twice is never sent twice (repeat.h).
 *   R3  A call that ends with a 4xx error of the service did nothing: a condition that failed did not fail by the
 *       doing of an earlier attempt of the same call. With `plain_writes` that holds, too, since such calls are not
 *       repeated. (A request that the network held back for longer than `attempt_ms` may still arrive after that, with
 *       any client.)
 *   R4  A call that ends with REMOTE_OUTCOME_UNKNOWN may have been done or not. The caller reads before it goes on.
 *       Single writes under a condition never end so unless `plain_writes` is set or they ask for ReturnValues.
 *   R5  REMOTE_UNAVAILABLE: after the last attempt the service was not there. Reads, and writes that were never sent.
 *       A write that may have been sent and could be repeated without harm, but not successfully, ends with
 *       REMOTE_OUTCOME_UNKNOWN.
 *   R6  Secrets are in no log line, no message and no metric.
 *
 * Exceptions to R2 and R3, as with every SDK: PutItem, UpdateItem, DeleteItem without a condition and BatchWriteItem,
 * which write the same thing again; CreateTable and its like, whose second sending may find what the first has made
 * ("ResourceInUseException"). UnprocessedItems and UnprocessedKeys of batches are the caller's to ask for again, and
 * so are transactions cancelled by a conflict.
 *
 * Retries and pauses: retry.h. Credentials: credentials/keyring.h.
 * Threads: a struct remote is for any; a backend is for one at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_REMOTE_H
#define THORPE_REMOTE_REMOTE_H

#include "request/backend.h"
#include "base/clock.h"
#include "remote/place.h"
#include "remote/settings.h"

/* Errors that do not come from the service; status 500. */
#define REMOTE_UNAVAILABLE     "ServiceUnavailable"
#define REMOTE_OUTCOME_UNKNOWN "OutcomeUnknown"
#define REMOTE_NO_CREDENTIALS  "CredentialsUnavailable"

/* 0 and NULL: the defaults given here */
struct remote_options {
	struct remote_place place;             /* Amazon's, of the settings' region */
	const struct settings_env *env;        /* the process's environment; must live as long as the remote */
	const struct clock *clock;             /* the system's */
	unsigned connections;                  /* 64; POOL_MOST at most */
	unsigned attempts;                     /* AWS_MAX_ATTEMPTS, or the profile's max_attempts, or 4 */
	long connect_ms, attempt_ms, total_ms; /* 3 s, 10 s, 30 s */
	int64_t base_ms, throttled_ms;         /* pauses: 25 ms, 1 s */
	bool plain_writes; /* single writes under a condition go as they are: half the price, see R4 */
	bool gzip;         /* asks for compressed replies: worth it far away from the service only */
	bool no_capacity;  /* does not ask what calls consume */
};

struct remote;
/* Reads the settings; sends no request. NULL with a sentence in `why`. */
struct remote *remote_open(const struct remote_options *o, char *why, size_t n);
/* Call after all backends have been freed. NULL is fine. */
void remote_close(struct remote *r);
/* Calls under way end within a second, later ones at once, with REMOTE_UNAVAILABLE. Any thread. */
void remote_stop(struct remote *r);
/* Whether there are credentials; looks for them. False with a sentence that says what to do. For the start of a
 * program: calls look by themselves. */
bool remote_has_credentials(struct remote *r, char *why, size_t n);

/* NULL: memory. */
struct backend *remote_backend_new(struct remote *r);
void remote_backend_free(struct backend *b); /* NULL is fine */
/* Labels the following calls, for example with an access pattern: cut to REMOTE_LABEL - 1 bytes. Empty: no label. */
void remote_label(struct backend *b, struct slice label);

const char *remote_url(const struct remote *r);
const char *remote_region(const struct remote *r);
/* Whether its address is one of Amazon's own. Any thread. */
bool remote_is_amazon(const struct remote *r);

/* The service's clock minus this machine's, by the date of its replies. 0: too little to distinguish from their
 * delay. */
int64_t remote_clock_off_ms(const struct remote *r);
/* For how long calls have been made, and none was answered (errors of 5xx and missing credentials are no answer);
 * 0: the last one was. For a service that is asked something every second. Any thread, cheap. */
int64_t remote_silent_ms(const struct remote *r);
/* A sentence for a person about a reply that is an error, with what to do where that is known: "there is no table X in
 * eu-west-1 …". In the arena. */
struct slice remote_explain(const struct remote *r, struct arena *a, const struct backend_reply *reply);
/* Asks whether the table exists (DescribeTable), by a backend of this module. False with such a sentence in `why`.
 * For the start of a program, so that the cause of a problem is reported once and clearly. */
bool remote_has_table(struct backend *b, struct slice table, char *why, size_t n);

/* ---- metrics ---- */

/* why an attempt failed */
enum remote_trouble {
	REMOTE_CONNECT,
	REMOTE_CUT,
	REMOTE_LATE,
	REMOTE_BUSY,   /* no connection became free */
	REMOTE_SERVER, /* 5xx */
	REMOTE_THROTTLED,
	REMOTE_DAMAGED, /* the checksum differs, or the reply is not JSON */
	REMOTE_SKEWED,
	REMOTE_CREDENTIALS,
	REMOTE_REFUSED, /* any other error of the service: conditions, missing tables */
	REMOTE_TROUBLES,
};
extern const char *const remote_trouble_names[REMOTE_TROUBLES];

#define REMOTE_LATENCIES 13
extern const int64_t remote_latency_ms[REMOTE_LATENCIES - 1]; /* upper bounds; the last bucket has none */

#define REMOTE_LABEL 64
/* of one operation for one label */
struct remote_use {
	char operation[32];
	char label[REMOTE_LABEL];
	uint64_t calls;
	uint64_t trips;                 /* round trips: calls made at the same time are one */
	double read_units, write_units; /* as far as the service said */
};

struct remote_metrics {
	uint64_t calls, attempts, retries, throttles;
	uint64_t failures;                  /* calls that ended with 5xx, throttling or no answer */
	uint64_t troubles[REMOTE_TROUBLES]; /* attempts */
	uint64_t latency[REMOTE_LATENCIES]; /* calls, not cumulated */
	uint64_t latency_us;                /* the sum */
	uint64_t renewals;                  /* of credentials */
	int64_t skew_ms;                    /* the service's clock minus ours */
	int retry_tokens;
	unsigned connections_busy;
	const struct remote_use *uses; /* in no order; labels beyond some hundreds are "other" */
	size_t use_count;
};
/* `uses` is in the arena. */
void remote_metrics(struct remote *r, struct arena *a, struct remote_metrics *out);
struct remote_reading {
	struct slice backend; /* the label that tells several apart, such as an address */
	struct remote_metrics m;
};
/* Prometheus, of all of them together: thorpe_backend_calls_total, _attempts_total, _retries_total, _throttles_total,
 * _failures_total, _troubles_total, _call_seconds, _operations_total, _round_trips_total, _read_units_total,
 * _write_units_total and the like. */
void remote_metrics_write(const struct remote_reading *list, size_t n, struct buf *out);

#endif
