/* How much of a page's 1 MB an item takes up.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THORPE_TABLE_PAGE_SIZE_H
#define THORPE_TABLE_PAGE_SIZE_H

#include "table/schema.h"

/* *item_bytes is its item_size(), computed in the same walk. */
size_t page_size_of_item(const struct table *t, struct value item, size_t *item_bytes);

#endif
