/* Two functions that rules need and that rooms above define. Declared here, so that entity/ includes no header of
 * those rooms.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_APP_ENTITY_UPWARD_H
#define THORPE_APP_ENTITY_UPWARD_H

#include "app/entity/scope.h"

/* `found by` (read/read.c): runs a pattern for an item. Its parameters are the item's attributes of the same names, or
 * `with` evaluated in `s`. Calls visit() for every row, page by page, until it returns false (then the whole returns
 * false) or sets *stop. No rules are asked. */
bool read_each(const struct access *access, struct scope *s, const struct assignment *with, size_t with_count,
	       bool (*visit)(void *ctx, const struct row *row, bool *stop), void *ctx) MUST_CHECK;
/* `caller may` (auth/caller_permissions.c): whether the caller has the permission; operators have all. */
bool caller_may(struct run *r, struct slice permission, bool *out) MUST_CHECK;

#endif
