/* Items that a run has read, so that a rule asked of a hundred rows reads another item once.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/dyn.h"
#include "app/entity.h"
#include "base/map.h"

struct memo {
	struct map items; /* bytes of the key -> struct seen */
};

struct seen {
	bool stale;                  /* changed since */
	const struct entity *entity; /* NULL: there is nothing, or no item of an entity */
	struct value full;
};

static struct slice bytes_of(struct value key)
{
	return slice_make(key.p, key.n);
}

static struct seen *seen_of(struct run *r, struct value key)
{
	return r->memo ? map_get(&r->memo->items, bytes_of(key)) : NULL;
}

static struct seen *remember(struct run *r, struct value key)
{
	struct seen *s = seen_of(r, key);

	if (!r->memo) {
		r->memo = arena_new(r->arena, struct memo);
		map_init(&r->memo->items, r->arena);
	}
	if (!s) {
		s = arena_new(r->arena, struct seen);
		map_set(&r->memo->items, bytes_of(value_copy(r->arena, key)), s);
	}
	*s = (struct seen){ 0 };
	return s;
}

void entity_forget(struct run *r, struct value key)
{
	struct seen *s = seen_of(r, key);

	if (s)
		s->stale = true;
}

bool entity_fetch_key(struct run *r, const struct entity *e, struct value key, bool fresh, struct value *full)
{
	struct seen *s = seen_of(r, key);
	struct value stored;

	*full = VALUE_ABSENT;
	if (!s || s->stale || fresh) {
		if (!dyn_get(r, key, true, &stored))
			return false;
		s = remember(r, key);
		if (value_present(stored) && !entity_expired(r, stored))
			s->entity = entity_of_likely(r, stored, e);
		if (s->entity)
			s->full = entity_full(r, s->entity, stored);
	}
	if (s->entity == e)
		*full = s->full;
	return true;
}
