/* How much of a page's 1 MB an item takes up.
 *
 * DynamoDB documents 1 MB, but it sums something like its stored form, not item_size(). Measuring where its pages end
 * shows: an attribute's name counts one byte, values carry a length or type byte, and every started 3 KB of the item
 * costs 18 bytes and its sort key once more. The difference matters to clients that rely on where a page ends.
 * Capacity is not counted this way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/page_size.h"

#define STORED_CHUNK          3072
#define STORED_CHUNK_OVERHEAD 18
#define STORED_ITEM_OVERHEAD  2

size_t page_size_of_item(const struct table *t, struct value item, size_t *item_bytes)
{
	struct slice sort_key = t->key.range_count ? t->key.range[0].name : SLICE("");
	struct item_sizes s = item_sizes(item, sort_key);

	*item_bytes = s.size;
	return STORED_ITEM_OVERHEAD + s.stored + (1 + (s.stored + 1) / STORED_CHUNK) * (STORED_CHUNK_OVERHEAD + s.apart);
}
