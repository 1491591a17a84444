/* The table of the checkpoints, for the files that store items in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_PROCESS_CHECKPOINT_TABLE_H
#define THORPE_PROCESS_CHECKPOINT_TABLE_H

#include "app/db/dyn.h"
#include "process/checkpoint.h"

/* <table>.thorpe */
struct slice checkpoint_table(struct run *r);
/* {PK: <kind>#<name>, SK: sk}; an empty name: {PK: kind}. */
struct value checkpoint_key(struct run *r, const char *kind, struct slice name, struct slice sk);
/* Strongly consistent; *item absent: none. */
bool checkpoint_get(struct run *r, struct value key, struct value *item) MUST_CHECK;
/* The items with the key's PK, by SK; `after`: only those after the key's own. `page->last` is absent at the end. */
bool checkpoint_query(struct run *r, struct value key, bool after, int limit, struct dyn_page *page) MUST_CHECK;
/* All items with that PK, by SK. False: of look(), or run->problem. */
bool checkpoint_walk(struct run *r, const char *kind, struct slice name, bool (*look)(void *ctx, struct value item),
		     void *ctx) MUST_CHECK;
/* How many items have the key's PK. */
bool checkpoint_count(struct run *r, struct value key, int64_t *out) MUST_CHECK;
/* CONFLICT: a condition failed. BUSY: other transactions hold the items. */
bool checkpoint_write(struct run *r, const struct dyn_write *w, size_t n) MUST_CHECK;

/* ---- parts of items; missing, or of another type: 0, false ---- */
bool checkpoint_bool(struct value item, const char *name);
int64_t checkpoint_time(struct value item, const char *name); /* a timestamp, as milliseconds */

/* An item in the making. */
#define CHECKPOINT_MEMBERS 20
struct checkpoint_item {
	struct run *run;
	struct value_member list[CHECKPOINT_MEMBERS];
	size_t count;
};
void checkpoint_item_init(struct checkpoint_item *i, struct run *r, struct value key);
void checkpoint_add(struct checkpoint_item *i, const char *name, struct value v);      /* absent: nothing */
void checkpoint_add_text(struct checkpoint_item *i, const char *name, struct slice s); /* empty: nothing */
void checkpoint_add_time(struct checkpoint_item *i, const char *name, int64_t ms);
struct value checkpoint_item_made(struct checkpoint_item *i);

#endif
