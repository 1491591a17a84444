/* What follows a change, idempotent, to be done any number of times: derived attributes and keys after counters, copies after
 * their source. Called after a write, and by the keeper for what a crash left undone.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_KEEP_H
#define THORPE_APP_WRITE_KEEP_H

#include "app/entity/entity.h"

/* Whether anything of the entity (derived attribute, key, companion) depends on that attribute. */
bool keep_depends(const struct entity *e, struct slice attribute);
/* Computes derived attributes, keys and companions of the item afresh and writes what differs, under the condition that nothing
 * it was made from has changed. Not there: nothing. */
bool keep_item(struct run *r, const struct entity *e, struct value key) MUST_CHECK;
/* The item has changed from `old` to `full` (absent: it was not there; it is gone): copies of what differs are brought up to
 * date, through their `kept by` patterns. Copies of an item that is gone hold nothing. */
bool keep_copies(struct run *r, const struct entity *e, struct value old, struct value full) MUST_CHECK;

#endif
