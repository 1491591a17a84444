/* The database as its callers see it, wherever it is: in this process (api/local.h), or at an address (remote/).
 *
 * This is the interface between a design's runtime and the database that holds its table. It has two parts:
 *   - requests (request.h): reading and writing items, reading a stream. The runtime's normal work uses these,
 *     without documents.
 *   - calls: the name of any operation of DynamoDB's and a document in, a document out. For operations on tables
 *     (DescribeTable, CreateTable, DescribeStream, GetShardIterator), for scans, and for forwarded requests.
 * Both are DynamoDB's API, so that no caller depends on something DynamoDB cannot do. A backend may block its
 * caller.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REQUEST_BACKEND_H
#define THORPE_REQUEST_BACKEND_H

#include "json/json.h"
#include "request/request.h"

/* the reply to a call */
struct backend_reply {
	int status;              /* 200, 400, 500 */
	const struct json *body; /* an object; never NULL */
	struct slice error;      /* "ResourceNotFoundException"; empty when status is 200 */
	struct slice message;    /* the error's text */
};

/* A write that is under way. */
struct started {
	bool (*wait)(struct started *s);
};

struct backend {
	void (*call)(struct backend *b, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *reply);
	/* NULL: sent as a document, by `call` (document.h). */
	void (*execute)(struct backend *b, struct arena *a, const struct request *q, struct reply *reply);
	/* Several reads at the same time; called by backend_execute_all(). NULL: one after the other. */
	void (*execute_all)(struct backend *b, struct arena *a, const struct request *q, struct reply *replies,
			    size_t n);
	/* NULL: cannot have several writes under way. */
	struct started *(*start)(struct backend *b, struct arena *a, const struct request *q);
	/* Sets what the following calls are for, such as an access pattern; called by backend_label(). NULL: not
	 * needed. */
	void (*label)(struct backend *b, struct slice label);
	/* Called by backend_together(). NULL: nothing to do. */
	void (*together)(struct backend *b, bool begins);
	/* Something that cannot be undone follows, outside the database; called by backend_settle(). NULL: nothing
	 * to do. */
	void (*settle)(struct backend *b);
	/* For notes that a request makes beside the design's table before it is done; called by backend_aside().
	 * NULL: this backend itself. */
	struct backend *(*aside)(struct backend *b);
	/* Ends it; called by backend_free(). */
	void (*free)(struct backend *b);
	/* A number that stays the same while the item with this key is not written: data read after this call is
	 * current while it returns the same number. 0: unknown, read it. NULL: never known. */
	uint64_t (*version)(struct backend *b, struct arena *a, struct slice table, struct value key);
	/* The caller only finds out which items it may want (app/db/rehearse.h): items that nothing is known of are
	 * there, with nothing but their keys, and conditions are taken for met. */
	bool explores;
};

/* The reply and what is in it live in the arena. */
static inline void backend_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
				struct backend_reply *reply)
{
	b->call(b, a, operation, body, reply);
}

void request_by_document(struct backend *b, struct arena *a, const struct request *q,
			 struct reply *reply); /* document.h */

/* As backend_call(). */
static inline void backend_execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	if (b->execute)
		b->execute(b, a, q, reply);
	else
		request_by_document(b, a, q, reply);
}

/* Carries out several reads: q[i] is answered by replies[i]. They go out at the same time where that saves time, in no
 * order. */
static inline void backend_execute_all(struct backend *b, struct arena *a, const struct request *q,
				       struct reply *replies, size_t n)
{
	if (b->execute_all && n > 1)
		b->execute_all(b, a, q, replies, n);
	else
		for (size_t i = 0; i < n; i++)
			backend_execute(b, a, &q[i], &replies[i]);
}

/* Reads between `begins` and its end do not depend on one another's replies, so that they may go out at the same time
 * (app/db/rehearse.h). Nests. */
static inline void backend_together(struct backend *b, bool begins)
{
	if (b->together)
		b->together(b, begins);
}

/* Starts a write without waiting. Several may be under way; they are done in the order in which they were started,
 * and those queued together are synced together. NULL: not possible, and nothing was done. started_wait() must
 * follow; until then the arena belongs to the database and everything in the request is borrowed. */
static inline struct started *backend_start(struct backend *b, struct arena *a, const struct request *q)
{
	return b->start ? b->start(b, a, q) : NULL;
}

/* True: done. False: nothing was done, and backend_execute() will say why. Allocates nothing. */
static inline bool started_wait(struct started *s)
{
	return s->wait(s);
}

static inline void backend_label(struct backend *b, struct slice label)
{
	if (b->label)
		b->label(b, label);
}

/* Call before something that cannot be undone happens outside the database (app/db/rehearse.h). */
static inline void backend_settle(struct backend *b)
{
	if (b->settle)
		b->settle(b);
}

/* The backend for notes beside the design's table that cannot be undone and that no item of the request depends on:
 * an Idempotency-Key. NULL: this run does not count (app/db/rehearse.h): write no note, and continue as if it had
 * been written. Also for work that would only take long. */
static inline struct backend *backend_aside(struct backend *b)
{
	return b->aside ? b->aside(b) : b;
}

static inline void backend_free(struct backend *b) /* NULL is fine */
{
	if (b)
		b->free(b);
}

#endif
