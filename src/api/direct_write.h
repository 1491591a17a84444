/* Writes for a caller in this process that has values already: no document is read and none is written.
 *
 * As direct.h: each says what the operation of its name would say, and counts as one. It takes only what is plain; whatever
 * the operation would refuse is left to the operation itself, which has the words for it. Writing is in two steps, so that
 * one thread can have several under way: they are done in the order in which they were started, and those that are queued
 * together are synced together.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_DIRECT_WRITE_H
#define THORPE_API_DIRECT_WRITE_H

#include "api/api.h"
#include "table/write.h"

struct api_binding { /* of a placeholder */
	struct slice placeholder; /* "#n0" or ":v0" */
	struct slice name;
	struct value value;       /* absent: it stands for the name */
};

struct api_action {
	enum write_kind kind;
	struct slice table;
	struct value item;              /* PUT */
	struct value key;               /* the others */
	struct slice update, condition; /* expressions; empty: none. A condition that fails gives the item as it is */
	const struct api_binding *bindings;
	size_t binding_count;
	struct slice names, values;     /* further ones: members of ExpressionAttributeNames and -Values as JSON without braces */
};

struct api_refusal { /* of one action */
	bool failed;       /* its condition did not hold */
	struct value item; /* what was there instead; absent: nothing */
};

enum api_write_how {
	API_WRITE_TOGETHER = 1, /* a transaction, also when it is only one */
	API_WRITE_AT_ONCE = 2,  /* nothing else is to be started before it is waited for: it may be done within api_write_start() */
};

struct api_write; /* one that is under way */
/* PutItem, UpdateItem or DeleteItem, or (API_WRITE_TOGETHER, or several) TransactWriteItems without a token. NULL: ask with a document;
 * nothing was done. Until api_write_wait(), which must follow, the arena is the database's; values are borrowed until then. */
struct api_write *api_write_start(struct api *api, struct api_thread *t, struct arena *a, const struct api_action *list, size_t n,
				  unsigned how) MUST_CHECK;

enum api_written {
	API_WRITTEN,
	API_REFUSED,     /* nothing was written, because of conditions: `refusals` (may be NULL) says which */
	API_NOT_WRITTEN, /* nor was anything for another reason, which the document would be told */
};
enum api_written api_write_wait(struct api_write *w, struct api_refusal *refusals) MUST_CHECK;

#endif
