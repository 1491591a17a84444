/* Adding up capacity by table, for operations that touch several.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_API_OP_TALLY_H
#define THORPE_API_OP_TALLY_H

#include "api/reply.h"

struct tally_entry {
	const struct table *table;
	struct capacity capacity;
};

struct tally {
	struct arena *arena;
	struct tally_entry *entries;
	size_t count, room;
};

void tally_init(struct tally *t, struct arena *a);
void tally_add(struct tally *t, const struct table *table, const struct capacity *c);
/* "ConsumedCapacity":[…], or nothing if not requested. */
void tally_reply(struct buf *b, const struct tally *t, enum return_capacity how, bool rw_split);

#endif
