/* Reading items by their keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/read.h"

#include "table/layout.h"

static struct store_at items_of(const struct db_at *at)
{
	return (struct store_at){ db_store(at->db), at->view, STORE_ITEMS };
}

bool db_get(const struct db_at *at, struct item_key key, struct arena *a, struct value *item, struct error *e)
{
	struct slice bytes, where = layout_item_key(a, at->table->id, key);
	struct store_at in = items_of(at);
	bool found;

	*item = VALUE_ABSENT;
	if (!store_get(&in, where, a, &bytes, &found, e))
		return false;
	if (found)
		*item = (struct value){ (const uint8_t *)bytes.p, bytes.n };
	return true;
}

bool db_get_many(const struct db_at *at, const struct item_key *keys, size_t n, struct arena *a, struct value *items,
		 struct error *e)
{
	struct slice *where = arena_array(a, struct slice, n), *bytes = arena_array(a, struct slice, n);
	struct store_at in = items_of(at);

	for (size_t i = 0; i < n; i++)
		where[i] = layout_item_key(a, at->table->id, keys[i]);
	if (!store_get_many(&in, where, n, a, bytes, e))
		return false;
	for (size_t i = 0; i < n; i++)
		items[i] = bytes[i].p ? (struct value){ (const uint8_t *)bytes[i].p, bytes[i].n } : VALUE_ABSENT;
	return true;
}
