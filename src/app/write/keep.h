/* Idempotent effects of a change: derived attributes and keys after counters, copies after their source. Called after
 * a write, and by the keeper for effects that a crash left undone.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_WRITE_KEEP_H
#define THORPE_APP_WRITE_KEEP_H

#include "app/entity/entity.h"

/* Whether anything of the entity (derived attribute, key, companion) depends on that attribute. */
bool keep_depends(const struct entity *e, const struct name *attribute);
/* Computes derived attributes, keys and companions of the item again and writes differences, on the condition that
 * their sources are unchanged. A missing item is fine. */
bool keep_item(struct run *r, const struct entity *e, struct value key) MUST_CHECK;
/* The item has changed from `old` to `full` (absent: created; deleted): updates the copies of differing attributes,
 * through their `kept by` patterns. Copies of a deleted item become empty. */
bool keep_copies(struct run *r, const struct entity *e, struct value old, struct value full) MUST_CHECK;

#endif
