/* One HTTP/1.1 request at a time with libcurl, over connections that are kept.
 *
 * Invariants
 *   F1  A request goes out once. libcurl by itself sends a request again when a kept connection turns out to be dead;
 *       that is stopped, for the server may have carried out the first one. Whether to repeat is the caller's
 *       decision, or for all requests `repeats`.
 *   F2  FETCH_NOT_SENT means that the server cannot have seen the whole request.
 *   F3  Redirects are not followed (`redirects`: so many, to https only), and nothing but http and https is spoken.
 *
 * Lifetime: a struct fetch belongs to one thread at a time. No function here leaves by longjmp (arena.h A1): replies
 * are from mem_alloc().
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_FETCH_FETCH_H
#define THORPE_FETCH_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/slice.h"

struct fetch_options {
	const char *ca_bundle;   /* a file of certificates; NULL: the system's */
	bool direct;             /* past any proxy of the environment */
	bool repeats;            /* requests that go out twice do no harm */
	long redirects;          /* followed, at most so many; with `repeats` */
	const atomic_bool *stop; /* once true, requests end within a second; NULL: never */
};

struct fetch;                                           /* its own connections */
struct fetch *fetch_new(const struct fetch_options *o); /* copied, but for *stop. NULL: memory */
void fetch_free(struct fetch *f);                       /* NULL is fine */

struct fetch_request {
	const char *method; /* "GET", "POST", "PUT" */
	const char *url;
	const char *const *headers; /* "Name: value"; NULL at the end */
	struct slice body;
	long connect_ms, total_ms; /* the total includes connecting */
	size_t most;               /* bytes of the reply's body; a longer reply fails … */
	bool cut;                  /* … or its rest is not read */
	long grace_ms;             /* it has so long, from its start, even when `stop` is true */
};

enum fetch_end {
	FETCH_ANSWERED,
	FETCH_NOT_SENT, /* no such host, refused, TLS failed, sent in part */
	FETCH_CUT,      /* sent, then the connection ended, or what came is not HTTP */
	FETCH_LATE,     /* sent, and not answered in time */
	FETCH_STOPPED,  /* `stop` is true; it may have been sent */
	FETCH_NO_MEMORY,
};

#define FETCH_ID  80
#define FETCH_WHY 256

struct fetch_reply {
	enum fetch_end end;
	int status;       /* FETCH_ANSWERED only */
	bool no_listener; /* FETCH_NOT_SENT: nothing accepts connections there */
	char *body;       /* the caller's to mem_free(); NULL when n is 0 */
	size_t n;
	bool gzip; /* Content-Encoding */
	bool has_crc32;
	uint32_t crc32;         /* x-amz-crc32: of the body as it came */
	int64_t retry_after_ms; /* x-amz-retry-after; -1: none */
	int64_t retry_after_s;  /* Retry-After; 0: none */
	int64_t date_ms;        /* Date; -1: none */
	int64_t total;          /* bytes of all of it, from the Content-Range of a part; -1: none */
	char content_type[128];
	char id[FETCH_ID];   /* x-amzn-RequestId */
	char type[FETCH_ID]; /* x-amzn-ErrorType, up to a ':' */
	char why[FETCH_WHY]; /* a clause, unless answered: "could not connect to …" */
};

/* Whether nobody on the way can read or change what is said: https, or http to this machine. False also for what is no
 * address. */
bool fetch_is_private(const char *url);

void fetch_send(struct fetch *f, const struct fetch_request *q, struct fetch_reply *r);

#endif
