/* The database as whoever asks it sees it, wherever it is: in this process (api/local.h), or at an address (remote/).
 *
 * This is the seam between a design's runtime and whatever holds its table. It has two parts:
 *   - requests (request.h): reading and writing items, reading a stream. What the runtime does all day goes this way, without documents.
 *   - calls: the name of any operation of DynamoDB's and a document in, a document out. For what is about tables instead of items
 *     (DescribeTable, CreateTable, DescribeStream, GetShardIterator), for scans, and for requests of others that are passed on.
 * Both are DynamoDB's API, so that nobody can lean on something DynamoDB cannot do. A backend may block its caller.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REQUEST_BACKEND_H
#define THORPE_REQUEST_BACKEND_H

#include "json/json.h"
#include "request/request.h"

/* to a call */
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
	/* NULL: as a document, by `call` (document.h). */
	void (*execute)(struct backend *b, struct arena *a, const struct request *q, struct reply *reply);
	/* NULL: it cannot have several writes under way. */
	struct started *(*start)(struct backend *b, struct arena *a, const struct request *q);
	/* What the calls that follow are for, such as an access pattern; called by backend_label(). NULL: nobody asks. */
	void (*label)(struct backend *b, struct slice label);
	/* Something follows that cannot be taken back, outside of the database; called by backend_settle(). NULL: nothing to do. */
	void (*settle)(struct backend *b);
	/* For what a request notes beside the design's table before it is done; called by backend_aside(). NULL: this one itself. */
	struct backend *(*aside)(struct backend *b);
	/* Ends it; called by backend_free(). */
	void (*free)(struct backend *b);
	/* A number that stays the same while the item with this key is not written: what was read after asking for it need not
	 * be read again. 0: not known, read it. NULL: it is never known. */
	uint64_t (*version)(struct backend *b, struct arena *a, struct slice table, struct value key);
};

/* The reply and what is in it live in the arena. */
static inline void backend_call(struct backend *b, struct arena *a, const char *operation, struct slice body,
				struct backend_reply *reply)
{
	b->call(b, a, operation, body, reply);
}

void request_by_document(struct backend *b, struct arena *a, const struct request *q,
			 struct reply *reply); /* document.h */

/* The same. */
static inline void backend_execute(struct backend *b, struct arena *a, const struct request *q, struct reply *reply)
{
	if (b->execute)
		b->execute(b, a, q, reply);
	else
		request_by_document(b, a, q, reply);
}

/* A write without waiting: several may be under way, and are done in the order in which they were started; those that are queued together
 * are synced together. NULL: it cannot be done so; nothing was. Until started_wait(), which must follow, the arena is the database's and
 * everything in the request is borrowed. */
static inline struct started *backend_start(struct backend *b, struct arena *a, const struct request *q)
{
	return b->start ? b->start(b, a, q) : NULL;
}

/* True: done. False: nothing of it was, and backend_execute() will say why. Allocates nothing. */
static inline bool started_wait(struct started *s)
{
	return s->wait(s);
}

static inline void backend_label(struct backend *b, struct slice label)
{
	if (b->label)
		b->label(b, label);
}

/* Before something that cannot be taken back happens outside of the database (app/db/rehearse.h). */
static inline void backend_settle(struct backend *b)
{
	if (b->settle)
		b->settle(b);
}

/* Where to note something beside the design's table that cannot be taken back, and that no item of the request hangs on: an
 * Idempotency-Key. NULL: this time does not count (app/db/rehearse.h): note nothing, and go on as if it had been noted. Also for what
 * would only take long. */
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
