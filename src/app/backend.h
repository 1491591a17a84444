/* The database as an application sees it: the name of an operation and a document in, a document out.
 *
 * This is the seam between a design's runtime and whatever holds its table, and it is DynamoDB's API, so that
 * an application can never lean on something DynamoDB cannot do. A backend may block its caller.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_BACKEND_H
#define THORPE_APP_BACKEND_H

#include "api/api.h"
#include "json/json.h"
#include "value/value.h"

struct backend_reply {
	int status;               /* 200, 400, 500 */
	const struct json *body;  /* an object; never NULL */
	struct slice error;       /* "ResourceNotFoundException"; empty when status is 200 */
	struct slice message;     /* the error's text */
};

struct api_query; /* api/direct.h */
struct api_page;
struct api_records;
struct api_action; /* api/direct_write.h */
struct api_write;

struct backend {
	void (*call)(struct backend *b, struct arena *a, const char *operation, struct slice body,
		     struct backend_reply *reply);
	/* The same reads with values instead of documents, or NULL where there are only documents (api/direct.h). They answer
	 * what is plain; false: ask with a document. */
	bool (*get)(struct backend *b, struct arena *a, struct slice table, struct value key, struct value *item);
	bool (*query)(struct backend *b, struct arena *a, const struct api_query *q, struct api_page *page);
	bool (*batch_get)(struct backend *b, struct arena *a, struct slice table, const struct value *keys, size_t n,
			  struct value *items);
	bool (*records)(struct backend *b, struct arena *a, struct slice iterator, int64_t limit, struct api_records *out);
	/* And writes (api/direct_write.h, `how` as there), to be ended by api_write_wait(); NULL: with a document. */
	struct api_write *(*write)(struct backend *b, struct arena *a, const struct api_action *list, size_t n, unsigned how);
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

static inline void backend_label(struct backend *b, struct slice label)
{
	if (b->label)
		b->label(b, label);
}

/* Before something that cannot be taken back happens outside of the database (rehearse.h). */
static inline void backend_settle(struct backend *b)
{
	if (b->settle)
		b->settle(b);
}

/* Where to note something beside the design's table that cannot be taken back, and that no item of the request hangs on: an
 * Idempotency-Key. NULL: this time does not count (rehearse.h): note nothing, and go on as if it had been noted. Also for what
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

/* The database in this process. One thread at a time. NULL when memory is out. */
struct backend *backend_local_new(struct api *api);

#endif
