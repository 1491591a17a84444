/* Reading one item by its key.
 * SPDX-License-Identifier: Apache-2.0 */
#include "table/read.h"

#include "table/layout.h"

bool db_get(struct db *db, const struct store_view *view, const struct table *t,
	    struct item_key key, struct arena *a, struct value *item, struct error *e)
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
