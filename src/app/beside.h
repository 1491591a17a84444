/* The table beside the design's, <table>.thorpe: what the runtime remembers that belongs to no entity. The processors keep
 * their positions there (process/checkpoint.h), deletions their markers (app/deleting.h). Its key is PK and SK, both strings.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_BESIDE_H
#define THORPE_APP_BESIDE_H

#include "app/dyn.h"

struct slice beside_table(struct run *r);
struct value beside_key(struct run *r, struct slice pk, struct slice sk);
/* Strongly consistent; *item absent: none. */
bool beside_get(struct run *r, struct value key, struct value *item) MUST_CHECK;
/* Those of one PK, by SK, at most `limit`, after `start` unless that is absent; *last is where to go on, absent at the end. */
bool beside_query(struct run *r, struct slice pk, int limit, struct value start, struct value **items, size_t *n,
		  struct value *last) MUST_CHECK;

#endif
