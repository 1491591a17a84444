/* Reading items by their keys.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/read.h"

#include "table/layout.h"

bool db_get(struct db *db, const struct store_view *view, const struct table *t, struct item_key key, struct arena *a,
	    struct value *item, struct error *e)
{
	struct slice bytes, where = layout_item_key(a, t->id, key);
	bool found;

	*item = VALUE_ABSENT;
	if (!store_get(db_store(db), view, STORE_ITEMS, where, a, &bytes, &found, e))
		return false;
	if (found)
		*item = (struct value){ (const uint8_t *)bytes.p, bytes.n };
	return true;
}

bool db_get_many(struct db *db, const struct store_view *view, const struct table *t, const struct item_key *keys,
		 size_t n, struct arena *a, struct value *items, struct error *e)
{
	struct slice *where = arena_array(a, struct slice, n), *bytes = arena_array(a, struct slice, n);
	bool *found = arena_array(a, bool, n);

	for (size_t i = 0; i < n; i++)
		where[i] = layout_item_key(a, t->id, keys[i]);
	if (!store_get_many(db_store(db), view, STORE_ITEMS, where, n, a, bytes, found, e))
		return false;
	for (size_t i = 0; i < n; i++)
		items[i] = found[i] ? (struct value){ (const uint8_t *)bytes[i].p, bytes[i].n } : VALUE_ABSENT;
	return true;
}
