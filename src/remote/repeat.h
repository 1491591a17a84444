/* How an operation can be sent a second time when the reply to the first one was lost.
 *
 *   REPEAT_FREELY    reads, and writes that leave the same item whether they are done once or twice: a PutItem,
 *                    DeleteItem or UpdateItem without condition that computes nothing (no ADD, DELETE, +, -,
 *                    list_append), BatchWriteItem.
 *   REPEAT_BY_TOKEN  transactions: they carry a ClientRequestToken, by which the service recognizes them for ten
 *                    minutes. One is added if the caller gave none.
 *   REPEAT_UNSAFE    everything else. It is not repeated once it may have been done.
 *
 * A single write under a condition is unsafe as it stands: if the first sending was carried out, the second one fails
 * because of the first one's own effect. With `sure` it is sent as a transaction of one action with a token instead,
 * and the reply is turned back into the single operation's form (repeat_restore()). That costs twice the write units.
 * A single write that wants ReturnValues, or has one of the legacy parameters, stays as it is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_REMOTE_REPEAT_H
#define THORPE_REMOTE_REPEAT_H

#include "request/backend.h"

enum repeat { REPEAT_FREELY, REPEAT_BY_TOKEN, REPEAT_UNSAFE };

struct repeat_plan {
	const char *operation; /* what is sent */
	struct slice body;     /* what is sent: the caller's, or in the arena */
	enum repeat how;
	bool alone;         /* a single write that is sent as a transaction */
	bool reads, writes; /* items: their capacity is counted */
	bool streams;       /* an operation of DynamoDB Streams */
};

/* `meter`: asks for the capacity consumed where the caller has not said anything about it. Memory that runs out leaves
 * by arena.h A1. */
void repeat_plan(struct arena *a, const char *operation, struct slice body, bool sure, bool meter,
		 struct repeat_plan *p);
/* Turns the reply to a transaction of one action into the reply of the single operation. */
void repeat_restore(struct arena *a, struct backend_reply *r);

#endif
