/* Removes items from the target that the source does not have: after a copy that had to start over, or into a table
 * that had items.
 *
 * Runs before changes are applied (C1): an item that the source lacked when it was asked, and gets later, comes with
 * the stream.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "copy/copy_internal.h"

static bool sweep_page(struct copier *c, const struct json *reply)
{
	const struct json *items = json_get(reply, "Items");
	struct keyed k = copy_keyed_main(c->job);
	uint64_t gone = 0;
	struct map found;
	struct batch b;

	if (!copy_keyed_get(c, &k, COPY_FROM, items, &found))
		return false;
	copy_batch_init(&b, c, c->job->table);
	for (size_t i = 0; json_is(items, JSON_ARRAY) && i < items->count; i++) {
		struct slice key = copy_keyed_bytes(c, &k, &items->items[i]);

		if (!key.n)
			return false;
		if (map_get(&found, key))
			continue;
		gone++;
		if (!copy_batch_delete(&b, copy_keyed_key(c, &k, &items->items[i])))
			return false;
	}
	if (!copy_batch_flush(&b))
		return false;
	atomic_fetch_add(&c->job->removed, gone);
	return true;
}

bool copy_sweep_all(struct copier *c)
{
	struct keyed k = copy_keyed_main(c->job);
	struct walk w = {
		.at = COPY_TO, .table = c->job->table, .page = sweep_page, .more = copy_keyed_projection(c, &k)
	};

	return copy_walk_all(c, &w);
}
