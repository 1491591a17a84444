/* Requests carried out without a document: the database in this process.
 *
 * Each returns what the operation of its name would return, with the same error texts, and is counted as one:
 * handlers and these functions differ only in how they read the request and write the reply. Reads are always
 * consistent. Running out of memory leaves by arena.h A1.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_EXECUTE_H
#define THORPE_API_EXECUTE_H

#include "api/op.h"
#include "request/request.h"

void api_execute(struct api *api, struct arena *a, const struct request *q, struct reply *reply);

/* A write under way (request/backend.h: backend_start()). NULL: it would be refused, or out of memory; nothing was
 * done. */
struct api_started;
struct api_started *api_execute_start(struct api *api, struct arena *a, const struct request *q) MUST_CHECK;
/* Whether it was done. Allocates nothing. */
bool api_execute_wait(struct api_started *s) MUST_CHECK;

/* A version that stays the same while nothing is written to the key's partition: a value read after asking for it
 * need not be read again. A table recreated under the same name has other versions. 0: unknown at the moment. Reads
 * nothing, so it is not counted. */
uint64_t api_item_version(struct api *api, struct arena *a, struct slice table, struct value key);

/* ---- what handlers and requests share: op_get.c, op_batch_get.c, op_transact_write.c (and action.h, paging.h, op_streams.h) ---- */

bool get_item(struct op_state *s, const struct request_get *q, const struct table **t, struct value *item,
	      struct error *e) MUST_CHECK;
struct capacity get_capacity(const struct request_get *q, struct value item);

/* of the keys of one table */
struct batch_read {
	const struct request_batch *q;
	const struct table *table;
	struct item_key *keys;
	const bool *throttled;                                /* by key: true if it is not read; NULL: none is */
	void (*emit)(void *ctx, size_t i, struct value item); /* called for each key read; absent: no such item */
	void *ctx;
	size_t end; /* keys from here on were not read: the reply is full */
	double units;
};
bool batch_resolve(struct op_state *s, const struct request_batch *q, struct batch_read *r, struct error *e) MUST_CHECK;
/* Stops before the total passes 16 MB. */
bool batch_read(struct op_state *s, struct batch_read *r, const struct store_view *view, size_t *bytes,
		struct error *e) MUST_CHECK;

/* ClientRequestToken and the digest of TransactItems. */
void op_set_token(struct op_state *s, const struct json *document);

#endif
