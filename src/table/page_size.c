/* How much of a page's 1 MB an item takes up.
 *
 * DynamoDB documents 1 MB; what it adds up is not item_size() but something like its stored form,
 * found by measuring where its pages end: an attribute's name counts one byte, values carry a length
 * or type byte, and every started 3 KB of the item costs 18 bytes and its sort key once more. The
 * difference matters to whoever counts on where a page ends; capacity is not counted this way.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/page_size.h"

#define STORED_CHUNK 3072
#define STORED_CHUNK_OVERHEAD 18
#define STORED_ITEM_OVERHEAD 2
#define STORED_CONTAINER_OVERHEAD 3

static size_t stored_size(struct value v);

static size_t stored_size_of_container(struct value v)
{
	struct value_iter it = value_iter(v);
	size_t n = STORED_CONTAINER_OVERHEAD, per_member = value_type(v) == VALUE_M ? 2 : 1;

	while (value_next(&it))
		n += per_member + stored_size(it.value);
	return n;
}

static size_t stored_size(struct value v)
{
	size_t n = value_size(v);

	switch (value_type(v)) {
	case VALUE_S:
		return n + (n < 128 ? 1 : n < 16384 ? 2 : 3);
	case VALUE_N:
	case VALUE_B:
		return n + 1;
	case VALUE_SS:
	case VALUE_NS:
	case VALUE_BS:
		return n + value_count(v) + 1;
	case VALUE_L:
	case VALUE_M:
		return stored_size_of_container(v);
	case VALUE_BOOL:
		return 1;
	case VALUE_NULL:
	case VALUE_NONE:
		break;
	}
	return 0;
}

size_t page_size_of_item(const struct table *t, struct value item)
{
	struct value_iter it = value_iter(item);
	size_t n = 0, sort_key = 0;

	while (value_next(&it)) {
		if (t->key.range_count && slice_equal(it.name, t->key.range[0].name))
			sort_key = value_size(it.value);
		else
			n += 1 + stored_size(it.value);
	}
	return STORED_ITEM_OVERHEAD + n +
	       (1 + (n + 1) / STORED_CHUNK) * (STORED_CHUNK_OVERHEAD + sort_key);
}
